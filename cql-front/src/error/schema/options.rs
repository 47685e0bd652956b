//! Syntax of properties, options of a table.

refusals! {
    /// Refusals of `WITH ...`.
    OptionError {
        Unknown { name: String } => Syntax, "Unknown property '{name}'";
        NotAString { name: String } => Syntax, "Invalid value for property '{name}'. It should be a string";
        NotAMap { name: String } => Syntax, "Invalid value for property '{name}'. It should be a map.";
        NotAnInteger { name: String, value: String } => Syntax, "Invalid integer value {value} for '{name}'";
        NotADouble { name: String, value: String } => Syntax, "Invalid double value {value} for '{name}'";
        NotABoolean { name: String, value: String } => Syntax, "Invalid boolean value {value} for '{name}'. Positive values can be '1', 'true' or 'yes'. Negative values can be '0', 'false' or 'no'.";
        CachingUnknown { names: String } => Config, "Invalid caching sub-options [{names}]: only 'keys' and 'rows_per_partition' are allowed";
        CachingKeys { value: String } => Config, "Invalid value '{value}' for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed";
        CachingRows { value: String } => Config, "Invalid value '{value}' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', and integer values are allowed";
        NumberFormat { value: String } => ServerError, "java.lang.NumberFormatException: For input string: \"{value}\"";
        Memtable { name: String } => Config, "Memtable configuration \"{name}\" not found.";
        ReadRepair { value: String } => ServerError, "java.lang.IllegalArgumentException: No enum constant org.apache.cassandra.service.reads.repair.ReadRepairStrategy.{value}";
        Retry { value: String } => Config, "Invalid value {value} for option 'speculative_retry'";
        RetryPercentile { value: String } => Config, "Invalid value {value} for PERCENTILE option 'speculative_retry': must be between (0.0 and 100.0)";
        RetrySameKinds { value: String, kind: &'static str } => Config, "Invalid value {value} for option 'speculative_retry': MIN()/MAX() arguments should be of different types, but both are of type {kind}";
        BloomFilter { value: String } => Config, "bloom_filter_fp_chance must be larger than 6.71E-5 and less than or equal to 1.0 (got {value})";
        CrcCheck { value: String } => Config, "crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got {value})";
        AtLeast { name: &'static str, least: i64, value: i64 } => Config, "{name} must be greater than or equal to {least} (got {value})";
        AtMost { name: &'static str, most: i64, value: i64 } => Config, "{name} must be less than or equal to {most} (got {value})";
        MaxBelowMin { min: i64, max: i64 } => Config, "max_index_interval must be greater than or equal to min_index_interval ({min}) (got {max})";
        CompressionNoClass {} => Config, "Missing sub-option 'class' for the 'compression' option.";
        CompressionEmptyClass {} => Config, "The 'class' option must not be empty. To disable compression use 'enabled' : false";
        CompressionOff {} => Config, "If the 'enabled' option is set to false no other options must be specified";
        CompressionUnknownClass { class: String } => Config, "Could not create Compression for type {class}";
        CompressionNoCreate {} => Config, "create method not found";
        CompressionUnknown { name: String } => Config, "Unknown compression options {name}";
        ChunkNotANumber {} => Config, "Invalid value for chunk_length_in_kb";
        ChunkTooLarge { value: String } => Config, "Value of chunk_length_in_kb is too large ({value})";
        ChunkNegative {} => Config, "Invalid negative or null chunk_length_in_kb";
        ChunkPower {} => Config, "chunk_length_in_kb must be a power of 2";
        RatioNegative {} => Config, "Invalid negative min_compress_ratio";
        RatioBelowOne {} => Config, "min_compress_ratio can either be 0 or greater than or equal to 1";
        Lz4Type { value: String } => Config, "Invalid compressor type '{value}' specified for LZ4 parameter 'lz4_compressor_type'. Valid options are [high, fast].";
        Lz4Level { value: String } => Config, "Invalid value [{value}] for parameter 'lz4_high_compressor_level'. Value must be between 1 and 17.";
        ZstdLevel { value: i32 } => Config, "ZstdCompressor.create() threw an error: java.lang.IllegalArgumentException compression_level={value} is invalid";
        ZstdNotANumber { value: String } => Config, "ZstdCompressor.create() threw an error: java.lang.NumberFormatException For input string: \"{value}\"";
    }
}
