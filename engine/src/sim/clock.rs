//! Time is given: one clock handle for all.
//!
//! A virtual clock stands still until it is told to move, so that ten days of gc_grace cost a test nothing:
//!
//! ```
//! use cassling_engine::sim::clock::Clock;
//! use std::time::Duration;
//! let clock = Clock::new_virtual();
//! let node_2 = clock.skewed(-250_000);                    // a node whose clock is late
//! clock.advance(Duration::from_secs(10 * 86_400));
//! assert_eq!(clock.now_seconds(), 1_796_083_200 + 864_000);
//! assert_eq!(clock.now_micros() - node_2.now_micros(), 250_000);
//! ```
//!
//! A server runs on system time instead, with an offset that moves the same way ([`Clock::new_system`]).
//! This is the one file that may ask the system for the time. Not here: time-outs and the jump to the next due
//! event, which belong to whoever holds the events.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Where a virtual clock starts: 2026-12-01T00:00:00Z (contracts.md 2). Microseconds since the Unix epoch.
pub const VIRTUAL_EPOCH_MICROS: i64 = 1_796_083_200_000_000;

/// The cluster's clock, or a node's view of it. Cheap to clone; all clones move together. Any thread may read
/// and move it at any time.
#[derive(Clone, Debug)]
pub struct Clock {
    base: Arc<Base>,
    /// How far this handle is ahead of the cluster's time, microseconds.
    skew_micros: i64,
}

#[derive(Debug)]
struct Base {
    source: Source,
    /// Added to what the source says, microseconds.
    offset_micros: AtomicI64,
    /// What the source is held at, microseconds; [`RUNNING`] if it is not.
    frozen_micros: AtomicI64,
}

/// The source is not held.
const RUNNING: i64 = i64::MIN;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// Stands at [`VIRTUAL_EPOCH_MICROS`].
    Virtual,
    /// The system's time of day. A browser's sandbox has none that std could ask.
    #[cfg(not(target_arch = "wasm32"))]
    System,
}

impl Clock {
    /// A clock that stands at [`VIRTUAL_EPOCH_MICROS`] until it is moved.
    pub fn new_virtual() -> Clock {
        Clock::new(Source::Virtual)
    }

    /// A clock that runs with the system's, plus an offset that starts at zero.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new_system() -> Clock {
        Clock::new(Source::System)
    }

    fn new(source: Source) -> Clock {
        let base = Base {
            source,
            offset_micros: AtomicI64::new(0),
            frozen_micros: AtomicI64::new(RUNNING),
        };
        Clock { base: Arc::new(base), skew_micros: 0 }
    }

    /// The same clock as seen by a node whose own runs ahead by `skew_micros` (behind, if negative).
    pub fn skewed(&self, skew_micros: i64) -> Clock {
        Clock {
            base: Arc::clone(&self.base),
            skew_micros: self.skew_micros.saturating_add(skew_micros),
        }
    }

    /// Microseconds since the Unix epoch.
    pub fn now_micros(&self) -> i64 {
        self.source_micros()
            .saturating_add(self.base.offset_micros.load(Ordering::SeqCst))
            .saturating_add(self.skew_micros)
    }

    /// Milliseconds since the Unix epoch.
    pub fn now_millis(&self) -> i64 {
        self.now_micros().div_euclid(1_000)
    }

    /// Seconds since the Unix epoch.
    pub fn now_seconds(&self) -> i64 {
        self.now_micros().div_euclid(1_000_000)
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: std::time::Duration) {
        let by = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        let add = |offset: i64| Some(offset.saturating_add(by));
        let moved = self.base.offset_micros.fetch_update(Ordering::SeqCst, Ordering::SeqCst, add);
        moved.expect("the closure always gives a value");
    }

    /// Sets the clock to a moment, forward or back: microseconds since the Unix epoch. Timestamps that the
    /// cluster gives rise all the same.
    pub fn set_micros(&self, micros: i64) {
        let offset = micros.saturating_sub(self.source_micros()).saturating_sub(self.skew_micros);
        self.base.offset_micros.store(offset, Ordering::SeqCst);
    }

    /// Makes it stand until it is moved or thawed. A virtual clock stands anyway.
    ///
    /// ```
    /// use cassling_engine::sim::clock::Clock;
    /// # #[cfg(not(target_arch = "wasm32"))] {
    /// let clock = Clock::new_system();
    /// clock.freeze();
    /// assert_eq!(clock.now_micros(), clock.now_micros());
    /// clock.thaw();
    /// # }
    /// ```
    pub fn freeze(&self) {
        self.base.frozen_micros.store(self.source_micros(), Ordering::SeqCst);
    }

    /// Lets it run on from where it stands.
    pub fn thaw(&self) {
        let frozen = self.base.frozen_micros.swap(RUNNING, Ordering::SeqCst);
        if frozen != RUNNING {
            let behind = frozen.saturating_sub(self.source_micros());
            self.base.offset_micros.fetch_add(behind, Ordering::SeqCst);
        }
    }

    /// How far the clock has been moved, microseconds: by what a client's wall-clock timestamps are shifted
    /// (design decision 6).
    pub fn offset_micros(&self) -> i64 {
        self.base.offset_micros.load(Ordering::SeqCst)
    }

    /// Whether it stands until moved.
    pub fn is_virtual(&self) -> bool {
        self.base.source == Source::Virtual
    }

    fn source_micros(&self) -> i64 {
        let frozen = self.base.frozen_micros.load(Ordering::SeqCst);
        if frozen != RUNNING {
            return frozen;
        }
        match self.base.source {
            Source::Virtual => VIRTUAL_EPOCH_MICROS,
            #[cfg(not(target_arch = "wasm32"))]
            Source::System => system_micros(),
        }
    }
}

