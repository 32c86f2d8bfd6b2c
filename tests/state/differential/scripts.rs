//! Random Lua scripts.

use crate::differential::words::{Words, command_in_script, one_of};
use proptest::prelude::*;
use proptest::sample::select;

/// A string literal of Lua, all bytes by number.
fn quoted(bytes: &[u8]) -> String {
    let numbers: String = bytes.iter().map(|byte| format!("\\{byte:03}")).collect();
    format!("\"{numbers}\"")
}

fn call(function: &str, words: &Words) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("redis.{function}({})", words.join(", "))
}

/// Statements that each set `r[#r+1]`.
fn statement() -> impl Strategy<Value = String> {
    let plain = |function: &'static str| {
        command_in_script().prop_map(move |words| format!("r[#r+1] = {}", call(function, &words)))
    };
    prop_oneof![
        6 => plain("pcall"),
        2 => plain("call"),
        2 => command_in_script().prop_map(|words| {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            format!("do local ok, e = pcall(redis.call, {}) r[#r+1] = type(e) == 'table' and 'table' or e end", words.join(", "))
        }),
        1 => Just("do local h = redis.pcall('HGETALL', KEYS[1]) if h.err then r[#r+1] = h else table.sort(h) r[#r+1] = h end end".to_owned()),
        1 => expression().prop_map(|value| format!("r[#r+1] = {value}")),
        1 => expression().prop_map(|value| format!("redis.pcall('HSET', KEYS[1], 'json', tostring(#cjson.encode({value})))")),
        1 => Just("redis.pcall('SET', KEYS[2], tostring(#KEYS + #ARGV))".to_owned()),
        1 => select(&[
            "error('boom')", "error({err='MY boom'})", "local x = nil; x = x.y", "undefined_name()", "undefined_name = 1",
            "redis.call()", "redis.call('GET', {})", "error(5)", "redis.nothing()", "r[#r+1] = {err='in\\nside'}",
            "r[#r+1] = {ok='fine\\r\\nline'}", "r[#r+1] = tostring(pcall(error))", "r[#r+1] = redis.call('TIME') and 1",
            "r[#r+1] = redis.sha1hex('x')", "cjson.decode('[1,')", "cjson.encode(print or error)",
        ][..]).prop_map(str::to_owned),
    ]
}

/// A value of Lua, as source.
fn expression() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        one_of(
            "nil¦true¦false¦1¦0¦-1¦3.99¦-3.99¦1e15¦1e14¦1e100¦0.1¦123456789012¦1/0¦0/0¦-0¦1e-7¦cjson.null¦\"\"¦\"a/b\"¦\
             \"q\\\"\\\\\\n\\t\\127\\001\\200\"¦{}¦2^53¦function() end"
        )
        .prop_map(str::to_owned),
        "[a-z]{1,3}".prop_map(|text| format!("{text:?}")),
    ];
    leaf.prop_recursive(3, 16, 5, |inner| {
        let key = one_of("¦a=¦b=¦err=¦ok=¦[1]=¦[2]=¦[3]=¦[7]=¦[12]=¦[40]=¦[1.5]=¦[0]=¦[true]=¦[\"x y\"]=");
        prop::collection::vec((key, inner), 0..5)
            // The server itself ends up in trouble with {err=TABLE}; it is not what we compare.
            .prop_filter("an error is a text", |items| {
                !items.iter().any(|(key, value)| {
                    (*key == "err=" || *key == "ok=") && value.starts_with(['{', 'f', 'n', 't', 'c'])
                })
            })
            .prop_map(|items| {
                let items: Vec<String> = items.iter().map(|(key, value)| format!("{key}{value}")).collect();
                format!("{{{}}}", items.join(", "))
            })
    })
    .boxed()
}

pub fn script() -> impl Strategy<Value = String> {
    prop::collection::vec(statement(), 1..8)
        .prop_map(|statements| format!("local r = {{}}\n{}\nreturn r", statements.join("\n")))
}

/// Scripts about one value: what it is as an answer, and as JSON.
pub fn about_a_value() -> impl Strategy<Value = String> {
    prop_oneof![
        expression().prop_map(|value| format!("return {value}")),
        expression().prop_map(|value| format!("local ok, text = pcall(cjson.encode, {value}) return text")),
        expression().prop_map(|value| format!("return cjson.encode({value})")),
    ]
}

/// Texts that are JSON, or nearly.
pub fn json() -> BoxedStrategy<Vec<u8>> {
    let leaf = one_of(
        "null¦true¦false¦0¦-1¦1.5¦1e3¦-0¦1E-2¦123456789012345678¦\"\"¦\"a\"¦\"\\u00e9\\n\"¦\"\\ud83d\\ude00\"¦\
         \"\\ud83d\"¦\"\\u0000x\"¦\"\\/\\b\\f\\r\\t\\\\\\\"\"¦\"\\x\"¦\"open¦012¦0x1F¦1.¦.5¦-¦+1¦NaN¦inf¦-Infinity¦\
         nan¦nulL¦tru¦[¦]¦{¦}¦{}¦[]¦,¦:¦{1:2}¦[1,]¦{\"a\":1,}¦\"\\uZZZZ\"¦1e¦\u{1}",
    )
    .prop_map(|text| text.as_bytes().to_vec())
    .boxed();
    let tree = leaf.prop_recursive(4, 24, 4, |inner| {
        let space = select(&["", "", " ", "\n\t"][..]);
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..4), space.clone()).prop_map(|(items, space)| {
                let mut text = format!("[{space}").into_bytes();
                text.extend(items.join(&b","[..]));
                text.extend(format!("{space}]").bytes());
                text
            }),
            (prop::collection::vec(("[a-d]|1|10", inner), 0..4), space).prop_map(|(items, space)| {
                let members: Vec<Vec<u8>> = items
                    .into_iter()
                    .map(|(name, value)| [format!("\"{name}\"{space}:").into_bytes(), value].concat())
                    .collect();
                [b"{".to_vec(), members.join(&b","[..]), b"}".to_vec()].concat()
            }),
        ]
    });
    (
        tree,
        prop::option::weighted(0.2, (any::<prop::sample::Index>(), any::<u8>())),
    )
        .prop_map(|(mut text, change)| {
            if let (Some((at, byte)), false) = (change, text.is_empty()) {
                let at = at.index(text.len());
                text[at] = byte;
            }
            text
        })
        .boxed()
}
