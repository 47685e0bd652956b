//! token, conversions from blobs, functions of collections.

use super::aggregate::Accumulator;
use super::{Body, Function};
use crate::analysis::terms::print;
use crate::error::function::FunctionError;
use cassling_engine::ring::token::murmur3_token;
use cassling_engine::types::{CqlType, codec, order, value};

/// The token of a partition key given by its components.
pub(super) fn token(values: &[&[u8]]) -> Vec<u8> {
    let token = match values {
        [only] => murmur3_token(only),
        several => {
            let mut key = Vec::new();
            for component in several {
                key.extend_from_slice(&(component.len() as u16).to_be_bytes());
                key.extend_from_slice(component);
                key.push(0);
            }
            murmur3_token(&key)
        }
    };
    token.0.to_be_bytes().to_vec()
}

/// `blob_as_x`: the bytes, if they are an x.
pub(super) fn from_blob(function: &Function, bytes: &[u8]) -> Result<Vec<u8>, FunctionError> {
    codec::validate(&function.returns, bytes).map_err(|_| FunctionError::Blob {
        function: function.full_name(),
        value: value::hex(bytes),
        ty: print::cql_type(&function.returns),
    })?;
    Ok(bytes.to_vec())
}

fn server(error: &codec::MarshalError) -> FunctionError {
    FunctionError::Server(error.to_string())
}

/// map_keys, map_values, collection_count and the like.
pub(super) fn collection(
    body: Body,
    ty: &CqlType,
    bytes: &[u8],
) -> Result<Option<Vec<u8>>, FunctionError> {
    let element = match ty {
        CqlType::Map { .. } => {
            let entries = codec::entries(bytes).map_err(|e| server(&e))?;
            return Ok(Some(match body {
                Body::MapKeys => codec::write_elements(entries.iter().filter_map(|(key, _)| *key)),
                Body::MapValues => {
                    codec::write_elements(entries.iter().filter_map(|(_, value)| *value))
                }
                _ => count(entries.len()),
            }));
        }
        CqlType::List { element, .. } | CqlType::Set { element, .. } => element,
        _ => return Ok(None),
    };
    let elements = codec::elements(bytes).map_err(|e| server(&e))?;
    let present = elements.iter().copied().flatten();
    Ok(match body {
        Body::CollectionCount => Some(count(elements.len())),
        Body::CollectionMin => {
            present.min_by(|a, b| order::compare(element, a, b)).map(<[u8]>::to_vec)
        }
        Body::CollectionMax => {
            present.max_by(|a, b| order::compare(element, a, b)).map(<[u8]>::to_vec)
        }
        _ => {
            let kind = if body == Body::CollectionSum { Body::Sum } else { Body::Avg };
            let mut state = Accumulator::new(kind, Some(element));
            for item in elements {
                state.take(&[item])?;
            }
            state.value()?
        }
    })
}

fn count(length: usize) -> Vec<u8> {
    i32::try_from(length)
        .expect("a collection has far fewer than 2^31 elements")
        .to_be_bytes()
        .to_vec()
}
