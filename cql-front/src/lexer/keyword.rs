//! The words of CQL, and where each may stand as a name.

use super::TokenKind;

/// Where a keyword may stand as a name (Cassandra's `unreserved_keyword` and its parts).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Nowhere.
    Reserved,
    /// As any name.
    Basic,
    /// As any name but that of a type: the native types.
    Native,
    /// As any name but that of a type or of a function outside a select list.
    Extra,
}

macro_rules! keywords {
    ($($name:ident $class:ident),* $(,)?) => {
        /// A keyword of CQL.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "each variant is named after its word")]
        pub enum Keyword { $($name),* }

        impl Keyword {
            pub(crate) fn class(self) -> Class {
                match self { $(Keyword::$name => Class::$class),* }
            }
        }
    };
}

keywords! {
    Access Basic, Add Reserved, Aggregate Basic, Aggregates Basic, All Basic, Allow Reserved,
    Alter Reserved, And Reserved, Ann Basic, Apply Reserved, As Basic, Asc Reserved, Ascii Native,
    Authorize Reserved, Batch Reserved, Begin Reserved, Bigint Native, Blob Native, Boolean Native,
    By Reserved, Called Basic, Cast Extra, Cidrs Basic, Cluster Basic, Clustering Basic,
    Compact Basic, Contains Basic, Count Extra, Counter Native, Create Reserved, Custom Basic,
    Datacenters Basic, Date Native, Decimal Native, Default Basic, Delete Reserved, Desc Reserved,
    Describe Reserved, Distinct Extra, Double Native, Drop Reserved, Duration Native,
    Entries Reserved, Execute Reserved, Exists Basic, Filtering Basic, Finalfunc Basic,
    Float Native, From Reserved, Frozen Basic, Full Reserved, Function Basic, Functions Basic,
    Grant Reserved, Group Basic, Hashed Basic, Identity Basic, If Reserved, In Reserved,
    Index Reserved, Inet Native, Initcond Basic, Input Basic, Insert Reserved, Int Native,
    Internals Basic, Into Reserved, Is Reserved, Json Extra, Key Extra, Keys Basic,
    Keyspace Reserved, Keyspaces Basic, Language Basic, Like Basic, Limit Reserved, List Basic,
    Login Basic, Map Basic, Masked Basic, Materialized Reserved, Maxwritetime Extra, Mbean Basic,
    Mbeans Basic, Modify Reserved, Nologin Basic, Norecursive Reserved, Nosuperuser Basic,
    Not Reserved, Null Reserved, Of Reserved, On Reserved, Only Basic, Options Basic, Or Reserved,
    Order Reserved, Partition Basic, Password Basic, Per Basic, Permission Basic, Permissions Basic,
    Primary Reserved, Rename Reserved, Replace Basic, Returns Basic, Revoke Reserved, Role Basic,
    Roles Basic, Schema Reserved, Select Reserved, SelectMasked Basic, Set Reserved, Sfunc Basic, Smallint Native,
    Static Basic, Storage Basic, Stype Basic, Superuser Basic, Table Reserved, Tables Basic,
    Text Native, Time Native, Timestamp Native, Timeuuid Native, Tinyint Native, To Reserved,
    Token Reserved, Trigger Basic, Truncate Reserved, Ttl Extra, Tuple Basic, Type Basic,
    Types Basic, Unlogged Reserved, Unmask Basic, Unset Basic, Update Reserved, Use Reserved,
    User Basic, Users Basic, Using Reserved, Uuid Native, Values Basic, Varchar Native,
    Varint Native, Vector Basic, View Reserved, Where Reserved, With Reserved, Writetime Extra,
}

