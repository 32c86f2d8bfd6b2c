//! Clients' scripts that try to use all time, memory and stack.

use super::{EmbeddedStore, ask, eval, say, shown};
use coord_store::Store;

/// Runs `source`, which must end with an error that contains `expected`, and checks that the store still works.
async fn is_ended(source: &str, expected: &str) {
    let store = EmbeddedStore::in_memory().unwrap();
    let answer = shown(&eval(&store, &format!("redis.call('SET', 'a', 1) {source}")).await);
    assert!(
        answer.starts_with('!') && expected.split(" or ").any(|expected| answer.contains(expected)),
        "{source}: {answer}"
    );
    assert_eq!(shown(&say(&store, "EXISTS a").await), "0", "{source}");
    let sound = "local s = string.rep('x', 1000000) return #s .. cjson.encode({ (s .. 'y'):find('y', 1, true) })";
    assert_eq!(
        shown(&eval(&store, sound).await),
        "\"1000000[1000001,1000001]\"",
        "{source}"
    );
}

async fn all_are_ended(table: &[(&str, &str)]) {
    futures::future::join_all(table.iter().map(|(source, expected)| is_ended(source, expected))).await;
}

const TOO_LONG: &str = "ran longer than 2 seconds";

#[tokio::test]
async fn no_handler_of_an_error_keeps_a_script_alive() {
    all_are_ended(&[
        (
            "xpcall(function() while true do end end, function() while true do end end)",
            TOO_LONG,
        ),
        (
            "xpcall(function() error('x') end, function() while true do end end)",
            TOO_LONG,
        ),
        (
            "while true do xpcall(function() while true do end end, function() return 1 end) end",
            TOO_LONG,
        ),
        ("while true do pcall(error) end", TOO_LONG),
    ])
    .await;
}

#[tokio::test]
async fn no_pattern_runs_for_ever_or_out_of_its_stack() {
    let slow = "local s = string.rep('a', 100000) ";
    all_are_ended(&[
        (&format!("{slow} string.find(s, string.rep('a-', 20) .. 'b')"), TOO_LONG),
        (&format!("{slow} s:match('(.-)(.-)(.-)(.-)(.-)(.-)%6b')"), TOO_LONG),
        (&format!("{slow} for word in s:gmatch('.-.-.-.-.-b') do end"), TOO_LONG),
        (
            &format!("{slow} pcall(string.gsub, s, '.-.-.-.-.-b', '') return s:gsub('.-.-.-.-.-b', '')"),
            TOO_LONG,
        ),
        (
            "string.find(string.rep('a', 1000000), string.rep('a?', 1000000))",
            "pattern too complex",
        ),
    ])
    .await;
}

#[tokio::test]
async fn no_script_takes_all_memory() {
    all_are_ended(&[
        (
            "local t = {} while true do t[#t + 1] = #t .. string.rep('x', 100000) end",
            "memory",
        ),
        ("local t = {} for i = 1, 1e9 do t[i] = {} end", "memory"),
        ("local s = 'x' while true do s = s .. s end", "memory"),
        ("local s = string.rep('x', 1e12)", "too large"),
        (
            "local s = string.rep('x', 1000000) for i = 1, 1000 do redis.call('SET', 'k' .. i, s) end",
            "OOM",
        ),
        (
            "local s = string.rep('x', 1000000) for i = 1, 1000 do redis.call('SETRANGE', 'k', 0, s) end",
            "OOM",
        ),
    ])
    .await;
}

#[tokio::test]
async fn no_script_runs_out_of_the_stack() {
    all_are_ended(&[
        ("local function f(n) return 1 + f(n + 1) end f(1)", "stack overflow"),
        (
            "local function f() return (pcall(f)) end f() error('through')",
            "through",
        ),
        (
            "local function f(s) return (s:gsub('.', f)) end f('x')",
            "stack overflow",
        ),
        ("local function f() table.sort({1, 2, 3}, f) end f()", "stack overflow"),
        (
            "loadstring(string.rep('(', 100000) .. '1')() error('no chunk')",
            "attempt to call",
        ),
        (
            "local t = {} for i = 1, 100000 do t = {t} end cjson.encode(t)",
            "excessive nesting",
        ),
        (
            "cjson.decode(string.rep('[', 100000))",
            "too many nested data structures",
        ),
    ])
    .await;
    let store = EmbeddedStore::in_memory().unwrap();
    let deep = "local t = {} for i = 1, 100000 do t = {t} end return t";
    let mut answer = eval(&store, deep).await;
    let mut depth = 0;
    while let coord_store::Value::Array(mut items) = answer {
        answer = items.pop().unwrap();
        depth += 1;
    }
    assert!(
        depth <= 1001 && shown(&answer).contains("reached lua stack limit"),
        "{depth}: {answer:?}"
    );
}

#[tokio::test]
async fn a_value_that_contains_itself_many_times_is_no_answer() {
    let twice = "local t = {} for i = 1, 40 do t = {t, t} end ";
    all_are_ended(&[
        (&format!("{twice} return t"), "is too large or ran longer"),
        (&format!("{twice} return cjson.encode(t)"), "too long or ran longer"),
    ])
    .await;
}

#[tokio::test]
async fn commands_that_run_no_hook_in_lua_are_bounded_too() {
    let store = EmbeddedStore::in_memory().unwrap();
    for (source, expected) in [
        ("return #string.rep('', 1e15)", "0"),
        (
            "return string.find(string.rep('a', 3000000), string.rep('a', 1500000) .. 'b', 1, true)",
            "nil",
        ),
        ("local t = {3, 1, 2} table.sort(t) return t", "[1 2 3]"),
        (
            "local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return t",
            "[3 2 1]",
        ),
    ] {
        assert_eq!(shown(&eval(&store, source).await), expected, "{source}");
    }
    let long = format!("return 1 {}", "-".repeat(300_000));
    let refused = shown(&eval(&store, &long).await);
    assert!(refused.contains("longer than"), "{refused}");
}

#[tokio::test]
async fn scripts_of_guests_wait_for_each_other_and_let_others_between() {
    let store = EmbeddedStore::in_memory().unwrap();
    let endless = |_| {
        let store = store.clone();
        tokio::spawn(async move { eval(&store, "while true do end").await })
    };
    let guests: Vec<_> = (0..3).map(endless).collect();
    tokio::task::yield_now().await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert_eq!(shown(&ask(&store, &["SET", "a", "1"]).await), "OK");
    let left = guests.iter().filter(|guest| !guest.is_finished()).count();
    assert!(left >= 2, "it waited for one of them at most, and {left} are left");
    guests.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn a_probe_writes_beside_the_script_of_a_client_and_not_without_one() {
    let store = EmbeddedStore::in_memory().unwrap();
    let soon = std::time::Duration::from_millis(500);
    let idle = tokio::time::timeout(soon, store.probe_beside_client_script()).await;
    assert!(idle.is_err(), "there is no script to write beside");
    let script = tokio::spawn({
        let store = store.clone();
        async move { eval(&store, "redis.call('SET', 'a', '1') while true do end").await }
    });
    let before = store.stats();
    let written = tokio::time::timeout(soon, store.probe_beside_client_script()).await;
    written
        .expect("it does not wait for the script")
        .expect("it is written");
    assert_eq!(store.stats().commits, before.commits + 1);
    assert!(!script.is_finished(), "it still runs");
    let ended = shown(&script.await.unwrap());
    assert!(ended.contains("ran longer than 2 seconds"), "{ended}");
    assert_eq!(shown(&ask(&store, &["KEYS", "*"]).await), "[]", "neither left a key");
}
