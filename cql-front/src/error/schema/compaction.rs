//! Sub-options of `compaction` (sheets A.11, C.5 to C.7b).

refusals! {
    /// Refusals of `WITH compaction = {...}`.
    CompactionError {
        NoClass {} => Config, "Missing sub-option 'class' for the 'compaction' option";
        UnknownClass { class: String } => Config, "Unable to find compaction strategy class '{class}'";
        NotAStrategy { class: String } => Config, "Compaction strategy class {class} is not derived from AbstractReplicationStrategy";
        Abstract { class: String } => ServerError, "java.lang.RuntimeException: java.lang.NoSuchMethodException: {class}.<init>(org.apache.cassandra.db.ColumnFamilyStore,java.util.Map)";
        NotUnderstood { names: String, class: String } => Config, "Properties specified [{names}] are not understood by {class}";
        Threshold { name: &'static str, value: String } => Config, "Invalid value {value} for '{name}' compaction sub-option - must be an integer";
        ThresholdTooLarge { value: String } => ServerError, "java.lang.NumberFormatException: For input string: \"{value}\"";
        ThresholdZero {} => Config, "Disabling compaction by setting compaction thresholds to 0 has been removed, set the compaction option 'enabled' to false instead.";
        MinTooSmall { min: i32 } => Config, "Min compaction threshold cannot be less than 2 (got {min})";
        MinAboveMax { min: i32, max: i32 } => Config, "Min compaction threshold (got {min}) cannot be greater than max compaction threshold (got {max})";
        Overlapping { value: String } => Config, "Invalid value {value} for 'provide_overlapping_tombstones' compaction sub-option - must be one of the following [NONE, ROW, CELL].";
        NotAnInt { name: &'static str, value: String } => Config, "{value} is not a parsable int (base10) for {name}";
        NotALong { name: &'static str, value: String } => Config, "{value} is not a parsable long (base10) for {name}";
        NotAFloat { name: &'static str, value: String } => Config, "{value} is not a parsable float for {name}";
        NotPositive { name: &'static str, value: String } => Config, "{name} must be greater than 0, but was {value}";
        NotLarger { name: &'static str, value: i64 } => Config, "{name} must be larger than 0, but was {value}";
        Negative { name: &'static str, value: i64 } => Config, "{name} must not be negative, but was {value}";
        Unchecked { value: String } => Config, "'unchecked_tombstone_compaction' should be either 'true' or 'false', not '{value}'";
        LogAll { value: String } => Config, "'log_all' should either be 'true' or 'false', not {value}";
        NotABoolean { name: &'static str, value: String } => Config, "{name} should either be 'true' or 'false', not {value}";
        MinSize { value: i64 } => Config, "min_sstable_size must be non negative: {value}";
        Buckets { high: String, low: String } => Config, "bucket_high value ({high}) is less than or equal to the bucket_low value ({low})";
        NotValid { name: &'static str, value: String } => Config, "{value} is not valid for {name}";
        WindowSize { value: i64 } => Config, "{value} must be greater than 1 for compaction_window_size";
        UnsafeNotAllowed {} => Config, "unsafe_aggressive_sstable_expiration is requested but not allowed, restart cassandra with -Dcassandra.allow_unsafe_aggressive_sstable_expiration=true to allow it";
        UnsafeNotABoolean { value: String } => Config, "unsafe_aggressive_sstable_expiration is not 'true' or 'false' ({value})";
        Scaling { value: String } => Config, "Scaling parameter {value} must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+";
        FanFactor { value: String } => Config, "Fan factor cannot be lower than 2 in {value}";
        Size { name: &'static str, value: String } => Config, "{name} {value} is not a valid size in bytes: {value} does not end in unit B";
        SizeTooSmall { name: &'static str, value: String } => Config, "{name} {value} is not acceptable, size must be at least 1.000MiB";
        MinSizeInvalid { value: String } => Config, "{value} is not a valid size in bytes for min_sstable_size";
        MinSizeNegative {} => Config, "Invalid configuration, min_sstable_size should be greater than or equal to 0 (zero)";
        MinSizeAboveTarget { min: String, target: String } => Config, "Invalid configuration, min_sstable_size ({min}) should be less than the target size minimum: {target}";
        ShouldBePositive { name: &'static str, value: i64 } => Config, "Invalid configuration, {name} should be positive: {value}";
        Growth { value: String } => Config, "sstable_growth {value} must be between 0 and 1";
        GrowthNotANumber { value: String } => Config, "sstable_growth is not a valid number between 0 and 1: For input string: \"{value}\"";
        Overlap { value: String } => Config, "Invalid overlap inclusion method {value}. The valid options are [NONE, SINGLE, TRANSITIVE].";
    }
}
