//! Our own scripts, which run from a library.

use super::{EmbeddedStore, say, shown};
use coord_store::script::Library;
use coord_store::{Request, Script, Store};
use std::time::Instant;

static LIBRARY: Library = Library::new(
    "own",
    "0123456789abcdef",
    "local calls = 0
    register('NEXT', function() calls = calls + 1 return calls end)
    register('CALLS', function() return calls end)
    register('LISTS', function(KEYS, ARGV) return {KEYS, ARGV, (ARGV[1]):rep(2)} end)
    register('ERROR', function(KEYS) redis.call('SET', KEYS[1], 'lost') error('boo') end)
    register('TABLE', function() return {err = 'MY no'} end)
    register('COMMAND', function(KEYS)
      redis.call('HSET', KEYS[1], 'f', 1)
      redis.call('GET', KEYS[1])
    end)
    register('GLOBAL', function() return KEYS end)
    register('ENDLESS', function(KEYS)
      redis.call('SET', KEYS[1], 'lost')
      while true do pcall(function() while true do end end) end
    end)",
);
/// Its main chunk takes long enough for a look at the clock.
static SLOW: Library = Library::new(
    "slow",
    "0123456789abcdef",
    "for _ = 1, 1000000 do end register('SLOW', function() return 'loaded' end)",
);
static BROKEN: Library = Library::new("broken", "0123456789abcdef", "register('BROKEN', function( end)");
static RAISES: Library = Library::new("raises", "0123456789abcdef", "\nerror('no')");

/// The script that is the function `name` of `library`. Its text is never run.
fn script(library: &'static Library, name: &'static str) -> &'static Script {
    Box::leak(Box::new(Script::new(
        name,
        "error('the text was run')",
        false,
        Some(library),
    )))
}

/// The reply to a call with the key `k` and the argument `v`.
async fn call(store: &EmbeddedStore, library: &'static Library, name: &'static str) -> String {
    let request = Request::Script {
        script: script(library, name),
        keys: vec!["k".to_owned()],
        args: vec![b"v".to_vec()],
    };
    shown(&store.run(vec![request]).await.expect("the store answers")[0])
}

#[tokio::test]
async fn our_scripts_run_from_a_library_that_each_store_compiles_once() {
    let store = EmbeddedStore::in_memory();
    for expected in ["1", "2", "3"] {
        assert_eq!(call(&store, &LIBRARY, "NEXT").await, expected);
    }
    assert_eq!(call(&store, &LIBRARY, "CALLS").await, "3", "one library has both");
    assert_eq!(call(&store, &LIBRARY, "LISTS").await, "[[\"k\"] [\"v\"] \"vv\"]");
    let other = EmbeddedStore::in_memory();
    assert_eq!(call(&other, &LIBRARY, "NEXT").await, "1");
}

#[tokio::test]
async fn an_error_of_our_script_has_its_name_and_line_and_leaves_nothing() {
    let store = EmbeddedStore::in_memory();
    for (name, expected) in [
        ("ERROR", "ERR user_function:6: boo script: ERROR, on @user_function:6."),
        ("TABLE", "MY no"),
        (
            "COMMAND",
            "WRONGTYPE Operation against a key holding the wrong kind of value script: COMMAND, on @user_function:10.",
        ),
        (
            "GLOBAL",
            "ERR user_function:12: Script attempted to access nonexistent global variable 'KEYS' script: GLOBAL, on @user_function:12.",
        ),
        ("NOTHING", "ERR own_0123456789abcdef has no function NOTHING"),
    ] {
        assert_eq!(call(&store, &LIBRARY, name).await, format!("!{expected}"));
        assert_eq!(shown(&say(&store, "EXISTS k").await), "0", "{name}");
    }
    let broken = call(&store, &BROKEN, "BROKEN").await;
    let expected = "!ERR Error compiling function: user_function:2: ";
    assert!(broken.starts_with(expected), "{broken}");
    let raises = call(&store, &RAISES, "RAISES").await;
    let expected = "!ERR user_function:3: no script: raises_0123456789abcdef, on @user_function:3.";
    assert_eq!(raises, expected);
    assert_eq!(call(&store, &LIBRARY, "NEXT").await, "1");
}

#[tokio::test]
async fn our_script_is_ended_after_five_seconds_and_its_library_stays() {
    let store = EmbeddedStore::in_memory();
    assert_eq!(call(&store, &LIBRARY, "NEXT").await, "1");
    let began = Instant::now();
    let ended = call(&store, &LIBRARY, "ENDLESS").await;
    assert!(ended.contains("the script ran longer than 5 seconds"), "{ended}");
    assert!((5..8).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    assert_eq!(shown(&say(&store, "EXISTS k").await), "0");
    assert_eq!(call(&store, &SLOW, "SLOW").await, "\"loaded\"", "with time of its own");
    assert_eq!(call(&store, &LIBRARY, "NEXT").await, "2");
}
