//! A partition that grew for eleven months, and what buckets make of it, told in virtual time.
//!
//! A route of a parcel carrier sees 40,000 scans a day. Two clusters get the same scans for 335 days:
//!
//! ```text
//! before   scans_by_route         ((route_id), scanned_at, ..)        one partition for ever, SizeTiered, no TTL
//! after    scans_by_route_day     ((route_id, day), scanned_at, ..)   a partition a day, TimeWindow, TTL 180 days
//!          scans_by_facility_day  ((facility, day), scanned_at, ..)   the second query's own table
//! ```
//!
//! Every 30 days each asks its questions and looks at its files:
//!
//! | | before | after |
//! |---|---|---|
//! | the last 100 scans of the route | the top of the partition | the top of today's partition |
//! | one day of the route | a slice of the partition | a partition |
//! | a facility's day | the day of every partition, filtered | a partition |
//! | without a bound | the whole partition in one answer | a day in one answer |
//!
//! Memory is flushed once a day. The scale says how many of the 40,000 scans are made; sizes and costs shrink with it, their
//! ratios do not (the size below which files are merged whatever theirs is scaled too). Not here: latencies, which would be those of this machine, and repair.

use cassling::{BackgroundMode, Cluster, Error, Prepared, Query, QueryResult, Session, Value};
use peak_alloc::PeakAlloc;
use std::time::Duration;
use uuid::Uuid;

/// Counts the memory in use, where a program makes it its allocator; elsewhere every peak is 0.
pub static MEMORY: PeakAlloc = PeakAlloc;

/// Days of the story.
pub const DAYS: u32 = 335;
/// Scans of the route a day at scale 1.
pub const SCANS_PER_DAY: u32 = 40_000;
/// Days from one look at the files to the next.
const MONTH_DAYS: u32 = 30;
/// Facilities that a route passes.
const FACILITIES: u32 = 20;
const DAY_SECONDS: u32 = 86_400;
const ROUTE: &str = "e0000000-0000-4000-8000-000000000001";

/// What one read cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Rows read at the replica.
    pub rows_read: u64,
    /// Rows of the answer.
    pub rows_returned: u64,
    /// Data blocks read.
    pub blocks: u64,
    /// SSTables opened.
    pub sstables: u64,
    /// Most memory in use at once, beyond that before the read. Bytes.
    pub peak_bytes: usize,
}

/// A schema at the end of a month.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Q1: the last 100 scans of the route.
    pub latest: Asked,
    /// Q2: one day of the route.
    pub day: Asked,
    /// Q3: one day of a facility.
    pub facility: Asked,
    /// All of the route's partition (before: its life; after: today's) in one answer.
    pub unbounded: Asked,
    /// The largest partition of any SSTable. Bytes, as the estimate of its bucket.
    pub largest_partition_bytes: u64,
    /// SSTables on disk.
    pub sstables: usize,
    /// Their size. Bytes.
    pub disk_bytes: u64,
    /// Written by flushes so far. Bytes.
    pub flushed_bytes: u64,
    /// Written again by compactions so far. Bytes.
    pub rewritten_bytes: u64,
    /// SSTables dropped whole, unread, so far.
    pub dropped: u64,
}

/// Both schemas at the end of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Month {
    /// Days since the start.
    pub days: u32,
    /// One partition a route.
    pub before: Look,
    /// A partition a day.
    pub after: Look,
}

/// Tells the story at 1:`scale`; `each` gets each month as it ends.
///
/// # Errors
/// What a statement failed with.
pub fn tell(scale: u32, mut each: impl FnMut(&Month)) -> Result<Vec<Month>, Error> {
    let scans = (SCANS_PER_DAY / scale).max(1);
    let (before, after) = (Before::new(scale)?, After::new()?);
    let mut months = Vec::new();
    for day in 0..DAYS {
        before.route.day(scans, day, |scan| before.scan(scan))?;
        after.route.day(scans, day, |scan| after.scan(scan))?;
        if (day + 1) % MONTH_DAYS == 0 || day + 1 == DAYS {
            let month = Month { days: day + 1, before: before.look(day)?, after: after.look(day)? };
            each(&month);
            months.push(month);
        }
    }
    Ok(months)
}

/// A scan of a parcel.
struct Scan {
    at_millis: i64,
    package: Uuid,
    facility: String,
}

/// What both schemas share: a cluster, a session, the clock's start.
struct Route {
    cluster: Cluster,
    session: Session,
    id: Uuid,
    start_micros: i64,
}