/// The last timestamp and the last timeuuid time that a cluster has given out: both rise strictly, whoever asks and wherever
/// the clock stands.
#[derive(Debug)]
pub struct Given {
    timestamp_micros: AtomicI64,
    timeuuid_ticks: AtomicU64,
}

impl Default for Given {
    fn default() -> Given {
        Given::new(i64::MIN, 0)
    }
}

impl Given {
    /// As if these were the last ones given: a timestamp in microseconds, and 100 ns steps since 1582-10-15.
    pub fn new(timestamp_micros: i64, timeuuid_ticks: u64) -> Given {
        Given {
            timestamp_micros: AtomicI64::new(timestamp_micros),
            timeuuid_ticks: AtomicU64::new(timeuuid_ticks),
        }
    }

    /// `now_micros`, or one more than the last if that is later.
    pub fn next_timestamp_micros(&self, now_micros: i64) -> i64 {
        let rise = |last: i64| Some(now_micros.max(last.saturating_add(1)));
        let before = self.timestamp_micros.fetch_update(Ordering::SeqCst, Ordering::SeqCst, rise);
        let before = before.expect("the closure always gives a value");
        now_micros.max(before.saturating_add(1))
    }

    /// `now_ticks`, or one more than the last if that is later.
    pub fn next_timeuuid_ticks(&self, now_ticks: u64) -> u64 {
        let rise = |last: u64| Some(now_ticks.max(last + 1));
        let before = self.timeuuid_ticks.fetch_update(Ordering::SeqCst, Ordering::SeqCst, rise);
        let before = before.expect("the closure always gives a value");
        now_ticks.max(before + 1)
    }

    /// The last timestamp given, microseconds; the least number if none was.
    pub fn last_timestamp_micros(&self) -> i64 {
        self.timestamp_micros.load(Ordering::SeqCst)
    }

    /// The last time given in a timeuuid; 0 if none was.
    pub fn last_timeuuid_ticks(&self) -> u64 {
        self.timeuuid_ticks.load(Ordering::SeqCst)
    }
}

#[cfg(not(target_arch = "wasm32"))]
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where system time comes in (design decision 6)"
)]
fn system_micros() -> i64 {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since_epoch.map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_virtual_clock_stands_until_it_is_moved() {
        let clock = Clock::new_virtual();
        assert_eq!(
            (clock.now_micros(), clock.now_micros()),
            (VIRTUAL_EPOCH_MICROS, VIRTUAL_EPOCH_MICROS)
        );
        let twin = clock.clone();
        clock.advance(Duration::from_millis(1500));
        assert_eq!(twin.now_micros(), VIRTUAL_EPOCH_MICROS + 1_500_000);
        twin.set_micros(5);
        assert_eq!(clock.now_micros(), 5);
        clock.advance(Duration::MAX);
        assert!(clock.now_micros() > 0, "no overflow");
    }

    #[test]
    fn a_moved_system_clock_is_off_by_its_offset() {
        let (plain, moved) = (Clock::new_system(), Clock::new_system());
        moved.advance(Duration::from_secs(864_000));
        let apart = moved.now_micros() - plain.now_micros();
        assert!(
            (apart - 864_000_000_000).abs() < 60_000_000,
            "{apart}, give or take a slow machine"
        );
        assert_eq!(moved.offset_micros(), 864_000_000_000);
    }
}
