//! Scripts with Upstash's own flag, for stores that do not know it.
//!
//! A client may begin its script with `#!lua flags=allow-key-locking`. Redis refuses the flag ("Unexpected flag in script
//! shebang"), so it is removed here, together with the first line if that has no other flag. The line break stays, for the
//! line numbers in error messages. The client names the script by the SHA-1 of the text that it sent, so the mapping to the
//! changed text is remembered from the EVAL or SCRIPT LOAD on. For a forgotten one the store replies NOSCRIPT, and the
//! client sends the text again, as after any SCRIPT FLUSH.
//!
//! A function has the flag where it is registered. There another one that permits what is permitted anyway takes its place.
//!
//! Coord's own scripts are known beforehand, and reach the store as such: the embedded store bounds all others.

use std::collections::HashMap;
use std::sync::LazyLock;

use coord_state as state;
use coord_state::libraries::LIBRARY;
use coord_store::script::sha1_hex;
use coord_store::{Request, Script, Value};
use quick_cache::sync::Cache;

use super::commands::Command;

const FLAG: &str = "allow-key-locking";
/// A flag of Redis that changes nothing on a primary.
const HARMLESS_FLAG: &str = "allow-stale";

/// Our own scripts, by their SHA-1 with and without our own client's first line.
static OURS: LazyLock<HashMap<String, &'static Script>> = LazyLock::new(|| {
    let with_flag = |script: &Script| sha1_hex(&format!("#!lua flags={FLAG}\n{}", script.source));
    state::scripts()
        .flat_map(|script| [(script.sha.clone(), script), (with_flag(script), script)])
        .collect()
});
/// The functions that our own scripts are, with and without the flag.
static OUR_FUNCTIONS: LazyLock<HashMap<String, &'static Script>> = LazyLock::new(|| {
    let functions = |script: &'static Script| {
        let name = move |flag| LIBRARY.function(flag, script);
        [(name(""), script), (name(FLAG), script)]
    };
    state::scripts().flat_map(functions).collect()
});
/// Most scripts that are remembered. A client has tens.
const REMEMBERED: usize = 4096;

/// The scripts with a changed text: the client's SHA-1 -> the store's, in lower case.
pub(super) struct Scripts(Cache<Vec<u8>, String>);

impl Default for Scripts {
    fn default() -> Self {
        Scripts(Cache::new(REMEMBERED))
    }
}

/// The change to a reply by which the client finds its own SHA-1 in it.
pub(super) struct Restore(Option<String>);

impl Restore {
    /// The reply for the client.
    pub fn apply(self, reply: Value) -> Value {
        match (self.0, reply) {
            (Some(sha), Value::Bulk(_)) => Value::bulk(sha),
            (_, reply) => reply,
        }
    }
}

impl Scripts {
    /// The form of `command` for the store.
    pub fn to_store(&self, command: Command) -> (Request, Restore) {
        let Command { name, mut words } = command;
        let mut restore = None;
        if let Some(request) = ours(&name, &words) {
            return (request, Restore(None));
        }
        match name.as_str() {
            "EVAL" | "EVAL_RO" => {
                self.replace_text(words.get_mut(1));
            }
            "EVALSHA" | "EVALSHA_RO" => self.replace_sha(words.get_mut(1)),
            "SCRIPT" => match words.get(1).map(|word| word.to_ascii_uppercase()).as_deref() {
                Some(b"LOAD") => restore = self.replace_text(words.get_mut(2)),
                Some(b"EXISTS") => words.iter_mut().skip(2).for_each(|word| self.replace_sha(Some(word))),
                _ => {}
            },
            "FUNCTION" if words.get(1).is_some_and(|word| word.eq_ignore_ascii_case(b"LOAD")) => {
                replace_function_flag(words.last_mut());
            }
            _ => {}
        }
        (Request::Command(words), Restore(restore))
    }

