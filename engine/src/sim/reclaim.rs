//! Frees memory behind the back of whoever let go of it.
//!
//! A memtable of a million rows is a million allocations: freeing them takes as long as many writes. An answer
//! (TRUNCATE, DROP TABLE, the write that flushes) need not wait for it. No answer can depend on it either: what is
//! handed over is memory alone, no file, no counter.

/// Frees `garbage` on a thread of its own; at once where there are no threads, or no more of them.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn later<T: Send + 'static>(garbage: T) {
    let builder = std::thread::Builder::new().name("cassling-reclaim".to_string());
    // Without a thread the closure, and the garbage with it, is dropped here.
    let _ = builder.spawn(move || drop(garbage));
}

/// Frees `garbage`.
#[cfg(target_arch = "wasm32")]
pub(crate) fn later<T: Send + 'static>(garbage: T) {
    drop(garbage);
}
