//! Texts of timestamps, dates, times and durations, as lenient as Cassandra and no more.

use super::duration::{Builder, Unit};
use super::{DAY_MILLIS, DAY_NANOS, Duration, MarshalError, civil_from_days, date_text};
use super::{days_from_civil, days_of_month};

/// Milliseconds since the epoch of a timestamp literal (sheet A.9), `now_millis` standing for `now`.
/// A text without zone is one of UTC.
///
/// # Errors
/// Cassandra's text.
pub fn parse_timestamp(text: &str, now_millis: i64) -> Result<i64, MarshalError> {
    if text.eq_ignore_ascii_case("now") {
        return Ok(now_millis);
    }
    if is_integer(text) {
        return text.parse().map_err(|_| {
            MarshalError::invalid(format!("Unable to make long (for date) from: '{text}'"))
        });
    }
    date_and_time(text).unwrap_or_else(|| {
        Err(MarshalError::invalid(format!("Unable to parse a date/time from '{text}'")))
    })
}

/// An integer as Cassandra's patterns `-?\d+` see it.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Year, month, day and time of day of the text, in the zone that ends it.
fn date_and_time(text: &str) -> Option<Result<i64, MarshalError>> {
    let (year, rest) = year(text)?;
    let (month, rest) = two_digits(rest.strip_prefix('-')?)?;
    let (day, rest) = two_digits(rest.strip_prefix('-')?)?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Java's "smart" resolving: the 31st of any month is its last day.
    let days = days_from_civil(year, month, day.min(days_of_month(year, month)));
    // Beside a time the year has four digits and no sign.
    let plain = text.starts_with(|c: char| c.is_ascii_digit());
    let with_time = rest.strip_prefix(['T', ' ']).filter(|_| plain).and_then(time_of_day);
    let (of_day, zone) = with_time.unwrap_or((0, rest));
    let local = i128::from(days) * i128::from(DAY_MILLIS) + i128::from(of_day);
    let offset = offset_at(local, zone)?;
    Some(
        i64::try_from(local - i128::from(offset))
            .map_err(|_| MarshalError::server("java.lang.ArithmeticException: long overflow")),
    )
}

/// A year of four digits, or of more behind a plus or minus.
fn year(text: &str) -> Option<(i64, &str)> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (0, text),
    };
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let fits = match sign {
        0 => count == 4,
        1 => (5..=9).contains(&count),
        _ => (4..=9).contains(&count),
    };
    let number: i64 = digits[..count].parse().ok().filter(|_| fits)?;
    // "-0000" is no year; "+" is for those of five digits.
    let wrong = (sign < 0 && number == 0) || (sign > 0 && number < 10_000);
    (!wrong).then_some((if sign < 0 { -number } else { number }, &digits[count..]))
}

fn two_digits(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(2)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| (digits.parse().ok(), rest))
        .and_then(|(number, rest)| Some((number?, rest)))
}

fn up_to_two_digits(text: &str) -> Option<(u32, &str)> {
    two_digits(text).or_else(|| Some((text.chars().next()?.to_digit(10)?, &text[1..])))
}

/// `HH:MM[:SS[.fff]]` at the front of `text`, in milliseconds; 24:00 is the end of the day.
fn time_of_day(text: &str) -> Option<(i64, &str)> {
    let (hour, rest) = up_to_two_digits(text)?;
    let (minute, mut rest) = up_to_two_digits(rest.strip_prefix(':')?)?;
    let (mut second, mut milli) = (0, 0);
    if let Some((number, after)) = rest.strip_prefix(':').and_then(up_to_two_digits) {
        (second, rest) = (number, after);
        if let Some(fraction) = rest.strip_prefix('.') {
            let count = fraction.bytes().take(9).take_while(u8::is_ascii_digit).count();
            let digits = format!("{:0<3}", &fraction[..count]);
            milli = digits[..3].parse().ok()?;
            rest = &fraction[count..];
        }
    }
    let end = (hour, minute, second, milli) == (24, 0, 0, 0);
    if (hour > 23 && !end) || minute > 59 || second > 59 {
        return None;
    }
    let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
    Some((seconds * 1000 + milli, rest))
}

/// Milliseconds by which the zone is ahead of UTC at a local time; no zone is UTC.
fn offset_at(local_millis: i128, zone: &str) -> Option<i64> {
    let (name, spaced) = match zone.strip_prefix(' ') {
        Some(name) => (name, true),
        None => (zone, false),
    };
    if let Some(offset) = offset_seconds(name) {
        return Some(offset * 1000);
    }
    match (name, spaced) {
        ("", false) => Some(0),
        (_, true) => named_offset(i64::try_from(local_millis).ok()?, name),
        _ => None,
    }
}

