//! Which functions there are, by name. A name may have several; they are listed in the order of their signatures.

use super::{Body, Function};
use crate::ast::Arithmetic;
use cassling_engine::types::CqlType;
use std::sync::Arc;

/// The numeric types, which most arithmetic is made for.
pub(super) const NUMERIC: [CqlType; 9] = [
    CqlType::Tinyint,
    CqlType::Smallint,
    CqlType::Int,
    CqlType::Bigint,
    CqlType::Float,
    CqlType::Double,
    CqlType::Decimal,
    CqlType::Varint,
    CqlType::Counter,
];

/// The type whose name stands in `x_as_blob` and `blob_as_x`; blob itself has none.
fn blob_type(name: &str) -> Option<CqlType> {
    CqlType::native(name).filter(|ty| *ty != CqlType::Blob)
}

/// The class that Cassandra announces for timeuuids of some functions.
pub(super) fn legacy_timeuuid() -> CqlType {
    CqlType::Custom(Arc::from("org.apache.cassandra.db.marshal.LegacyTimeUUIDType"))
}

/// The result type of a function that gives back a type by way of its serialised form.
pub(super) fn announced(ty: &CqlType) -> CqlType {
    if *ty == CqlType::Timeuuid { legacy_timeuuid() } else { ty.clone() }
}

/// All plain functions of a name.
pub(super) fn named(name: &str) -> Vec<Function> {
    use CqlType::{Bigint, Blob, Date, Duration, Time, Timestamp, Timeuuid, Uuid};
    let one = |parameters: Vec<CqlType>, returns: CqlType, body: Body| {
        vec![Function::new(name, parameters, returns, body)]
    };
    let each = |types: &[CqlType], returns: CqlType, body: Body| {
        types
            .iter()
            .map(|ty| Function::new(name, vec![ty.clone()], returns.clone(), body))
            .collect()
    };
    let same = |body: Body| {
        NUMERIC.iter().map(|ty| Function::new(name, vec![ty.clone()], ty.clone(), body)).collect()
    };
    match name {
        "uuid" => one(vec![], Uuid, Body::Uuid),
        "now" | "current_timeuuid" | "currenttimeuuid" => one(vec![], Timeuuid, Body::Now),
        "current_timestamp" | "currenttimestamp" => one(vec![], Timestamp, Body::CurrentTimestamp),
        "current_date" | "currentdate" => one(vec![], Date, Body::CurrentDate),
        "current_time" | "currenttime" => one(vec![], Time, Body::CurrentTime),
        "min_timeuuid" | "mintimeuuid" => one(vec![Timestamp], Timeuuid, Body::MinTimeuuid),
        "max_timeuuid" | "maxtimeuuid" => one(vec![Timestamp], Timeuuid, Body::MaxTimeuuid),
        "to_date" | "todate" => each(&[Timestamp, Timeuuid], Date, Body::ToDate),
        "to_timestamp" | "totimestamp" => each(&[Date, Timeuuid], Timestamp, Body::ToTimestamp),
        "to_unix_timestamp" | "tounixtimestamp" => {
            each(&[Date, Timestamp, Timeuuid], Bigint, Body::ToUnixTimestamp)
        }
        "floor" => [
            (vec![Date, Duration], Date),
            (vec![Date, Duration, Date], Date),
            (vec![Time, Duration], Time),
            (vec![Timestamp, Duration], Timestamp),
            (vec![Timestamp, Duration, Timestamp], Timestamp),
            (vec![Timeuuid, Duration], Timestamp),
            (vec![Timeuuid, Duration, Timestamp], Timestamp),
        ]
        .into_iter()
        .map(|(parameters, returns)| Function::new(name, parameters, returns, Body::Floor))
        .collect(),
        "abs" => same(Body::Abs),
        "exp" => same(Body::Exp),
        "log" => same(Body::Log),
        "log10" => same(Body::Log10),
        "round" => same(Body::Round),
        "count_rows" | "countrows" => one(vec![], Bigint, Body::CountRows),
        "count" => one(vec![Blob], Bigint, Body::Count),
        "sum" => same(Body::Sum),
        "avg" => same(Body::Avg),
        _ => converters(name),
    }
}

/// `x_as_blob`, `blob_as_x`, `cast_as_x`, and the first two without underscores.
fn converters(name: &str) -> Vec<Function> {
    let one =
        |from: CqlType, to: CqlType, body: Body| vec![Function::new(name, vec![from], to, body)];
    if let Some(ty) = name.strip_prefix("cast_as_") {
        return casts(name, ty);
    }
    let from = name.strip_prefix("blob_as_").or_else(|| name.strip_prefix("blobas"));
    if let Some(ty) = from.and_then(blob_type) {
        return one(CqlType::Blob, announced(&ty), Body::FromBlob);
    }
    let to = name.strip_suffix("_as_blob").or_else(|| name.strip_suffix("asblob"));
    match to.and_then(blob_type) {
        Some(ty) => one(ty, CqlType::Blob, Body::ToBlob),
        None => Vec::new(),
    }
}

