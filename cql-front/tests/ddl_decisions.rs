//! What schema statements change, and which of two faults is told: answers of a Cassandra 5.0.2 that the recorded
//! files do not hold, and what no answer shows (ids of columns, events).

use cassling::analysis::{self, Context, ddl};
use cassling::outcome::SchemaEvent;
use cassling::parser;
use cassling::plan::PlanKind;
use cassling_engine::schema::{Schema, Table};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A schema that statements are run on, in keyspace `ks`, at a time that the test sets.
struct World {
    schema: Schema,
    now_micros: i64,
    datacenters: Vec<(String, usize)>,
}

impl World {
    fn new() -> World {
        let mut world = World {
            schema: Schema { version: Uuid::nil(), keyspaces: BTreeMap::new() },
            now_micros: 1_000,
            datacenters: vec![("east".to_string(), 3), ("west".to_string(), 1)],
        };
        world.run(
            "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        );
        world
    }

    fn decide(&self, cql: &str) -> Result<ddl::SchemaDecision, String> {
        let told = |e: cassling::Error| format!("{:04x} {e}", e.code() as u16);
        let context = || Context::new(&self.schema, Some("ks"), 0, &self.datacenters, 0);
        let parsed = parser::parse(cql).map_err(told)?;
        let plan = analysis::plan(context(), &parsed).map_err(told)?;
        let PlanKind::Schema(plan) = plan.kind else { panic!("{cql}: no schema statement") };
        ddl::decide(&context(), &plan, self.now_micros, &|| Uuid::from_u128(7)).map_err(told)
    }

    /// Runs a statement that must pass; gives its event and warnings.
    fn run(&mut self, cql: &str) -> (Option<SchemaEvent>, Vec<String>) {
        let decision = self.decide(cql).unwrap_or_else(|e| panic!("{cql}: {e}"));
        let (changes, event) = decision.change.unzip();
        for change in changes.iter().flatten() {
            self.schema = self.schema.apply(change);
        }
        (event, decision.warnings)
    }

    fn table(&self, name: &str) -> &Table {
        self.schema.table("ks", name).expect("the table is there")
    }
}

#[test]
fn of_two_faults_the_first_is_told() {
    let mut world = World::new();
    world.run("CREATE TABLE o (k int PRIMARY KEY, v int)");
    let invalid_id = "2300 Invalid table id";
    let caching =
        "2300 Invalid caching sub-options [x]: only 'keys' and 'rows_per_partition' are allowed";
    for (cql, told) in [
        ("ALTER KEYSPACE nope WITH nope = 1", "2000 Unknown property 'nope'"),
        ("CREATE KEYSPACE ks WITH nope = 1", "2000 Unknown property 'nope'"),
        (
            "CREATE TABLE nope.t (k int PRIMARY KEY) WITH gc_grace_seconds = 'abc'",
            "2000 Invalid integer value abc for 'gc_grace_seconds'",
        ),
        (
            "CREATE TABLE nope.t (k int PRIMARY KEY, v vector<int, 0>)",
            "2200 Keyspace 'nope' doesn't exist",
        ),
        (
            "CREATE TABLE nope.t (k int PRIMARY KEY, v frozen<int>)",
            "2000 frozen<> is only allowed on collections, tuples, and user-defined types (got int)",
        ),
        ("CREATE TABLE o (k int PRIMARY KEY) WITH caching = {'x': 'y'}", caching),
        (
            "CREATE TABLE o (k int PRIMARY KEY) WITH nope = 1",
            "2400 Cannot add already existing table \"o\" to keyspace \"ks\"",
        ),
        (
            "CREATE TABLE system.o (k int PRIMARY KEY) WITH gc_grace_seconds = 'abc'",
            "2100 system keyspace is not user-modifiable.",
        ),
        ("CREATE TABLE \"a-b\" (k nope PRIMARY KEY)", "2200 Unknown type ks.nope"),
        ("CREATE TABLE \"a-b\" (k int PRIMARY KEY) WITH id = 'x'", invalid_id),
        ("ALTER TABLE o WITH id = 5 AND nope = 1", "2000 Unknown property 'nope'"),
        ("ALTER TABLE o WITH id = 5", invalid_id),
        (
            "ALTER TABLE o WITH id = 5a1c395e-b41f-11e5-9f22-ba0be0483c18 AND gc_grace_seconds = -1",
            "2300 gc_grace_seconds must be greater than or equal to 0 (got -1)",
        ),
        ("ALTER TABLE nope WITH nope = 1", "2200 Table 'ks.nope' doesn't exist"),
        ("ALTER TYPE system_auth.x ADD b int", "2100 Cannot ALTER <all tables in system_auth>"),
        ("ALTER TABLE system_auth.nope ADD b int", "2100 Cannot ALTER <table system_auth.nope>"),
        ("CREATE TYPE u (x list<nope>, y counter)", "2200 A user type cannot contain counters"),
        (
            "ALTER TABLE o WITH compression = {'class': 'LZ4Compressor', 'chunk_length_in_kb': 5} AND caching = {'x': 'y'}",
            caching,
        ),
        (
            "ALTER TABLE o WITH caching = {'rows_per_partition': '99999999999'}",
            "0000 java.lang.NumberFormatException: For input string: \"99999999999\"",
        ),
        (
            "ALTER TABLE o WITH compaction = {'class': 'UnifiedCompactionStrategy', 'min_sstable_size': '-1MiB'}",
            "2300 Invalid configuration, min_sstable_size should be greater than or equal to 0 (zero)",
        ),
    ] {
        assert_eq!(world.decide(cql).map(|_| ()), Err(told.to_string()), "{cql}");
    }
}

#[test]
fn bounds_of_alter_are_checked_with_the_defaults() {
    let mut world = World::new();
    world.run("CREATE TABLE o (k int PRIMARY KEY)");
    world.run("ALTER TABLE o WITH min_index_interval = 256 AND max_index_interval = 512");
    world.run("ALTER TABLE o WITH max_index_interval = 200");
    let options = &world.table("o").options;
    assert_eq!((options.min_index_interval, options.max_index_interval), (256, 200));
}

#[test]
fn the_bloom_filter_keeps_the_chance_of_its_creation() {
    let mut world = World::new();
    let leveled = "compaction = {'class': 'LeveledCompactionStrategy'}";
    world.run("CREATE TABLE o (k int PRIMARY KEY)");
    world.run(&format!("ALTER TABLE o WITH {leveled}"));
    assert_eq!(world.table("o").options.bloom_filter(), 0.01);
    world.run("ALTER TABLE o WITH bloom_filter_fp_chance = -1");
    assert_eq!(world.table("o").options.bloom_filter(), 0.1);
}

#[test]
fn a_dropped_column_comes_back_with_its_id() {
    let mut world = World::new();
    world.run("CREATE TABLE t (k int PRIMARY KEY, v text, w int)");
    let id = world.table("t").column("v").expect("v").id;
    world.run("ALTER TABLE t DROP v USING TIMESTAMP 15");
    assert!(world.table("t").column("v").is_none());
    world.run("ALTER TABLE t ADD x int");
    assert_ne!(world.table("t").column("x").expect("x").id, id);
    world.run("ALTER TABLE t ADD v blob");
    let column = world.table("t").column("v").expect("v");
    assert_eq!((column.id, column.dropped_at_micros), (id, Some(15)));
    world.now_micros = 99;
    world.run("ALTER TABLE t DROP v");
    assert_eq!(world.table("t").dropped["v"].dropped_at_micros, 99);
}

/// What a dropped column may come back as, as a Cassandra answered.
#[test]
fn a_dropped_column_comes_back_only_as_what_it_can_be_read_as() {
    for (was, new, allowed) in [
        ("list<text>", "list<blob>", true),
        ("text", "ascii", false),
        ("bigint", "timestamp", true),
        ("set<text>", "set<blob>", true),
        ("map<text, text>", "map<text, blob>", true),
        ("uuid", "timeuuid", false),
        ("int", "varint", false),
        ("frozen<list<text>>", "frozen<list<blob>>", true),
        ("ascii", "text", true),
        ("vector<text, 2>", "vector<blob, 2>", false),
        ("bigint", "time", false),
        ("date", "int", false),
    ] {
        let mut world = World::new();
        world.run(&format!("CREATE TABLE t (k int PRIMARY KEY, v {was})"));
        world.run("ALTER TABLE t DROP v");
        let outcome = world.decide(&format!("ALTER TABLE t ADD v {new}"));
        assert_eq!(outcome.is_ok(), allowed, "{was} -> {new}");
    }
}

#[test]
fn a_changed_type_reaches_every_table_and_type() {
    let mut world = World::new();
    world.run("CREATE TYPE a (x int)");
    world.run("CREATE TYPE b (f frozen<a>)");
    world.run("CREATE TABLE t (k int PRIMARY KEY, v list<frozen<b>>, d frozen<a>)");
    let version = world.schema.version;
    world.run("ALTER TYPE a ADD y list<int>");
    assert_ne!(world.schema.version, version);
    let printed = format!("{:?}", world.table("t").column("v").expect("v").ty);
    assert!(printed.contains("\"y\""), "{printed}");
    let b = format!("{:?}", world.schema.keyspaces["ks"].types["b"]);
    assert!(b.contains("\"y\""), "{b}");
    world.run("ALTER TABLE t DROP v");
    world.run("ALTER TABLE t DROP d");
    world.run("DROP TYPE b");
    world.run("DROP TYPE a");
}

#[test]
fn events_name_what_changed_and_nothing_gives_none() {
    let mut world = World::new();
    let event = |change, target, name: Option<&str>| {
        let name = name.map(str::to_string);
        Some(SchemaEvent { change, target, keyspace: "ks".to_string(), name })
    };
    let (created, _) = world.run("CREATE TABLE t (k int PRIMARY KEY)");
    assert_eq!(created, event("CREATED", "TABLE", Some("t")));
    assert_eq!(world.run("CREATE TABLE IF NOT EXISTS t (k int PRIMARY KEY)").0, None);
    assert_eq!(world.run("ALTER TABLE t WITH comment = ''").0, None);
    let (updated, _) = world.run("ALTER TABLE t WITH comment = 'c'");
    assert_eq!(updated, event("UPDATED", "TABLE", Some("t")));
    let (typed, _) = world.run("CREATE TYPE a (x int)");
    assert_eq!(typed, event("CREATED", "TYPE", Some("a")));
    let (dropped, _) = world.run("DROP KEYSPACE ks");
    assert_eq!(dropped, event("DROPPED", "KEYSPACE", None));
}

#[test]
fn a_bare_factor_is_spelt_out_for_the_data_centres_there_are() {
    let mut world = World::new();
    let (_, warnings) = world.run(
        "CREATE KEYSPACE n WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 2, 'east': 1}",
    );
    let too_many = "Your replication factor 2 for keyspace n is higher than the number of nodes 1 for datacenter west";
    assert_eq!(warnings, [too_many]);
    let (event, warnings) = world.run(
        "ALTER KEYSPACE n WITH replication = {'class': 'NetworkTopologyStrategy', 'east': 3, 'west': 1}",
    );
    assert!(event.is_some());
    assert_eq!(
        warnings,
        [
            "When increasing replication factor you need to run a full (-full) repair to distribute the data."
        ]
    );
    let map = world.schema.keyspaces["n"].replication.as_map();
    assert_eq!((map["east"].as_str(), map["west"].as_str()), ("3", "1"));
    // What is left out stays what it was: Cassandra 5.0.2.
    world.run("ALTER KEYSPACE n WITH replication = {'class': 'NetworkTopologyStrategy'}");
    assert_eq!(world.schema.keyspaces["n"].replication.as_map(), map);
    world.run("ALTER KEYSPACE n WITH replication = {'class': 'SimpleStrategy'}");
    assert_eq!(world.schema.keyspaces["n"].replication.as_map()["replication_factor"], "1");
}

#[test]
fn more_columns_than_ids_are_refused() {
    let mut world = World::new();
    let columns: Vec<String> = (0..65_535).map(|i| format!("c{i} int")).collect();
    let told =
        "0000 cassling does not support more than 65535 columns in a table, dropped ones included";
    let create = |columns: &[String]| {
        format!("CREATE TABLE wide ({}, PRIMARY KEY (c0))", columns.join(", "))
    };
    world.run(&create(&columns));
    let added = world.decide("ALTER TABLE wide ADD one_more int").map(|_| ());
    assert_eq!(added, Err(told.to_string()));
    let mut more = columns;
    more.push("c65535 int".to_string());
    world.run("DROP TABLE wide");
    assert_eq!(world.decide(&create(&more)).map(|_| ()), Err(told.to_string()));
}
