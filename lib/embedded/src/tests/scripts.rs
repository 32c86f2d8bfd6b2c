//! Lua as scripts meet it.

use super::{EmbeddedStore, eval, say, shown, words};
use coord_store::Store;
use futures::StreamExt;

async fn check(table: &[(&str, &str)]) {
    let store = EmbeddedStore::in_memory();
    for (source, expected) in table {
        assert_eq!(shown(&eval(&store, source).await), *expected, "{source}");
    }
}

#[tokio::test]
async fn values_are_converted_as_in_redis() {
    check(&[
        ("return 3.99", "3"),
        ("return -3.99", "-3"),
        ("return true", "1"),
        ("return false", "nil"),
        ("return nil", "nil"),
        ("return {1, 2, nil, 4}", "[1 2]"),
        ("return {ok='fine'}", "fine"),
        ("return {err='MY no'}", "!MY no"),
        ("return {1, {2, {'x'}}}", "[1 [2 [\"x\"]]]"),
        ("return type(redis.call('GET', 'none'))", "\"boolean\""),
        ("return redis.call('SET', 'a', 1).ok", "\"OK\""),
        (
            "return redis.call('SET', 'a', 3.5) and redis.call('GET', 'a')",
            "\"3.5\"",
        ),
    ])
    .await;
}

