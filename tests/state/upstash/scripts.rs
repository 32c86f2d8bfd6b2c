//! Small scripts for the tests, and how they are run.

use coord_store::redis::RedisStore;
use coord_store::script::Library;
use coord_store::{Request, Script, Store, StoreError, Value};
use coord_test_support::real_redis::RealRedis;

macro_rules! script {
    ($name:ident, $repeatable:literal, $source:literal) => {
        script!($name, $repeatable, $source, None);
    };
    ($name:ident, $repeatable:literal, $source:literal, $library:expr) => {
        pub static $name: Script = Script::new(stringify!($name), $source, $repeatable, $library);
    };
}

/// Two versions of one library.
pub static OLD: Library = Library::new(
    "tests",
    "0123456789abcdef",
    "register('ADD', function(KEYS, ARGV)
      local sum = (redis.call('GET', KEYS[1]) or 0) + ARGV[1]
      redis.call('SET', KEYS[1], sum)
      return sum
    end)
    register('SHOW', function(KEYS) return redis.call('GET', KEYS[1]) end)",
);
pub static NEW: Library = Library::new(
    "tests",
    "fedcba9876543210",
    "register('ADD_MORE', function(KEYS, ARGV) return redis.call('INCRBY', KEYS[1], 100 * ARGV[1]) end)",
);
script!(
    ADD,
    false,
    "local sum = (redis.call('GET', KEYS[1]) or 0) + ARGV[1] redis.call('SET', KEYS[1], sum) return sum",
    Some(&OLD)
);
script!(SHOW, true, "return redis.call('GET', KEYS[1])", Some(&OLD));
script!(
    ADD_MORE,
    false,
    "return redis.call('INCRBY', KEYS[1], 100 * ARGV[1])",
    Some(&NEW)
);

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

/// A count of one more on the key `n`.
pub async fn count(store: &dyn Store) -> Result<Value, StoreError> {
    let [reply] = store.run(vec![call(&COUNT, "n", b"1")]).await?.try_into().unwrap();
    Ok(reply)
}

pub fn connect(server: &RealRedis) -> RedisStore {
    RedisStore::connect(&server.url()).unwrap()
}

/// The reply to one command.
pub async fn ask<const N: usize>(store: &dyn Store, words: [&str; N]) -> Value {
    let replies = store.run(vec![Request::command(words)]).await.unwrap();
    let [reply] = replies.try_into().unwrap();
    reply
}

/// How often the server has run the command.
pub async fn calls(store: &dyn Store, command: &str) -> u32 {
    let stats = ask(store, ["INFO", "commandstats"]).await;
    let stats = stats.as_str().unwrap_or_default().to_owned();
    let line = stats
        .lines()
        .find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:calls=")));
    line.and_then(|line| line.split(',').next()?.parse().ok())
        .unwrap_or_default()
}
