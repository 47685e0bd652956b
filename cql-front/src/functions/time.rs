//! Functions of time: the present, conversions between timeuuid, timestamp and date, floor.
//!
//! Whole days are cut off towards the epoch, as Java's `TimeUnit` does, so that one millisecond before it is still
//! its day. floor counts its steps from a start, the epoch if none is given:
//!
//! ```text
//! start            floor                 value
//! |----- 1mo ------|----- 1mo -----|=====*---
//! ```

use super::Body;
use super::number::Number;
use crate::error::function::FunctionError;
use cassling_engine::types::temporal::{
    Duration, add_months, civil_from_days, date_text, days_from_civil, max_timeuuid, min_timeuuid,
    timeuuid_millis,
};
use cassling_engine::types::{CqlType, value};

const DAY_MILLIS: i64 = 86_400_000;
const DAY_NANOS: i64 = 86_400_000_000_000;

/// Days since the epoch of a date's bytes.
pub(super) fn days(bytes: &[u8]) -> i32 {
    let raw = bytes.first_chunk::<4>().copied().unwrap_or([0; 4]);
    (u32::from_be_bytes(raw) ^ 1 << 31).cast_signed()
}

/// The date of a moment, counted in whole days towards the epoch.
fn date_of(millis: i64) -> Vec<u8> {
    value::date_bytes((millis / DAY_MILLIS) as i32).to_vec()
}

fn long(bytes: &[u8]) -> i64 {
    Number::read(&CqlType::Bigint, bytes).long()
}

/// Milliseconds since the epoch of a timestamp, date or timeuuid.
fn millis(ty: &CqlType, bytes: &[u8]) -> i64 {
    match ty {
        CqlType::Date => i64::from(days(bytes)) * DAY_MILLIS,
        CqlType::Timeuuid | CqlType::Custom(_) => {
            timeuuid_millis(bytes.first_chunk::<16>().copied().unwrap_or([0; 16]))
        }
        _ => long(bytes),
    }
}

/// current_timestamp(), current_date(), current_time().
pub(super) fn current(body: Body, now_micros: i64) -> Vec<u8> {
    let millis = now_micros.div_euclid(1000);
    match body {
        Body::CurrentDate => date_of(millis),
        Body::CurrentTime => (millis.rem_euclid(DAY_MILLIS) * 1_000_000).to_be_bytes().to_vec(),
        _ => millis.to_be_bytes().to_vec(),
    }
}

/// min_timeuuid, max_timeuuid, to_date, to_timestamp, to_unix_timestamp.
pub(super) fn convert(body: Body, ty: &CqlType, bytes: &[u8]) -> Vec<u8> {
    let millis = millis(ty, bytes);
    match body {
        Body::MinTimeuuid => min_timeuuid(millis).to_vec(),
        Body::MaxTimeuuid => max_timeuuid(millis).to_vec(),
        Body::ToDate => date_of(millis),
        _ => millis.to_be_bytes().to_vec(),
    }
}

/// The casts between the types of time.
pub(super) fn cast(from: &CqlType, to: &CqlType, bytes: &[u8]) -> Vec<u8> {
    let millis = millis(from, bytes);
    if *to == CqlType::Date { date_of(millis) } else { millis.to_be_bytes().to_vec() }
}

/// A timestamp as Java formats it with three digits of a second. Years before 1 are counted backwards without a sign:
/// there is no era in the format.
pub(super) fn timestamp_text(millis: i64) -> String {
    let (mut day, of_day) = (millis.div_euclid(DAY_MILLIS), millis.rem_euclid(DAY_MILLIS));
    let (year, month, of_month) = civil_from_days(day);
    if year < 1 {
        day = days_from_civil(1 - year, month, of_month);
    }
    let (seconds, fraction) = (of_day / 1000, of_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z", date_text(day))
}

/// A time with nine digits of a second.
pub(super) fn time_text(nanos: i64) -> String {
    let (seconds, fraction) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{hour:02}:{minute:02}:{second:02}.{fraction:09}")
}

/// floor of a value of type `ty` by a duration, from a start if there is one.
pub(super) fn floor(ty: &CqlType, values: &[&[u8]]) -> Result<Vec<u8>, FunctionError> {
    let duration = Duration::read(values[1]).map_err(|e| FunctionError::Server(e.to_string()))?;
    match ty {
        CqlType::Time => floor_time(long(values[0]), duration).map(|it| it.to_be_bytes().to_vec()),
        CqlType::Date => {
            if duration.nanos != 0 {
                let (ty, duration) = (ty.to_string(), duration.to_string());
                return Err(FunctionError::FloorDays { ty, duration });
            }
            let start = values.get(2).map_or(0, |it| millis(&CqlType::Date, it));
            floor_millis(millis(ty, values[0]), duration, start).map(date_of)
        }
        _ => {
            if duration.nanos % 1_000_000 != 0 {
                return Err(FunctionError::FloorMillis { duration: duration.to_string() });
            }
            let start = values.get(2).map_or(0, |it| long(it));
            let floor = floor_millis(millis(ty, values[0]), duration, start)?;
            Ok(floor.to_be_bytes().to_vec())
        }
    }
}

fn is_negative(duration: Duration) -> bool {
    duration.months < 0 || duration.days < 0 || duration.nanos < 0
}

fn floor_time(nanos: i64, duration: Duration) -> Result<i64, FunctionError> {
    if is_negative(duration) {
        return Err(FunctionError::NegativeDuration);
    }
    if duration.months != 0 || duration.days != 0 || duration.nanos > DAY_NANOS {
        return Err(FunctionError::FloorTime);
    }
    Ok(if duration.nanos == 0 { nanos } else { nanos - nanos % duration.nanos })
}

fn floor_millis(value: i64, duration: Duration, start: i64) -> Result<i64, FunctionError> {
    if start > value {
        return Err(FunctionError::FloorStart);
    }
    if is_negative(duration) {
        return Err(FunctionError::NegativeDuration);
    }
    let step = i64::from(duration.days) * DAY_MILLIS + duration.nanos / 1_000_000;
    if duration.months == 0 {
        return Ok(if step == 0 { value } else { value - value.wrapping_sub(start) % step });
    }
    Ok(floor_months(value, i64::from(duration.months), step, start))
}

/// The last start + n (months + step) that is not after the value. The number of months between the two says how many
/// steps there are at most; the days and hours of each may make that too many.
fn floor_months(value: i64, months: i64, step: i64, start: i64) -> i64 {
    let month_of = |millis: i64| {
        let (year, month, _) = civil_from_days(millis.div_euclid(DAY_MILLIS));
        year * 12 + i64::from(month)
    };
    let at = |count: i64| {
        let (day, of_day) = (start.div_euclid(DAY_MILLIS), start.rem_euclid(DAY_MILLIS));
        let moved = add_months(day, count * months);
        moved
            .saturating_mul(DAY_MILLIS)
            .saturating_add(of_day)
            .saturating_add(count.saturating_mul(step))
    };
    let most = (month_of(value) - month_of(start)) / months;
    if step == 0 {
        // Cassandra does not look back here: with a start on the 31st the floor may be after the value.
        return at(most);
    }
    // `at` rises with every step, so the greatest that fits is found by halving.
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low + 1) / 2;
        if at(middle) <= value { low = middle } else { high = middle - 1 }
    }
    at(low).max(start)
}
