//! The embedded store against a real redis-server: the same random programs on both, every answer compared, and the
//! whole state at the end.

mod intents;
mod normal;
mod programs;
mod redis;
mod scripts;
mod teams;
mod words;

use coord_embedded::EmbeddedStore;
use coord_store::{Request, Store, Value};
use coord_test_support::embedded;
use coord_test_support::script;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use redis::Redis;
use std::cell::RefCell;
use tokio::runtime::Runtime;
use words::{UNORDERED, Words};

/// Both sides.
struct Pair {
    redis: Redis,
    embedded: EmbeddedStore,
    runtime: Runtime,
}

impl Pair {
    fn start() -> Option<Pair> {
        let redis = Redis::start()?;
        let embedded = embedded::in_memory();
        Some(Pair {
            redis,
            embedded,
            runtime: Runtime::new().expect("a runtime"),
        })
    }

    fn embedded(&self, words: &[Vec<u8>]) -> Value {
        self.run(Request::Command(words.to_vec()))
    }

    fn run(&self, request: Request) -> Value {
        self.runtime
            .block_on(self.embedded.run(vec![request]))
            .expect("the embedded store answers")
            .remove(0)
    }

    /// The replies to a script: redis-server's as a function of the same name, whose text begins on the same line.
    fn eval(&mut self, source: &str, argument: &[u8]) -> (Value, Value) {
        let code = format!(
            "#!lua name=tests\nlocal function register(name, run) redis.register_function(name, run) end {}",
            script::functions(source)
        );
        let load: [&[u8]; 4] = [b"FUNCTION", b"LOAD", b"REPLACE", code.as_bytes()];
        let mut redis = self.redis.ask(&load.map(<[u8]>::to_vec));
        if !matches!(redis, Value::Error(_)) {
            let call: [&[u8]; 6] = [b"FCALL", script::NAME.as_bytes(), b"2", b"a", b"b", argument];
            redis = self.redis.ask(&call.map(<[u8]>::to_vec));
        }
        (redis, self.run(script::call(source, &["a", "b"], &[argument])))
    }

    fn clear(&mut self) {
        self.both(&[b"FLUSHALL".to_vec()]);
    }

    fn both(&mut self, words: &[Vec<u8>]) -> (Value, Value) {
        (self.redis.ask(words), self.embedded(words))
    }

    /// Everything in the store.
    fn dump(mut ask: impl FnMut(&[Vec<u8>]) -> Value) -> Vec<(Vec<u8>, Value, bool, Value)> {
        let mut to = |words: &[&[u8]]| ask(&words.iter().map(|word| word.to_vec()).collect::<Vec<_>>());
        let mut names: Vec<Vec<u8>> = match to(&[b"KEYS", b"*"]) {
            Value::Array(names) => names
                .into_iter()
                .filter_map(|name| Some(name.as_str()?.as_bytes().to_vec()))
                .collect(),
            other => panic!("no names: {other:?}"),
        };
        names.sort();
        let mut state = Vec::new();
        for name in names {
            let kind = to(&[b"TYPE", &name]);
            let content = match kind.as_str() {
                Some("string") => to(&[b"GET", &name]),
                Some("hash") => sorted(to(&[b"HGETALL", &name])),
                Some("zset") => to(&[b"ZRANGE", &name, b"0", b"-1", b"WITHSCORES"]),
                Some("stream") => to(&[b"XRANGE", &name, b"-", b"+"]),
                other => panic!("a type that cannot be: {other:?}"),
            };
            let has_expiry = to(&[b"TTL", &name]) != Value::Int(-1);
            state.push((name, kind, has_expiry, content));
        }
        state
    }

    fn same_state(&mut self) -> Result<(), TestCaseError> {
        let of_redis = Self::dump(|words| self.redis.ask(words));
        let of_embedded = Self::dump(|words| self.embedded(words));
        prop_assert_eq!(of_redis, of_embedded, "the states differ (redis first)");
        Ok(())
    }

    /// Runs `words` on both and compares. Gives the answer.
    fn compare(&mut self, words: &Words) -> Result<Value, TestCaseError> {
        let name = String::from_utf8_lossy(&words[0]).to_ascii_uppercase();
        let (mut redis, mut embedded) = self.both(words);
        if UNORDERED.contains(&&*name) {
            (redis, embedded) = (sorted(redis), sorted(embedded));
        } else if name == "TTL" || name == "PTTL" {
            (redis, embedded) = (roughly(redis), roughly(embedded));
        }
        let shown: Vec<String> = words
            .iter()
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        prop_assert_eq!(&redis, &embedded, "redis, embedded: {:?}", shown);
        Ok(embedded)
    }
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Array(mut items) => {
            items.sort_by_key(|item| format!("{item:?}"));
            Value::Array(items)
        }
        other => other,
    }
}

