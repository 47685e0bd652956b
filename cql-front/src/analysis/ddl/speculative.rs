//! `speculative_retry` and `additional_write_policy`: read in any case, shown in one form.
//!
//! | written | shown |
//! |---|---|
//! | `99PERCENTILE`, `99.50p` | `99p`, `99.5p` |
//! | `50.7MS` | `50ms` |
//! | `min(50ms , 99p)` | `MIN(99p,50ms)` |
//! | `always`, `none` | `ALWAYS`, `NEVER` |

use crate::error::Error;
use crate::error::schema::OptionError;

/// The policy as `system_schema.tables` shows it.
///
/// # Errors
/// `Invalid value ...` (the texts say `speculative_retry` for either option).
pub(super) fn normal_form(written: &str) -> Result<String, Error> {
    let invalid = || Error::from(OptionError::Retry { value: written.to_string() });
    let text = written.to_lowercase();
    match text.as_str() {
        "always" => return Ok("ALWAYS".to_string()),
        "never" | "none" => return Ok("NEVER".to_string()),
        _ => {}
    }
    let (kind, arguments) = match (text.strip_prefix("min("), text.strip_prefix("max(")) {
        (Some(arguments), _) => ("MIN", arguments),
        (_, Some(arguments)) => ("MAX", arguments),
        (None, None) => return Ok(simple(&text, written)?.ok_or_else(invalid)?.to_string()),
    };
    let (first, second) =
        arguments.strip_suffix(')').and_then(|a| a.split_once(',')).ok_or_else(invalid)?;
    let first = simple(first.trim(), written)?.ok_or_else(invalid)?;
    let second = simple(second.trim(), written)?.ok_or_else(invalid)?;
    let same = |kind| {
        let value = written.to_string();
        Err(OptionError::RetrySameKinds { value, kind }.into())
    };
    match (first, second) {
        (Simple::Percentile(_), Simple::Percentile(_)) => same("PERCENTILE"),
        (Simple::Fixed(_), Simple::Fixed(_)) => same("FIXED"),
        (percentile @ Simple::Percentile(_), fixed) | (fixed, percentile) => {
            Ok(format!("{kind}({percentile},{fixed})"))
        }
    }
}

enum Simple {
    Percentile(f64),
    Fixed(f64),
}

impl std::fmt::Display for Simple {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // At most four decimals, none that are 0.
            Simple::Percentile(value) => write!(f, "{}p", (value * 10_000.0).round() / 10_000.0),
            Simple::Fixed(millis) => write!(f, "{}ms", millis.trunc()),
        }
    }
}

/// `99p`, `99percentile` or `50ms`, in lower case; `None` if it is neither.
fn simple(text: &str, written: &str) -> Result<Option<Simple>, Error> {
    let number = |digits: &str| {
        let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        if plain { digits.parse::<f64>().ok() } else { None }
    };
    if let Some(digits) = text.strip_suffix("ms") {
        return Ok(number(digits).map(Simple::Fixed));
    }
    let Some(digits) = text.strip_suffix("percentile").or_else(|| text.strip_suffix('p')) else {
        return Ok(None);
    };
    match number(digits) {
        Some(value) if value <= 0.0 || value >= 100.0 => {
            Err(OptionError::RetryPercentile { value: written.to_string() }.into())
        }
        value => Ok(value.map(Simple::Percentile)),
    }
}
