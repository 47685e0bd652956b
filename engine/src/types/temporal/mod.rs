//! Dates, times, timestamps and durations: text to number and back, calendar arithmetic, timeuuids.
//!
//! Cassandra's dates reach 5.8 million years and its timestamps 292 million either way, farther than any
//! calendar crate, so the Gregorian calendar is counted here; time zones by name come from `jiff`.
//!
//! ```text
//! timestamp  '2024-02-30 12:34Z'   day 31 at most, cut to the month's last     1709210040000 ms
//! date       '-5877641-06-23'      strict                                      days, -2^31
//! duration   1mo2d3s               three numbers, never added up               (1, 2, 3000000000)
//! ```
//!
//! Not here: rounding down to a duration and `now()`, which functions do, and how any of these is displayed
//! ([`super::display`]).

use super::codec::MarshalError;
use std::fmt;

mod duration;
mod parse;

pub use parse::{parse_date, parse_duration, parse_time, parse_timestamp};

/// A CQL duration. All three parts have the same sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Duration {
    /// Months.
    pub months: i32,
    /// Days.
    pub days: i32,
    /// Nanoseconds.
    pub nanos: i64,
}

/// Milliseconds of a day.
pub const DAY_MILLIS: i64 = 86_400_000;
/// Nanoseconds of a day.
pub const DAY_NANOS: i64 = 86_400_000_000_000;
const MILLI_NANOS: i64 = 1_000_000;

/// Days since 1970-01-01 of a day of the Gregorian calendar, which is continued to before its introduction.
/// The year 0 is 1 BC. Counts from 1 March, so that a leap day is the last of its year.
pub fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let century4 = year.div_euclid(400);
    let year_of_400 = year.rem_euclid(400);
    let month_from_march = (i64::from(month) + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    let day_of_400 = year_of_400 * 365 + year_of_400 / 4 - year_of_400 / 100 + day_of_year;
    century4 * 146_097 + day_of_400 - 719_468
}

/// Year, month and day of a number of days since 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let century4 = days.div_euclid(146_097);
    let day_of_400 = days.rem_euclid(146_097);
    let year_of_400 =
        (day_of_400 - day_of_400 / 1460 + day_of_400 / 36_524 - day_of_400 / 146_096) / 365;
    let day_of_year = day_of_400 - (365 * year_of_400 + year_of_400 / 4 - year_of_400 / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = century4 * 400 + year_of_400 + i64::from(month <= 2);
    let small = |number: i64| u32::try_from(number).expect("a month or day");
    (year, small(month), small(day))
}

/// Days of a month, 1 to 12.
pub fn days_of_month(year: i64, month: u32) -> u32 {
    match month {
        2 if year.rem_euclid(4) == 0
            && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0) =>
        {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A day moved by months; past the end of a shorter month it is that month's last.
pub fn add_months(days: i64, months: i64) -> i64 {
    let (year, month, day) = civil_from_days(days);
    let total = year * 12 + i64::from(month) - 1 + months;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) as u32 + 1);
    days_from_civil(year, month, day.min(days_of_month(year, month)))
}

/// Milliseconds since the epoch moved by a duration: months on the calendar in UTC first, then days, then
/// whole milliseconds of the nanoseconds (Cassandra's `Duration.addTo`). `None` if the result has no 64 bits.
pub fn add_to_timestamp(millis: i64, duration: Duration) -> Option<i64> {
    let (day, of_day) = (millis.div_euclid(DAY_MILLIS), millis.rem_euclid(DAY_MILLIS));
    let day = match duration.months {
        0 => day,
        months => add_months(day, i64::from(months)),
    } + i64::from(duration.days);
    let millis = i128::from(day) * i128::from(DAY_MILLIS) + i128::from(of_day);
    i64::try_from(millis + i128::from(duration.nanos / MILLI_NANOS)).ok()
}

/// Days since the epoch moved by the months and days of a duration. `None` if the result is no date.
pub fn add_to_date(days: i32, duration: Duration) -> Option<i32> {
    let moved = add_months(i64::from(days), i64::from(duration.months)) + i64::from(duration.days);
    i32::try_from(moved).ok()
}

/// Milliseconds from the start of the Gregorian calendar, from which timeuuids count, to the epoch.
const GREGORIAN_MILLIS: i64 = 12_219_292_800_000;

/// Timestamp of a timeuuid in units of 100 ns since 1582-10-15.
fn timeuuid_ticks(bytes: [u8; 16]) -> i64 {
    let high = (u128::from_be_bytes(bytes) >> 64) as u64;
    ((high & 0xfff) << 48 | (high >> 16 & 0xffff) << 32 | high >> 32).cast_signed()
}