/// A time to live, without what passes between two requests.
fn roughly(value: Value) -> Value {
    match value {
        Value::Int(milliseconds) if milliseconds > 1_000_000 => Value::Int((milliseconds + 50_000) / 100_000),
        Value::Int(seconds) if seconds > 0 => Value::Int((seconds + 50) / 100),
        other => other,
    }
}

fn check<S: Strategy>(cases: u32, strategy: S, test: impl Fn(&mut Pair, S::Value) -> Result<(), TestCaseError>) {
    let Some(pair) = Pair::start() else { return };
    let pair = RefCell::new(pair);
    let config = Config {
        cases,
        source_file: Some(file!()),
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&strategy, |value| {
        let mut pair = pair.borrow_mut();
        pair.clear();
        test(&mut pair, value)
    });
    if let Err(failure) = result {
        // Only the reason: the whole program, byte by byte, fills pages. The comparison shows the command.
        let reason = failure.to_string();
        panic!("{}", reason.split("minimal failing input").next().unwrap_or_default());
    }
}

#[test]
fn random_commands_are_answered_as_redis_answers_them() {
    let programs = prop::collection::vec(words::command(), 1..60);
    check(300, programs, |pair, program| {
        for words in &program {
            pair.compare(words)?;
        }
        pair.same_state()
    });
}

/// A step of a program.
#[derive(Clone, Debug)]
enum Step {
    Command(Words),
    Script(String),
}

#[test]
fn random_scripts_end_as_on_redis_and_a_failed_one_changes_nothing() {
    let step = prop_oneof![
        1 => words::command().prop_map(Step::Command),
        2 => scripts::script().prop_map(Step::Script),
    ];
    check(300, prop::collection::vec(step, 1..25), |pair, program| {
        for step in &program {
            let source = match step {
                Step::Command(words) => {
                    pair.compare(words)?;
                    continue;
                }
                Step::Script(source) => source,
            };
            let before = Pair::dump(|words| pair.embedded(words));
            let (redis, embedded) = pair.eval(source, b"argument");
            prop_assert_eq!(&redis, &embedded, "redis, embedded: {}", source);
            if matches!(&embedded, Value::Error(text) if text.contains(" script: ")) {
                // Here the two differ by design: Redis keeps what was written before the error.
                prop_assert_eq!(
                    before,
                    Pair::dump(|words| pair.embedded(words)),
                    "a failed script changed something"
                );
                pair.clear();
            }
        }
        pair.same_state()
    });
}

/// Objects have no order: the same bytes in any order.
fn same_json(redis: &Value, embedded: &Value) -> bool {
    match (redis, embedded) {
        (Value::Bulk(redis), Value::Bulk(embedded)) => {
            let sorted = |bytes: &[u8]| {
                let mut bytes = bytes.to_vec();
                bytes.sort_unstable();
                bytes
            };
            sorted(redis) == sorted(embedded)
        }
        (redis, embedded) => redis == embedded,
    }
}

#[test]
fn values_of_lua_become_the_answers_and_the_json_of_redis() {
    check(2000, scripts::about_a_value(), |pair, source| {
        let (redis, embedded) = pair.eval(&source, b"");
        prop_assert!(
            same_json(&redis, &embedded),
            "{}\n  redis:    {:?}\n  embedded: {:?}",
            source,
            redis,
            embedded
        );
        Ok(())
    });
}

#[test]
fn json_is_read_and_written_as_by_redis() {
    const SOURCE: &str = "local ok, value = pcall(cjson.decode, ARGV[1])
        if not ok then return {'wrong', value} end
        local ok, text = pcall(cjson.encode, value)
        return text";
    check(3000, scripts::json(), |pair, text| {
        let (redis, embedded) = pair.eval(SOURCE, &text);
        let shown = String::from_utf8_lossy(&text).into_owned();
        prop_assert!(
            same_json(&redis, &embedded),
            "{}\n  redis:    {:?}\n  embedded: {:?}",
            shown,
            redis,
            embedded
        );
        Ok(())
    });
}

#[test]
fn deep_json_is_refused_as_by_redis() {
    let Some(mut pair) = Pair::start() else { return };
    for depth in [999, 1000, 1001, 5000] {
        let text = [b"[".repeat(depth), b"]".repeat(depth)].concat();
        for source in [
            "return cjson.encode(cjson.decode(ARGV[1]))",
            "local t = {} for i = 2, #ARGV[1] / 2 do t = {t} end return cjson.encode(t)",
            "local t = {} for i = 2, #ARGV[1] / 2 do t = {a = t} end return #cjson.encode(cjson.decode(cjson.encode(t)))",
        ] {
            let (redis, embedded) = pair.eval(source, &text);
            assert_eq!(redis, embedded, "depth {depth}: {source}");
        }
    }
}

#[test]
fn a_script_that_is_no_lua_is_refused_as_by_redis() {
    let Some(mut pair) = Pair::start() else { return };
    for source in ["return (", "x y", "return 'open", "\n\nend"] {
        let (redis, embedded) = pair.eval(source, b"");
        assert_eq!(redis, embedded, "{source:?}");
    }
}