impl Route {
    fn new(tables: &[&str]) -> Result<Route, Error> {
        let cluster = Cluster::builder().background(BackgroundMode::Inline).build()?;
        let session = cluster.connect();
        session.execute(
            "CREATE KEYSPACE logistics WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            (),
        )?;
        session.execute("USE logistics", ())?;
        for table in tables {
            session.execute(*table, ())?;
        }
        let start_micros = cluster.clock().now_micros();
        let id = Uuid::try_parse(ROUTE).expect("it is written as one");
        Ok(Route { cluster, session, id, start_micros })
    }

    /// A day's scans, one after another in even steps, and the flush at its end.
    fn day(
        &self,
        scans: u32,
        day: u32,
        mut scan: impl FnMut(&Scan) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let step = Duration::from_micros(u64::from(DAY_SECONDS) * 1_000_000 / u64::from(scans));
        for number in 0..scans {
            scan(&Scan {
                at_millis: self.cluster.clock().now_millis(),
                package: Uuid::from_u128(
                    (u128::from(day) << 64) | u128::from(number) | 0x4000 << 64,
                ),
                facility: facility(number % FACILITIES),
            })?;
            self.cluster.clock().advance(step);
        }
        // To the next midnight, whatever the steps left over.
        self.cluster.clock().set_micros(self.micros(day + 1));
        self.cluster.flush(Some("logistics"), None)
    }

    fn micros(&self, day: u32) -> i64 {
        self.start_micros + i64::from(day) * i64::from(DAY_SECONDS) * 1_000_000
    }

    /// The days since 1970 of a day of the story.
    fn date(&self, day: u32) -> i32 {
        i32::try_from(self.micros(day) / (i64::from(DAY_SECONDS) * 1_000_000))
            .expect("a date of this age")
    }

    /// The day as a literal of CQL.
    fn date_text(&self, day: u32) -> String {
        // A date's own number: days since 1970 with 2^31 in the middle.
        (i64::from(self.date(day)) + (1 << 31)).to_string()
    }

    fn ask(&self, cql: String, paged: bool) -> Result<Asked, Error> {
        let mut query = Query::new(cql);
        if paged {
            query = query.page_size(5000);
        }
        let held = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let mut asked = Asked::default();
        let mut state: Option<Vec<u8>> = None;
        loop {
            let next = match state.take() {
                Some(state) => query.clone().paging_state(state),
                None => query.clone(),
            };
            let page = self.session.execute(next, ())?;
            asked.add(&page);
            match page.paging_state() {
                Some(next) => state = Some(next.to_vec()),
                None => break,
            }
        }
        asked.peak_bytes = MEMORY.peak_usage().saturating_sub(held);
        Ok(asked)
    }

    fn files(&self, look: &mut Look) -> Result<(), Error> {
        let node = self.cluster.node(1).expect("there is one");
        let of_ours = |table: &cassling_engine::schema::Table| table.keyspace == "logistics";
        node.inner().each_store(of_ours, |_, store| {
            for sstable in &store.view().sstables {
                let largest = sstable.statistics().partition_sizes_bytes.max();
                look.largest_partition_bytes = look.largest_partition_bytes.max(largest);
                look.disk_bytes += sstable.size_bytes();
                look.sstables += 1;
            }
            let totals = store.compaction_totals();
            look.flushed_bytes += totals.bytes_flushed;
            look.rewritten_bytes += totals.bytes_written;
            look.dropped += totals.expired_dropped;
            Ok(())
        })?;
        Ok(())
    }
}

impl Asked {
    fn add(&mut self, page: &QueryResult) {
        self.rows_read += page.cost.rows_read;
        self.rows_returned += page.cost.rows_returned;
        self.blocks += page.cost.blocks;
        self.sstables = self.sstables.max(page.cost.sstables);
    }
}

fn facility(number: u32) -> String {
    format!("FAC-{number:02}")
}

/// One partition a route, as it was first designed.
struct Before {
    route: Route,
    insert: Prepared,
}

