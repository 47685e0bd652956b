//! Types.

refusals! {
    /// Refusals of type names in declarations, and of CREATE, ALTER and DROP TYPE.
    TypeError {
        Unknown { name: String } => Invalid, "Unknown type {name}";
        OtherKeyspace { keyspace: String, other: String } => Invalid, "Statement on keyspace {keyspace} cannot refer to a user type in keyspace {other}; user types can only be used in the keyspace they are defined in";
        FrozenNative { ty: String } => Syntax, "frozen<> is only allowed on collections, tuples, and user-defined types (got {ty})";
        UnknownClass { class: String } => Syntax, "Error setting type {class}: Unable to find abstract-type class '{class}'";
        Dimensions { dimensions: String } => Invalid, "vectors may only have positive dimensions; given {dimensions}";
        DimensionsNotInt { dimensions: String } => Syntax, "For input string: \"{dimensions}\"";
        CounterInCollection { ty: String } => Invalid, "Counters are not allowed inside collections: {ty}";
        CounterInTuple {} => Invalid, "Counters are not allowed inside tuples";
        DurationInSet { ty: String } => Invalid, "Durations are not allowed inside sets: {ty}";
        DurationAsKey { ty: String } => Invalid, "Durations are not allowed as map keys: {ty}";
        NestedCollection { ty: String } => Invalid, "Non-frozen collections are not allowed inside collections: {ty}";
        NestedUserType { ty: String } => Invalid, "Non-frozen UDTs are not allowed inside collections: {ty}";
        Exists { name: String } => Invalid, "A user type with name '{name}' already exists";
        DuplicateField { field: String, name: String } => Invalid, "Duplicate field name '{field}' in type '{name}'";
        CounterField {} => Invalid, "A user type cannot contain counters";
        MultiCellField {} => Invalid, "A user type cannot contain non-frozen UDTs";
        AlterMissing { keyspace: String, name: String } => Invalid, "Type {keyspace}.{name} doesn't exist";
        FieldExists { field: String, ty: String } => Invalid, "Cannot add field {field} to type {ty}: a field with name {field} already exists";
        Circular { field: String, field_ty: String, ty: String } => Invalid, "Cannot add new field {field} of type {field_ty} to user type {ty} as it would create a circular reference";
        InPartitionKey { field: String, field_ty: String, ty: String, tables: String } => Invalid, "Cannot add new field {field} of type {field_ty} to user type {ty} as the type is being used in partition key by the following tables: {tables}";
        AlterFieldType {} => Invalid, "Altering field types is no longer supported";
        UnknownField { field: String, ty: String } => Invalid, "Unkown field {field} in user type {ty}";
        RenamedTwice { field: String, keyspace: String } => Invalid, "Duplicate field name {field} in type {keyspace}";
        DropMissing { keyspace: String, name: String } => Invalid, "Type '{keyspace}.{name}' doesn't exist";
        UsedBy { keyspace: String, name: String, users: String } => Invalid, "Cannot drop user type '{keyspace}.{name}' as it is still used by {users}";
    }
}
