//! Java's numbers: how the numeric types convert into each other, and decimal arithmetic.
//!
//! Integers narrow by cutting bits, floating numbers by stopping at the bounds; a decimal is an integer with a scale,
//! and which of the equal forms `1E+2`, `100` and `100.00` comes out of an operation is part of the answer.

use cassling_engine::types::{CqlType, float, number};
use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;

/// Digits to which sums and products of decimals are kept.
const PRECISION: usize = 10_000;
/// Digits beyond which nothing is written out: an exponent of 2^31 would fill the memory.
const MAX_DIGITS: i64 = 1_000_000;

/// A number that failed to convert or compute, by the text of Java's exception.
pub(super) type Failure = &'static str;

/// A decimal: `unscaled` x 10^-`scale`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) scale: i64,
    pub(super) unscaled: BigInt,
}

/// A value of a numeric type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    /// tinyint to bigint, counter.
    Integer(i64),
    Float(f32),
    Double(f64),
    Varint(BigInt),
    Decimal(Decimal),
}

impl Number {
    /// The number that bytes of a numeric type hold. A tinyint may have been stored with more bytes: the first counts.
    pub(super) fn read(ty: &CqlType, bytes: &[u8]) -> Number {
        fn front<const N: usize>(bytes: &[u8]) -> [u8; N] {
            bytes.first_chunk::<N>().copied().unwrap_or([0; N])
        }
        match ty {
            CqlType::Tinyint => Number::Integer(i8::from_be_bytes(front(bytes)).into()),
            CqlType::Smallint => Number::Integer(i16::from_be_bytes(front(bytes)).into()),
            CqlType::Int => Number::Integer(i32::from_be_bytes(front(bytes)).into()),
            CqlType::Float => Number::Float(f32::from_be_bytes(front(bytes))),
            CqlType::Double => Number::Double(f64::from_be_bytes(front(bytes))),
            CqlType::Varint => Number::Varint(BigInt::from_signed_bytes_be(bytes)),
            CqlType::Decimal => {
                let (scale, unscaled) = number::decimal_parts(bytes);
                Number::Decimal(Decimal { scale: scale.into(), unscaled })
            }
            _ => Number::Integer(i64::from_be_bytes(front(bytes))),
        }
    }

    /// Java's `longValue`.
    pub(super) fn long(&self) -> i64 {
        match self {
            Number::Integer(it) => *it,
            Number::Float(it) => *it as i64,
            Number::Double(it) => *it as i64,
            Number::Varint(it) => low_bits(it),
            Number::Decimal(it) => it.low_bits(),
        }
    }

    /// Java's `intValue`: floating numbers stop at the bounds of 32 bits, the others are cut.
    pub(super) fn int(&self) -> i32 {
        match self {
            Number::Float(it) => *it as i32,
            Number::Double(it) => *it as i32,
            _ => self.long() as i32,
        }
    }

    /// Java's `doubleValue`.
    pub(super) fn double(&self) -> f64 {
        match self {
            Number::Integer(it) => *it as f64,
            Number::Float(it) => f64::from(*it),
            Number::Double(it) => *it,
            Number::Varint(it) => it.to_string().parse().unwrap_or(f64::NAN),
            Number::Decimal(it) => it.scientific().parse().unwrap_or(f64::NAN),
        }
    }

    /// Java's `floatValue`.
    pub(super) fn float(&self) -> f32 {
        match self {
            Number::Integer(it) => *it as f32,
            Number::Float(it) => *it,
            Number::Double(it) => *it as f32,
            Number::Varint(it) => it.to_string().parse().unwrap_or(f32::NAN),
            Number::Decimal(it) => it.scientific().parse().unwrap_or(f32::NAN),
        }
    }

    /// As a varint: floating numbers stop at the bounds of 64 bits.
    pub(super) fn varint(&self) -> Result<BigInt, Failure> {
        match self {
            Number::Varint(it) => Ok(it.clone()),
            Number::Decimal(it) => it.truncated(),
            _ => Ok(BigInt::from(self.long())),
        }
    }

    /// As an operand of decimal arithmetic: all but varint and decimal go through a double's digits, so 5 is 5.0.
    pub(super) fn decimal(&self) -> Result<Decimal, Failure> {
        match self {
            Number::Varint(it) => Ok(Decimal { scale: 0, unscaled: it.clone() }),
            Number::Decimal(it) => Ok(it.clone()),
            _ => match self.double() {
                it if it.is_nan() => Err("A NaN cannot be converted into a decimal"),
                it if it.is_infinite() => {
                    Err("An infinite number cannot be converted into a decimal")
                }
                it => Ok(Decimal::from_double(it)),
            },
        }
    }

