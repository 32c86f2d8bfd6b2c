//! The Lua scripts, joined with their includes at compile time (`build.rs`).

use std::sync::LazyLock;

/// A Lua script: one state change, atomic in every store.
pub struct Script {
    /// File name without `.lua`, for logs.
    pub name: &'static str,
    /// The full text, with each include in the place of its line `-- @include NAME`.
    pub source: &'static str,
    /// Whether running it twice has the effect of running it once.
    pub is_repeatable: bool,
    /// SHA-1 of `source` in hex, for EVALSHA.
    pub sha: LazyLock<String>,
}

impl Script {
    /// Whether its outcome depends on no change that it makes: it counts requests, and removes expired entries.
    pub fn is_reading(&self) -> bool {
        matches!(
            self.name,
            "check_status" | "admit" | "count_lookups" | "recall_identities"
        )
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Script({})", self.name)
    }
}

/// SHA-1 in hex, the name of a script in Redis.
pub fn sha1_hex(text: &str) -> String {
    sha1_smol::Sha1::from(text).digest().to_string()
}

/// Declares the scripts of a folder of the state, each as `CONSTANT = "file", repeatable: bool;`, and their list.
macro_rules! scripts {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, repeatable: $repeatable:literal;)*) => {
        $(
            $(#[$doc])*
            pub static $constant: $crate::store::Script = $crate::store::Script {
                name: $name,
                source: include_str!(concat!(env!("OUT_DIR"), "/scripts/", $name, ".lua")),
                is_repeatable: $repeatable,
                sha: std::sync::LazyLock::new(|| $crate::store::script::sha1_hex($constant.source)),
            };
        )*
        /// All of them.
        pub(crate) static SCRIPTS: &[&$crate::store::Script] = &[$(&$constant),*];
    };
}
pub(crate) use scripts;
