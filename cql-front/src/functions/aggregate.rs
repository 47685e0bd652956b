//! Aggregates: count, min, max, sum, avg (sheet G.2).
//!
//! | of | sum | avg |
//! |---|---|---|
//! | integers | wraps in its own width | sum in wider arithmetic, quotient cut off |
//! | varint | exact | cut off |
//! | decimal | exact | running mean, halves to the even at the values' scale |
//! | float, double | compensated summation | the same; beyond the range of a double in decimals |
//!
//! Nulls are passed over. Of nothing, counts and sums and averages are 0, min and max are null.

use super::Body;
use super::number::{Decimal, Number};
use crate::error::Error;
use crate::error::function::FunctionError;
use cassling_engine::types::{CqlType, order};
use num_bigint::BigInt;

/// The state of an aggregate.
#[derive(Clone, Debug)]
pub struct Accumulator {
    body: Body,
    ty: CqlType,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Rows, or values that are not null.
    Count(i64),
    /// The least or greatest value so far.
    Best(Option<Vec<u8>>),
    Integer {
        sum: BigInt,
        count: i64,
    },
    Decimal {
        value: Decimal,
        count: i64,
    },
    Float(Compensated),
}

/// A sum of doubles with what rounding lost (Kahan), and the plain sum, which tells infinity from not-a-number.
#[derive(Clone, Debug, Default)]
struct Compensated {
    sum: f64,
    compensation: f64,
    plain: f64,
    count: i64,
    /// The sum in decimals, once doubles were left.
    beyond: Option<Decimal>,
}

impl Accumulator {
    pub(super) fn new(body: Body, ty: Option<&CqlType>) -> Accumulator {
        let ty = ty.cloned().unwrap_or(CqlType::Blob);
        let state = match (body, &ty) {
            (Body::Min | Body::Max, _) => State::Best(None),
            (Body::Sum | Body::Avg, CqlType::Decimal) => {
                State::Decimal { value: Decimal::zero(), count: 0 }
            }
            (Body::Sum | Body::Avg, CqlType::Float | CqlType::Double) => {
                State::Float(Compensated::default())
            }
            (Body::Sum | Body::Avg, _) => State::Integer { sum: BigInt::ZERO, count: 0 },
            _ => State::Count(0),
        };
        Accumulator { body, ty, state }
    }

    /// Takes in the arguments of one row.
    ///
    /// # Errors
    /// As [`super::Function::call`].
    pub fn add(&mut self, arguments: &[Option<&[u8]>]) -> Result<(), Error> {
        self.take(arguments).map_err(Error::new)
    }

    /// The result so far.
    ///
    /// # Errors
    /// As [`super::Function::call`].
    pub fn result(&self) -> Result<Option<Vec<u8>>, Error> {
        self.value().map_err(Error::new)
    }

    pub(super) fn take(&mut self, arguments: &[Option<&[u8]>]) -> Result<(), FunctionError> {
        if self.body == Body::CountRows {
            if let State::Count(count) = &mut self.state {
                *count += 1;
            }
            return Ok(());
        }
        let Some(Some(bytes)) = arguments.first() else { return Ok(()) };
        let ty = &self.ty;
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::Best(best) => {
                let better = best.as_deref().is_none_or(|best| {
                    let order = order::compare(ty, bytes, best);
                    if self.body == Body::Min { order.is_lt() } else { order.is_gt() }
                });
                if better {
                    *best = Some(bytes.to_vec());
                }
            }
            _ if bytes.is_empty() => {}
            State::Integer { sum, count } => {
                *count += 1;
                *sum += Number::read(ty, bytes).varint().map_err(failure)?;
            }
            State::Decimal { value, count } => {
                *count += 1;
                let number = Number::read(ty, bytes).decimal().map_err(failure)?;
                *value = if self.body == Body::Sum {
                    value.add(&number)
                } else {
                    mean(value, &number, *count)
                }
                .map_err(failure)?;
            }
            State::Float(sum) => {
                sum.add(Number::read(ty, bytes).double(), self.body == Body::Avg)
                    .map_err(failure)?;
            }
        }
        Ok(())
    }

    pub(super) fn value(&self) -> Result<Option<Vec<u8>>, FunctionError> {
        let number = match &self.state {
            State::Count(count) => return Ok(Some(count.to_be_bytes().to_vec())),
            State::Best(best) => return Ok(best.clone()),
            State::Integer { count: 0, .. } => Number::Integer(0),
            State::Integer { sum, count } if self.body == Body::Avg => {
                Number::Varint(sum / BigInt::from(*count))
            }
            State::Integer { sum, .. } => Number::Varint(sum.clone()),
            State::Decimal { value, .. } => Number::Decimal(value.clone()),
            State::Float(sum) => sum.value(self.body == Body::Avg).map_err(failure)?,
        };
        number.write(&self.ty).map(Some).map_err(failure)
    }
}

fn failure(reason: &'static str) -> FunctionError {
    FunctionError::Server(format!("java.lang.ArithmeticException: {reason}"))
}

/// The mean of `count` numbers, given that of all but the last.
fn mean(before: &Decimal, number: &Decimal, count: i64) -> Result<Decimal, &'static str> {
    let difference = number.subtract(before)?;
    let part = difference.divide_half_even(&Decimal::from_integer(count), difference.scale)?;
    before.add(&part)
}

impl Compensated {
    fn add(&mut self, number: f64, average: bool) -> Result<(), &'static str> {
        self.count += 1;
        if let Some(beyond) = &self.beyond {
            let number = Number::Double(number).decimal()?;
            self.beyond = Some(beyond.add(&number)?);
            return Ok(());
        }
        self.plain += number;
        let before = self.sum;
        let corrected = number - self.compensation;
        let rounded = self.sum + corrected;
        self.compensation = (rounded - self.sum) - corrected;
        self.sum = rounded;
        if average && self.sum.is_infinite() && number.is_finite() && before.is_finite() {
            let (before, number) = (Decimal::from_double(before), Decimal::from_double(number));
            self.beyond = Some(before.add(&number)?);
        }
        Ok(())
    }

    fn value(&self, average: bool) -> Result<Number, &'static str> {
        let sum = self.sum + self.compensation;
        let sum = if sum.is_nan() && self.plain.is_infinite() { self.plain } else { sum };
        if !average {
            return Ok(Number::Double(sum));
        }
        match &self.beyond {
            _ if self.count == 0 => Ok(Number::Double(0.0)),
            Some(beyond) => {
                let count = Decimal::from_integer(self.count);
                Ok(Number::Decimal(beyond.divide_half_even(&count, beyond.scale)?))
            }
            None => Ok(Number::Double(sum / self.count as f64)),
        }
    }
}
