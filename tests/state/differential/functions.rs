//! Libraries of functions: loaded, called, listed and refused as by redis-server.

use coord_store::Value;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Pair, check, scripts, sorted};
use crate::differential::words::Words;

fn words(line: &[&str]) -> Words {
    line.iter().map(|word| word.as_bytes().to_vec()).collect()
}

/// `value` with its lists in one order: Redis lists libraries, functions and flags in any.
fn in_order(value: Value) -> Value {
    match value {
        Value::Array(items) => sorted(Value::Array(items.into_iter().map(in_order).collect())),
        other => other,
    }
}

/// Everything about libraries.
fn libraries(pair: &mut Pair) -> (Value, Value) {
    let mut all = Vec::new();
    for line in [&["FUNCTION", "LIST", "WITHCODE"][..], &["FUNCTION", "STATS"]] {
        let (redis, embedded) = pair.both(&words(line));
        all.push((in_order(redis), in_order(embedded)));
    }
    let (redis, embedded): (Vec<Value>, Vec<Value>) = all.into_iter().unzip();
    (Value::Array(redis), Value::Array(embedded))
}

/// Texts of libraries, most of them wrong in one way.
const LIBRARIES: &[&str] = &[
    "return 1",
    "#!lua\nreturn 1",
    "#!lua name=a-b\nreturn 1",
    "#!lua name=\nreturn 1",
    "#!lua name=ab\nreturn 1",
    "#!lua name=ab foo=3\nreturn 1",
    "#!lua name=ab name=c\nreturn 1",
    "#!js name=ab\nreturn 1",
    "#!LUA NAME=upper\nredis.register_function('upper', function() return 1 end)",
    "#! lua name=ab\n",
    "#!lua name=ab",
    "#!lua name=ab\nreturn (",
    "#!lua name=ab\nx y",
    "#!lua name=ab\nreturn 'open",
    "#!lua name=ab\nerror('x')",
    "#!lua name=ab\n\nx = 1",
    "#!lua name=ab\nreturn x",
    "#!lua name=ab\nlocal x = ('x'):rep(3) redis.register_function(x, function() end) return x.y.z",
    "#!lua name=ab\nredis.call('GET', 'a')",
    "#!lua name=ab\nredis.nothing()",
    "#!lua name=ab\nredis.log(1)",
    "#!lua name=ab\nlocal p = pcall",
    "#!lua name=ab\nlocal s = string.rep",
    "#!lua name=ab\nlocal j = cjson",
    "#!lua name=ab\nlocal g = _G",
    "#!lua name=ab\nlocal k = KEYS",
    "#!lua name=ab\nredis.register_function('a-b', function() end)",
    "#!lua name=ab\nredis.register_function('', function() end)",
    "#!lua name=ab\nredis.register_function('ab')",
    "#!lua name=ab\nredis.register_function('ab', 1)",
    "#!lua name=ab\nredis.register_function(nil, function() end)",
    "#!lua name=ab\nredis.register_function({}, 1)",
    "#!lua name=ab\nredis.register_function(1)",
    "#!lua name=ab\nredis.register_function(1, 2, 3)",
    "#!lua name=ab\nredis.register_function()",
    "#!lua name=ab\nredis.register_function{}",
    "#!lua name=ab\nredis.register_function{function_name='x'}",
    "#!lua name=ab\nredis.register_function{callback=function() end}",
    "#!lua name=ab\nredis.register_function{function_name={}, callback=function() end}",
    "#!lua name=ab\nredis.register_function{function_name='x', callback=1}",
    "#!lua name=ab\nredis.register_function{function_name='x', callback=function() end, flags=1}",
    "#!lua name=ab\nredis.register_function{function_name='x', callback=function() end, flags={'no'}}",
    "#!lua name=ab\nredis.register_function{function_name='x', callback=function() end, flags={1}}",
    "#!lua name=ab\nredis.register_function{function_name='x', callback=function() end, flags={'allow-key-locking'}}",
    "#!lua name=ab\nredis.register_function{function_name='x', callback=function() end, other={1}}",
    "#!lua name=ab\nredis.register_function{function_name='x', callback=function() end, [1]={1}}",
    "#!lua name=ab\nredis.register_function{function_name='x', callback=function() end, [true]={1}}",
    "#!lua name=ab\nredis.register_function{function_name='x', callback=function() end, description={}}",
    "#!lua name=ab\nredis.register_function('x', function() end) redis.register_function('x', function() end)",
    "#!lua name=ab\nredis.register_function('f', function() end)",
    "#!lua name=numbers\nredis.register_function(1, function() return 'one' end) redis.register_function{function_name=2, callback=function() end, description=3}",
    "#!lua name=flags\nredis.register_function{Function_Name='flags', CALLBACK=function() return 1 end, description='what it\\ndoes', flags={'NO-WRITES', 'allow-oom', 'allow-stale', 'no-cluster', 'allow-cross-slot-keys', 'no-writes'}}",
    "#!lua name=late\nlocal r = redis redis.register_function('late', function() r.register_function('x', r.log) end) redis.register_function('late2', function() return r.call end)",
];

