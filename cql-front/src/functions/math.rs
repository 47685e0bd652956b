//! abs, exp, log, log10, round. Integers and floating numbers go through doubles; decimals are computed to 32 digits:
//!
//! ```text
//! e^x        x = n ln 10 + r,  e^x = e^r x 10^n,  e^r by its series
//! ln x       x = m x 10^n,  ln x = y + n ln 10,  y with e^y = m by Halley's iteration
//! log10 x    ln x / ln 10, both to 34 digits: log10(100) is exactly 2, log10(1000) is 3.000...0 with 31 zeros
//! ```

use super::Body;
use super::number::{Decimal, Failure, Number, digits, divide_half_up, power_of_ten};
use crate::error::function::FunctionError;
use cassling_engine::types::CqlType;
use num_bigint::{BigInt, Sign};

/// Digits of a result.
const PRECISION: usize = 32;
/// Digits of what log10 divides.
const GUARDED: usize = 34;
/// Digits beyond the result's with which series are summed.
const SPARE: i64 = 20;
/// ln 10 with 110 digits after the point.
const LN_10: &str = "230258509299404568401799145468436420760110148862877297603332790096757260967735248023599720508959829834196778404";

/// The function's value for a number of that type.
pub(super) fn call(body: Body, ty: &CqlType, bytes: &[u8]) -> Result<Vec<u8>, FunctionError> {
    let number = Number::read(ty, bytes);
    let result = match (&number, body) {
        (Number::Integer(it), Body::Abs) => Ok(Number::Integer(it.wrapping_abs())),
        (Number::Integer(_) | Number::Varint(_), Body::Round) => Ok(number),
        (Number::Float(it), Body::Abs) => Ok(Number::Float(it.abs())),
        (Number::Double(it), Body::Abs) => Ok(Number::Double(it.abs())),
        (Number::Float(it), Body::Round) => {
            Ok(Number::Float(round_half_up(f64::from(*it)) as i32 as f32))
        }
        (Number::Double(it), Body::Round) => Ok(Number::Double(round_half_up(*it) as i64 as f64)),
        (Number::Varint(it), Body::Abs) => {
            Ok(Number::Varint(BigInt::from_biguint(Sign::Plus, it.magnitude().clone())))
        }
        (Number::Decimal(it), Body::Abs) => {
            let unscaled = BigInt::from_biguint(Sign::Plus, it.unscaled.magnitude().clone());
            Ok(Number::Decimal(Decimal { scale: it.scale, unscaled }))
        }
        (Number::Decimal(it), Body::Round) => it.round().map(Number::Decimal),
        (Number::Decimal(it), _) => decimal(body, it).map(Number::Decimal),
        (Number::Varint(it), _) => {
            decimal(body, &Decimal { scale: 0, unscaled: it.clone() }).map(Number::Decimal)
        }
        (Number::Integer(_) | Number::Float(_) | Number::Double(_), _) => {
            Ok(Number::Double(double(body, number.double())))
        }
    };
    result
        .and_then(|number| number.write(ty))
        .map_err(|reason| FunctionError::Server(format!("java.lang.ArithmeticException: {reason}")))
}

fn double(body: Body, number: f64) -> f64 {
    match body {
        Body::Exp => number.exp(),
        Body::Log => number.ln(),
        _ => number.log10(),
    }
}

/// Java's `Math.round`: halves towards the greater number.
fn round_half_up(number: f64) -> f64 {
    let floor = number.floor();
    if number - floor >= 0.5 { floor + 1.0 } else { floor }
}

fn decimal(body: Body, number: &Decimal) -> Result<Decimal, Failure> {
    let positive = number.unscaled.sign() == Sign::Plus;
    match body {
        Body::Exp => exp(number),
        Body::Log if !positive => Err("Natural log of number zero or less"),
        Body::Log => ln(number, PRECISION),
        _ if !positive => Err("Log10 of number zero or less"),
        _ => log10(number),
    }
}

/// ln 10 in units of 10^-`places`.
fn ln_10(places: i64) -> BigInt {
    let known = LN_10.len() as i64 - 1;
    let number: BigInt = LN_10.parse().expect("the constant is digits");
    if places <= known {
        divide_half_up(&number, &power_of_ten(known - places))
    } else {
        ln_fixed(&(BigInt::from(10) * power_of_ten(places)), places)
    }
}

