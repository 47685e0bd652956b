//! USING TIMESTAMP and TTL once values are bound (sheet A.6).

use crate::analysis::modification::ModificationPlan;
use crate::analysis::terms::{Bound, Env, Term};
use crate::error::Error;
use crate::error::modification::ModificationError as E;
use cassling_engine::row::deletion::NO_DELETION_TIME;
use cassling_engine::types::quote_name;

/// Twenty years, the longest TTL. Seconds.
const TTL_SECONDS_MAX: i32 = 20 * 365 * 24 * 60 * 60;

/// The last second at which something may expire: 2038-01-19T03:14:06Z, as the default cassandra.yaml has it
/// (`storage_compatibility_mode: CASSANDRA_4`).
const EXPIRY_SECONDS_MAX: i64 = i32::MAX as i64 - 1;

/// The times at which a statement writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Timestamp of all it writes, microseconds.
    pub(super) timestamp_micros: i64,
    /// TTL, 0 for none; seconds.
    pub(super) ttl_seconds: u32,
    /// The present, seconds.
    pub(super) now_seconds: i64,
}

impl Times {
    pub(super) fn of(
        plan: &ModificationPlan,
        env: &Env<'_>,
        default_timestamp: i64,
    ) -> Result<Times, Error> {
        let timestamp_micros =
            timestamp(plan.timestamp.as_ref(), env)?.unwrap_or(default_timestamp);
        let now_seconds = env.cluster.clock().now_seconds();
        Ok(Times { timestamp_micros, ttl_seconds: ttl(plan, env, now_seconds)?, now_seconds })
    }

    /// When what is written expires, seconds.
    pub(super) fn expires_seconds(&self) -> i64 {
        match self.ttl_seconds {
            0 => NO_DELETION_TIME,
            ttl => self.now_seconds + i64::from(ttl),
        }
    }
}

/// The value of a USING TIMESTAMP; `None` if there is none or it is unset.
pub(super) fn timestamp(term: Option<&Term>, env: &Env<'_>) -> Result<Option<i64>, Error> {
    let Some(term) = term else { return Ok(None) };
    match term.bind(env)? {
        Bound::Unset => Ok(None),
        Bound::Null => Err(Error::new(E::NullTimestamp)),
        Bound::Value(bytes) => match <[u8; 8]>::try_from(bytes.as_ref()) {
            Err(_) => Err(Error::new(E::ServerError("the timestamp has no bytes".to_string()))),
            Ok(bytes) => match i64::from_be_bytes(bytes) {
                i64::MIN => Err(Error::new(E::TimestampOutOfBounds)),
                timestamp => Ok(Some(timestamp)),
            },
        },
    }
}

fn ttl(plan: &ModificationPlan, env: &Env<'_>, now_seconds: i64) -> Result<u32, Error> {
    let bound = plan.ttl.as_ref().map(|term| term.bind(env)).transpose()?;
    let (ttl, is_default) = match bound {
        None | Some(Bound::Unset) => (plan.table.options.default_time_to_live_seconds, true),
        Some(Bound::Null) => (0, false),
        Some(Bound::Value(bytes)) => {
            (given_ttl(<[u8; 4]>::try_from(bytes.as_ref()).map_or(0, i32::from_be_bytes))?, false)
        }
    };
    if ttl > 0 && now_seconds + i64::from(ttl) > EXPIRY_SECONDS_MAX {
        let (keyspace, table) = (quote_name(&plan.table.keyspace), quote_name(&plan.table.name));
        return Err(Error::new(E::TtlOverflow {
            table: format!("{keyspace}.{table}"),
            default: is_default,
            ttl_seconds: ttl,
        }));
    }
    Ok(ttl)
}

fn given_ttl(ttl: i32) -> Result<u32, Error> {
    match u32::try_from(ttl) {
        Err(_) => Err(Error::new(E::NegativeTtl(ttl))),
        Ok(_) if ttl > TTL_SECONDS_MAX => Err(Error::new(E::TtlTooLarge(ttl))),
        Ok(ttl) => Ok(ttl),
    }
}