#[tokio::test]
async fn json_is_that_of_cjson() {
    check(&[
        ("return cjson.encode({})", "\"{}\""),
        (
            "return cjson.encode({1, 2, {a = 'b/c'}})",
            r#""[1,2,{\"a\":\"b\\/c\"}]""#,
        ),
        ("return cjson.encode({[1] = 1, [4] = 4})", "\"[1,null,null,4]\""),
        (
            "return (select(2, pcall(cjson.encode, {[1] = 1, [40] = 2})))",
            "\"Cannot serialise table: excessively sparse array\"",
        ),
        ("return cjson.encode(0.1)", "\"0.1\""),
        ("return cjson.encode(1e15)", "\"1e+15\""),
        ("return cjson.encode('\\127\\1')", r#""\"\\u007f\\u0001\"""#),
        (
            "return cjson.encode(cjson.decode('{\"a\":[],\"b\":null}').b == cjson.null)",
            "\"true\"",
        ),
        ("return tostring(cjson.decode('[1,null,3]')[2])", "\"userdata: (nil)\""),
        (
            "return (select(2, pcall(cjson.decode, '{')))",
            "\"Expected object key string but found T_END at character 2\"",
        ),
        (
            "return (select(2, pcall(cjson.encode, 0/0)))",
            "\"Cannot serialise number: must not be NaN or Inf\"",
        ),
        ("return cjson.decode('\"\\\\u00e9\\\\ud83d\\\\ude00\"')", "\"é😀\""),
    ])
    .await;
}

#[tokio::test]
async fn a_script_sees_no_global_that_reads_files_or_loads_code() {
    let store = EmbeddedStore::in_memory();
    for name in ["io", "os", "require", "debug", "load", "loadstring", "coroutine", "_G"] {
        let answer = shown(&eval(&store, &format!("return {name}")).await);
        assert!(answer.contains("nonexistent global variable"), "{name}: {answer}");
    }
    let answer = shown(&eval(&store, "x = 1").await);
    assert!(answer.contains("Attempt to modify a readonly table"), "{answer}");
}

#[tokio::test]
async fn errors_are_worded_as_in_redis() {
    let store = EmbeddedStore::in_memory();
    for (source, expected) in [
        (
            "\nreturn x",
            "user_function:3: Script attempted to access nonexistent global variable 'x' script: test, on @user_function:3.",
        ),
        (
            "redis.call('HGET', 'a')",
            "Wrong number of args calling Redis command from script script: test, on @user_function:2.",
        ),
        (
            "redis.call('NO')",
            "Unknown Redis command called from script script: test, on @user_function:2.",
        ),
        (
            "error('boo')",
            "user_function:2: boo script: test, on @user_function:2.",
        ),
        (
            "return (",
            "Error compiling function: user_function:3: unexpected symbol near 'end'",
        ),
    ] {
        assert_eq!(
            shown(&eval(&store, source).await),
            format!("!ERR {expected}"),
            "{source}"
        );
    }
}

#[tokio::test]
async fn a_failed_script_leaves_nothing_and_a_caught_error_leaves_the_rest() {
    let store = EmbeddedStore::in_memory();
    say(&store, "SET kept 1").await;
    let failed = eval(
        &store,
        "redis.call('SET', 'kept', 2) redis.call('HSET', 'new', 'f', 1) redis.call('HGET', 'kept', 'f')",
    )
    .await;
    assert!(shown(&failed).starts_with("!WRONGTYPE"), "{failed:?}");
    assert_eq!(shown(&say(&store, "GET kept").await), "\"1\"");
    assert_eq!(shown(&say(&store, "EXISTS new").await), "0");

    let caught = eval(
        &store,
        "redis.call('SET', 'kept', 3) return redis.pcall('HGET', 'kept', 'f')",
    )
    .await;
    assert!(shown(&caught).starts_with("!WRONGTYPE"), "{caught:?}");
    assert_eq!(shown(&say(&store, "GET kept").await), "\"3\"");
}

#[tokio::test]
async fn time_does_not_advance_in_a_script() {
    let store = EmbeddedStore::in_memory();
    let source = "local first = redis.call('TIME')
        for i = 1, 100000 do end
        local second = redis.call('TIME')
        return first[1] == second[1] and first[2] == second[2]";
    assert_eq!(shown(&eval(&store, source).await), "1");
}

#[tokio::test]
async fn a_script_that_does_not_end_is_ended_even_if_it_catches_errors() {
    let store = EmbeddedStore::in_memory();
    let answer = eval(
        &store,
        "redis.call('SET', 'a', 1) while true do pcall(function() while true do end end) end",
    )
    .await;
    assert!(shown(&answer).contains("ran longer than 5 seconds"), "{answer:?}");
    assert_eq!(shown(&say(&store, "EXISTS a").await), "0");
    assert_eq!(
        shown(&eval(&store, "local n = 0 for i = 1, 1000000 do n = n + 1 end return n").await),
        "1000000"
    );
}

#[tokio::test]
async fn a_message_arrives_and_that_of_a_failed_script_does_not() {
    let store = EmbeddedStore::in_memory();
    let mut messages = store.subscribe("news").await.unwrap();
    eval(&store, "redis.call('PUBLISH', 'news', 'never') error('no')").await;
    assert_eq!(
        shown(&eval(&store, "return redis.call('PUBLISH', 'news', 'one')").await),
        "1"
    );
    assert_eq!(shown(&say(&store, "PUBLISH news two").await), "1");
    assert_eq!(shown(&say(&store, "PUBLISH other three").await), "0");
    assert_eq!(messages.next().await.unwrap(), "one");
    assert_eq!(messages.next().await.unwrap(), "two");
    store.close();
    assert_eq!(messages.next().await, None);
}

#[tokio::test]
async fn a_subscriber_that_is_too_far_behind_is_cut_off() {
    let store = EmbeddedStore::in_memory();
    let mut messages = store.subscribe("news").await.unwrap();
    eval(&store, "for i = 1, 5000 do redis.call('PUBLISH', 'news', i) end").await;
    assert_eq!(messages.next().await, None);
}

#[tokio::test]
async fn a_script_writes_64_mib_at_most_and_no_result_is_without_end() {
    let store = EmbeddedStore::in_memory();
    for (source, expected) in [
        (
            "local s = string.rep('x', 1000000) for i = 1, 100 do redis.call('SET', 'a' .. i, s) end",
            "OOM more than 64 MiB",
        ),
        (
            "local channel = string.rep('c', 1000000) for i = 1, 100 do redis.call('SET', channel .. i, '') end",
            "OOM more than 64 MiB",
        ),
        ("local t = {} for i = 1, 40 do t = {t, t} end return t", "is too large"),
        (
            "local t = {} for i = 1, 40 do t = {t, t} end return cjson.encode(t)",
            "too long",
        ),
    ] {
        let answer = shown(&eval(&store, source).await);
        assert!(
            answer.starts_with('!') && answer.contains(expected),
            "{source}: {answer:.200}"
        );
        assert_eq!(shown(&say(&store, "KEYS *").await), "[]", "{source}");
    }
}

#[tokio::test]
async fn large_values_and_many_words_pass() {
    check(&[
        ("local t = {} for i = 1, 20000 do t[i] = 'v' .. i end return #cjson.decode(cjson.encode(t))", "20000"),
        ("local t = {} for i = 1, 20000 do t['k' .. i] = i end local n = 0 for k in pairs(cjson.decode(cjson.encode(t))) do n = n + 1 end return n", "20000"),
        ("local t = {} for i = 1, 7900 do t[i] = 'f' .. i end return #redis.call('HMGET', 'h', unpack(t))", "7900"),
        ("local t = {} for i = 1, 7000 do t[i] = 'f' .. i end redis.call('HSET', 'h', unpack(t)) return #redis.call('HGETALL', 'h')", "7000"),
        ("local t = {} for i = 1, 900 do t = {a = t} end return #cjson.encode(cjson.decode(cjson.encode(t)))", "5402"),
        ("local t = {} for i = 1, 600 do t[i] = 'f' end t[7] = {} return redis.pcall('HMGET', unpack(t)).err",
            "\"ERR Lua redis lib command arguments must be strings or integers\""),
    ])
    .await;
}

const ENDLESS: &str = "while true do end";

#[tokio::test]
async fn the_calling_thread_is_not_blocked_while_a_script_runs() {
    let store = EmbeddedStore::in_memory();
    let script = tokio::spawn({
        let store = store.clone();
        async move { eval(&store, ENDLESS).await }
    });
    // time: the script runs by then.
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(
        !script.is_finished(),
        "this runtime has one thread, and the script is not on it"
    );
    assert!(shown(&script.await.unwrap()).contains("ran longer than"));
}

#[tokio::test]
async fn a_call_that_its_caller_has_abandoned_is_not_begun() {
    let store = EmbeddedStore::in_memory();
    let (script, given_up) = tokio::join!(
        eval(&store, ENDLESS),
        tokio::time::timeout(
            std::time::Duration::from_millis(50),
            eval(&store, "return redis.call('SET', 'a', 1)")
        ),
    );
    assert!(shown(&script).contains("ran longer than") && given_up.is_err());
    assert_eq!(shown(&say(&store, "EXISTS a").await), "0");
}

/// A script that has changed something before it takes long, and ends with an error where it does not see that.
const LONG: &str =
    "redis.call('SET', 'a', 'new', 'EX', 100) redis.call('HSET', 'h', 'f', 2, 'g', 3) redis.call('DEL', 'gone')
    for i = 1, 300000 do assert(redis.call('HGET', 'h', 'f') == '2') end
    return redis.call('MGET', 'a', 'gone')";

#[tokio::test(flavor = "multi_thread")]
async fn a_read_waits_for_no_script_and_sees_nothing_that_it_has_changed() {
    // On a busy machine the script may be ended by its time limit: then its writes prove nothing.
    for _ in 0..10 {
        if reads_beside_a_script().await {
            return;
        }
    }
    panic!("the script was ended each time");
}

const TOO_LONG: &str = "the script ran longer than";

/// Whether the script came to its end.
async fn reads_beside_a_script() -> bool {
    let store = EmbeddedStore::in_memory();
    for line in ["SET a old", "HSET h f 1", "SET gone here"] {
        say(&store, line).await;
    }
    let script = tokio::spawn({
        let store = store.clone();
        async move { eval(&store, LONG).await }
    });
    while !store.open.shared.keyspace.lock().is_script {
        tokio::task::yield_now().await;
    }
    // A write waits.
    let write = tokio::spawn({
        let store = store.clone();
        async move { say(&store, "SET b 1").await }
    });
    let table = [
        ("GET a", "\"old\""),
        ("TTL a", "-1"),
        ("HGETALL h", "[\"f\" \"1\"]"),
        ("HLEN h", "1"),
        ("EXISTS gone b", "1"),
        (
            "XLEN h",
            "!WRONGTYPE Operation against a key holding the wrong kind of value",
        ),
        ("MGET a gone", "[\"old\" \"here\"]"),
        ("PING", "PONG"),
    ];
    for round in 0..3 {
        for (line, expected) in table {
            let answer = shown(&say(&store, line).await);
            if script.is_finished() || write.is_finished() {
                let ended = shown(&script.await.unwrap());
                assert!(ended.contains(TOO_LONG), "{line} has waited in round {round}");
                return false;
            }
            assert_eq!(answer, expected, "{line}");
        }
    }
    let reads = table.map(|(line, _)| words(&line.split(' ').collect::<Vec<_>>()));
    assert_eq!(store.run(reads.to_vec()).await.unwrap().len(), table.len());
    let ended = shown(&script.await.unwrap());
    write.await.unwrap();
    if ended.contains(TOO_LONG) {
        return false;
    }
    assert_eq!(ended, "[\"new\" nil]");
    assert_eq!(shown(&say(&store, "MGET a b").await), "[\"new\" \"1\"]");
    assert_eq!(shown(&say(&store, "HGETALL h").await), "[\"f\" \"2\" \"g\" \"3\"]");
    true
}
