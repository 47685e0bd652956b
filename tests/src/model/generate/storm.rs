//! Histories whose files are merged, aged and reopened.
//!
//! ```text
//! steps of a storm: writes, reads | flush, compactions of every kind, ALTER | clock | close, kill, power loss
//! ```
//!
//! Left to chance alone a wrong purge seldom shows: a deletion, older data beside it, gc_grace and a compaction of
//! the one without the other must follow one another. [`Generator::episode`] draws just that, with each part left to
//! chance again: which deletion, where the older data lies, on which side of gc_grace the clock stops, what is merged.
//!
//! Not drawn: `unsafe_aggressive_sstable_expiration`, which may bring deleted data back on purpose.

use super::{Generator, pick, schema};
use crate::model::history::{History, Step};
use crate::model::statement::{Keys, Read, Select, Write};
use crate::model::work::{Ending, Work};
use cassling_engine::sim::rng::Rng;

/// What only a storm has.
#[derive(Clone, Debug)]
pub(super) struct Storm {
    /// Timestamps are whole multiples of it, microseconds: from one window of TimeWindow for all to one for each.
    unit_micros: i64,
    /// Most timestamps are a little above it; it rises with the clock.
    low: i64,
    /// The highest that was drawn.
    top: i64,
    /// Seconds; what the table has now.
    gc_grace_seconds: u32,
    /// The partition that all statements are about, while an episode lasts.
    pub(super) focus: bool,
}

/// Seconds; short ones so that they pass, Cassandra's own so that nothing may go.
const GC_GRACE_SECONDS: [u32; 6] = [0, 1, 3, 10, 60, 864_000];

/// A history of storage work.
pub fn storm(seed: u64) -> History {
    let mut rng = Rng::new(seed).fork("storm");
    let wide = rng.below(12) == 0;
    let mut schema = schema(&mut rng, wide);
    let server_timestamps = rng.below(5) == 0;
    let nodes = if rng.below(10) == 0 { 3 } else { 1 };
    let stops = nodes > 1 && rng.below(2) == 0;
    schema.gc_grace_seconds = pick(&mut rng, &GC_GRACE_SECONDS);
    if stops {
        // A replica that missed a deletion must hear of it before the others may forget it.
        (schema.default_ttl_seconds, schema.gc_grace_seconds) = (0, 864_000);
    }
    schema.options = vec![
        format!("compaction = {}", strategy(&mut rng)),
        format!("compression = {}", compression(&mut rng)),
        format!("bloom_filter_fp_chance = {}", pick(&mut rng, &["0.01", "0.5", "1.0"])),
    ];
    let storm = Storm {
        unit_micros: pick(&mut rng, &[1, 1_000_000, 30_000_000, 43_200_000_000]),
        low: 0,
        top: 0,
        gc_grace_seconds: schema.gc_grace_seconds,
        focus: false,
    };
    let storm = Some(storm);
    let mut generator = Generator { rng, schema, wide, server_timestamps, stops, storm };
    let schema = generator.schema.clone();
    let mut steps = Vec::new();
    let mut down = false;
    let count = 24 + generator.below(20);
    while steps.len() < count {
        generator.blow(&mut down, &mut steps);
    }
    if down {
        steps.push(Step::Start);
    }
    steps.extend(generator.finale());
    steps.push(Step::Work(generator.merge()));
    steps.push(read_all());
    History { seed, schema, nodes, compacts: true, steps }
}

impl Storm {
    /// A timestamp from a number from 1 to 9.
    pub(super) fn timestamp_micros(&mut self, drawn: i64, rng: &mut Rng) -> i64 {
        let low = if rng.below(8) == 0 { 0 } else { self.low };
        let count = low + drawn;
        self.top = self.top.max(count);
        count * self.unit_micros
    }
}

fn read_all() -> Step {
    let read = Read {
        select: Select::Star,
        keys: Keys::All,
        relations: Vec::new(),
        order: None,
        limit: None,
        per_partition: None,
        page: None,
    };
    Step::Read { read, prepared: false }
}

