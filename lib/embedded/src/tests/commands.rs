//! One table for each family of commands: the command, and its reply.

use super::{EmbeddedStore, ask, say, shown};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

async fn check(table: &[(&str, &str)]) {
    let store = EmbeddedStore::in_memory();
    for (line, expected) in table {
        assert_eq!(shown(&say(&store, line).await), *expected, "{line}");
    }
}

const WRONG_TYPE: &str = "!WRONGTYPE Operation against a key holding the wrong kind of value";

#[tokio::test]
async fn strings_and_counters() {
    check(&[
        ("GET a", "nil"),
        ("SET a 1", "OK"),
        ("SET a 2 NX", "nil"),
        ("SET a 2 XX GET", "\"1\""),
        ("INCR a", "3"),
        ("SETRANGE a 1 x", "2"),
        ("STRLEN a", "2"),
        ("STRLEN b", "0"),
        ("INCR a", "!ERR value is not an integer or out of range"),
        ("MGET a b", "[\"3x\" nil]"),
        ("SET a 9223372036854775807", "OK"),
        ("INCR a", "!ERR increment or decrement would overflow"),
        ("SET a 1 EX 0", "!ERR invalid expire time in 'set' command"),
        ("SET a 1 EX 10 PX 10", "!ERR syntax error"),
        ("SET a v EX 100", "OK"),
        ("TTL a", "100"),
        ("INCR b", "1"),
        ("HGET a f", WRONG_TYPE),
    ])
    .await;
}

#[tokio::test]
async fn hashes() {
    check(&[
        ("HSET h f 1 g 2", "2"),
        ("HSET h f 3", "0"),
        ("HMGET h f x g", "[\"3\" nil \"2\"]"),
        ("HGETALL h", "[\"f\" \"3\" \"g\" \"2\"]"),
        ("HINCRBY h f 4", "7"),
        ("HLEN h", "2"),
        ("HKEYS h", "[\"f\" \"g\"]"),
        ("HSET h f", "!ERR wrong number of arguments for 'hset' command"),
        ("HDEL h f x g", "2"),
        ("EXISTS h", "0"),
        ("HGETALL h", "[]"),
        ("SET h 1", "OK"),
        ("HLEN h", WRONG_TYPE),
    ])
    .await;
}

#[tokio::test]
async fn sorted_sets() {
    check(&[
        ("ZADD z 1 a 2 b 3 c", "3"),
        ("ZADD z NX 9 a", "0"),
        ("ZADD z XX CH 1.5 a", "1"),
        ("ZADD z GT 1 a", "0"),
        ("ZADD z INCR 0.1 a", "\"1.6000000000000001\""),
        (
            "ZADD z NX GT 1 a",
            "!ERR GT, LT, and/or NX options at the same time are not compatible",
        ),
        (
            "ZRANGE z 0 -1 WITHSCORES",
            "[\"a\" \"1.6000000000000001\" \"b\" \"2\" \"c\" \"3\"]",
        ),
        ("ZRANGE z 3 (1.6 BYSCORE REV LIMIT 1 5", "[\"b\"]"),
        ("ZRANGEBYSCORE z (2 +inf", "[\"c\"]"),
        ("ZRANGEBYSCORE z -inf inf LIMIT 1 1", "[\"b\"]"),
        ("ZSCORE z c", "\"3\""),
        ("ZADD z INCR inf c", "\"inf\""),
        ("ZADD z INCR -inf c", "!ERR resulting score is not a number (NaN)"),
        ("ZADD z x a", "!ERR value is not a valid float"),
        ("ZREM z a b b", "2"),
        ("ZREM z c x", "1"),
        ("TYPE z", "none"),
        ("ZADD names 0 src/a.ts 0 src/b.ts 0 src/b/c.ts 0 web/a.ts", "4"),
        ("ZRANGEBYLEX names - + LIMIT 1 2", "[\"src/b.ts\" \"src/b/c.ts\"]"),
        ("ZRANGEBYLEX names [src/b (web", "[\"src/b.ts\" \"src/b/c.ts\"]"),
        ("ZRANGEBYLEX names (src/b.ts +", "[\"src/b/c.ts\" \"web/a.ts\"]"),
        ("ZRANGEBYLEX names + -", "[]"),
        ("ZLEXCOUNT names [src/b (web", "2"),
        ("ZLEXCOUNT names - +", "4"),
        ("ZLEXCOUNT none - +", "0"),
        ("ZLEXCOUNT names src +", "!ERR min or max not valid string range item"),
        ("ZRANGE names (web - BYLEX REV LIMIT 0 1", "[\"src/b/c.ts\"]"),
        ("ZRANGEBYLEX names src +", "!ERR min or max not valid string range item"),
        (
            "ZRANGE names - + BYLEX WITHSCORES",
            "!ERR syntax error, WITHSCORES not supported in combination with BYLEX",
        ),
    ])
    .await;
}

