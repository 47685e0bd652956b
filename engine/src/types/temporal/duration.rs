//! A duration's bytes and the way its text is put together, unit by unit.

use super::{Duration, MarshalError, read_vint, write_vint};

/// Nanoseconds of each unit of a day's parts, the greatest first.
pub(super) const NANO_UNITS: [(u64, &str); 6] = [
    (3_600_000_000_000, "h"),
    (60_000_000_000, "m"),
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "us"),
    (1, "ns"),
];

impl Duration {
    /// The wire bytes: three signed vints.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(9);
        write_vint(i64::from(self.months), &mut out);
        write_vint(i64::from(self.days), &mut out);
        write_vint(self.nanos, &mut out);
        out
    }

    /// The duration at the front of `bytes`; what follows is ignored, as in Cassandra.
    ///
    /// # Errors
    /// Cassandra's text for parts out of range or of unlike signs.
    pub fn read(bytes: &[u8]) -> Result<Duration, MarshalError> {
        let rest = &mut &bytes[..];
        let mut part = || {
            read_vint(rest)
                .ok_or_else(|| MarshalError::server("java.lang.AssertionError: Unexpected error"))
        };
        let (months, days, nanos) = (part()?, part()?, part()?);
        let small = |name: &str, number: i64| {
            i32::try_from(number).map_err(|_| {
                MarshalError::invalid(format!(
                    "The duration {name} must be a 32 bits integer but was: {number}"
                ))
            })
        };
        let duration =
            Duration { months: small("months", months)?, days: small("days", days)?, nanos };
        let signs = [months, days, nanos];
        if signs.iter().any(|part| *part < 0) && signs.iter().any(|part| *part > 0) {
            return Err(MarshalError::invalid(format!(
                "The duration months, days and nanoseconds must be all of the same sign ({months}, {days}, {nanos})"
            )));
        }
        Ok(duration)
    }

    /// The duration with every part negated; the least numbers stay.
    pub fn negated(self) -> Duration {
        Duration {
            months: self.months.wrapping_neg(),
            days: self.days.wrapping_neg(),
            nanos: self.nanos.wrapping_neg(),
        }
    }
}

/// A unit that duration texts are written in, the greatest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Years,
    Months,
    Weeks,
    Days,
    Hours,
    Minutes,
    Seconds,
    Millis,
    Micros,
    Nanos,
}

impl Unit {
    pub(super) fn from_symbol(symbol: &str) -> Option<Unit> {
        Some(match symbol.to_lowercase().as_str() {
            "y" => Unit::Years,
            "mo" => Unit::Months,
            "w" => Unit::Weeks,
            "d" => Unit::Days,
            "h" => Unit::Hours,
            "m" => Unit::Minutes,
            "s" => Unit::Seconds,
            "ms" => Unit::Millis,
            "us" | "µs" | "μs" => Unit::Micros,
            "ns" => Unit::Nanos,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Unit::Years => "years",
            Unit::Months => "months",
            Unit::Weeks => "weeks",
            Unit::Days => "days",
            Unit::Hours => "hours",
            Unit::Minutes => "minutes",
            Unit::Seconds => "seconds",
            Unit::Millis => "milliseconds",
            Unit::Micros => "microseconds",
            Unit::Nanos => "nanoseconds",
        }
    }
}

/// A duration being read, unit by unit (Cassandra's `Duration.Builder`).
#[derive(Default)]
pub(super) struct Builder {
    last: Option<Unit>,
    months: i64,
    days: i64,
    nanos: i64,
}

impl Builder {
    pub(super) fn add(&mut self, number: i64, unit: Unit) -> Result<(), MarshalError> {
        if let Some(last) = self.last
            && last >= unit
        {
            let (name, last_name) = (unit.name(), last.name());
            return Err(MarshalError::invalid(if last == unit {
                format!("Invalid duration. The {name} are specified multiple times")
            } else {
                // The text names the two the other way round than they stand.
                format!("Invalid duration. The {last_name} should be after {name}")
            }));
        }
        self.last = Some(unit);
        let nanos = |size: i64| (Part::Nanos, size);
        let (part, size) = match unit {
            Unit::Years => (Part::Months, 12),
            Unit::Months => (Part::Months, 1),
            Unit::Weeks => (Part::Days, 7),
            Unit::Days => (Part::Days, 1),
            Unit::Hours => nanos(3_600_000_000_000),
            Unit::Minutes => nanos(60_000_000_000),
            Unit::Seconds => nanos(1_000_000_000),
            Unit::Millis => nanos(1_000_000),
            Unit::Micros => nanos(1_000),
            Unit::Nanos => nanos(1),
        };
        let (sum, limit, name) = match part {
            Part::Months => (&mut self.months, i64::from(i32::MAX), "months"),
            Part::Days => (&mut self.days, i64::from(i32::MAX), "days"),
            Part::Nanos => (&mut self.nanos, i64::MAX, "nanoseconds"),
        };
        let total = number.checked_mul(size).and_then(|part| sum.checked_add(part));
        *sum = total.filter(|total| *total <= limit).ok_or_else(|| {
            MarshalError::invalid(format!(
                "Invalid duration. The total number of {name} must be less or equal to 2147483647"
            ))
        })?;
        Ok(())
    }

    pub(super) fn build(self, negative: bool) -> Duration {
        let small = |number: i64| i32::try_from(number).expect("the sum was checked");
        let duration =
            Duration { months: small(self.months), days: small(self.days), nanos: self.nanos };
        if negative { duration.negated() } else { duration }
    }
}

enum Part {
    Months,
    Days,
    Nanos,
}