    /// The number's bytes as a value of that type, narrowed as Java does.
    pub(super) fn write(&self, ty: &CqlType) -> Result<Vec<u8>, Failure> {
        Ok(match ty {
            CqlType::Tinyint => (self.int() as i8).to_be_bytes().to_vec(),
            CqlType::Smallint => (self.int() as i16).to_be_bytes().to_vec(),
            CqlType::Int => self.int().to_be_bytes().to_vec(),
            CqlType::Float => self.float().to_be_bytes().to_vec(),
            CqlType::Double => self.double().to_be_bytes().to_vec(),
            CqlType::Varint => self.varint()?.to_signed_bytes_be(),
            CqlType::Decimal => self.decimal()?.bytes()?,
            _ => self.long().to_be_bytes().to_vec(),
        })
    }
}

/// The low 64 bits of a two's complement number.
fn low_bits(number: &BigInt) -> i64 {
    let low = number.magnitude().iter_u64_digits().next().unwrap_or(0);
    if number.sign() == Sign::Minus { low.wrapping_neg() } else { low }.cast_signed()
}

/// 10^`exponent`.
pub(super) fn power_of_ten(exponent: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exponent).unwrap_or(0))
}

/// Decimal digits of a number's magnitude; one for zero.
pub(super) fn digits(number: &BigInt) -> i64 {
    if number.sign() == Sign::NoSign {
        return 1;
    }
    let estimate = ((number.bits() - 1) as f64 * std::f64::consts::LOG10_2) as i64 + 1;
    if number.magnitude() >= power_of_ten(estimate).magnitude() { estimate + 1 } else { estimate }
}

/// `number` / `divisor`, rounded half up (away from zero).
pub(super) fn divide_half_up(number: &BigInt, divisor: &BigInt) -> BigInt {
    let quotient = number / divisor;
    let rest = number - &quotient * divisor;
    if (rest.magnitude() * 2u8) < *divisor.magnitude() {
        return quotient;
    }
    let away =
        if (number.sign() == Sign::Minus) == (divisor.sign() == Sign::Minus) { 1 } else { -1 };
    quotient + away
}

/// `number` / `divisor`, rounded to the nearest, halves to the even.
fn divide_half_even(number: &BigInt, divisor: &BigInt) -> BigInt {
    let up = divide_half_up(number, divisor);
    let quotient = number / divisor;
    let rest = number - &quotient * divisor;
    let half = rest.magnitude() * 2u8 == *divisor.magnitude();
    if half && !quotient.bit(0) { quotient } else { up }
}

const OVERFLOW: Failure = "Overflow";

impl Decimal {
    pub(super) fn zero() -> Decimal {
        Decimal { scale: 0, unscaled: BigInt::ZERO }
    }

    pub(super) fn from_integer(number: i64) -> Decimal {
        Decimal { scale: 0, unscaled: BigInt::from(number) }
    }

    /// By the double's shortest digits, as Java prints them: 5 is 5.0.
    pub(super) fn from_double(number: f64) -> Decimal {
        let (scale, unscaled) =
            number::parse_decimal(&float::double_text(number)).unwrap_or((0, BigInt::ZERO));
        Decimal { scale: scale.into(), unscaled }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.unscaled.sign() == Sign::NoSign
    }

