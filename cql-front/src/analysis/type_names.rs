//! Type names as written, resolved.
//!
//! Two steps, as in Cassandra: the parser's checks ([`check`], before anything is looked up), then the look-up of
//! user-defined types with the rules for what may nest in what ([`resolve`]).
//!
//! | written | means |
//! |---|---|
//! | `frozen<list<list<int>>>` | frozen throughout |
//! | `tuple<list<int>, t>` | as if each part were frozen |
//! | `vector<list<int>, 2>` | shown as written, stored as one value all the same |
//! | `list<list<int>>` | refused: a collection inside must be frozen |
//! | `'Int32Type'` | `int`: the class of a native type is that type |

use super::Context;
use crate::ast::{Feature, TypeName, TypeNameKind};
use crate::error::Error;
use crate::error::schema::TypeError;
use cassling_engine::types::CqlType;
use std::sync::Arc;

/// The checks that Cassandra's parser makes: `frozen<int>`, names of classes.
///
/// # Errors
/// `frozen<> is only allowed on ...`, `Error setting type ...`, and the classes that are not supported here.
pub(crate) fn check(raw: &TypeName) -> Result<(), Error> {
    match &raw.kind {
        TypeNameKind::Native(_) | TypeNameKind::User(_) => Ok(()),
        TypeNameKind::List(inner) | TypeNameKind::Set(inner) => check(inner),
        TypeNameKind::Map(key, value) => check(key).and_then(|()| check(value)),
        TypeNameKind::Tuple(parts) => parts.iter().try_for_each(check),
        TypeNameKind::Vector(element, dimensions) => {
            check(element)?;
            match dimensions.parse::<i32>() {
                Ok(_) => Ok(()),
                Err(_) => {
                    let dimensions = dimensions.clone();
                    Err(Error::from(TypeError::DimensionsNotInt { dimensions }).or_at(raw.span))
                }
            }
        }
        TypeNameKind::Frozen(inner) => {
            check(inner)?;
            match &inner.kind {
                TypeNameKind::Native(name) => {
                    Err(Error::from(TypeError::FrozenNative { ty: name.clone() }).or_at(raw.span))
                }
                _ => Ok(()),
            }
        }
        TypeNameKind::Custom(class) => custom(class).map(drop).map_err(|e| e.or_at(raw.span)),
    }
}

/// The type as written, resolved in `keyspace`.
///
/// # Errors
/// `Unknown type ks.t` and the texts of sheet A.11 about nested, frozen, vector, counter and duration types.
pub(crate) fn resolve(cx: &Context<'_>, keyspace: &str, raw: &TypeName) -> Result<CqlType, Error> {
    check(raw)?;
    prepare(cx, keyspace, raw, false)
}

/// `frozen`: the type stands inside something frozen.
fn prepare(
    cx: &Context<'_>,
    keyspace: &str,
    raw: &TypeName,
    frozen: bool,
) -> Result<CqlType, Error> {
    let part = |raw: &TypeName| prepare(cx, keyspace, raw, frozen).map(Arc::new);
    match &raw.kind {
        TypeNameKind::Native(name) => Ok(native(name)),
        TypeNameKind::Custom(class) => custom(class).map_err(|e| e.or_at(raw.span)),
        TypeNameKind::Frozen(inner) => prepare(cx, keyspace, inner, true),
        TypeNameKind::List(element) => {
            nesting(raw, None, element, frozen)?;
            Ok(CqlType::List { element: part(element)?, frozen })
        }
        TypeNameKind::Set(element) => {
            nesting(raw, None, element, frozen)?;
            Ok(CqlType::Set { element: part(element)?, frozen })
        }
        TypeNameKind::Map(key, value) => {
            nesting(raw, Some(key), value, frozen)?;
            let value = part(value)?;
            Ok(CqlType::Map { key: part(key)?, value, frozen })
        }
        TypeNameKind::Tuple(parts) => {
            let mut types = Vec::with_capacity(parts.len());
            for inner in parts {
                if is_counter(inner) {
                    return Err(Error::from(TypeError::CounterInTuple {}).or_at(inner.span));
                }
                types.push(prepare(cx, keyspace, inner, true)?);
            }
            Ok(CqlType::Tuple(types.into()))
        }
        TypeNameKind::Vector(element, written) => {
            let element = part(element)?;
            match written.parse::<u32>() {
                Ok(dimensions) if dimensions > 0 => Ok(CqlType::Vector { element, dimensions }),
                _ => {
                    let dimensions = written.clone();
                    Err(Error::from(TypeError::Dimensions { dimensions }).or_at(raw.span))
                }
            }
        }
        TypeNameKind::User(name) => {
            let at = |e: TypeError| Error::from(e).or_at(raw.span);
            let other = name.keyspace.as_ref().map_or(keyspace, |k| &k.text);
            if other != keyspace {
                let (keyspace, other) = (keyspace.to_string(), other.to_string());
                return Err(at(TypeError::OtherKeyspace { keyspace, other }));
            }
            let types = cx.schema.keyspace(keyspace).map(|k| &k.types);
            let found = types.and_then(|types| types.get(&name.name.text)).ok_or_else(|| {
                at(TypeError::Unknown { name: format!("{keyspace}.{}", name.name.text) })
            })?;
            let ty = CqlType::Udt { definition: Arc::clone(found), frozen: false };
            Ok(if frozen { ty.freeze() } else { ty })
        }
    }
}