/// Milliseconds since the epoch of a timeuuid (Cassandra's `toTimestamp`).
pub fn timeuuid_millis(bytes: [u8; 16]) -> i64 {
    timeuuid_ticks(bytes) / 10_000 - GREGORIAN_MILLIS
}

/// Microseconds since the epoch of a timeuuid.
pub fn timeuuid_micros(bytes: [u8; 16]) -> i64 {
    timeuuid_ticks(bytes) / 10 - GREGORIAN_MILLIS * 1000
}

/// The timeuuid with this time, in units of 100 ns since the epoch, and this clock sequence and node.
pub fn timeuuid_bytes(ticks_since_epoch: i64, sequence_and_node: u64) -> [u8; 16] {
    let ticks = ticks_since_epoch.wrapping_add(GREGORIAN_MILLIS * 10_000).cast_unsigned();
    let high = ticks << 32 | (ticks >> 32 & 0xffff) << 16 | 0x1000 | (ticks >> 48 & 0xfff);
    (u128::from(high) << 64 | u128::from(sequence_and_node)).to_be_bytes()
}

/// The least timeuuid of a millisecond in Cassandra's order (`minTimeuuid`).
pub fn min_timeuuid(millis: i64) -> [u8; 16] {
    timeuuid_bytes(millis.wrapping_mul(10_000), 0x8080_8080_8080_8080)
}

/// The greatest timeuuid of a millisecond in Cassandra's order (`maxTimeuuid`).
pub fn max_timeuuid(millis: i64) -> [u8; 16] {
    timeuuid_bytes(millis.wrapping_mul(10_000).wrapping_add(9_999), 0x7f7f_7f7f_7f7f_7f7f)
}

/// A date as Java's `LocalDate` writes it: four digits of year at least, a plus before more.
pub fn date_text(days: i64) -> String {
    let (year, month, day) = civil_from_days(days);
    match year {
        10_000.. => format!("+{year}-{month:02}-{day:02}"),
        0.. => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("-{:04}-{month:02}-{day:02}", year.unsigned_abs()),
    }
}

/// Appends an unsigned vint: as many leading ones as bytes follow the first, then the number.
pub fn write_unsigned_vint(number: u64, out: &mut Vec<u8>) {
    let bits = 64 - (number | 1).leading_zeros();
    let more = ((bits - 1) / 7).min(8);
    if more == 8 {
        out.push(0xff);
    } else {
        let ones = !(0xff_u8 >> more);
        out.push(ones | (number >> (8 * more)) as u8);
    }
    let bytes = number.to_be_bytes();
    out.extend_from_slice(&bytes[8 - more as usize..]);
}

/// Reads an unsigned vint from the front of `bytes`; `None` if they are cut short.
pub fn read_unsigned_vint(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first()?;
    let more = first.leading_ones() as usize;
    let (tail, rest) = rest.split_at_checked(more)?;
    *bytes = rest;
    let head = if more >= 7 { 0 } else { u64::from(first & (0xff >> (more + 1))) };
    Some(tail.iter().fold(head, |number, byte| number << 8 | u64::from(*byte)))
}

/// Appends a signed vint: zigzag, so that small numbers of either sign are short.
pub fn write_vint(number: i64, out: &mut Vec<u8>) {
    write_unsigned_vint((number << 1 ^ number >> 63).cast_unsigned(), out);
}

/// Reads a signed vint from the front of `bytes`; `None` if they are cut short.
pub fn read_vint(bytes: &mut &[u8]) -> Option<i64> {
    let number = read_unsigned_vint(bytes)?;
    Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
}

/// Cassandra's text: `1y2mo3d4h5m6s7ms8us9ns`, a minus before the whole; empty for no duration at all.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.months < 0 || self.days < 0 || self.nanos < 0 {
            f.write_str("-")?;
        }
        let mut unit = |number: u64, name: &str| match number {
            0 => Ok(()),
            _ => write!(f, "{number}{name}"),
        };
        let months = u64::from(self.months.unsigned_abs());
        unit(months / 12, "y")?;
        unit(months % 12, "mo")?;
        unit(u64::from(self.days.unsigned_abs()), "d")?;
        let mut nanos = self.nanos.unsigned_abs();
        for (size, name) in duration::NANO_UNITS {
            unit(nanos / size, name)?;
            nanos %= size;
        }
        Ok(())
    }
}