impl Generator {
    fn state(&mut self) -> &mut Storm {
        self.storm.as_mut().expect("only storms draw storage work")
    }

    /// The next step or steps.
    fn blow(&mut self, down: &mut bool, steps: &mut Vec<Step>) {
        if self.stops && self.chance(12) {
            *down = !*down;
            steps.push(if *down { Step::Stop(2 + self.below(2)) } else { Step::Start });
            return;
        }
        match self.below(100) {
            0..8 => steps.push(Step::Work(Work::Flush)),
            8..26 => steps.push(Step::Work(self.merge())),
            26..30 => steps.push(Step::Work(Work::Strategy(strategy(&mut self.rng)))),
            30..33 if !self.stops => steps.push(self.alter_grace()),
            33..39 => steps.push(self.wait()),
            39..46 if !*down => steps.push(self.reopen()),
            46..50 if !self.stops => self.episode(steps),
            50..80 => steps.push(self.one_write()),
            _ => {
                let prepared = self.chance(40);
                steps.push(Step::Read { read: self.read(), prepared });
            }
        }
    }

    fn one_write(&mut self) -> Step {
        let prepared = self.chance(40);
        let batch = self.chance(12);
        let count = if batch && !self.wide { 1 + self.below(3) } else { 1 };
        let writes = (0..count).map(|_| self.write(batch, prepared)).collect();
        Step::Write { writes, batch, timestamp: self.client(), prepared }
    }

    fn merge(&mut self) -> Work {
        match self.below(10) {
            0..2 => Work::Major(self.chance(30).then(|| 1 + self.below(3))),
            2..5 => Work::Pick,
            5..9 => Work::Files(self.rng.next_u64()),
            _ => Work::Collect { cells: self.chance(50) },
        }
    }

    fn alter_grace(&mut self) -> Step {
        let seconds = pick(&mut self.rng, &GC_GRACE_SECONDS);
        self.state().gc_grace_seconds = seconds;
        Step::Work(Work::GcGrace(seconds))
    }

    fn reopen(&mut self) -> Step {
        let endings = [Ending::Close, Ending::Kill, Ending::PowerLoss(self.rng.next_u64())];
        Step::Work(Work::Reopen(pick(&mut self.rng, &endings)))
    }

    /// The clock moves a little, or to either side of gc_grace.
    fn wait(&mut self) -> Step {
        if self.stops {
            return Step::Advance(1 + self.rng.below(6));
        }
        let grace = u64::from(self.state().gc_grace_seconds);
        let seconds = match self.below(8) {
            0..3 => 1 + self.rng.below(6),
            3 => 21,
            4 => grace.saturating_sub(1),
            5 => grace,
            6 => grace + 1,
            _ => 2 * grace + 21,
        };
        self.waited(seconds)
    }

    fn waited(&mut self, seconds: u64) -> Step {
        let rise = i64::try_from(self.rng.below(4)).expect("small");
        let storm = self.state();
        storm.low += rise;
        if seconds > u64::from(storm.gc_grace_seconds) {
            // Deletions so far may be forgotten: most writes must now be later than they.
            storm.low = storm.low.max(storm.top - 2);
        }
        Step::Advance(seconds.max(1))
    }

    /// Old data, what hides it, and the hider coming of age: in one partition.
    fn episode(&mut self, steps: &mut Vec<Step>) {
        self.state().focus = true;
        for _ in 0..1 + self.below(2) {
            steps.push(self.one_write());
        }
        let flush = Step::Work(Work::Flush);
        let apart = self.below(4);
        if apart != 0 {
            steps.push(flush.clone());
        }
        let hider = self.hider();
        steps.push(hider);
        if apart != 1 {
            steps.push(flush.clone());
        }
        if self.chance(40) {
            let late = self.one_write();
            steps.push(late);
            if self.chance(50) {
                steps.push(flush);
            }
        }
        let grace = u64::from(self.state().gc_grace_seconds);
        let seconds = grace + [0, 0, 1, 1, 9, 21][self.below(6)];
        let low = self.state().low;
        let wait = self.waited(seconds);
        steps.push(wait);
        steps.push(Step::Work(self.merge()));
        if self.chance(50) {
            // Just where a purge one second too early would show.
            let after = std::mem::replace(&mut self.state().low, low);
            let late = self.one_write();
            steps.push(late);
            self.state().low = after;
        }
        steps.push(read_all());
        self.state().focus = false;
    }

