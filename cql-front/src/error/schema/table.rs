//! Tables and their columns.

refusals! {
    /// Refusals of CREATE, ALTER and DROP TABLE. Names stand as Cassandra prints them: bare, unless said otherwise.
    TableError {
        Missing { keyspace: String, table: String } => Invalid, "Table '{keyspace}.{table}' doesn't exist";
        Exists { keyspace: String, table: String } => AlreadyExists, "Cannot add already existing table \"{table}\" to keyspace \"{keyspace}\"";
        Name { keyspace: String, table: String } => Config, "{keyspace}.{table}: Table name must not be empty, more than 48 characters long, or contain non-alphanumeric-underscore characters (got \"{table}\")";
        InvalidId {} => Config, "Invalid table id";
        AlterId {} => Config, "Cannot alter table id.";
        IdTaken { id: String, new: String, old: String } => ServerError, "java.lang.IllegalArgumentException: Multiple entries with same key: {id}={new} and {id}={old}";
        DuplicateColumn { column: String, table: String } => Invalid, "Duplicate column '{column}' declaration for table '{table}'";
        SeveralPrimaryKeys { table: String } => Invalid, "Multiple PRIMARY KEY specified for table '{table}' (exactly one required)";
        NoPrimaryKey { table: String } => Invalid, "No PRIMARY KEY specifed for table '{table}' (exactly one required)";
        DuplicateOrder { column: String, table: String } => Invalid, "Duplicate column '{column}' in CLUSTERING ORDER BY clause for table '{table}'";
        UnknownKeyColumn { column: String, table: String } => Invalid, "Unknown column '{column}' referenced in PRIMARY KEY for table '{table}'";
        DuplicateKeyColumn { column: String, table: String } => Invalid, "Duplicate column '{column}' in PRIMARY KEY clause for table '{table}'";
        KeyCollection { ty: String, column: String } => Invalid, "Invalid non-frozen collection type {ty} for PRIMARY KEY column '{column}'";
        KeyUserType { ty: String, column: String } => Invalid, "Invalid non-frozen user-defined type {ty} for PRIMARY KEY column '{column}'";
        KeyCounter { column: String } => Invalid, "counter type is not supported for PRIMARY KEY column '{column}'";
        KeyDuration { column: String } => Invalid, "duration type is not supported for PRIMARY KEY column '{column}'";
        KeyStatic { column: String } => Invalid, "Static column '{column}' cannot be part of the PRIMARY KEY";
        StaticWithoutClustering {} => Invalid, "Static columns are only useful (and thus allowed) if the table has at least one clustering column";
        OrderOfOthers { columns: String } => Invalid, "Only clustering key columns can be defined in CLUSTERING ORDER directive: [{columns}] are not clustering columns";
        OrderOutOfOrder { first: String, second: String } => Invalid, "The order of columns in the CLUSTERING ORDER directive must match that of the clustering columns ({first} must appear before {second})";
        OrderMissing { column: String } => Invalid, "Missing CLUSTERING ORDER for column {column}";
        NestedMultiCell {} => Invalid, "Non-frozen UDTs with nested non-frozen collections are not supported";
        NestedMultiCellColumn { column: String } => Invalid, "Non-frozen UDTs with nested non-frozen collections are not supported for column {column}";
        MixedCounters {} => Invalid, "Cannot mix counter and non counter columns in the same table";
        CounterTtl {} => Invalid, "Cannot set default_time_to_live on a table with counters";
        CounterColumn { table: String, column: String } => Config, "{table}: Cannot have a counter column (\"{column}\") in a non counter table";
        NonCounterColumn { table: String, column: String } => Config, "{table}: Cannot have a non counter column (\"{column}\") in a counter table";
        Masking {} => Invalid, "Cannot mask columns because dynamic data masking is not enabled. You can enable it with the dynamic_data_masking_enabled property on cassandra.yaml";
        CompactMultiCell {} => Invalid, "Non-frozen collections and UDTs are not supported with COMPACT STORAGE";
        CompactStatic {} => Invalid, "Static columns are not supported in COMPACT STORAGE tables";
        CompactNoValue {} => Invalid, "No definition found that is not part of the PRIMARY KEY";
        CompactSeveralValues { columns: String } => Invalid, "COMPACT STORAGE with composite PRIMARY KEY allows no more than one column not part of the PRIMARY KEY (got: {columns})";
        NotCompact {} => Invalid, "Cannot DROP COMPACT STORAGE on table without COMPACT STORAGE";
        TooManyColumns {} => ServerError, "cassling does not support more than 65535 columns in a table, dropped ones included";
        AlterColumnType {} => Invalid, "Altering column types is no longer supported";
        ColumnExists { column: String } => Invalid, "Column with name '{column}' already exists";
        ReAddedType { column: String, ty: String, was: String } => Invalid, "Cannot re-add previously dropped column '{column}' of type {ty}, incompatible with previous type {was}";
        ReAddedKind { column: String, kind: &'static str, was: &'static str } => Invalid, "Cannot re-add previously dropped column '{column}' of kind {kind}, incompatible with previous kind {was}";
        ReAddedCounter { column: String } => Invalid, "Cannot re-add previously dropped counter column {column}";
        NoSuchColumn { column: String, table: String } => Invalid, "Column {column} was not found in table '{table}'";
        DropKeyColumn { column: String } => Invalid, "Cannot drop PRIMARY KEY column {column}";
        DropMultiCellUserType { column: String, ty: String } => Invalid, "Cannot drop non-frozen column {column} of user type {ty}";
        UndefinedColumn { column: String, table: String } => Invalid, "Undefined column name {column} in table {table}";
        RenameNonKey { column: String } => Invalid, "Cannot rename non PRIMARY KEY column {column}";
        RenameTaken { from: String, to: String, table: String } => Invalid, "Cannot rename column {from} to {to} in table '{table}'; another column with that name already exists";
    }
}