/// `Z`, `+01`, `+0130`, `+01:30`, at most 18 hours.
fn offset_seconds(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, rest) = two_digits(&text[1..])?;
    let minutes = match rest {
        "" => 0,
        _ => match two_digits(rest.strip_prefix(':').unwrap_or(rest))? {
            (minutes, "") => minutes,
            _ => return None,
        },
    };
    let seconds = i64::from(hours) * 3600 + i64::from(minutes) * 60;
    (minutes < 60 && seconds <= 18 * 3600).then_some(sign * seconds)
}

/// Names of zones that are no identifiers of the time zone database.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("AEDT", "Australia/Sydney"),
    ("AEST", "Australia/Sydney"),
    ("CDT", "America/Chicago"),
    ("CEST", "Europe/Paris"),
    ("CET", "Europe/Paris"),
    ("CST", "America/Chicago"),
    ("Central European Time", "Europe/Paris"),
    ("Coordinated Universal Time", "UTC"),
    ("EDT", "America/New_York"),
    ("EEST", "Europe/Athens"),
    ("EET", "Europe/Athens"),
    ("EST", "America/New_York"),
    ("JST", "Asia/Tokyo"),
    ("MDT", "America/Denver"),
    ("MSK", "Europe/Moscow"),
    ("MST", "America/Denver"),
    ("PDT", "America/Los_Angeles"),
    ("PST", "America/Los_Angeles"),
    ("Pacific Standard Time", "America/Los_Angeles"),
    ("UT", "UTC"),
    ("WEST", "Europe/Lisbon"),
    ("WET", "Europe/Lisbon"),
];

fn named_offset(local: i64, name: &str) -> Option<i64> {
    for prefix in ["UTC", "GMT", "UT"] {
        if let Some(offset) = name.strip_prefix(prefix)
            && (offset.is_empty() || offset.contains(':'))
        {
            return if offset.is_empty() { Some(0) } else { Some(offset_seconds(offset)? * 1000) };
        }
    }
    let known = ABBREVIATIONS.binary_search_by_key(&name, |(short, _)| short);
    let identifier = known.map_or(name, |at| ABBREVIATIONS[at].1);
    let zone = jiff::tz::db().get(identifier).ok()?;
    // The database forgives case, Cassandra does not.
    // Names with a plus end for it before the plus.
    if known.is_err() && (zone.iana_name() != Some(name) || name.contains('+')) {
        return None;
    }
    let (year, month, day) = civil_from_days(local.div_euclid(DAY_MILLIS));
    let of_day = local.rem_euclid(DAY_MILLIS);
    let civil = jiff::civil::Date::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
    )
    .ok()?
    .at(0, 0, 0, 0)
    .checked_add(jiff::SignedDuration::from_millis(of_day))
    .ok()?;
    // In a gap the time moves on by its length, in an overlap the earlier one counts, as in Java.
    Some(local - civil.to_zoned_datetime(zone).ok()?.timestamp().as_millisecond())
}

/// Days since 1970-01-01 of a date literal.
///
/// # Errors
/// Cassandra's text.
pub fn parse_date(text: &str) -> Result<i32, MarshalError> {
    if is_integer(text) {
        return text.parse::<u32>().map(|days| (days ^ 1 << 31).cast_signed()).map_err(|_| {
            MarshalError::invalid(format!("Unable to make unsigned int (for date) from: '{text}'"))
        });
    }
    let days = strict_date(text).ok_or_else(|| {
        MarshalError::invalid(format!("Unable to coerce '{text}' to a formatted date (long)"))
    })?;
    i32::try_from(days).map_err(|_| {
        let (than, bound, limit) = match days {
            ..0 => ("less", "min", i32::MIN),
            _ => ("greater", "max", i32::MAX),
        };
        let limit = date_text(i64::from(limit));
        MarshalError::invalid(format!(
            "Input date {text} is {than} than {bound} supported date {limit}T00:00Z"
        ))
    })
}

fn strict_date(text: &str) -> Option<i64> {
    let (year, rest) = year(text)?;
    let (month, rest) = two_digits(rest.strip_prefix('-')?)?;
    let (day, rest) = two_digits(rest.strip_prefix('-')?)?;
    if !(1..=12).contains(&month) || day == 0 || day > days_of_month(year, month) {
        return None;
    }
    // Cassandra counts in milliseconds; beyond some 292 million years they overflow.
    let days = days_from_civil(year, month, day);
    (rest.is_empty() && days.checked_mul(DAY_MILLIS).is_some()).then_some(days)
}