    /// Removes the flag from a script, and returns the SHA-1 by which the client knows it.
    fn replace_text(&self, word: Option<&mut Vec<u8>>) -> Option<String> {
        let word = word?;
        let text = std::str::from_utf8(word).ok()?;
        let plain = without_flag(text)?;
        let (theirs, ours) = (sha1_hex(text), sha1_hex(&plain));
        self.0.insert(theirs.clone().into_bytes(), ours);
        *word = plain.into_bytes();
        Some(theirs)
    }

    fn replace_sha(&self, word: Option<&mut Vec<u8>>) {
        let Some(word) = word else { return };
        if let Some(ours) = self.0.get(&word.to_ascii_lowercase()) {
            *word = ours.into_bytes();
        }
    }
}

/// Replaces the flag in a library of functions.
fn replace_function_flag(code: Option<&mut Vec<u8>>) {
    let Some(code) = code else { return };
    let Ok(text) = std::str::from_utf8(code) else { return };
    let changed = ['\'', '"'].iter().fold(text.to_owned(), |text, quote| {
        text.replace(
            &format!("{quote}{FLAG}{quote}"),
            &format!("{quote}{HARMLESS_FLAG}{quote}"),
        )
    });
    *code = changed.into_bytes();
}

/// The call of one of our own scripts, if `words` are one.
fn ours(name: &str, words: &[Vec<u8>]) -> Option<Request> {
    let [_, script, count, rest @ ..] = words else {
        return None;
    };
    let script = std::str::from_utf8(script).ok()?;
    let script = match name {
        "EVALSHA" => OURS.get(script).or_else(|| OURS.get(&script.to_ascii_lowercase()))?,
        "EVAL" => OURS.get(&sha1_hex(script))?,
        "FCALL" => OUR_FUNCTIONS.get(script)?,
        _ => return None,
    };
    let (keys, args) = rest.split_at_checked(std::str::from_utf8(count).ok()?.parse().ok()?)?;
    Some(Request::Script {
        script,
        keys: keys
            .iter()
            .map(|key| String::from_utf8(key.clone()).ok())
            .collect::<Option<_>>()?,
        args: args.to_vec(),
    })
}

