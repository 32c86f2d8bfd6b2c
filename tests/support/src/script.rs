//! Scripts that a test writes.

use std::collections::HashMap;
use std::sync::LazyLock;

use coord_store::script::Library;
use coord_store::{Request, Script};
use parking_lot::Mutex;

/// The name of the function that is such a script.
pub const NAME: &str = "test";

/// A script with the text `source`, which is also a function of a separate library. One for each text, and never freed.
pub fn script(source: &str) -> &'static Script {
    static KNOWN: LazyLock<Mutex<HashMap<String, &'static Script>>> = LazyLock::new(Mutex::default);
    let new = || {
        let digest: &'static str = sha1_smol::Sha1::from(source).hexdigest()[..16].to_owned().leak();
        let library = Box::leak(Box::new(Library::new("tests", digest, functions(source).leak())));
        &*Box::leak(Box::new(Script::new(
            NAME,
            source.to_owned().leak(),
            false,
            Some(library),
        )))
    };
    KNOWN.lock().entry(source.to_owned()).or_insert_with(new)
}

/// The text of the library.
pub fn functions(source: &str) -> String {
    format!("register('{NAME}', function(KEYS, ARGV) {source}\nend)")
}

/// The call of a script with the text `source`.
pub fn call(source: &str, keys: &[&str], arguments: &[&[u8]]) -> Request {
    Request::Script {
        script: script(source),
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        args: arguments.iter().map(|argument| argument.to_vec()).collect(),
    }
}