    /// A deletion, or a write that expires.
    fn hider(&mut self) -> Step {
        let prepared = self.chance(40);
        let write = if self.chance(70) {
            let has_statics = !self.columns(true).is_empty();
            self.delete(false, has_statics)
        } else {
            let mut write = self.write(false, prepared);
            if let Write::Insert { using, .. } | Write::Update { using, .. } = &mut write {
                using.ttl_seconds = Some([1, 3, 8][self.below(3)]);
            }
            write
        };
        Step::Write { writes: vec![write], batch: false, timestamp: self.client(), prepared }
    }
}

/// A random compaction strategy with random options, as CQL.
fn strategy(rng: &mut Rng) -> String {
    let mut options: Vec<(&str, &str)> = Vec::new();
    let class = pick(rng, &["SizeTiered", "TimeWindow", "Leveled", "Unified"]);
    let mut some = |rng: &mut Rng, name, values: &[&'static str]| {
        if rng.below(2) == 0 {
            options.push((name, pick(rng, values)));
        }
    };
    match class {
        "SizeTiered" | "TimeWindow" => {
            some(rng, "min_threshold", &["2", "3", "4"]);
            some(rng, "max_threshold", &["4", "5", "32"]);
            some(rng, "min_sstable_size", &["0", "100", "52428800"]);
            some(rng, "bucket_high", &["1.1", "1.5", "4"]);
        }
        "Leveled" => {
            some(rng, "sstable_size_in_mb", &["1", "160"]);
            some(rng, "fanout_size", &["2", "10"]);
            some(rng, "single_sstable_uplevel", &["true", "false"]);
        }
        _ => {
            some(rng, "scaling_parameters", &["T2", "T4", "N", "L4", "T3, L2"]);
            some(rng, "target_sstable_size", &["1MiB", "1GiB"]);
            some(rng, "min_sstable_size", &["0B"]);
            some(rng, "base_shard_count", &["1", "2", "4"]);
            some(rng, "overlap_inclusion_method", &["NONE", "SINGLE", "TRANSITIVE"]);
        }
    }
    if class == "TimeWindow" {
        some(rng, "compaction_window_unit", &["MINUTES", "HOURS", "DAYS"]);
        some(rng, "compaction_window_size", &["1", "2", "7"]);
    }
    if matches!(class, "TimeWindow" | "Unified") {
        some(rng, "expired_sstable_check_frequency_seconds", &["1", "600"]);
    }
    some(rng, "tombstone_threshold", &["0.01", "0.2"]);
    some(rng, "tombstone_compaction_interval", &["1", "86400"]);
    some(rng, "unchecked_tombstone_compaction", &["true", "false"]);
    if class != "Unified" || rng.below(2) == 0 {
        some(rng, "provide_overlapping_tombstones", &["NONE", "ROW", "CELL"]);
    }
    if rng.below(10) == 0 {
        options.push(("only_purge_repaired_tombstones", "true"));
    }
    let mut text = format!("{{'class': '{class}CompactionStrategy'");
    for (name, value) in options {
        text.push_str(&format!(", '{name}': '{value}'"));
    }
    text + "}"
}

fn compression(rng: &mut Rng) -> String {
    let class = pick(rng, &["LZ4", "LZ4", "Zstd", "Snappy", "Deflate", ""]);
    match class {
        "" => "{'enabled': 'false'}".to_string(),
        class => {
            let kib = pick(rng, &["4", "16", "64"]);
            format!("{{'class': '{class}Compressor', 'chunk_length_in_kb': '{kib}'}}")
        }
    }
}
