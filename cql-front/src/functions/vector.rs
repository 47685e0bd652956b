//! Similarities of float vectors, scaled to 0 ... 1 as Cassandra does:
//!
//! ```text
//! cosine       (1 + cos) / 2
//! euclidean    1 / (1 + d^2)
//! dot product  (1 + a.b) / 2
//! ```
//!
//! Sums are taken in 32 bits, eight products at a time, so that the last digit agrees.

use super::{Body, Function};
use crate::error::function::FunctionError;

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|it| f32::from_be_bytes(*it)).collect()
}

/// Sum of `term` over the pairs: first those that do not fill a group of eight, then group by group.
fn sum(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    let odd = a.len() % 8;
    let mut total = 0.0;
    for (x, y) in a[..odd].iter().zip(&b[..odd]) {
        total += term(*x, *y);
    }
    for (xs, ys) in a[odd..].chunks_exact(8).zip(b[odd..].chunks_exact(8)) {
        total += xs.iter().zip(ys).map(|(x, y)| term(*x, *y)).sum::<f32>();
    }
    total
}

/// The similarity of two vectors of one size.
pub(super) fn similarity(
    function: &Function,
    left: &[u8],
    right: &[u8],
) -> Result<Vec<u8>, FunctionError> {
    let (a, b) = (floats(left), floats(right));
    let score = match function.body {
        Body::Cosine => {
            let zero = |vector: &[f32]| vector.iter().all(|it| *it == 0.0);
            if zero(&a) || zero(&b) {
                return Err(FunctionError::ZeroVector { function: function.full_name() });
            }
            (1.0 + cosine(&a, &b)) / 2.0
        }
        Body::Euclidean => 1.0 / (1.0 + sum(&a, &b, |x, y| (x - y) * (x - y))),
        _ => (1.0 + sum(&a, &b, |x, y| x * y)) / 2.0,
    };
    if a.iter().chain(&b).any(|it| !it.is_finite())
        || (function.body == Body::DotProduct && !score.is_finite())
    {
        return Err(FunctionError::Server("java.lang.AssertionError".to_string()));
    }
    Ok(score.to_be_bytes().to_vec())
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let (mut dot, mut norm_a, mut norm_b) = (0.0f32, 0.0f32, 0.0f32);
    for (x, y) in a.iter().zip(b) {
        dot += x * y;
        norm_a += x * x;
        norm_b += y * y;
    }
    (f64::from(dot) / (f64::from(norm_a) * f64::from(norm_b)).sqrt()) as f32
}
