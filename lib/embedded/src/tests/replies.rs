//! Limits of one command in time and memory.

use super::{EmbeddedStore, ask, eval, say, shown, words};
use coord_store::{Store, Value};
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;

const TOO_LARGE: &str = "OOM the reply is larger";

/// The answer of `ask`, in time. On a busy machine, a command that copies a hundred megabytes may be ended by its time
/// limit.
async fn in_time(ask: impl AsyncFn() -> Value) -> Value {
    let mut answer = ask().await;
    for _ in 0..10 {
        if !is_late(&answer) {
            break;
        }
        answer = ask().await;
    }
    answer
}

fn is_late(answer: &Value) -> bool {
    match answer {
        Value::Error(text) => text.contains("ran longer than 2 seconds"),
        Value::Array(answers) => answers.iter().any(is_late),
        _ => false,
    }
}

async fn answered_in_time(ask: impl AsyncFn() -> Value) -> String {
    shown(&in_time(ask).await)
}

/// A store with a megabyte in each kind of value, under the names of the kinds.
async fn filled() -> EmbeddedStore {
    let store = EmbeddedStore::in_memory().unwrap();
    let large = "x".repeat(MIB);
    ask(&store, &["SET", "string", &large]).await;
    ask(&store, &["HSET", "hash", "field", &large]).await;
    ask(&store, &["XADD", "stream", "*", "field", &large]).await;
    store
}

/// `command` with `words` 200 times after it.
fn many<'a>(command: &[&'a str], words: &[&'a str]) -> Vec<&'a str> {
    let words = std::iter::repeat_n(words, 200).flatten();
    command.iter().chain(words).copied().collect()
}

#[tokio::test]
async fn no_reply_to_a_command_takes_all_memory() {
    let store = filled().await;
    let streams = [many(&["XREAD", "STREAMS"], &["stream"]), many(&[], &["0"])].concat();
    for words in [
        many(&["MGET"], &["string"]),
        many(&["HMGET", "hash"], &["field"]),
        streams,
    ] {
        let plain = answered_in_time(async || ask(&store, &words).await).await;
        assert!(plain.starts_with(&format!("!{TOO_LARGE}")), "{}: {plain:.80}", words[0]);
        let script = [&["EVAL", "return redis.pcall(unpack(ARGV))", "0"], &words[..]].concat();
        let guest = answered_in_time(async || ask(&store, &script).await).await;
        assert!(guest.starts_with(&format!("!{TOO_LARGE}")), "{}: {guest:.80}", words[0]);
    }
}

#[tokio::test]
async fn no_collection_is_read_whole_where_it_is_too_large() {
    let store = EmbeddedStore::in_memory().unwrap();
    let large = "x".repeat(MIB);
    for number in 0..140 {
        let number = number.to_string();
        let text = format!("{number}{large}");
        ask(&store, &["HSET", "hash", &text, &large]).await;
        ask(&store, &["ZADD", "set", &number, &text]).await;
        ask(&store, &["XADD", "stream", "*", "field", &large]).await;
        ask(&store, &["SET", &text, ""]).await;
    }
    for line in [
        "HGETALL hash",
        "HKEYS hash",
        "ZRANGE set 0 -1",
        "ZRANGEBYLEX set - +",
        "XRANGE stream - +",
        "KEYS *",
    ] {
        let reply = answered_in_time(async || say(&store, line).await).await;
        assert!(reply.starts_with(&format!("!{TOO_LARGE}")), "{line}: {reply:.80}");
    }
    for (line, expected) in [("ZLEXCOUNT set - +", "140"), ("ZCARD set", "140"), ("HLEN hash", "140")] {
        assert_eq!(shown(&say(&store, line).await), expected, "{line}");
    }
}

#[tokio::test]
async fn the_replies_to_one_call_are_bounded_together() {
    let store = filled().await;
    let get = words(&["GET", "string"]);
    let script = words(&["EVAL", "return redis.call('GET', 'string')", "0"]);
    for request in [get, script] {
        let ask = async || Value::Array(store.run(vec![request.clone(); 200]).await.unwrap());
        let Value::Array(replies) = in_time(ask).await else {
            panic!("no replies");
        };
        let given = replies.iter().filter(|reply| matches!(reply, Value::Bulk(_))).count();
        assert!((100..128).contains(&given), "{given} of 200");
        assert!(matches!(replies.last(), Some(Value::Error(_))));
    }
}

#[tokio::test]
async fn a_script_reads_much_as_long_as_it_keeps_little() {
    let store = EmbeddedStore::in_memory().unwrap();
    for number in 0..50 {
        let large = number.to_string() + &"x".repeat(MIB);
        ask(&store, &["SET", &format!("k{number}"), &large]).await;
    }
    let reading = "local read = 0
        for round = 0, 19 do
            local names = {}
            for i = 1, 25 do names[i] = 'k' .. (round % 2 * 25 + i - 1) end
            read = read + #redis.call('MGET', unpack(names))
        end
        return read";
    assert_eq!(answered_in_time(async || eval(&store, reading).await).await, "500");
}

#[tokio::test]
async fn messages_count_with_their_channels() {
    let store = EmbeddedStore::in_memory().unwrap();
    let channel = "c".repeat(60_000);
    let _messages = store.subscribe(&channel).await.unwrap();
    let source = "for i = 1, 8000 do redis.call('PUBLISH', ARGV[1], '') end";
    let script = ["EVAL", source, "0", &channel];
    let reply = answered_in_time(async || ask(&store, &script).await).await;
    assert!(reply.starts_with("!OOM more than 64 MiB"), "{reply}");
}

#[tokio::test]
async fn small_changes_count_as_what_they_take() {
    let store = EmbeddedStore::in_memory().unwrap();
    let source = "for i = 1, 1e9 do redis.call('HSET', 'h', i, '') end";
    let reply = shown(&eval(&store, source).await);
    assert!(
        reply.starts_with("!OOM more than 64 MiB") || reply.contains("ran longer"),
        "{reply}"
    );
    let far = shown(&ask(&store, &["SETRANGE", "k", "500000000", "x"]).await);
    assert!(far.starts_with("!OOM more than 64 MiB"), "{far}");
    assert_eq!(shown(&ask(&store, &["EXISTS", "h", "k"]).await), "0");
}

#[tokio::test]
async fn a_slow_pattern_of_names_ends_with_its_time() {
    let store = EmbeddedStore::in_memory().unwrap();
    for number in 0..4 {
        ask(&store, &["SET", &format!("{}{number}", "a".repeat(120_000)), ""]).await;
    }
    let pattern = format!("*{}b", "a".repeat(60_000));
    let script = ["EVAL", "return redis.call('KEYS', ARGV[1])", "0", &pattern];
    for words in [&["KEYS", &pattern][..], &script] {
        let began = Instant::now();
        let reply = shown(&ask(&store, words).await);
        assert!(reply.contains("ran longer than 2 seconds"), "{reply}");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
}
