//! Types as Cassandra's own classes are written (`AbstractType.toString`): what its tools show of a schema.
//!
//! ```text
//! map<text, frozen<list<int>>>    MapType(UTF8Type,FrozenType(ListType(Int32Type)))
//! frozen<list<set<int>>>          FrozenType(ListType(SetType(Int32Type)))       one FrozenType says it for all inside
//! ```

use super::super::{CqlType, value};

const PACKAGE: &str = "org.apache.cassandra.db.marshal.";

/// The class of a type, package included.
pub fn class_name(ty: &CqlType) -> String {
    class(ty, false)
}

/// The class of a type; inside something frozen nothing says so again.
fn class(ty: &CqlType, inside_frozen: bool) -> String {
    let native = |name: &str| format!("{PACKAGE}{name}");
    let wrap = |frozen: bool, inner: String| match frozen && !inside_frozen {
        true => format!("{PACKAGE}FrozenType({inner})"),
        false => inner,
    };
    let inner = |ty: &CqlType, frozen: bool| class(ty, inside_frozen || frozen);
    match ty {
        CqlType::Ascii => native("AsciiType"),
        CqlType::Bigint => native("LongType"),
        CqlType::Blob => native("BytesType"),
        CqlType::Boolean => native("BooleanType"),
        CqlType::Counter => native("CounterColumnType"),
        CqlType::Date => native("SimpleDateType"),
        CqlType::Decimal => native("DecimalType"),
        CqlType::Double => native("DoubleType"),
        CqlType::Duration => native("DurationType"),
        CqlType::Float => native("FloatType"),
        CqlType::Inet => native("InetAddressType"),
        CqlType::Int => native("Int32Type"),
        CqlType::Smallint => native("ShortType"),
        CqlType::Text => native("UTF8Type"),
        CqlType::Time => native("TimeType"),
        CqlType::Timestamp => native("TimestampType"),
        CqlType::Timeuuid => native("TimeUUIDType"),
        CqlType::Tinyint => native("ByteType"),
        CqlType::Uuid => native("UUIDType"),
        CqlType::Varint => native("IntegerType"),
        CqlType::Custom(class) => class.to_string(),
        CqlType::List { element, frozen } => {
            wrap(*frozen, format!("{PACKAGE}ListType({})", inner(element, *frozen)))
        }
        CqlType::Set { element, frozen } => {
            wrap(*frozen, format!("{PACKAGE}SetType({})", inner(element, *frozen)))
        }
        CqlType::Map { key, value, frozen } => {
            let (key, value) = (inner(key, *frozen), inner(value, *frozen));
            wrap(*frozen, format!("{PACKAGE}MapType({key},{value})"))
        }
        CqlType::Tuple(types) => {
            let types: Vec<String> = types.iter().map(|ty| class(ty, true)).collect();
            format!("{PACKAGE}TupleType({})", types.join(","))
        }
        CqlType::Udt { definition, frozen } => {
            let mut text = format!("{PACKAGE}UserType({}", definition.keyspace);
            text += &format!(",{}", value::hex(definition.name.as_bytes()));
            for (name, ty) in &definition.fields {
                text += &format!(",{}:{}", value::hex(name.as_bytes()), inner(ty, *frozen));
            }
            wrap(*frozen, text + ")")
        }
        CqlType::Vector { element, dimensions } => {
            format!("{PACKAGE}VectorType({} , {dimensions})", inner(element, false))
        }
    }
}
