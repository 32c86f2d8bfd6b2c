//! Small scripts for the tests.

use std::sync::LazyLock;

use coord::store::script::sha1_hex;
use coord::store::{Request, Script};

macro_rules! script {
    ($name:ident, $repeatable:literal, $source:literal) => {
        pub static $name: Script = Script {
            name: stringify!($name),
            source: $source,
            is_repeatable: $repeatable,
            sha: LazyLock::new(|| sha1_hex($source)),
        };
    };
}

// Answers every kind of reply that a script can give.
script!(
    ECHO,
    true,
    "return {KEYS[1], ARGV[1], 7, false, {'nested', {}}, redis.status_reply('OK'), redis.error_reply('MINE it failed')}"
);
script!(COUNT, false, "return redis.call('INCRBY', KEYS[1], ARGV[1])");
script!(FAILS, false, "return redis.call('INCR', KEYS[1], 'too many')");
// Works until it is killed.
script!(SPINS, false, "while true do end");

/// A call of `script` on `key`.
pub fn call(script: &'static Script, key: &str, argument: &[u8]) -> Request {
    Request::Script {
        script,
        keys: vec![key.to_owned()],
        args: vec![argument.to_vec()],
    }
}
