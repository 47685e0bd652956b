//! The one place of the benches that looks at the time, and waits until the machine is quiet.

use std::time::{Duration, Instant};

/// Seconds that `work` took, and what it gave; that is dropped after the clock stopped.
#[expect(
    clippy::disallowed_methods,
    reason = "a bench measures real time; no answer depends on it"
)]
pub fn seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

/// Operations a second.
pub fn rate<T>(count: u64, work: impl FnOnce() -> T) -> f64 {
    count as f64 / seconds(work).0
}

/// Nanoseconds for each of `count` operations.
pub fn nanos<T>(count: u64, work: impl FnOnce() -> T) -> f64 {
    seconds(work).0 * 1e9 / count as f64
}

/// Seconds of the middle one of `times` runs.
pub fn middle_seconds<T>(times: u64, mut work: impl FnMut() -> T) -> f64 {
    median((0..times.max(1)).map(|_| seconds(&mut work).0).collect())
}

/// The middle figure; of two in the middle the greater.
///
/// # Panics
/// If there is none.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Waits until other programs leave the cores nine tenths idle, for 20 seconds at most (performance.md section 2).
pub fn wait_for_quiet() {
    for _ in 0..80 {
        let Some((all, idle)) = core_ticks() else { return };
        std::thread::park_timeout(Duration::from_millis(250));
        let Some((all_later, idle_later)) = core_ticks() else { return };
        if (idle_later - idle) as f64 > 0.9 * (all_later - all) as f64 {
            return;
        }
    }
}

/// Ticks of all cores since the machine started: all, and those idle.
fn core_ticks() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let words = text.lines().next()?.split_whitespace().skip(1);
    let ticks: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
    Some((ticks.iter().take(8).sum(), ticks.get(3)? + ticks.get(4)?))
}