/// The casts to a type, none to `varchar` (sheet G.3).
fn casts(name: &str, to: &str) -> Vec<Function> {
    use CqlType::{Ascii, Boolean, Date, Inet, Text, Time, Timestamp, Timeuuid, Uuid};
    let Some(ty) = CqlType::native(to).filter(|_| to != "varchar") else { return Vec::new() };
    let sources: Vec<CqlType> = match ty {
        CqlType::Counter => vec![],
        _ if NUMERIC.contains(&ty) => NUMERIC.into_iter().filter(|it| *it != ty).collect(),
        Ascii | Text => {
            let mut sources = NUMERIC.to_vec();
            sources.extend([Boolean, Date, Inet, Time, Timestamp, Timeuuid, Uuid]);
            if ty == Text {
                sources.push(Ascii);
            }
            sources
        }
        Date => vec![Timestamp, Timeuuid],
        Timestamp => vec![Date, Timeuuid],
        _ => vec![],
    };
    sources
        .into_iter()
        .map(|from| Function::new(name, vec![from], ty.clone(), Body::Cast))
        .collect()
}

/// Whether the name is that of a function that needs JSON or masking.
pub(super) fn unsupported(name: &str) -> Option<crate::ast::Feature> {
    match name {
        "to_json" | "tojson" | "from_json" | "fromjson" => Some(crate::ast::Feature::Json),
        "mask_null" | "mask_default" | "mask_replace" | "mask_inner" | "mask_outer"
        | "mask_hash" => Some(crate::ast::Feature::DynamicDataMasking),
        _ => None,
    }
}

/// Name of an operator's function.
pub(super) fn operation_name(operator: Arithmetic) -> &'static str {
    match operator {
        Arithmetic::Add => "_add",
        Arithmetic::Subtract => "_substract",
        Arithmetic::Multiply => "_multiply",
        Arithmetic::Divide => "_divide",
        Arithmetic::Modulo => "_modulo",
    }
}

/// All functions of an operator.
pub(super) fn operations(operator: Arithmetic) -> Vec<Function> {
    use CqlType::{Ascii, Date, Duration, Text, Timestamp};
    let name = operation_name(operator);
    let mut functions = Vec::new();
    for left in &NUMERIC {
        for right in &NUMERIC {
            let returns = numeric_result(left, right);
            let parameters = vec![left.clone(), right.clone()];
            functions.push(Function::new(name, parameters, returns, Body::Numeric(operator)));
        }
    }
    if matches!(operator, Arithmetic::Add | Arithmetic::Subtract) {
        for ty in [Timestamp, Date] {
            let parameters = vec![ty.clone(), Duration];
            functions.push(Function::new(name, parameters, ty, Body::Temporal(operator)));
        }
    }
    if operator == Arithmetic::Add {
        for (left, right) in [(Text, Text), (Ascii, Ascii), (Ascii, Text), (Text, Ascii)] {
            let returns = if left == right { left.clone() } else { Text };
            functions.push(Function::new(name, vec![left, right], returns, Body::Concatenate));
        }
    }
    functions
}

/// The functions of the unary minus.
pub(super) fn negations() -> Vec<Function> {
    NUMERIC
        .iter()
        .map(|ty| Function::new("_negate", vec![ty.clone()], ty.clone(), Body::Negate))
        .collect()
}

/// Size in bytes as operators see it; `None` is unbounded.
fn size(ty: &CqlType) -> Option<u8> {
    match ty {
        CqlType::Tinyint => Some(1),
        CqlType::Smallint => Some(2),
        CqlType::Int | CqlType::Float => Some(4),
        CqlType::Bigint | CqlType::Counter | CqlType::Double => Some(8),
        _ => None,
    }
}

/// Type of the result of an operation on two numbers (sheet G.5).
fn numeric_result(left: &CqlType, right: &CqlType) -> CqlType {
    let floating = |ty: &CqlType| matches!(ty, CqlType::Float | CqlType::Double | CqlType::Decimal);
    let size = size(left).zip(size(right)).map(|(left, right)| left.max(right));
    match (floating(left) || floating(right), size) {
        (true, Some(4)) => CqlType::Float,
        (true, Some(_)) => CqlType::Double,
        (true, None) => CqlType::Decimal,
        (false, Some(1)) => CqlType::Tinyint,
        (false, Some(2)) => CqlType::Smallint,
        (false, Some(4)) => CqlType::Int,
        (false, Some(_)) => CqlType::Bigint,
        (false, None) => CqlType::Varint,
    }
}
