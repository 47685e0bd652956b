//! Keyspaces, replication, and who may change what.

refusals! {
    /// Refusals of CREATE, ALTER and DROP KEYSPACE, and of changes in system keyspaces.
    KeyspaceError {
        Missing { keyspace: String } => Invalid, "Keyspace '{keyspace}' doesn't exist";
        Exists { keyspace: String } => AlreadyExists, "Cannot add existing keyspace \"{keyspace}\"";
        System { keyspace: String } => Invalid, "System keyspace '{keyspace}' is not user-modifiable";
        Unmodifiable { keyspace: String } => Unauthorized, "{keyspace} keyspace is not user-modifiable.";
        Forbidden { permission: &'static str, resource: String } => Unauthorized, "Cannot {permission} {resource}";
        Name { keyspace: String } => Invalid, "Keyspace name must not be empty, more than 48 characters long, or contain non-alphanumeric-underscore characters (got '{keyspace}')";
        NoReplication {} => Invalid, "Missing mandatory option 'replication'";
        EmptyReplication {} => ServerError, "java.lang.NullPointerException: Cannot invoke \"String.contains(java.lang.CharSequence)\" because \"cls\" is null";
        NoClass {} => Config, "Missing replication strategy class";
        UnknownClass { class: String } => Config, "Unable to find replication strategy class '{class}'";
        NotAStrategy { class: String } => Config, "Specified replication strategy class ({class}) is not derived from AbstractReplicationStrategy";
        OldStrategy {} => Config, "The support for the OldNetworkTopologyStrategy has been removed in C* version 4.0. The keyspace strategy should be switch to NetworkTopologyStrategy";
        LocalStrategy {} => Invalid, "Unable to use given strategy class: LocalStrategy is reserved for internal use.";
        NoReplicationFactor {} => Config, "SimpleStrategy requires a replication_factor strategy option.";
        UnknownOption { option: String, strategy: &'static str, keyspace: String } => Config, "Unrecognized strategy option {{{option}}} passed to {strategy} for keyspace {keyspace}";
        NoDatacenter {} => Config, "Configuration for at least one datacenter must be present";
        NotANumber { text: String } => Config, "For input string: \"{text}\"";
        Negative { factor: i64 } => Config, "Replication factor must be non-negative, found {factor}";
        Transient {} => Config, "Transient replication is not enabled on this node";
    }
}
