//! The Lua scripts, each with the modules that it needs, and the library of functions that has them all; `build.rs` makes both.

use std::sync::OnceLock;

/// A Lua script: one state change, atomic in every store.
pub struct Script {
    /// File name without `.lua`, for logs.
    pub name: &'static str,
    /// The text for EVALSHA: the modules that it needs, and itself.
    pub source: &'static str,
    /// Whether running it twice has the effect of running it once.
    pub is_repeatable: bool,
    sha: OnceLock<String>,
    /// The library in which it is a function, if it is in one.
    pub library: Option<&'static Library>,
}

impl Script {
    /// A script that is the function `name` of `library`, or in none.
    pub const fn new(
        name: &'static str,
        source: &'static str,
        is_repeatable: bool,
        library: Option<&'static Library>,
    ) -> Self {
        Script {
            name,
            source,
            is_repeatable,
            sha: OnceLock::new(),
            library,
        }
    }

    /// SHA-1 of `source` in hex, for EVALSHA.
    pub fn sha(&self) -> &str {
        self.sha.get_or_init(|| sha1_hex(self.source))
    }

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

/// Scripts as the functions of one library, which a store compiles once.
pub struct Library {
    pub(crate) prefix: &'static str,
    digest: &'static str,
    /// The text that calls `register(NAME, run)` for each script. `run(KEYS, ARGV)` returns the script's reply.
    pub functions: &'static str,
}

/// The first lines of a library on a server, with places for its name and the flag of its functions.
const HEAD: &str = include_str!("library.lua");

impl Library {
    /// A library whose name is made of `prefix` and the digest of its text, so that several versions of a deployment have
    /// one each on one store.
    pub const fn new(prefix: &'static str, digest: &'static str, functions: &'static str) -> Self {
        Library {
            prefix,
            digest,
            functions,
        }
    }

    /// Its name, where each function has `flag`, or none if that is empty.
    pub fn name(&self, flag: &str) -> String {
        let kind = if flag.is_empty() { "" } else { LOCKING };
        format!("{}_{}{kind}", self.prefix, self.digest)
    }

    /// The name of the function that `script` is.
    pub fn function(&self, flag: &str, script: &Script) -> String {
        format!("{}_{}", self.name(flag), script.name)
    }

    /// The text for FUNCTION LOAD.
    pub fn code(&self, flag: &str) -> String {
        let flags = if flag.is_empty() {
            String::new()
        } else {
            format!("'{flag}'")
        };
        let head = HEAD.replace("NAME", &self.name(flag)).replace("FLAGS", &flags);
        [&head, self.functions].concat()
    }
}

/// Suffix of a library's name whose functions have a flag: the one of Upstash.
const LOCKING: &str = "_locking";

/// Whether `name` may be that of a library with this prefix, of any version.
pub(crate) fn is_library(prefix: &str, name: &str) -> bool {
    let digest = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_'));
    let digest = digest.map(|digest| digest.strip_suffix(LOCKING).unwrap_or(digest));
    digest.is_some_and(|digest| {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        digest.len() == DIGITS && digest.bytes().all(is_digit)
    })
}

/// Digits of the digest, which `build.rs` makes.
const DIGITS: usize = 16;

/// SHA-1 in hex, the name of a script in Redis.
pub fn sha1_hex(text: &str) -> String {
    sha1_smol::Sha1::from(text).digest().to_string()
}