    /// Wire bytes.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, Failure> {
        let scale = i32::try_from(self.scale).map_err(|_| OVERFLOW)?;
        Ok(number::decimal_bytes(scale, &self.unscaled))
    }

    fn scientific(&self) -> String {
        format!("{}e{}", self.unscaled, -self.scale)
    }

    /// Without its fraction.
    pub(super) fn truncated(&self) -> Result<BigInt, Failure> {
        match self.scale {
            0 => Ok(self.unscaled.clone()),
            scale if scale > 0 && scale > digits(&self.unscaled) => Ok(BigInt::ZERO),
            scale if scale > 0 => Ok(&self.unscaled / power_of_ten(scale)),
            scale if self.is_zero() || -scale <= MAX_DIGITS => Ok(if self.is_zero() {
                BigInt::ZERO
            } else {
                &self.unscaled * power_of_ten(-scale)
            }),
            _ => Err(OVERFLOW),
        }
    }

    fn low_bits(&self) -> i64 {
        // 10^64 is a multiple of 2^64.
        if self.scale <= -64 { 0 } else { self.truncated().map_or(0, |it| low_bits(&it)) }
    }

    /// Rounded to that many digits, if it has more.
    pub(super) fn rounded(mut self, precision: usize) -> Decimal {
        let excess = digits(&self.unscaled) - precision as i64;
        if excess > 0 {
            self.unscaled = divide_half_up(&self.unscaled, &power_of_ten(excess));
            self.scale -= excess;
            // 99.9 may have become 100.
            if digits(&self.unscaled) > precision as i64 {
                self.unscaled /= 10;
                self.scale -= 1;
            }
        }
        self
    }

    /// To the nearest integer, halves up.
    pub(super) fn round(&self) -> Result<Decimal, Failure> {
        let unscaled = match self.scale {
            scale if scale <= 0 => self.truncated()?,
            scale if scale > digits(&self.unscaled) => BigInt::ZERO,
            scale => divide_half_up(&self.unscaled, &power_of_ten(scale)),
        };
        Ok(Decimal { scale: 0, unscaled })
    }

    /// The same value with a greater scale.
    fn with_scale(&self, scale: i64) -> Result<BigInt, Failure> {
        let more = scale - self.scale;
        match more {
            0 => Ok(self.unscaled.clone()),
            _ if self.is_zero() => Ok(BigInt::ZERO),
            _ if more > MAX_DIGITS => Err(OVERFLOW),
            _ => Ok(&self.unscaled * power_of_ten(more)),
        }
    }

    /// Without trailing zeros, but not below that scale.
    pub(super) fn stripped(mut self, least: i64) -> Decimal {
        while self.scale > least && !self.is_zero() {
            let rest: BigInt = &self.unscaled % 10;
            if rest.sign() != Sign::NoSign {
                break;
            }
            self.unscaled /= 10;
            self.scale -= 1;
        }
        self
    }

    fn negated(&self) -> Decimal {
        Decimal { scale: self.scale, unscaled: -&self.unscaled }
    }

    pub(super) fn negate(self) -> Decimal {
        self.negated()
    }

    pub(super) fn add(&self, other: &Decimal) -> Result<Decimal, Failure> {
        let (big, small) =
            if self.magnitude() >= other.magnitude() { (self, other) } else { (other, self) };
        let gap = big.magnitude() - small.magnitude();
        if gap > 2 * PRECISION as i64 && !small.is_zero() && !big.is_zero() {
            // The small one does not reach the last digit kept.
            let scale = big.scale + PRECISION as i64 - digits(&big.unscaled);
            let unscaled = big.with_scale(scale.max(big.scale))?;
            return Ok(Decimal { scale: scale.max(big.scale), unscaled }.rounded(PRECISION));
        }
        let scale = self.scale.max(other.scale);
        let unscaled = self.with_scale(scale)? + other.with_scale(scale)?;
        Ok(Decimal { scale, unscaled }.rounded(PRECISION))
    }

    pub(super) fn subtract(&self, other: &Decimal) -> Result<Decimal, Failure> {
        self.add(&other.negated())
    }

    pub(super) fn multiply(&self, other: &Decimal) -> Result<Decimal, Failure> {
        let product =
            Decimal { scale: self.scale + other.scale, unscaled: &self.unscaled * &other.unscaled };
        Ok(product.rounded(PRECISION))
    }

    /// Exponent of the first digit.
    fn magnitude(&self) -> i64 {
        digits(&self.unscaled) - self.scale
    }

    /// The quotient with 32 to 1000 digits after the point, trailing zeros cut off.
    pub(super) fn divide(&self, other: &Decimal) -> Result<Decimal, Failure> {
        if other.is_zero() {
            return Err("BigInteger divide by zero");
        }
        let scale = (32 - (self.magnitude() - other.magnitude()))
            .max(self.scale)
            .max(other.scale)
            .clamp(32, 1000);
        let unscaled = self.quotient(other, scale, divide_half_up)?;
        if unscaled.sign() == Sign::NoSign {
            return Ok(Decimal::zero());
        }
        Ok(Decimal { scale, unscaled }.stripped(i64::from(i32::MIN)))
    }

    /// The quotient with that scale, halves to the even.
    pub(super) fn divide_half_even(&self, other: &Decimal, scale: i64) -> Result<Decimal, Failure> {
        Ok(Decimal { scale, unscaled: self.quotient(other, scale, divide_half_even)? })
    }

    fn quotient(
        &self,
        other: &Decimal,
        scale: i64,
        divide: fn(&BigInt, &BigInt) -> BigInt,
    ) -> Result<BigInt, Failure> {
        let shift = scale + other.scale - self.scale;
        if shift.abs() > MAX_DIGITS {
            // Nothing of a quotient this small is left; one this large cannot be written out.
            return if shift < 0 { Ok(BigInt::ZERO) } else { Err(OVERFLOW) };
        }
        Ok(match shift.cmp(&0) {
            Ordering::Less => divide(&self.unscaled, &(&other.unscaled * power_of_ten(-shift))),
            _ => divide(&(&self.unscaled * power_of_ten(shift)), &other.unscaled),
        })
    }

    /// What is left of the division to an integer; the sign is the dividend's.
    pub(super) fn remainder(&self, other: &Decimal) -> Result<Decimal, Failure> {
        if other.is_zero() {
            return Err("Division by zero");
        }
        let preferred = self.scale - other.scale;
        let quotient = self.quotient(other, 0, |a, b| a / b)?;
        let quotient = Decimal { scale: 0, unscaled: quotient };
        let quotient = match quotient.is_zero() {
            true => Decimal { scale: preferred, ..quotient },
            false => quotient.stripped(preferred.min(0)),
        };
        let product_scale = quotient.scale.max(preferred) + other.scale;
        let scale = self.scale.max(product_scale);
        let product = Decimal {
            scale: quotient.scale + other.scale,
            unscaled: &quotient.unscaled * &other.unscaled,
        };
        let unscaled = self.with_scale(scale)? - product.with_scale(scale.max(product.scale))?;
        Ok(Decimal { scale, unscaled })
    }
}