/// What may stand inside a collection: in Cassandra's order, values before keys.
fn nesting(
    raw: &TypeName,
    key: Option<&TypeName>,
    value: &TypeName,
    frozen: bool,
) -> Result<(), Error> {
    let ty = || written(raw, frozen, None);
    let refuse = |e: TypeError| Err(Error::from(e).or_at(raw.span));
    let multi_cell = |inner: &TypeName| match &inner.kind {
        TypeNameKind::List(_) | TypeNameKind::Set(_) | TypeNameKind::Map(..) => {
            refuse(TypeError::NestedCollection { ty: ty() })
        }
        TypeNameKind::User(_) => refuse(TypeError::NestedUserType { ty: ty() }),
        TypeNameKind::Native(_)
        | TypeNameKind::Custom(_)
        | TypeNameKind::Tuple(_)
        | TypeNameKind::Vector(..)
        | TypeNameKind::Frozen(_) => Ok(()),
    };
    let is_duration =
        |inner: &TypeName| matches!(&inner.kind, TypeNameKind::Native(n) if n == "duration");
    if !frozen {
        multi_cell(value)?;
    }
    if is_counter(value) {
        return refuse(TypeError::CounterInCollection { ty: ty() });
    }
    if is_duration(value) && matches!(raw.kind, TypeNameKind::Set(_)) {
        return refuse(TypeError::DurationInSet { ty: ty() });
    }
    if let Some(key) = key {
        if is_counter(key) {
            return refuse(TypeError::CounterInCollection { ty: ty() });
        }
        if is_duration(key) {
            return refuse(TypeError::DurationAsKey { ty: ty() });
        }
        if !frozen {
            multi_cell(key)?;
        }
    }
    Ok(())
}

/// Whether it is `counter` itself.
pub(crate) fn is_counter(raw: &TypeName) -> bool {
    matches!(&raw.kind, TypeNameKind::Native(name) if name == "counter")
}

/// The type as Cassandra prints a declaration: what is frozen shows it at every level. With `keyspace`, user-defined
/// types are printed with it.
pub(crate) fn written(raw: &TypeName, frozen: bool, keyspace: Option<&str>) -> String {
    let inner = |raw: &TypeName| written(raw, frozen, keyspace);
    let wrap = |text: String| if frozen { format!("frozen<{text}>") } else { text };
    match &raw.kind {
        TypeNameKind::Native(name) => name.clone(),
        TypeNameKind::Custom(class) => format!("'{class}'"),
        TypeNameKind::Frozen(of) => written(of, true, keyspace),
        TypeNameKind::List(of) => wrap(format!("list<{}>", inner(of))),
        TypeNameKind::Set(of) => wrap(format!("set<{}>", inner(of))),
        TypeNameKind::Map(key, value) => wrap(format!("map<{}, {}>", inner(key), inner(value))),
        TypeNameKind::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(|p| written(p, true, keyspace)).collect();
            format!("tuple<{}>", parts.join(", "))
        }
        TypeNameKind::Vector(of, dimensions) => {
            format!("vector<{}, {dimensions}>", inner(of))
        }
        TypeNameKind::User(name) => {
            let keyspace = name.keyspace.as_ref().map(|k| k.text.as_str()).or(keyspace);
            let name = &name.name.text;
            wrap(keyspace.map_or_else(|| name.clone(), |k| format!("{k}.{name}")))
        }
    }
}

/// The parser and the class names know no native type that is none.
fn native(name: &str) -> CqlType {
    CqlType::native(name).unwrap_or(CqlType::Blob)
}

/// The native type of a class, short or in full.
fn custom(class: &str) -> Result<CqlType, Error> {
    const PACKAGE: &str = "org.apache.cassandra.db.marshal.";
    const UNSUPPORTED: &[&str] = &[
        "CompositeType",
        "DynamicCompositeType",
        "EmptyType",
        "FrozenType",
        "LegacyTimeUUIDType",
        "LexicalUUIDType",
        "ListType",
        "MapType",
        "PartitionerDefinedOrder",
        "ReversedType",
        "SetType",
        "TupleType",
        "UserType",
        "VectorType",
    ];
    let short = class.strip_prefix(PACKAGE).unwrap_or(class);
    let name = match short {
        "AsciiType" => "ascii",
        "LongType" => "bigint",
        "BytesType" => "blob",
        "BooleanType" => "boolean",
        "CounterColumnType" => "counter",
        "SimpleDateType" => "date",
        "DecimalType" => "decimal",
        "DoubleType" => "double",
        "DurationType" => "duration",
        "FloatType" => "float",
        "InetAddressType" => "inet",
        "Int32Type" => "int",
        "ShortType" => "smallint",
        "UTF8Type" => "text",
        "TimeType" => "time",
        "TimestampType" | "DateType" => "timestamp",
        "TimeUUIDType" => "timeuuid",
        "ByteType" => "tinyint",
        "UUIDType" => "uuid",
        "IntegerType" => "varint",
        _ => {
            let base = short.split('(').next().unwrap_or(short);
            return Err(if UNSUPPORTED.contains(&base) {
                Error::new(Feature::CustomTypes)
            } else {
                let class = class.to_string();
                TypeError::UnknownClass { class }.into()
            });
        }
    };
    Ok(native(name))
}
