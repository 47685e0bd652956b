//! Calendar arithmetic, timeuuids, vints, and literals of absurd size.

use cassling_engine::types::temporal::{self, Duration};
use cassling_engine::types::{CqlType, order, text};
use proptest::prelude::*;

fn day(text: &str) -> i64 {
    i64::from(temporal::parse_date(text).expect("a date"))
}

#[test]
fn months_move_on_the_calendar_and_stop_at_its_end() {
    for (from, months, to) in [
        ("2024-01-31", 1, "2024-02-29"),
        ("2023-01-31", 1, "2023-02-28"),
        ("2024-02-29", 12, "2025-02-28"),
        ("2024-03-31", -1, "2024-02-29"),
        ("2024-01-15", -13, "2022-12-15"),
        ("0000-01-01", -1, "-0001-12-01"),
    ] {
        assert_eq!(temporal::add_months(day(from), months), day(to), "{from} {months:+}");
    }
    let duration = Duration { months: 1, days: 2, nanos: 3_999_999 };
    let from = temporal::parse_timestamp("2024-01-31T23:00:00Z", 0).unwrap();
    let to = temporal::parse_timestamp("2024-03-02T23:00:00.003Z", 0).unwrap();
    assert_eq!(temporal::add_to_timestamp(from, duration), Some(to));
    assert_eq!(temporal::add_to_timestamp(i64::MAX, duration), None);
    assert_eq!(temporal::add_to_date(i32::MAX, duration), None);
}

#[test]
fn timeuuids_bracket_their_millisecond() {
    // The least timeuuid of the epoch, as in values.tsv.
    let least = "13814000-1dd2-11b2-8080-808080808080";
    assert_eq!(text::parse(&CqlType::Timeuuid, least, 0).unwrap(), temporal::min_timeuuid(0));
    for millis in [0, -1, 1_700_000_000_123] {
        let (least, greatest) = (temporal::min_timeuuid(millis), temporal::max_timeuuid(millis));
        assert_eq!(temporal::timeuuid_millis(least), millis);
        assert_eq!(temporal::timeuuid_millis(greatest), millis);
        assert!(order::compare(&CqlType::Timeuuid, &least, &greatest).is_lt());
        let next = temporal::min_timeuuid(millis + 1);
        assert!(order::compare(&CqlType::Timeuuid, &greatest, &next).is_lt());
    }
}

#[test]
fn absurd_literals_are_read_or_refused_without_writing_them_out() {
    let refused = |text: &str| text::parse(&CqlType::Decimal, text, 0).is_err();
    assert!(refused("1e99999999999999999999"));
    assert!(refused("1e2147483649"));
    let huge = text::parse(&CqlType::Decimal, "1e1000000000", 0).unwrap();
    assert_eq!(huge, [0xc4, 0x65, 0x36, 0x00, 0x01]);
    let mut encoded = Vec::new();
    order::encode(&CqlType::Decimal, &huge, false, &mut encoded);
    assert!(encoded.len() < 20);
    let long = "7".repeat(200_000);
    assert_eq!(text::parse(&CqlType::Varint, &long, 0).unwrap().len(), 83_049);
}

proptest! {
    #[test]
    fn days_and_dates_agree(days in -2_147_483_648i64..2_147_483_648) {
        let (year, month, of_month) = temporal::civil_from_days(days);
        prop_assert_eq!(temporal::days_from_civil(year, month, of_month), days);
        prop_assert!(of_month >= 1 && of_month <= temporal::days_of_month(year, month));
        prop_assert_eq!(i64::from(temporal::parse_date(&temporal::date_text(days)).unwrap()), days);
    }

    #[test]
    fn vints_come_back(number in any::<i64>(), shift in 0..64u32) {
        let number = number >> shift;
        let mut bytes = Vec::new();
        temporal::write_vint(number, &mut bytes);
        prop_assert_eq!(temporal::read_vint(&mut &bytes[..]), Some(number));
        prop_assert_eq!(temporal::read_vint(&mut &bytes[..bytes.len() - 1]), None);
    }
}
