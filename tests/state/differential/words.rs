//! Random commands, right and wrong ones.

use proptest::prelude::*;
use proptest::sample::select;

/// A command: its words.
pub type Words = Vec<Vec<u8>>;

/// Commands to be filled in. In capitals of one letter: K key, F field or member, V value, I integer, T time, N score, R end of a
/// range of scores, S stream id, X end of a range of ids, P pattern, C how many, M member beside others, L end of a range of members.
/// All scores under `l` are the same: otherwise Redis leaves open what ZRANGEBYLEX answers.
const TEMPLATES: &str = "\
    PING; PING V; EXISTS K K; DEL K; DEL K K; UNLINK K; TYPE K; RENAME K K; \
    EXPIRE K 5000; EXPIRE K 6000 NX; EXPIRE K 7000 GT; EXPIRE K 4000 LT; EXPIRE K 8000 XX; EXPIRE K -1; EXPIRE K T; \
    PEXPIRE K 5000000; TTL K; PTTL K; PERSIST K; KEYS P; \
    GET K; SET K V; SET K I; SET K V NX; SET K V XX; SET K V GET; SET K V NX GET; SET K V EX 5000; SET K V PX T; \
    SET K V EXAT T; SET K V PXAT T; SET K V KEEPTTL; SET K V EX T NX; SET K V XX NX; SET K V BAD; \
    INCR K; SETRANGE K C V; SETRANGE K I V; STRLEN K; MGET K K K; \
    HGET K F; HSET K F V; HSET K F I; HSET K F V F V; HSET K F V F; HMGET K F F F; HGETALL K; \
    HDEL K F; HDEL K F F; HEXISTS K F; HKEYS K; HLEN K; HINCRBY K F I; \
    ZADD K N F; ZADD K N F N F; ZADD K NX N F; ZADD K XX N F; ZADD K GT N F; ZADD K LT CH N F; ZADD K CH N F N F; \
    ZADD K INCR N F; ZADD K XX INCR N F; ZADD K NX XX N F; ZADD K GT LT N F; ZADD K NX GT N F; ZADD K INCR N F N F; \
    ZADD K N; ZREM K F F; ZSCORE K F; ZCARD K; \
    ZRANGE K I I; ZRANGE K 0 -1 WITHSCORES; ZRANGE K C C REV WITHSCORES; ZRANGE K R R BYSCORE; \
    ZRANGE K R R BYSCORE WITHSCORES LIMIT C C; ZRANGE K R R BYSCORE REV LIMIT C C; ZRANGE K C C LIMIT 0 1; \
    ZRANGE K C C LIMIT C C; ZRANGE K R R BYSCORE BYSCORE; ZRANGE K C C REV REV; \
    ZADD l 0 F 0 M; ZADD l 0 M 0 M 0 M; ZREM l M F; SET l V; DEL l; \
    ZRANGEBYLEX l L L; ZLEXCOUNT l L L; ZLEXCOUNT l L L L; ZRANGEBYLEX l L L LIMIT C C; \
    ZRANGEBYLEX l L L WITHSCORES; ZRANGEBYLEX l L L REV; ZRANGE l L L BYLEX; ZRANGE l L L BYLEX REV LIMIT C C; \
    ZRANGE l L L BYLEX WITHSCORES; ZRANGE l L L BYLEX BYSCORE; \
    ZRANGEBYSCORE K R R; ZRANGEBYSCORE K R R WITHSCORES LIMIT C C; \
    XADD K S F V; XADD K S F V F V; XADD K S F; XADD K NOMKSTREAM S F V; XADD K MAXLEN C S F V; \
    XADD K MAXLEN = C S F V; XADD K MINID S S F V; XADD K MAXLEN = C LIMIT C S F V; \
    XDEL K S; XDEL K S S; XLEN K; XRANGE K - +; XRANGE K X X; XRANGE K X X COUNT C; \
    XREVRANGE K + -; XREVRANGE K X X COUNT C; \
    XREAD STREAMS K S; XREAD COUNT C STREAMS K K S S; XREAD COUNT C STREAMS K K S; \
    XTRIM K MAXLEN C; XTRIM K MINID = S; XTRIM K BAD C; PUBLISH K V; NOSUCH K V";