#[tokio::test]
async fn streams() {
    check(&[
        ("XADD s 1-1 f v", "\"1-1\""),
        ("XADD s 1-* f w", "\"1-2\""),
        (
            "XADD s 1-2 f v",
            "!ERR The ID specified in XADD is equal or smaller than the target stream top item",
        ),
        (
            "XADD s 0-0 f v",
            "!ERR The ID specified in XADD must be greater than 0-0",
        ),
        ("XADD no NOMKSTREAM 1-1 f v", "nil"),
        ("XRANGE s - +", "[[\"1-1\" [\"f\" \"v\"]] [\"1-2\" [\"f\" \"w\"]]]"),
        ("XREVRANGE s + (1-1 COUNT 5", "[[\"1-2\" [\"f\" \"w\"]]]"),
        ("XREAD COUNT 1 STREAMS s 0", "[[\"s\" [[\"1-1\" [\"f\" \"v\"]]]]]"),
        ("XREAD STREAMS s $", "nil"),
        ("XDEL s 1-1 1-1 9", "1"),
        ("XDEL none x", "0"),
        (
            "XDEL s x",
            "!ERR Invalid stream ID specified as stream command argument",
        ),
        ("XLEN s", "1"),
        ("XADD s MAXLEN = 1 5 f x", "\"5-0\""),
        ("XLEN s", "1"),
        ("XTRIM s MAXLEN 0", "1"),
        ("XLEN s", "0"),
        ("TYPE s", "stream"),
        (
            "XADD s 5-0 f x",
            "!ERR The ID specified in XADD is equal or smaller than the target stream top item",
        ),
        (
            "XTRIM s LIMIT 1",
            "!ERR syntax error, LIMIT cannot be used without specifying a trimming strategy",
        ),
    ])
    .await;
}

#[tokio::test]
async fn keys_of_any_type() {
    check(&[
        ("HSET h f 1", "1"),
        ("RENAME h i", "OK"),
        ("RENAME h i", "!ERR no such key"),
        ("HGET i f", "\"1\""),
        ("PEXPIRE i 100000", "1"),
        ("TTL i", "100"),
        ("RENAME i j", "OK"),
        ("TTL j", "100"),
        ("PERSIST j", "1"),
        ("TTL j", "-1"),
        ("TTL none", "-2"),
        ("EXPIRE j -1", "1"),
        ("EXISTS j", "0"),
        ("SET b 2", "OK"),
        ("SET a 1", "OK"),
        ("KEYS *", "[\"b\" \"a\"]"),
        ("KEYS [b-z]", "[\"b\"]"),
        ("FLUSHALL", "OK"),
        ("KEYS *", "[]"),
        (
            "nosuch a b",
            "!ERR unknown command 'nosuch', with args beginning with: 'a' 'b' ",
        ),
        ("GET", "!ERR wrong number of arguments for 'get' command"),
    ])
    .await;
}

#[tokio::test]
async fn an_expired_key_is_gone_at_once_and_removed_later() {
    let store = EmbeddedStore::in_memory();
    say(&store, "HSET h old 1").await;
    say(&store, "PEXPIRE h 20").await;
    // time: the key expires.
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert_eq!(shown(&say(&store, "HGETALL h").await), "[]");
    assert_eq!(shown(&say(&store, "HSET h new 2").await), "1");
    assert_eq!(shown(&say(&store, "HGETALL h").await), "[\"new\" \"2\"]");
    assert_eq!(shown(&say(&store, "TTL h").await), "-1");

    let mut keyspace = store.open.shared.keyspace.lock();
    keyspace.begin(false);
    keyspace.clean(1000).unwrap();
    // These records are left: the format, the newest number, and four of the new hash (name, number, count, field).
    let mut scan = keyspace.layers.scan(Bound::Unbounded, Bound::Unbounded, false).unwrap();
    let mut left = Vec::new();
    while let Some((key, _)) = scan.next().unwrap() {
        left.push(key.to_vec());
    }
    assert_eq!(left.len(), 6, "{left:?}");
}