impl Before {
    fn new(scale: u32) -> Result<Before, Error> {
        // Files of less than 50 MiB are merged whatever their size: at scale, of less than their share of it.
        let least_bytes = 52_428_800 / scale;
        let route = Route::new(&[&format!(
            "CREATE TABLE scans_by_route (
                route_id uuid, scanned_at timestamp, package_id uuid, facility text, status text,
                PRIMARY KEY ((route_id), scanned_at, package_id)
            ) WITH CLUSTERING ORDER BY (scanned_at DESC)
                AND compaction = {{'class': 'SizeTieredCompactionStrategy', 'min_sstable_size': '{least_bytes}'}}"
        )])?;
        let insert = route.session.prepare(
            "INSERT INTO scans_by_route (route_id, scanned_at, package_id, facility, status) VALUES (?, ?, ?, ?, 'OUT')",
        )?;
        Ok(Before { route, insert })
    }

    fn scan(&self, scan: &Scan) -> Result<(), Error> {
        let at = Value::Timestamp(scan.at_millis);
        let values = (self.route.id, at, scan.package, scan.facility.as_str());
        self.route.session.execute(&self.insert, values).map(|_| ())
    }

    fn look(&self, day: u32) -> Result<Look, Error> {
        let (route, table) = (&self.route, "SELECT * FROM scans_by_route WHERE");
        let (from, to) = (route.micros(day) / 1000, route.micros(day + 1) / 1000);
        let span = format!("scanned_at >= {from} AND scanned_at < {to}");
        let facility = facility(7);
        let mut look = Look {
            latest: route.ask(format!("{table} route_id = {ROUTE} LIMIT 100"), true)?,
            day: route.ask(format!("{table} route_id = {ROUTE} AND {span}"), true)?,
            facility: route
                .ask(format!("{table} facility = '{facility}' AND {span} ALLOW FILTERING"), true)?,
            unbounded: route.ask(format!("{table} route_id = {ROUTE}"), false)?,
            ..Look::default()
        };
        route.files(&mut look)?;
        Ok(look)
    }
}

/// A partition a day, twice: by route and by facility.
struct After {
    route: Route,
    by_route: Prepared,
    by_facility: Prepared,
}

/// What both tables have in common.
const WINDOWED: &str = "WITH CLUSTERING ORDER BY (scanned_at DESC)
    AND compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'DAYS', 'compaction_window_size': 1}
    AND default_time_to_live = 15552000";

impl After {
    fn new() -> Result<After, Error> {
        let by_route = format!(
            "CREATE TABLE scans_by_route_day (
                route_id uuid, day date, scanned_at timestamp, package_id uuid, facility text, status text,
                PRIMARY KEY ((route_id, day), scanned_at, package_id)) {WINDOWED}"
        );
        let by_facility = format!(
            "CREATE TABLE scans_by_facility_day (
                facility text, day date, scanned_at timestamp, package_id uuid, route_id uuid, status text,
                PRIMARY KEY ((facility, day), scanned_at, package_id)) {WINDOWED}"
        );
        let route = Route::new(&[&by_route, &by_facility])?;
        let by_route = route.session.prepare(
            "INSERT INTO scans_by_route_day (route_id, day, scanned_at, package_id, facility, status) VALUES (?, ?, ?, ?, ?, 'OUT')",
        )?;
        let by_facility = route.session.prepare(
            "INSERT INTO scans_by_facility_day (facility, day, scanned_at, package_id, route_id, status) VALUES (?, ?, ?, ?, ?, 'OUT')",
        )?;
        Ok(After { route, by_route, by_facility })
    }

    fn scan(&self, scan: &Scan) -> Result<(), Error> {
        let Route { session, id, .. } = &self.route;
        let at = Value::Timestamp(scan.at_millis);
        let day = Value::Date(
            i32::try_from(scan.at_millis / 1000 / i64::from(DAY_SECONDS))
                .expect("a date of this age"),
        );
        let facility = scan.facility.as_str();
        session.execute(&self.by_route, (id, &day, &at, scan.package, facility))?;
        session.execute(&self.by_facility, (facility, &day, &at, scan.package, id)).map(|_| ())
    }

    fn look(&self, day: u32) -> Result<Look, Error> {
        let route = &self.route;
        let (today, facility) = (route.date_text(day), facility(7));
        let by_route =
            format!("SELECT * FROM scans_by_route_day WHERE route_id = {ROUTE} AND day = {today}");
        let mut look = Look {
            latest: route.ask(format!("{by_route} LIMIT 100"), true)?,
            day: route.ask(by_route.clone(), true)?,
            facility: route.ask(
                format!("SELECT * FROM scans_by_facility_day WHERE facility = '{facility}' AND day = {today}"),
                true,
            )?,
            unbounded: route.ask(by_route, false)?,
            ..Look::default()
        };
        route.files(&mut look)?;
        Ok(look)
    }
}
