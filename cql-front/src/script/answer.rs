//! The answer to one statement, as `tests/oracle/ask` prints it: one JSON object a line.

use crate::analysis::terms::BindValue;
use crate::error::{Error, Field};
use cassling_engine::metrics::Cost;
use cassling_engine::types::CqlType;
use serde_json::{Map, Value as Json, json};

/// What a statement of a script answered.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Its text.
    pub cql: String,
    /// What `@volatile` says of it: all (empty), or these columns.
    pub volatile: Option<Vec<String>>,
    /// Markers, if it was prepared.
    pub bound: Option<Vec<(String, CqlType)>>,
    /// Columns of a result with rows.
    pub columns: Option<Vec<(String, CqlType)>>,
    /// Rows as wire bytes.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
    /// Whether another page is there.
    pub more: bool,
    /// The refusal or failure.
    pub error: Option<Error>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Lines of `@trace`.
    pub trace: Option<Vec<String>>,
    /// What it cost.
    pub cost: Cost,
    /// Counters of its table after it; empty unless an expectation asks for one.
    pub table_state: Vec<(&'static str, u64)>,
}

impl Answer {
    /// The JSON object, keys as `ask` names them.
    pub fn to_json(&self) -> Json {
        let mut object = Map::new();
        object.insert("cql".to_string(), json!(self.cql));
        if let Some(names) = &self.volatile {
            let value = if names.is_empty() { json!(true) } else { json!(names) };
            object.insert("volatile".to_string(), value);
        }
        let specs = |columns: &[(String, CqlType)]| {
            Json::from_iter(columns.iter().map(|(name, ty)| json!([name, driver_type(ty)])))
        };
        if let Some(bound) = &self.bound {
            object.insert("bound".to_string(), specs(bound));
        }
        if let Some(columns) = &self.columns {
            object.insert("columns".to_string(), specs(columns));
            let row = |row: &Vec<Option<Vec<u8>>>| {
                Json::from_iter(
                    row.iter().map(|value| value.as_deref().map_or(Json::Null, |v| json!(hex(v)))),
                )
            };
            object.insert("rows".to_string(), Json::from_iter(self.rows.iter().map(row)));
        }
        if self.more {
            object.insert("more".to_string(), json!(true));
        }
        if let Some(error) = &self.error {
            let code = format!("{:04x}", error.code() as u16);
            object.insert("error".to_string(), json!([code, error.to_string()]));
            let fields = error.fields();
            if !fields.is_empty() {
                let fields =
                    fields.into_iter().map(|(name, field)| (name.to_string(), field_json(field)));
                object.insert("fields".to_string(), Json::Object(fields.collect()));
            }
        }
        if !self.warnings.is_empty() {
            object.insert("warnings".to_string(), json!(self.warnings));
        }
        if let Some(trace) = &self.trace {
            object.insert("trace".to_string(), json!(trace));
        }
        Json::Object(object)
    }
}

fn field_json(field: Field) -> Json {
    match field {
        Field::Int(n) => json!(n),
        Field::Bool(b) => json!(b),
        Field::Text(text) => json!(text),
        // The recorder prints what it does not know as Python's repr.
        Field::Texts(texts) => {
            let quoted: Vec<String> = texts.iter().map(|t| format!("'{t}'")).collect();
            json!(format!("[{}]", quoted.join(", ")))
        }
        Field::Codes(codes) => {
            Json::Object(codes.into_iter().map(|(address, code)| (address, json!(code))).collect())
        }
    }
}

/// The name that the Python driver gives a type (`cql_parameterized_type`): frozen-ness shows only where the driver
/// always prints it.
pub fn driver_type(ty: &CqlType) -> String {
    match ty {
        CqlType::List { element, .. } => format!("list<{}>", driver_type(element)),
        CqlType::Set { element, .. } => format!("set<{}>", driver_type(element)),
        CqlType::Map { key, value, .. } => {
            format!("map<{}, {}>", driver_type(key), driver_type(value))
        }
        CqlType::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(driver_type).collect();
            format!("frozen<tuple<{}>>", parts.join(", "))
        }
        CqlType::Udt { definition, .. } => format!("frozen<{}>", definition.name),
        CqlType::Vector { element, dimensions } => {
            format!(
                "org.apache.cassandra.db.marshal.VectorType<{}, {dimensions}>",
                driver_type(element)
            )
        }
        other => other.to_string(),
    }
}

/// Lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// The bytes that hex digits stand for; `None` if they are none.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let nibble = |digit: u8| char::from(digit).to_digit(16).map(|d| d as u8);
    digits.chunks(2).map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?)).collect()
}

/// The values of `@bind` as the recorder writes them.
pub fn bind_to_json(values: &[BindValue<'_>]) -> Json {
    Json::from_iter(values.iter().map(|value| match value {
        BindValue::Unset => json!("unset"),
        other => other.bytes().map_or(Json::Null, |bytes| json!(hex(bytes))),
    }))
}

/// One line of JSON as Python's `json.dumps(.., ensure_ascii=False)` writes it: a blank after `,` and `:`.
pub fn python_json(value: &Json) -> String {
    match value {
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(python_json).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| {
                    format!("{}: {}", Json::from(name.as_str()), python_json(value))
                })
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_recorders_blanks() {
        let value = json!({"cql": "é\"", "rows": [["00", null]], "more": true});
        assert_eq!(python_json(&value), r#"{"cql": "é\"", "rows": [["00", null]], "more": true}"#);
    }

    #[test]
    fn hex_both_ways() {
        assert_eq!(hex(&[0, 0xab, 0xff]), "00abff");
        assert_eq!(from_hex("00abFF"), Some(vec![0, 0xab, 0xff]));
        assert_eq!((from_hex("0"), from_hex("0g")), (None, None));
    }
}