const CALLED: &str = "#!lua name=called
local calls = 0
redis.register_function('f', function(keys, args) return {#keys, args[1]} end)
redis.register_function('count', function() calls = calls + 1 return calls end)
redis.register_function{function_name='ro', callback=function(keys, args) return redis.call(unpack(args)) end, flags={'no-writes'}}
redis.register_function('rw', function(keys, args) return redis.call(unpack(args)) end)
redis.register_function('try', function(keys, args) return {pcall(redis.call, unpack(args))} end)
redis.register_function('register', function() redis.register_function('z', function() end) end)
redis.register_function('err', function() error('boo') end)
redis.register_function('table', function() error({err='MY boo'}) end)
redis.register_function('global', function() return x end)
redis.register_function('set_global', function() x = 1 end)
redis.register_function('nothing', function() end)
redis.register_function('keys', function() return KEYS end)
redis.register_function('vararg', function(...) return {select('#', ...), ...} end)
redis.register_function('type_of', function(keys, args) return type(redis[args[1]]) end)
redis.register_function('again', function(keys, args)
  local function inner() error('inner') end
  inner()
end)";

const CALLS: &[&str] = &[
    "FCALL f 1 a b",
    "FCALL F 1 a b",
    "FCALL f 3 a b",
    "FCALL f -1 a b",
    "FCALL f q a",
    "FCALL f",
    "FCALL",
    "FCALL_RO f",
    "FCALL none 0",
    "FCALL_RO none 0",
    "FCALL none q",
    "FCALL_RO f 0 1",
    "FCALL_RO ro 0 GET a",
    "FCALL_RO ro 0 SET a b",
    "FCALL ro 0 SET a b",
    "FCALL rw 0 SET a b",
    "FCALL ro 0 GET a",
    "FCALL rw 0 HGET a b",
    "FCALL try 0 HGET a b",
    "FCALL rw 0 FCALL f 0",
    "FCALL rw 0 FUNCTION LIST",
    "FCALL try 0 EVAL x 0",
    "FCALL rw 0 NOPE",
    "FCALL rw 0 GET",
    "FCALL register 0",
    "FCALL err 0",
    "FCALL table 0",
    "FCALL global 0",
    "FCALL set_global 0",
    "FCALL nothing 0",
    "FCALL keys 0",
    "FCALL count 0",
    "FCALL count 0",
    "FCALL vararg 1 k v",
    "FCALL again 0",
    "FCALL late 0",
    "FCALL late2 0",
    "FCALL 1 0",
    "FCALL_RO flags 0",
    "FCALL type_of 0 breakpoint",
    "FCALL type_of 0 debug",
    "FCALL type_of 0 replicate_commands",
    "FCALL type_of 0 set_repl",
    "FCALL type_of 0 REPL_ALL",
    "FCALL type_of 0 sha1hex",
    "FCALL type_of 0 register_function",
    "EVAL return%redis.call('FCALL','f','0') 0",
    "EVAL return%redis.call('FUNCTION','LIST') 0",
    "EVAL return%redis.register_function 0",
    "FUNCTION",
    "FUNCTION NOPE",
    "FUNCTION LOAD",
    "FUNCTION LOAD a b c",
    "FUNCTION LOAD REPLAC b",
    "FUNCTION LOAD REPLACE",
    "FUNCTION DELETE",
    "FUNCTION DELETE none",
    "FUNCTION DELETE CALLED",
    "FUNCTION DELETE a b",
    "FUNCTION FLUSH NOW",
    "FUNCTION FLUSH SYNC a",
    "FUNCTION STATS a",
    "FUNCTION LIST a",
    "FUNCTION LIST LIBRARYNAME",
    "FUNCTION LIST WITHCODE WITHCODE",
    "FUNCTION LIST LIBRARYNAME a LIBRARYNAME b",
    "FUNCTION LIST LIBRARYNAME CALL*",
    "FUNCTION LIST LIBRARYNAME fl?gs WITHCODE",
    "FUNCTION DELETE called",
    "FCALL f 0",
    "FUNCTION FLUSH ASYNC",
    "FCALL 1 0",
];

#[test]
fn libraries_are_loaded_called_and_refused_as_by_redis() {
    let Some(mut pair) = Pair::start() else { return };
    let (redis, embedded) = pair.both(&words(&["FUNCTION", "LOAD", CALLED]));
    assert_eq!(redis, embedded);
    for library in LIBRARIES {
        for load in [
            &["FUNCTION", "LOAD", library][..],
            &["FUNCTION", "LOAD", "REPLACE", library],
        ] {
            let (redis, embedded) = pair.both(&words(load));
            assert_eq!(redis, embedded, "{library:?}");
        }
        let (redis, embedded) = libraries(&mut pair);
        assert_eq!(redis, embedded, "after {library:?}");
    }
    for call in CALLS {
        let words: Words = call
            .split(' ')
            .map(|word| word.replace('%', " ").into_bytes())
            .collect();
        let (redis, embedded) = pair.both(&words);
        assert_eq!(in_order(redis), in_order(embedded), "{call}");
    }
    let (redis, embedded) = libraries(&mut pair);
    assert_eq!(redis, embedded);
}

#[test]
fn flushing_keys_leaves_libraries_on_both() {
    let Some(mut pair) = Pair::start() else { return };
    for line in [
        &["FUNCTION", "LOAD", CALLED][..],
        &["FLUSHALL"],
        &["FCALL", "f", "1", "a", "b"],
    ] {
        let (redis, embedded) = pair.both(&words(line));
        assert!(
            redis == embedded && !matches!(redis, Value::Error(_)),
            "{redis:?} {embedded:?}"
        );
    }
}

/// A library whose functions are random scripts. Two libraries share one name at most: Redis names any that is there already.
fn library() -> impl Strategy<Value = String> {
    let library = select(&[("a", &["one", "two"]), ("b", &["two", "three"])][..]);
    library.prop_flat_map(|(library, names)| {
        let function = (select(&names[..]), any::<bool>(), scripts::body());
        prop::collection::vec(function, 1..3).prop_map(move |functions| {
            let mut code = format!("#!lua name={library}\n");
            for (name, is_reading, body) in functions {
                let flags = if is_reading { "'no-writes'" } else { "" };
                code += &format!(
                    "redis.register_function{{function_name='{name}', flags={{{flags}}}, callback=function(KEYS, ARGV)\n{body}\nend}}\n"
                );
            }
            code
        })
    })
}

/// What happens between loads and calls.
const BESIDE: &[&[&str]] = &[
    &["FUNCTION", "DELETE", "a"],
    &["FUNCTION", "FLUSH"],
    &["SET", "a", "1"],
    &["HSET", "b", "f", "1"],
];

#[test]
fn random_functions_end_as_on_redis() {
    let call = (select(&["FCALL", "FCALL_RO"][..]), select(&["one", "two", "three"][..]))
        .prop_map(|(command, name)| words(&[command, name, "2", "a", "b", "argument"]));
    let load = (any::<bool>(), library()).prop_map(|(is_replacing, code)| match is_replacing {
        true => words(&["FUNCTION", "LOAD", "REPLACE", &code]),
        false => words(&["FUNCTION", "LOAD", &code]),
    });
    let other = select(BESIDE).prop_map(words);
    let step = prop_oneof![3 => load, 6 => call, 1 => other];
    check(150, prop::collection::vec(step, 1..20), |pair, program| {
        pair.both(&words(&["FUNCTION", "FLUSH"]));
        for words in &program {
            let answer = pair.compare(words)?;
            if matches!(&answer, Value::Error(text) if text.contains(" script: ")) {
                // Redis keeps what was written before the error.
                pair.clear();
            }
        }
        let (redis, embedded) = libraries(pair);
        prop_assert_eq!(redis, embedded);
        pair.same_state()
    });
}
