//! The same searches by Lua's own library and by ours.

use crate::allowance::Left;
use crate::disk::Disk;
use crate::keyspace::Keyspace;
use crate::layers::Layers;
use crate::lua::{Interpreter, Origin, ScriptEnd};
use redb::backends::InMemoryBackend;

const ALL_FUNCTIONS: &str = r#"
    local s, p = ARGV[1], ARGV[2]
    local function try(f, ...)
        local list = { pcall(f, ...) }
        if not list[1] then return 'an error' end
        for index = 1, #list do list[index] = tostring(list[index]) end
        return list
    end
    local function each()
        local words = {}
        for one, two in s:gmatch(p) do words[#words + 1] = tostring(one) .. '/' .. tostring(two) end
        return table.concat(words, ' ')
    end
    return {
        try(string.find, s, p), try(string.find, s, p, -3), try(string.find, s, p, 2, true), try(string.match, s, p, 2),
        try(each), try(string.gsub, s, p, '<%0%1>'), try(string.gsub, s, p, '%%', 2),
        try(string.gsub, s, p, { a = 'A', b = false }), try(string.gsub, s, p, function(x) return x == 'a' and 7 or nil end),
    }"#;

#[test]
fn the_functions_of_guests_are_those_of_lua() {
    let disk = Disk::over(InMemoryBackend::new()).unwrap();
    let keyspace = Keyspace::new(Layers::new(disk.snapshot().unwrap()), std::sync::Arc::default());
    let mut interpreter = Interpreter::new(std::sync::Arc::new(parking_lot::Mutex::new(keyspace)), None).unwrap();
    for origin in [Origin::Own, Origin::Guest] {
        interpreter.load(origin, "all", ALL_FUNCTIONS.as_bytes()).unwrap();
    }
    let mut random = fastrand::Rng::with_seed(7);
    let pieces: Vec<&str> =
        "a b a . .- .* %w %d %s %1 %b() %f[%w] [ab] [^a] [a-c] [%d_] [ ] ( ) () ^ $ * + - ? % %a+ (.) (a*)"
            .split(' ')
            .collect();
    let mut matched = 0;
    for _ in 0..4000 {
        let subject: String = (0..random.usize(..8))
            .map(|_| char::from(*random.choice(b"aab1 ()]-_\n").unwrap()))
            .collect();
        let pattern: String = (0..random.usize(..5))
            .map(|_| *random.choice(&pieces).unwrap())
            .collect();
        // Lua detects an unclosed capture when it reads it; we detect it at once.
        if pattern.matches('(').count() != pattern.matches(')').count() {
            continue;
        }
        let arguments = [subject.as_bytes(), pattern.as_bytes()];
        let run = |origin| match interpreter.run(
            origin,
            "all",
            Left::after(0),
            std::iter::empty(),
            arguments.iter().copied(),
        ) {
            ScriptEnd::Well(reply) => format!("{reply:?}"),
            ScriptEnd::Raised(text) => text,
            ScriptEnd::Storage(text) => panic!("{text}"),
        };
        let (own, guest) = (run(Origin::Own), run(Origin::Guest));
        matched += usize::from(own.contains("116, 114, 117, 101"));
        assert_eq!(own, guest, "{subject:?} {pattern:?}");
    }
    assert!(matched > 1000, "{matched} patterns matched something");
}
