//! What a request cost, counted where the work is done.
//!
//! Every result carries a [`Cost`]; a script asserts its fields by name (`--= rows_read = 20`). A counter is
//! raised in exactly one place, and adding the costs of the parts gives the cost of the whole.

use std::ops::AddAssign;

/// Counters of one request, summed over replicas. Names are those of script expectations (docs/scripts.md).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Live rows read at replicas, static rows included as Cassandra counts them
    /// (`Read N live rows and M tombstone cells`), whether returned or filtered away.
    pub rows_read: u64,
    /// Tombstones met at replicas, by Cassandra's rule (`ReadCommand.withMetricsRecording`).
    pub tombstones: u64,
    /// Rows handed to the client.
    pub rows_returned: u64,
    /// Rows that a filter looked at (`ALLOW FILTERING`).
    pub rows_filtered: u64,
    /// SSTables really opened for reading.
    pub sstables: u64,
    /// SSTables passed over by bloom filter, key range, clustering range or timestamp.
    pub sstables_skipped: u64,
    /// Data blocks of SSTables touched, from disk or from the cache.
    pub blocks: u64,
    /// Data blocks touched that the cache had: the others were read from disk.
    pub blocks_cached: u64,
    /// Bytes of data blocks read from disk, as stored.
    pub bytes_read: u64,
    /// Partitions looked up or walked over.
    pub partitions: u64,
    /// Different nodes that worked on the request.
    pub nodes: u64,
    /// Messages between nodes (a coordinator's own replica needs none).
    pub messages: u64,
    /// Acknowledgements counted for a write.
    pub acks: u64,
    /// Digest mismatches met.
    pub digest_mismatches: u64,
    /// Mutations sent by blocking read repair.
    pub read_repairs: u64,
    /// Partition updates written (before replication).
    pub mutations: u64,
}

impl Cost {
    /// Every counter with the name that scripts use, in a fixed order.
    pub fn named(&self) -> [(&'static str, u64); 16] {
        [
            ("rows_read", self.rows_read),
            ("tombstones", self.tombstones),
            ("rows_returned", self.rows_returned),
            ("rows_filtered", self.rows_filtered),
            ("sstables", self.sstables),
            ("sstables_skipped", self.sstables_skipped),
            ("blocks", self.blocks),
            ("blocks_cached", self.blocks_cached),
            ("bytes_read", self.bytes_read),
            ("partitions", self.partitions),
            ("nodes", self.nodes),
            ("messages", self.messages),
            ("acks", self.acks),
            ("digest_mismatches", self.digest_mismatches),
            ("read_repairs", self.read_repairs),
            ("mutations", self.mutations),
        ]
    }
}

impl AddAssign<&Cost> for Cost {
    fn add_assign(&mut self, other: &Cost) {
        self.rows_read += other.rows_read;
        self.tombstones += other.tombstones;
        self.rows_returned += other.rows_returned;
        self.rows_filtered += other.rows_filtered;
        self.sstables += other.sstables;
        self.sstables_skipped += other.sstables_skipped;
        self.blocks += other.blocks;
        self.blocks_cached += other.blocks_cached;
        self.bytes_read += other.bytes_read;
        self.partitions += other.partitions;
        self.nodes += other.nodes;
        self.messages += other.messages;
        self.acks += other.acks;
        self.digest_mismatches += other.digest_mismatches;
        self.read_repairs += other.read_repairs;
        self.mutations += other.mutations;
    }
}