/// Nanoseconds since midnight of a time literal.
///
/// # Errors
/// Cassandra's text.
pub fn parse_time(text: &str) -> Result<i64, MarshalError> {
    if is_integer(text) {
        let nanos = text.parse().ok().filter(|nanos| (0..DAY_NANOS).contains(nanos));
        return nanos.ok_or_else(|| {
            MarshalError::invalid(format!("Unable to make long (for time) from: '{text}'"))
        });
    }
    clock_time(text).ok_or_else(|| {
        MarshalError::invalid(format!(
            "(TimeType) Unable to coerce '{text}' to a formatted time (long)"
        ))
    })
}

fn clock_time(text: &str) -> Option<i64> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let mut parts = text.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    let (second, fraction) = match second.split_once('.') {
        Some((second, fraction)) => (second, Some(fraction)),
        None => (second, None),
    };
    let nanos: i64 = match fraction {
        None => 0,
        Some(digits) => {
            let plain =
                (1..=9).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_digit());
            format!("{digits:0<9}").parse().ok().filter(|_| plain)?
        }
    };
    let number = |text: &str, limit: i64| {
        text.parse::<i64>().ok().filter(|number| (0..limit).contains(number))
    };
    let seconds = number(hour, 24)? * 3600 + number(minute, 60)? * 60 + number(second, 60)?;
    parts.next().is_none().then_some(seconds * 1_000_000_000 + nanos)
}

/// A duration in any of its three forms (`1mo2d3s`, `P1M2DT3S`, `P0001-02-03T04:05:06`).
///
/// # Errors
/// Cassandra's text.
pub fn parse_duration(text: &str) -> Result<Duration, MarshalError> {
    let (negative, source) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let parts = match source.strip_prefix('P') {
        None => units(source),
        Some(iso) if iso.ends_with('W') => iso_units(iso, &[('W', Unit::Weeks)], &[]),
        Some(iso) if iso.contains('-') => iso_alternative(iso),
        Some(iso) => iso_units(iso, ISO_DATE, ISO_TIME),
    };
    let parts = parts.ok_or_else(|| {
        MarshalError::invalid(format!("Unable to convert '{source}' to a duration"))
    })?;
    let mut builder = Builder::default();
    for (number, unit) in parts {
        let number = number.parse().map_err(|_| {
            MarshalError::server(format!(
                "java.lang.NumberFormatException: For input string: \"{number}\""
            ))
        })?;
        builder.add(number, unit)?;
    }
    Ok(builder.build(negative))
}

const ISO_DATE: &[(char, Unit)] = &[('Y', Unit::Years), ('M', Unit::Months), ('D', Unit::Days)];
const ISO_TIME: &[(char, Unit)] = &[('H', Unit::Hours), ('M', Unit::Minutes), ('S', Unit::Seconds)];

/// Numbers each with a unit behind it.
fn units(mut text: &str) -> Option<Vec<(&str, Unit)>> {
    let mut parts = Vec::new();
    while !text.is_empty() {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = text.split_at(digits);
        let symbol = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let unit = Unit::from_symbol(&rest[..symbol]).filter(|_| digits > 0)?;
        parts.push((number, unit));
        text = &rest[symbol..];
    }
    (!parts.is_empty()).then_some(parts)
}

/// ISO 8601 with designators: those of the date, then `T` and those of the time, each at most once in order.
fn iso_units<'a>(
    text: &'a str,
    date: &[(char, Unit)],
    time: &[(char, Unit)],
) -> Option<Vec<(&'a str, Unit)>> {
    let (date_text, time_text) = text.split_once('T').unwrap_or((text, ""));
    let mut parts = Vec::new();
    for (mut text, designators) in [(date_text, date), (time_text, time)] {
        let mut designators = designators.iter();
        while !text.is_empty() {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = text.split_at(digits);
            let letter = rest.chars().next()?;
            let (_, unit) = designators.find(|(it, _)| *it == letter).filter(|_| digits > 0)?;
            parts.push((number, *unit));
            text = &rest[letter.len_utf8()..];
        }
    }
    Some(parts)
}

/// ISO 8601's other form, `YYYY-MM-DDThh:mm:ss`.
fn iso_alternative(text: &str) -> Option<Vec<(&str, Unit)>> {
    const LAYOUT: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let fits = |(byte, shape): (u8, &u8)| match shape {
        b'd' => byte.is_ascii_digit(),
        _ => byte == *shape,
    };
    if text.len() != LAYOUT.len() || !text.bytes().zip(LAYOUT).all(fits) {
        return None;
    }
    Some(vec![
        (&text[0..4], Unit::Years),
        (&text[5..7], Unit::Months),
        (&text[8..10], Unit::Days),
        (&text[11..13], Unit::Hours),
        (&text[14..16], Unit::Minutes),
        (&text[17..19], Unit::Seconds),
    ])
}