#[tokio::test]
async fn a_large_dropped_collection_is_cleared_away_in_steps() {
    let store = EmbeddedStore::in_memory();
    for number in 0..500 {
        say(&store, &format!("ZADD z {number} member{number}")).await;
    }
    assert_eq!(shown(&say(&store, "DEL z").await), "1");
    assert_eq!(shown(&say(&store, "ZCARD z").await), "0");
    assert_eq!(shown(&say(&store, "ZADD z 1 a").await), "1");
    let mut keyspace = store.open.shared.keyspace.lock();
    keyspace.begin(false);
    let mut steps = 0;
    while keyspace.clean(100).unwrap() {
        steps += 1;
    }
    assert!(steps <= 20, "{steps}");
    let mut scan = keyspace.layers.scan(Bound::Unbounded, Bound::Unbounded, false).unwrap();
    let mut left = 0;
    while scan.next().unwrap().is_some() {
        left += 1;
    }
    // As above, with two records for the member.
    assert_eq!(left, 7);
}

#[tokio::test]
async fn bytes_are_kept_as_they_are() {
    use coord_store::{Request, Store, Value};
    let store = EmbeddedStore::in_memory();
    let bytes: Vec<u8> = (0..=255).collect();
    let set = Request::Command(vec![b"SET".to_vec(), bytes.clone(), bytes.clone()]);
    let get = Request::Command(vec![b"GET".to_vec(), bytes.clone()]);
    assert_eq!(store.run(vec![set, get]).await.unwrap()[1], Value::Bulk(bytes));
    assert_eq!(shown(&ask(&store, &["SET", "", ""]).await), "OK");
    assert_eq!(shown(&ask(&store, &["GET", ""]).await), "\"\"");
}

#[tokio::test]
async fn scan_gives_each_name_of_a_pattern_once() {
    let store = EmbeddedStore::in_memory();
    for number in 0..25 {
        say(&store, &format!("SET coord:{number} x")).await;
        say(&store, &format!("SET other:{number} x")).await;
    }
    let (mut cursor, mut found) = ("0".to_owned(), Vec::new());
    loop {
        let page = say(&store, &format!("SCAN {cursor} MATCH coord:* COUNT 10")).await;
        let [next, names] = page.as_array().unwrap() else {
            panic!("{page:?}")
        };
        found.extend(names.as_array().unwrap().iter().map(shown));
        next.as_str().unwrap().clone_into(&mut cursor);
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(
        found,
        (0..25).map(|number| format!("\"coord:{number}\"")).collect::<Vec<_>>()
    );
    check(&[
        ("SCAN x", "!ERR invalid cursor"),
        ("SCAN 0 COUNT", "!ERR syntax error"),
        ("SCAN 0 COUNT 0", "!ERR syntax error"),
    ])
    .await;
}

/// The second column of the table in `docs/internals/embedded.md`: the commands, in code spans.
fn documented() -> Vec<String> {
    let page = include_str!("../../../../docs/internals/embedded.md");
    let rows = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split('|').nth(1));
    let names = rows.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(str::to_ascii_lowercase).collect()
}

#[test]
fn the_documented_commands_are_those_that_are_there() {
    let mut documented = documented();
    documented.sort();
    let mut there: Vec<&str> = crate::commands::names().collect();
    there.sort_unstable();
    assert_eq!(documented, there);
}

#[tokio::test]
async fn time_and_expiry_are_those_of_the_given_clock() {
    let seconds = Arc::new(AtomicU64::new(1_000));
    let clock = Arc::clone(&seconds);
    let now = move || UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::Relaxed));
    let store = EmbeddedStore::in_memory_by(now).unwrap();
    assert_eq!(shown(&say(&store, "SET a v EX 100").await), "OK");
    assert_eq!(shown(&say(&store, "TIME").await), "[\"1000\" \"0\"]");
    seconds.store(1_099, Ordering::Relaxed);
    assert_eq!(shown(&say(&store, "TTL a").await), "1");
    seconds.store(1_101, Ordering::Relaxed);
    assert_eq!(shown(&say(&store, "GET a").await), "nil");
}