/// `text` without the flag; `None` where it does not have it.
fn without_flag(text: &str) -> Option<String> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let options = first.strip_prefix("#!lua")?;
    let mut found = false;
    let mut kept = String::new();
    for option in options.split_ascii_whitespace() {
        let Some(flags) = option.strip_prefix("flags=") else {
            kept.push_str(&format!(" {option}"));
            continue;
        };
        let others: Vec<&str> = flags.split(',').filter(|flag| *flag != FLAG).collect();
        found |= others.len() < flags.split(',').count();
        if !others.is_empty() {
            kept.push_str(&format!(" flags={}", others.join(",")));
        }
    }
    if !found {
        return None;
    }
    let first = if kept.is_empty() {
        String::new()
    } else {
        format!("#!lua{kept}")
    };
    Some(format!("{first}\n{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(scripts: &Scripts, line: &[&str]) -> Vec<String> {
        let words = line.iter().map(|word| word.as_bytes().to_vec()).collect();
        let command = Command::parse(words).unwrap_or_else(|_| panic!("{line:?} passes"));
        match scripts.to_store(command).0 {
            Request::Command(words) => words.into_iter().map(|word| String::from_utf8(word).unwrap()).collect(),
            Request::Script { .. } => panic!("a plain command"),
        }
    }

    #[test]
    fn the_flag_goes_and_everything_else_stays() {
        let table = [
            ("#!lua flags=allow-key-locking\nreturn 1", Some("\nreturn 1")),
            (
                "#!lua flags=no-writes,allow-key-locking\nreturn 1",
                Some("#!lua flags=no-writes\nreturn 1"),
            ),
            ("#!lua flags=allow-key-locking", Some("\n")),
            ("#!lua\nreturn 1", None),
            ("#!lua flags=no-writes\nreturn 1", None),
            ("return '#!lua flags=allow-key-locking'", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(without_flag(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_script_is_found_by_the_sha_of_the_text_that_the_client_sent() {
        let scripts = Scripts::default();
        let text = "#!lua flags=allow-key-locking\nreturn 1";
        let (theirs, ours) = (sha1_hex(text), sha1_hex("\nreturn 1"));
        assert_eq!(words(&scripts, &["EVALSHA", &theirs, "0"]), ["EVALSHA", &theirs, "0"]);
        assert_eq!(words(&scripts, &["eval", text, "0"]), ["eval", "\nreturn 1", "0"]);
        assert_eq!(
            words(&scripts, &["EVALSHA", &theirs.to_uppercase(), "0"]),
            ["EVALSHA", &ours, "0"]
        );
        assert_eq!(
            words(&scripts, &["script", "exists", &theirs, "x"]),
            ["script", "exists", &ours, "x"]
        );
        assert_eq!(words(&scripts, &["GET", &theirs]), ["GET", &theirs]);
    }

    #[test]
    fn our_own_scripts_go_to_the_store_as_such() {
        let known = Scripts::default();
        for script in state::scripts() {
            let text = format!("#!lua flags=allow-key-locking\n{}", script.source);
            for (name, what) in [
                ("EVALSHA", sha1_hex(&text).to_uppercase()),
                ("eval", text),
                ("EVALSHA", script.sha.clone()),
                ("EVAL", script.source.to_owned()),
                ("FCALL", LIBRARY.function("", script)),
                ("fcall", LIBRARY.function(FLAG, script)),
            ] {
                let words = [name, &what, "1", "key", "argument"].map(|word| word.as_bytes().to_vec());
                let command = Command::parse(words.to_vec()).unwrap_or_else(|_| panic!("passes"));
                let Request::Script {
                    script: found,
                    keys,
                    args,
                } = known.to_store(command).0
                else {
                    panic!("{} by {name}", script.name)
                };
                assert_eq!(
                    (found.name, keys, args),
                    (script.name, vec!["key".to_owned()], vec![b"argument".to_vec()])
                );
            }
        }
        let sha = &state::scripts().next().expect("a script").sha;
        for bad in ["2", "-1", "x", ""] {
            assert_eq!(
                words(&known, &["EVALSHA", sha, bad, "key"]),
                ["EVALSHA", sha.as_str(), bad, "key"]
            );
        }
    }

    #[test]
    fn loading_a_script_answers_the_clients_sha_and_an_error_stays_an_error() {
        let scripts = Scripts::default();
        let text = "#!lua flags=allow-key-locking\nreturn 1";
        let load = || {
            let words = ["SCRIPT", "LOAD", text].map(|word| word.as_bytes().to_vec()).to_vec();
            scripts
                .to_store(Command::parse(words).unwrap_or_else(|_| panic!("passes")))
                .1
        };
        assert_eq!(load().apply(Value::bulk("ours")), Value::bulk(sha1_hex(text)));
        assert_eq!(load().apply(Value::Error("ERR".into())), Value::Error("ERR".into()));
    }

    #[test]
    fn a_library_has_a_flag_of_redis_in_the_place_of_that_of_upstash() {
        let known = Scripts::default();
        let with =
            |flags: &str| format!("#!lua name=a\nredis.register_function{{flags={{{flags}}}}} -- allow-key-locking");
        for (theirs, ours) in [
            ("'allow-key-locking'", "'allow-stale'"),
            ("\"allow-key-locking\", 'no-writes'", "\"allow-stale\", 'no-writes'"),
            ("'no-writes'", "'no-writes'"),
        ] {
            assert_eq!(
                words(&known, &["function", "load", "REPLACE", &with(theirs)]),
                ["function", "load", "REPLACE", &with(ours)]
            );
        }
        let other = with("'allow-key-locking'");
        assert_eq!(words(&known, &["SET", "LOAD", &other]), ["SET", "LOAD", &other]);
    }

    #[test]
    fn remembered_content_is_bounded() {
        let scripts = Scripts::default();
        for number in 0..REMEMBERED + 10 {
            words(
                &scripts,
                &["EVAL", &format!("#!lua flags=allow-key-locking\nreturn {number}"), "0"],
            );
        }
        assert!(scripts.0.len() <= REMEMBERED);
    }
}