/// e^x for |x| below about 3, in units of 10^-`places`.
fn exp_fixed(x: &BigInt, places: i64) -> BigInt {
    const HALVINGS: u32 = 12;
    let spare = 12;
    let one = power_of_ten(places + spare);
    let x = (x * power_of_ten(spare)) >> HALVINGS;
    let (mut sum, mut term) = (one.clone(), one.clone());
    let mut index = 1;
    loop {
        term = &term * &x / &one / index;
        if term.sign() == Sign::NoSign {
            break;
        }
        sum += &term;
        index += 1;
    }
    for _ in 0..HALVINGS {
        sum = &sum * &sum / &one;
    }
    divide_half_up(&sum, &power_of_ten(spare))
}

/// ln x for x between about 0.3 and 10, in units of 10^-`places`.
fn ln_fixed(x: &BigInt, places: i64) -> BigInt {
    let one = power_of_ten(places);
    let near = Number::Decimal(Decimal { scale: places, unscaled: x.clone() }).double().ln();
    let near = BigInt::from((near * 1e15) as i64);
    let mut y = if places >= 15 {
        near * power_of_ten(places - 15)
    } else {
        near / power_of_ten(15 - places)
    };
    let mut correct = 14;
    while correct < places {
        let e = exp_fixed(&y, places);
        y += BigInt::from(2) * (x - &e) * &one / (x + &e);
        correct *= 3;
    }
    y
}

fn exp(number: &Decimal) -> Result<Decimal, Failure> {
    if number.is_zero() {
        return Ok(Decimal::from_integer(1));
    }
    let places = PRECISION as i64 + SPARE;
    let whole = number.truncated()?;
    if i32::try_from(&whole).is_err() {
        return Err("Overflow");
    }
    // x in units of 10^-places, then the nearest multiple of ln 10.
    let x = match number.scale - places {
        more if more > digits(&number.unscaled) => BigInt::ZERO,
        more if more > 0 => divide_half_up(&number.unscaled, &power_of_ten(more)),
        less => &number.unscaled * power_of_ten(-less),
    };
    let n = divide_half_up(&x, &ln_10(places));
    // n has up to ten digits, so that many more of ln 10 are needed.
    let multiple = divide_half_up(&(&n * ln_10(places + 12)), &power_of_ten(12));
    let unscaled = exp_fixed(&(x - multiple), places);
    let n = i64::try_from(&n).map_err(|_| "Overflow")?;
    Ok(Decimal { scale: places - n, unscaled }.rounded(PRECISION))
}

/// ln x to so many digits; 0 for 1.
fn ln(number: &Decimal, precision: usize) -> Result<Decimal, Failure> {
    let plain = number.clone().stripped(i64::from(i32::MIN));
    if plain == Decimal::from_integer(1) {
        return Ok(Decimal::zero());
    }
    // m x 10^n with m between 0.3 and 3, so that near 1 nothing cancels; what ln x loses there, more places make up for.
    let count = digits(&plain.unscaled);
    let places = precision as i64 + SPARE + count.min(4000);
    let mut n = count - 1 - plain.scale;
    let mut m = match places - (count - 1) {
        more if more >= 0 => &plain.unscaled * power_of_ten(more),
        less => divide_half_up(&plain.unscaled, &power_of_ten(-less)),
    };
    if m > BigInt::from(3) * power_of_ten(places) {
        m /= 10;
        n += 1;
    }
    let unscaled = ln_fixed(&m, places) + BigInt::from(n) * ln_10(places);
    Ok(Decimal { scale: places, unscaled }.rounded(precision))
}

/// ln x / ln 10: an exact quotient keeps no more digits than its operands' scales ask for.
fn log10(number: &Decimal) -> Result<Decimal, Failure> {
    let (dividend, divisor) = (ln(number, GUARDED)?, ln(&Decimal::from_integer(10), GUARDED)?);
    let preferred = dividend.scale - divisor.scale;
    if dividend.is_zero() {
        return Ok(Decimal { scale: preferred, ..dividend });
    }
    let shift = 2 * GUARDED as i64;
    let shifted = &dividend.unscaled * power_of_ten(shift);
    let exact = (&shifted % &divisor.unscaled).sign() == Sign::NoSign;
    let quotient =
        Decimal { scale: preferred + shift, unscaled: divide_half_up(&shifted, &divisor.unscaled) };
    let quotient = if exact { quotient.stripped(preferred) } else { quotient.rounded(GUARDED) };
    Ok(quotient.rounded(PRECISION))
}
