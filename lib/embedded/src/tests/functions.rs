//! Libraries of functions, as Redis has them. `tests/state/differential/functions.rs` compares the words of the errors.

use super::{EmbeddedStore, ask, eval, say, shown, words};
use coord_store::{Request, Store};

const LIBRARY: &str = "#!lua name=lib
local calls = 0
redis.register_function('count', function(keys, args) calls = calls + 1 return calls end)
redis.register_function('put', function(keys, args) redis.call('SET', keys[1], args[1]) return {keys[1], #args} end)
redis.register_function{function_name='look', callback=function(keys) return redis.call('GET', keys[1]) end, flags={'no-writes'}}
redis.register_function{function_name='look_and_put', callback=function(keys) redis.call('SET', keys[1], 1) end, flags={'no-writes'}}
redis.register_function('fail', function(keys) redis.call('SET', keys[1], 'lost') error('boo') end)
redis.register_function('endless', function(keys) redis.call('SET', keys[1], 'lost') while true do end end)";

async fn load(store: &EmbeddedStore, code: &str) -> String {
    shown(&ask(store, &["FUNCTION", "LOAD", code]).await)
}

async fn loaded() -> EmbeddedStore {
    let store = EmbeddedStore::in_memory().unwrap();
    assert_eq!(load(&store, LIBRARY).await, "\"lib\"");
    store
}

#[tokio::test]
async fn a_function_gets_its_keys_and_arguments_and_its_library_keeps_its_locals() {
    let store = loaded().await;
    assert_eq!(shown(&say(&store, "FCALL put 1 a b c").await), "[\"a\" 2]");
    assert_eq!(shown(&say(&store, "FCALL look 1 a").await), "\"b\"");
    assert_eq!(shown(&say(&store, "FCALL_RO look 1 a").await), "\"b\"");
    for expected in ["1", "2", "3"] {
        assert_eq!(shown(&say(&store, "FCALL count 0").await), expected);
    }
    assert_eq!(
        shown(&ask(&store, &["FUNCTION", "LOAD", "REPLACE", LIBRARY]).await),
        "\"lib\""
    );
    assert_eq!(shown(&say(&store, "FCALL count 0").await), "1", "it was loaded anew");
    assert_eq!(shown(&eval(&store, "return {KEYS, ARGV}").await), "[[] []]");
}

#[tokio::test]
async fn a_failed_function_changes_nothing_and_a_reading_one_may_not_write() {
    let store = loaded().await;
    let failed = shown(&say(&store, "FCALL fail 1 a").await);
    assert_eq!(failed, "!ERR user_function:7: boo script: fail, on @user_function:7.");
    let refused = shown(&say(&store, "FCALL look_and_put 1 a").await);
    assert!(refused.contains("not allowed from read-only scripts"), "{refused}");
    let refused = shown(&say(&store, "FCALL_RO put 1 a b").await);
    assert!(refused.contains("with write flag using *_ro command"), "{refused}");
    assert_eq!(shown(&say(&store, "EXISTS a").await), "0");
}

#[tokio::test]
async fn a_library_that_is_refused_leaves_nothing() {
    let store = loaded().await;
    for (code, expected) in [
        (
            "#!lua name=lib\nredis.register_function('x', function() end)",
            "already exists",
        ),
        (
            "#!lua name=two\nredis.register_function('new', function() end) redis.register_function('put', function() end)",
            "Function put already exists",
        ),
        (
            "#!lua name=two\nredis.register_function('new', function() end) x = 1",
            "readonly table",
        ),
        (
            "#!lua name=two\nredis.register_function('new', function() end) while true do end",
            "ran longer than 2 seconds",
        ),
        ("#!lua name=two\nlocal s = 'x' while true do s = s .. s end", "memory"),
        (
            "#!lua name=two\nlocal type = type",
            "nonexistent global variable 'type'",
        ),
        ("#!lua name=two\nreturn (", "Error compiling function"),
        ("#!lua name=two\n", "No functions registered"),
    ] {
        let answer = load(&store, code).await;
        assert!(
            answer.starts_with("!ERR") && answer.contains(expected),
            "{code}: {answer}"
        );
    }
    let long = format!(
        "#!lua name=two\nredis.register_function('new', function() end) --{}",
        "x".repeat(300_000)
    );
    assert!(load(&store, &long).await.contains("longer than 262144 bytes"));
    assert_eq!(shown(&say(&store, "FCALL new 0").await), "!ERR Function not found");
    assert_eq!(shown(&say(&store, "FCALL put 1 a b").await), "[\"a\" 1]");
    let stats = "[\"running_script\" nil \"engines\" [\"LUA\" [\"libraries_count\" 1 \"functions_count\" 6]]]";
    assert_eq!(shown(&say(&store, "FUNCTION STATS").await), stats);
}

#[tokio::test]
async fn a_replaced_or_deleted_library_takes_its_functions_along() {
    let store = loaded().await;
    let other = "#!lua name=lib\nredis.register_function('only', function() return 'here' end)";
    assert_eq!(
        shown(&ask(&store, &["FUNCTION", "LOAD", "REPLACE", other]).await),
        "\"lib\""
    );
    assert_eq!(shown(&say(&store, "FCALL put 1 a b").await), "!ERR Function not found");
    assert_eq!(shown(&say(&store, "FCALL only 0").await), "\"here\"");
    assert_eq!(shown(&say(&store, "FLUSHALL").await), "OK");
    assert_eq!(
        shown(&say(&store, "FCALL only 0").await),
        "\"here\"",
        "FLUSHALL leaves it"
    );
    assert_eq!(shown(&say(&store, "FUNCTION DELETE lib").await), "OK");
    assert_eq!(shown(&say(&store, "FCALL only 0").await), "!ERR Function not found");
    assert_eq!(load(&store, LIBRARY).await, "\"lib\"");
    assert_eq!(shown(&say(&store, "FUNCTION FLUSH").await), "OK");
    assert_eq!(shown(&say(&store, "FUNCTION LIST").await), "[]");
    assert_eq!(shown(&say(&store, "FCALL count 0").await), "!ERR Function not found");
}

#[tokio::test]
async fn libraries_are_kept_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let store = EmbeddedStore::open(&path).unwrap();
    assert_eq!(load(&store, LIBRARY).await, "\"lib\"");
    assert_eq!(shown(&say(&store, "FCALL count 0").await), "1");
    store.close();
    let store = EmbeddedStore::open(&path).unwrap();
    assert_eq!(shown(&say(&store, "FCALL count 0").await), "1");
    let listed = shown(&say(&store, "FUNCTION LIST LIBRARYNAME L* WITHCODE").await);
    assert!(
        listed.contains("\"look\" \"description\" nil \"flags\" [no-writes]") && listed.contains("#!lua name=lib"),
        "{listed}"
    );
}

#[tokio::test]
async fn a_transaction_that_fails_loads_no_library_and_one_that_succeeds_may_call_its_own() {
    let store = EmbeddedStore::in_memory().unwrap();
    let with = |last: &[&str]| -> Vec<Request> {
        vec![
            words(&["FUNCTION", "LOAD", LIBRARY]),
            words(&["FCALL", "count", "0"]),
            words(last),
        ]
    };
    let endless = vec![words(&["EVAL", "while true do end", "0"]), words(&["PING"])];
    let failed = store.run_atomically([with(&["PING"]), endless].concat()).await;
    assert!(failed.is_err(), "{failed:?}");
    assert_eq!(shown(&say(&store, "FCALL count 0").await), "!ERR Function not found");
    assert_eq!(shown(&say(&store, "FUNCTION LIST").await), "[]");
    let replies = store.run_atomically(with(&["FCALL", "count", "0"])).await.unwrap();
    assert_eq!(replies.iter().map(shown).collect::<Vec<_>>(), ["\"lib\"", "1", "2"]);
    assert_eq!(shown(&say(&store, "FCALL count 0").await), "3");
}

#[tokio::test]
async fn a_function_has_the_bounds_of_a_script() {
    let store = loaded().await;
    let ended = shown(&say(&store, "FCALL endless 1 a").await);
    assert!(ended.contains("ran longer than 2 seconds"), "{ended}");
    let greedy = "#!lua name=greedy
        redis.register_function('eat', function() local t = {} while true do t[#t + 1] = #t .. string.rep('x', 100000) end end)
        redis.register_function('write', function() local s = string.rep('x', 1000000) for i = 1, 100 do redis.call('SET', 'k' .. i, s) end end)
        redis.register_function('match', function() return string.find(string.rep('a', 100000), string.rep('a-', 20) .. 'b') end)
        redis.register_function('reach', function() return setfenv or os or io or require or debug end)
        redis.register_function('change', function() string.format = nil end)
        redis.register_function('raw', function() rawset(_G, 'x', 1) end)
        redis.register_function('load', function() return loadstring('return KEYS')() end)";
    assert_eq!(load(&store, greedy).await, "\"greedy\"");
    for (name, expected) in [
        ("eat", "memory"),
        ("write", "OOM"),
        ("match", "ran longer than 2 seconds"),
        ("reach", "nonexistent global variable 'setfenv'"),
        ("change", "readonly table"),
        ("raw", "readonly table"),
        ("load", "nonexistent global variable 'KEYS'"),
    ] {
        let answer = shown(&say(&store, &format!("FCALL {name} 0")).await);
        assert!(answer.starts_with('!') && answer.contains(expected), "{name}: {answer}");
    }
    assert_eq!(shown(&say(&store, "KEYS *").await), "[]");
}

/// The locals of a library are dropped with it, before they fill the memory.
#[tokio::test]
async fn a_library_that_keeps_more_and_more_is_loaded_anew() {
    let store = EmbeddedStore::in_memory().unwrap();
    let hoarder = "#!lua name=hoarder
        local kept = {}
        redis.register_function('keep', function()
          for i = 1, 300 do kept[#kept + 1] = #kept .. string.rep('x', 100000) end
          return #kept
        end)
        redis.register_function('used', function() return collectgarbage('count') / 1024 end)";
    assert_eq!(load(&store, hoarder).await, "\"hoarder\"");
    let mut most = 0;
    for _ in 0..12 {
        let kept = say(&store, "FCALL keep 0").await.as_int().expect("a number");
        most = most.max(kept);
        let used = say(&store, "FCALL used 0").await.as_int().expect("a number");
        assert!(used < 200, "{used} MiB");
    }
    assert!((600..3600).contains(&most), "{most} of 3600");
}

#[tokio::test]
async fn libraries_without_end_stay_compiled_in_bounded_memory() {
    let store = EmbeddedStore::in_memory().unwrap();
    let text = "x".repeat(200_000);
    for number in 0..200 {
        let code = format!(
            "#!lua name=lib{number}\nlocal text = '{text}' redis.register_function('f{number}', function() return #text .. ':{number}' end)"
        );
        assert_eq!(load(&store, &code).await, format!("\"lib{number}\""));
    }
    let used = eval(&store, "return collectgarbage('count') / 1024")
        .await
        .as_int()
        .unwrap();
    assert!(used < 64, "{used} MiB");
    for number in [0, 99, 199] {
        let called = shown(&say(&store, &format!("FCALL f{number} 0")).await);
        assert_eq!(called, format!("\"200000:{number}\""));
    }
}