/// Commands whose answer has no order. In a script they are sorted there.
pub const UNORDERED: &[&str] = &["HGETALL", "HKEYS", "KEYS"];

/// Not for scripts: other errors there, by design of Redis; and what passes from one millisecond to the next.
const NOT_IN_SCRIPTS: &[&str] = &["PTTL", "PUBLISH"];

/// One of the texts that `¦` separates.
pub fn one_of(texts: &'static str) -> impl Strategy<Value = &'static str> {
    select(texts.split('¦').collect::<Vec<_>>())
}

fn word(letter: &str) -> BoxedStrategy<Vec<u8>> {
    let of = |words: &'static [&'static [u8]]| select(words).prop_map(<[u8]>::to_vec).boxed();
    let text = |words| one_of(words).prop_map(|word| word.as_bytes().to_vec()).boxed();
    match letter {
        "K" => of(&[b"a", b"b", b"c", b"dd", b"e:{x}"]),
        "F" => of(&[b"f", b"g", b"h", b"", b"i\xff\x00j"]),
        "V" => of(&[
            b"",
            b"v",
            b"10",
            b"-3",
            b"3.5",
            b"x\x00\xffy",
            b"9223372036854775807",
            b" 1",
            b"007",
            b"1e5",
        ]),
        "I" => text("0¦1¦-1¦2¦100¦-100¦9223372036854775807¦-9223372036854775808¦x¦1.5¦¦01¦9223372036854775808"),
        // Nothing that ends while the test runs.
        "T" => text("5000000¦0¦-1¦x¦¦9223372036854775807¦-9223372036854775808¦9223372036854775"),
        "N" => of(&[
            b"1", b"2", b"3", b"-1.5", b"0", b"-0", b"0.1", b"inf", b"-inf", b"1e300", b"0x10", b"nan", b"x", b"+5",
            b"",
        ]),
        "R" => of(&[
            b"-inf", b"+inf", b"0", b"1", b"(1", b"2", b"(2", b"-1.5", b"0.1", b"(inf", b"(-inf", b"x", b"(", b"nan",
        ]),
        "S" => text("0-0¦0-1¦1-1¦1-2¦1-*¦2¦2-5¦3-*¦7-0¦9-1¦x¦1-x¦-1¦18446744073709551615-18446744073709551615"),
        "X" => of(&[b"-", b"+", b"0", b"1", b"1-1", b"(1-1", b"2", b"(2", b"7-0", b"x", b"("]),
        "P" => of(&[b"*", b"a", b"?", b"[a-c]", b"e:*", b"d\\d", b"[^a]", b""]),
        "M" => of(&[b"a", b"ab", b"abc", b"b", b"b\xff", b"c", b"+", b"-", b"["]),
        "L" => of(&[
            b"-", b"+", b"[a", b"(a", b"[ab", b"(ab", b"[b", b"(b\xff", b"[c", b"[", b"(", b"(z", b"x", b"", b"++",
            b"[+",
        ]),
        "C" => of(&[b"0", b"1", b"2", b"-1", b"-2", b"5", b"x"]),
        literal => Just(literal.as_bytes().to_vec()).boxed(),
    }
}

/// A template, filled in.
fn filled() -> BoxedStrategy<Words> {
    let templates: Vec<&str> = TEMPLATES.split("; ").collect();
    let fill = |template: &str| template.split(' ').map(word).collect::<Vec<_>>();
    select(templates).prop_flat_map(fill).boxed()
}

/// One command.
pub fn command() -> BoxedStrategy<Words> {
    let wrong = (filled(), any::<bool>()).prop_map(|(mut words, is_longer)| {
        if is_longer {
            words.push(b"more".to_vec());
        } else if words.len() > 1 {
            words.pop();
        }
        words
    });
    prop_oneof![12 => filled(), 1 => wrong].boxed()
}

/// One command that a script may give, whose answer has an order.
pub fn command_in_script() -> BoxedStrategy<Words> {
    command()
        .prop_filter("not for scripts", |words| {
            let name = String::from_utf8_lossy(&words[0]).into_owned();
            !NOT_IN_SCRIPTS.contains(&&*name) && !UNORDERED.contains(&&*name)
        })
        .boxed()
}
