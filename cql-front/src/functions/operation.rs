//! The operators `+ - * / %` and the unary minus (sheet G.5).

use super::number::{Decimal, Failure, Number};
use super::{Body, Function, registry};
use crate::analysis::terms::print;
use crate::ast::Arithmetic;
use crate::error::function::FunctionError;
use cassling_engine::types::temporal::{Duration, add_to_date, add_to_timestamp};
use cassling_engine::types::{CqlType, value};
use num_bigint::{BigInt, Sign};

/// The sign of an operation, for messages.
pub(super) fn operator(body: Body) -> Option<char> {
    match body {
        Body::Numeric(operator) | Body::Temporal(operator) => Some(sign(operator)),
        Body::Concatenate => Some('+'),
        _ => None,
    }
}

fn sign(operator: Arithmetic) -> char {
    match operator {
        Arithmetic::Add => '+',
        Arithmetic::Subtract => '-',
        Arithmetic::Multiply => '*',
        Arithmetic::Divide => '/',
        Arithmetic::Modulo => '%',
    }
}

/// Computes an operation on operands that are not null.
pub(super) fn call(
    function: &Function,
    values: &[&[u8]],
) -> Result<Option<Vec<u8>>, FunctionError> {
    let result = match (function.body, values) {
        (Body::Concatenate, [left, right]) => Ok([*left, *right].concat()),
        (Body::Numeric(operator), [left, right]) => {
            let left = Number::read(&function.parameters[0], left);
            let right = Number::read(&function.parameters[1], right);
            numeric(operator, &left, &right, &function.returns)
        }
        (Body::Temporal(operator), [moment, duration]) => {
            temporal(operator, &function.returns, moment, duration)
        }
        (Body::Negate, [only]) => negate(&function.returns, only).map_err(str::to_string),
        _ => return Ok(None),
    };
    result.map(Some).map_err(|reason| {
        let operator = match function.body {
            Body::Numeric(operator) | Body::Temporal(operator) => operator,
            _ => Arithmetic::Add,
        };
        FunctionError::Operation {
            function: registry::operation_name(operator).to_string(),
            operator: sign(operator),
            left: print::cql_type(&function.parameters[0]),
            right: function.parameters.get(1).map(print::cql_type).unwrap_or_default(),
            reason,
        }
    })
}

fn numeric(
    operator: Arithmetic,
    left: &Number,
    right: &Number,
    returns: &CqlType,
) -> Result<Vec<u8>, String> {
    let number = match returns {
        CqlType::Float => {
            let (left, right) = (left.float(), right.float());
            Number::Float(match operator {
                Arithmetic::Add => left + right,
                Arithmetic::Subtract => left - right,
                Arithmetic::Multiply => left * right,
                Arithmetic::Divide => left / right,
                Arithmetic::Modulo => left % right,
            })
        }
        CqlType::Double => {
            let (left, right) = (left.double(), right.double());
            Number::Double(match operator {
                Arithmetic::Add => left + right,
                Arithmetic::Subtract => left - right,
                Arithmetic::Multiply => left * right,
                Arithmetic::Divide => left / right,
                Arithmetic::Modulo => left % right,
            })
        }
        CqlType::Varint => Number::Varint(big(operator, &left.varint()?, &right.varint()?)?),
        CqlType::Decimal => {
            Number::Decimal(decimal(operator, &left.decimal()?, &right.decimal()?)?)
        }
        // All integers compute in 64 bits; what is cut off when written is what would have wrapped.
        _ => Number::Integer(integer(operator, left.long(), right.long())?),
    };
    Ok(number.write(returns)?)
}

fn integer(operator: Arithmetic, left: i64, right: i64) -> Result<i64, Failure> {
    match operator {
        Arithmetic::Add => Ok(left.wrapping_add(right)),
        Arithmetic::Subtract => Ok(left.wrapping_sub(right)),
        Arithmetic::Multiply => Ok(left.wrapping_mul(right)),
        Arithmetic::Divide | Arithmetic::Modulo if right == 0 => Err("/ by zero"),
        Arithmetic::Divide => Ok(left.wrapping_div(right)),
        Arithmetic::Modulo => Ok(left.wrapping_rem(right)),
    }
}

fn big(operator: Arithmetic, left: &BigInt, right: &BigInt) -> Result<BigInt, Failure> {
    match operator {
        Arithmetic::Add => Ok(left + right),
        Arithmetic::Subtract => Ok(left - right),
        Arithmetic::Multiply => Ok(left * right),
        Arithmetic::Divide | Arithmetic::Modulo if right.sign() == Sign::NoSign => {
            Err("BigInteger divide by zero")
        }
        Arithmetic::Divide => Ok(left / right),
        Arithmetic::Modulo => Ok(left % right),
    }
}

fn decimal(operator: Arithmetic, left: &Decimal, right: &Decimal) -> Result<Decimal, Failure> {
    match operator {
        Arithmetic::Add => left.add(right),
        Arithmetic::Subtract => left.subtract(right),
        Arithmetic::Multiply => left.multiply(right),
        Arithmetic::Divide => left.divide(right),
        Arithmetic::Modulo => left.remainder(right),
    }
}

fn negate(ty: &CqlType, bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    match Number::read(ty, bytes) {
        Number::Integer(it) => Number::Integer(it.wrapping_neg()),
        Number::Float(it) => Number::Float(-it),
        Number::Double(it) => Number::Double(-it),
        Number::Varint(it) => Number::Varint(-it),
        Number::Decimal(it) => Number::Decimal(it.negate()),
    }
    .write(ty)
}

fn temporal(
    operator: Arithmetic,
    ty: &CqlType,
    moment: &[u8],
    duration: &[u8],
) -> Result<Vec<u8>, String> {
    const OUT_OF_RANGE: &str = "long overflow";
    let duration = Duration::read(duration).map_err(|e| e.to_string())?;
    let by = if operator == Arithmetic::Subtract { duration.negated() } else { duration };
    if *ty == CqlType::Timestamp {
        if duration.nanos % 1_000_000 != 0 {
            return Err(format!("The duration must have a millisecond precision. Was: {duration}"));
        }
        let millis = Number::read(&CqlType::Bigint, moment).long();
        // With months the rest goes through a Java calendar, which takes milliseconds in 32 bits: more wrap around.
        let by = match by.months {
            0 => by,
            _ => Duration { nanos: i64::from((by.nanos / 1_000_000) as i32) * 1_000_000, ..by },
        };
        let moved = add_to_timestamp(millis, by).ok_or(OUT_OF_RANGE)?;
        return Ok(moved.to_be_bytes().to_vec());
    }
    if duration.nanos != 0 {
        return Err(format!("The duration must have a day precision. Was: {duration}"));
    }
    let moved = add_to_date(super::time::days(moment), by).ok_or(OUT_OF_RANGE)?;
    Ok(value::date_bytes(moved).to_vec())
}
