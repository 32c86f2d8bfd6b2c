//! The Lua scripts, each with the modules that it needs, and the library of functions that has them all.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use coord_library::{JoinedParts, Part};

/// A Lua script: one state change, atomic in every store.
pub struct Script {
    /// File name without `.lua`, for logs.
    pub name: &'static str,
    /// Whether running it twice has the effect of running it once.
    pub is_repeatable: bool,
    text: ScriptText,
}

enum ScriptText {
    Own(Text, Option<&'static Library>),
    OfLibrary(fn() -> &'static Library),
}

/// The text of a script for EVALSHA: the modules that the script needs, and the script itself.
struct Text {
    source: Cow<'static, str>,
    sha: OnceLock<String>,
}

impl Script {
    /// A script with the text `source`, which is the function `name` of `library`, or of none.
    pub const fn new(
        name: &'static str,
        source: &'static str,
        is_repeatable: bool,
        library: Option<&'static Library>,
    ) -> Self {
        let text = Text {
            source: Cow::Borrowed(source),
            sha: OnceLock::new(),
        };
        Script {
            name,
            is_repeatable,
            text: ScriptText::Own(text, library),
        }
    }

    /// The function `name` of a joined library.
    pub const fn of(library: fn() -> &'static Library, name: &'static str, is_repeatable: bool) -> Self {
        Script {
            name,
            is_repeatable,
            text: ScriptText::OfLibrary(library),
        }
    }

    fn text(&self) -> &Text {
        match &self.text {
            ScriptText::Own(text, _) => text,
            ScriptText::OfLibrary(library) => library().script(self.name),
        }
    }

    /// The modules that the script needs, and the script itself.
    pub fn source(&self) -> &str {
        &self.text().source
    }

    /// SHA-1 of its source in hex, for EVALSHA.
    pub fn sha(&self) -> &str {
        let Text { source, sha } = self.text();
        sha.get_or_init(|| sha1_hex(source))
    }

    /// The library that has the script as a function, if there is one.
    pub fn library(&self) -> Option<&'static Library> {
        match self.text {
            ScriptText::Own(_, library) => library,
            ScriptText::OfLibrary(library) => Some(library()),
        }
    }

    /// Whether the outcome is valid without the changes that the script makes: it only counts requests and removes
    /// expired entries.
    pub fn is_query(&self) -> bool {
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
    digest: Cow<'static, str>,
    /// The text that calls `register(NAME, run)` for each script. `run(KEYS, ARGV)` returns the script's reply.
    pub functions: Cow<'static, str>,
    joined: Option<JoinedParts>,
    /// The scripts of `joined`, each filled at its first use.
    scripts: BTreeMap<&'static str, OnceLock<Text>>,
}

/// The first lines of a library on a server, with places for its name and the flag of its functions.
const HEAD: &str = include_str!("library.lua");

impl Library {
    /// A library whose name is made of `prefix` and the digest of its text, so that versions of a deployment that share
    /// a store have separate libraries.
    pub const fn new(prefix: &'static str, digest: &'static str, functions: &'static str) -> Self {
        Library {
            prefix,
            digest: Cow::Borrowed(digest),
            functions: Cow::Borrowed(functions),
            joined: None,
            scripts: BTreeMap::new(),
        }
    }

    /// The library of all functions of `parts`.
    ///
    /// # Panics
    /// When two files have the same name.
    pub fn of_parts(prefix: &'static str, parts: impl IntoIterator<Item = &'static Part>) -> Self {
        let joined = JoinedParts::of(parts);
        let functions = joined.library();
        let mut digest = sha1_hex(&[HEAD, &functions].concat());
        digest.truncate(DIGITS);
        Library {
            prefix,
            digest: digest.into(),
            functions: functions.into(),
            scripts: joined.functions().map(|name| (name, OnceLock::new())).collect(),
            joined: Some(joined),
        }
    }

    /// The function `name` as a script.
    fn script(&self, name: &str) -> &Text {
        let text = || {
            let source = self.joined.as_ref().and_then(|joined| joined.script(name));
            Text {
                source: source.unwrap_or_default().into(),
                sha: OnceLock::new(),
            }
        };
        let script = self.scripts.get(name);
        let script = script.unwrap_or_else(|| panic!("{name} belongs to an extension that is not registered"));
        script.get_or_init(text)
    }

    /// Its name if each function has `flag`, or no flag if that is empty.
    pub fn name(&self, flag: &str) -> String {
        let suffix = if flag.is_empty() { "" } else { LOCKING };
        format!("{}_{}{suffix}", self.prefix, self.digest)
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
        [&head, &*self.functions].concat()
    }
}

/// Suffix of the name of a library whose functions have Upstash's flag.
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

/// Digits of the digest in the name of a library.
const DIGITS: usize = 16;

/// SHA-1 in hex, the name of a script in Redis.
pub fn sha1_hex(text: &str) -> String {
    sha1_smol::Sha1::from(text).digest().to_string()
}