/// Words in order, for a binary search. `date` is one of the native types, so never an ordinary name of a type.
const WORDS: [(&str, Keyword); 152] = [
    ("access", Keyword::Access),
    ("add", Keyword::Add),
    ("aggregate", Keyword::Aggregate),
    ("aggregates", Keyword::Aggregates),
    ("all", Keyword::All),
    ("allow", Keyword::Allow),
    ("alter", Keyword::Alter),
    ("and", Keyword::And),
    ("ann", Keyword::Ann),
    ("apply", Keyword::Apply),
    ("as", Keyword::As),
    ("asc", Keyword::Asc),
    ("ascii", Keyword::Ascii),
    ("authorize", Keyword::Authorize),
    ("batch", Keyword::Batch),
    ("begin", Keyword::Begin),
    ("bigint", Keyword::Bigint),
    ("blob", Keyword::Blob),
    ("boolean", Keyword::Boolean),
    ("by", Keyword::By),
    ("called", Keyword::Called),
    ("cast", Keyword::Cast),
    ("cidrs", Keyword::Cidrs),
    ("cluster", Keyword::Cluster),
    ("clustering", Keyword::Clustering),
    ("columnfamilies", Keyword::Tables),
    ("columnfamily", Keyword::Table),
    ("compact", Keyword::Compact),
    ("contains", Keyword::Contains),
    ("count", Keyword::Count),
    ("counter", Keyword::Counter),
    ("create", Keyword::Create),
    ("custom", Keyword::Custom),
    ("datacenters", Keyword::Datacenters),
    ("date", Keyword::Date),
    ("decimal", Keyword::Decimal),
    ("default", Keyword::Default),
    ("delete", Keyword::Delete),
    ("desc", Keyword::Desc),
    ("describe", Keyword::Describe),
    ("distinct", Keyword::Distinct),
    ("double", Keyword::Double),
    ("drop", Keyword::Drop),
    ("duration", Keyword::Duration),
    ("entries", Keyword::Entries),
    ("execute", Keyword::Execute),
    ("exists", Keyword::Exists),
    ("filtering", Keyword::Filtering),
    ("finalfunc", Keyword::Finalfunc),
    ("float", Keyword::Float),
    ("from", Keyword::From),
    ("frozen", Keyword::Frozen),
    ("full", Keyword::Full),
    ("function", Keyword::Function),
    ("functions", Keyword::Functions),
    ("grant", Keyword::Grant),
    ("group", Keyword::Group),
    ("hashed", Keyword::Hashed),
    ("identity", Keyword::Identity),
    ("if", Keyword::If),
    ("in", Keyword::In),
    ("index", Keyword::Index),
    ("inet", Keyword::Inet),
    ("initcond", Keyword::Initcond),
    ("input", Keyword::Input),
    ("insert", Keyword::Insert),
    ("int", Keyword::Int),
    ("internals", Keyword::Internals),
    ("into", Keyword::Into),
    ("is", Keyword::Is),
    ("json", Keyword::Json),
    ("key", Keyword::Key),
    ("keys", Keyword::Keys),
    ("keyspace", Keyword::Keyspace),
    ("keyspaces", Keyword::Keyspaces),
    ("language", Keyword::Language),
    ("like", Keyword::Like),
    ("limit", Keyword::Limit),
    ("list", Keyword::List),
    ("login", Keyword::Login),
    ("map", Keyword::Map),
    ("masked", Keyword::Masked),
    ("materialized", Keyword::Materialized),
    ("maxwritetime", Keyword::Maxwritetime),
    ("mbean", Keyword::Mbean),
    ("mbeans", Keyword::Mbeans),
    ("modify", Keyword::Modify),
    ("nologin", Keyword::Nologin),
    ("norecursive", Keyword::Norecursive),
    ("nosuperuser", Keyword::Nosuperuser),
    ("not", Keyword::Not),
    ("null", Keyword::Null),
    ("of", Keyword::Of),
    ("on", Keyword::On),
    ("only", Keyword::Only),
    ("options", Keyword::Options),
    ("or", Keyword::Or),
    ("order", Keyword::Order),
    ("partition", Keyword::Partition),
    ("password", Keyword::Password),
    ("per", Keyword::Per),
    ("permission", Keyword::Permission),
    ("permissions", Keyword::Permissions),
    ("primary", Keyword::Primary),
    ("rename", Keyword::Rename),
    ("replace", Keyword::Replace),
    ("returns", Keyword::Returns),
    ("revoke", Keyword::Revoke),
    ("role", Keyword::Role),
    ("roles", Keyword::Roles),
    ("schema", Keyword::Schema),
    ("select", Keyword::Select),
    ("select_masked", Keyword::SelectMasked),
    ("set", Keyword::Set),
    ("sfunc", Keyword::Sfunc),
    ("smallint", Keyword::Smallint),
    ("static", Keyword::Static),
    ("storage", Keyword::Storage),
    ("stype", Keyword::Stype),
    ("superuser", Keyword::Superuser),
    ("table", Keyword::Table),
    ("tables", Keyword::Tables),
    ("text", Keyword::Text),
    ("time", Keyword::Time),
    ("timestamp", Keyword::Timestamp),
    ("timeuuid", Keyword::Timeuuid),
    ("tinyint", Keyword::Tinyint),
    ("to", Keyword::To),
    ("token", Keyword::Token),
    ("trigger", Keyword::Trigger),
    ("truncate", Keyword::Truncate),
    ("ttl", Keyword::Ttl),
    ("tuple", Keyword::Tuple),
    ("type", Keyword::Type),
    ("types", Keyword::Types),
    ("unlogged", Keyword::Unlogged),
    ("unmask", Keyword::Unmask),
    ("unset", Keyword::Unset),
    ("update", Keyword::Update),
    ("use", Keyword::Use),
    ("user", Keyword::User),
    ("users", Keyword::Users),
    ("using", Keyword::Using),
    ("uuid", Keyword::Uuid),
    ("values", Keyword::Values),
    ("varchar", Keyword::Varchar),
    ("varint", Keyword::Varint),
    ("vector", Keyword::Vector),
    ("view", Keyword::View),
    ("where", Keyword::Where),
    ("with", Keyword::With),
    ("writetime", Keyword::Writetime),
];

/// What a word is: a keyword, one of the words that are values, or a name.
pub(super) fn kind_of(word: &[u8]) -> TokenKind {
    let mut lower = [0u8; 16];
    let Some(lower) = lower.get_mut(..word.len()) else { return TokenKind::Identifier };
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    match &*lower {
        b"true" | b"false" => return TokenKind::Boolean,
        b"nan" => return TokenKind::Nan,
        b"infinity" => return TokenKind::Infinity,
        _ => {}
    }
    match WORDS.binary_search_by(|(text, _)| text.as_bytes().cmp(lower)) {
        Ok(n) => TokenKind::Keyword(WORDS[n].1),
        Err(_) => TokenKind::Identifier,
    }
}

/// What a name is read as when it is written without quotes, if it means itself then: lower case letters, digits
/// and underscores.
pub(crate) fn plain_kind(name: &str) -> Option<TokenKind> {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|b| b.is_ascii_lowercase())
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    plain.then(|| kind_of(name.as_bytes()))
}

/// Whether a name needs no quotes: lower case, and no word that is reserved.
pub fn is_plain_name(name: &str) -> bool {
    match plain_kind(name) {
        Some(TokenKind::Keyword(keyword)) => keyword.class() != Class::Reserved,
        kind => kind == Some(TokenKind::Identifier),
    }
}
