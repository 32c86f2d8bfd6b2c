//! The Lua scripts, joined with their includes at compile time (`build.rs`).

use std::sync::LazyLock;

/// A Lua script: one state change, atomic wherever it runs.
pub struct Script {
    /// File name without `.lua`, for logs.
    pub name: &'static str,
    /// The whole text, each include in the place of its line `-- @include NAME`.
    pub source: &'static str,
    /// Whether running it twice is the same as running it once.
    pub is_repeatable: bool,
    /// SHA-1 of `source`, in hex: what EVALSHA takes.
    pub sha: LazyLock<String>,
}

impl Script {
    /// Whether its answer rests on nothing that it changes: it counts requests, and clears away what has expired.
    pub fn is_reading(&self) -> bool {
        matches!(self.name, "check_status" | "admit")
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Script({})", self.name)
    }
}

/// SHA-1 in hex, as Redis names scripts.
pub fn sha1_hex(text: &str) -> String {
    sha1_smol::Sha1::from(text).digest().to_string()
}

/// Declares the scripts of `scripts/`, `CONSTANT = "file", repeatable: bool;` each, and `ALL` of them.
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
        /// Every script.
        pub static ALL: &[&$crate::store::Script] = &[$(&$constant),*];
    };
}
pub(crate) use scripts;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use crate::store::scripts::ALL;

    /// The files in this folder, in the order of their names.
    fn files(folder: &str) -> Vec<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let entries = fs::read_dir(folder).expect("the folder of the scripts");
        let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "lua"));
        files.sort();
        files
    }

    fn name(path: &Path) -> &str {
        path.file_stem().and_then(|name| name.to_str()).expect("a name")
    }

    fn code(line: &str) -> &str {
        line.split("--").next().unwrap_or_default().trim()
    }

    #[test]
    fn every_file_is_a_script_that_is_declared_or_an_include_of_one() {
        let declared: BTreeSet<&str> = ALL.iter().map(|script| script.name).collect();
        assert_eq!(declared, files("scripts").iter().map(|path| name(path)).collect());
        for include in files("scripts/includes") {
            let text = fs::read_to_string(&include).expect("an include");
            let users = ALL
                .iter()
                .filter(|script| script.source.contains(&text_without_includes(&text)));
            assert!(users.count() > 0, "{} is of no script", name(&include));
        }
    }

    /// What of an include is in a script whatever that has before it: all behind its last own include.
    fn text_without_includes(text: &str) -> String {
        let behind = text
            .rfind("-- @include ")
            .map_or(0, |at| text[at..].find('\n').map_or(0, |end| at + end));
        text[behind..].trim().to_owned()
    }

    #[test]
    fn an_include_is_joined_once_and_none_is_left_to_be_joined() {
        for script in ALL {
            assert!(!script.source.contains("@include"), "{}", script.name);
            for include in files("scripts/includes") {
                let text = fs::read_to_string(&include).expect("an include");
                let count = script.source.matches(&text_without_includes(&text)).count();
                assert!(count <= 1, "{} has {} {count} times", script.name, name(&include));
            }
        }
    }

    /// What comes in KEYS and ARGV has a name in the first block of a file, up to its first blank line; behind it nobody has to count.
    #[test]
    fn keys_and_arguments_are_named_in_the_first_block_of_a_file_and_nowhere_else() {
        let mut naming = 0;
        for file in files("scripts").iter().chain(&files("scripts/includes")) {
            let text = fs::read_to_string(file).expect("a script");
            let mut lines = text.lines().skip_while(|line| code(line).is_empty());
            naming += lines
                .by_ref()
                .take_while(|line| !line.is_empty())
                .filter(|line| line.contains("KEYS["))
                .count();
            for line in lines.map(code) {
                let mut words = line.split(|letter: char| !letter.is_ascii_alphanumeric());
                assert!(
                    !words.any(|word| ["KEYS", "ARGV"].contains(&word)),
                    "{}: {line}",
                    name(file)
                );
            }
        }
        assert!(naming > ALL.len() / 2, "the first blocks are found");
    }
}
