//! The cost of hostile patterns and paths, counted in steps.

use super::common_name;
use super::segment::{Segment, Token};
use super::{IntentIgnore, MAX_PATTERN_BYTES, MAX_PATTERNS, Scope, StepBudget};

/// The longest path of a claim.
const PATH_BYTES: usize = 1024;

fn hostile_patterns() -> Vec<String> {
    let filled = |piece: &str, end: &str| piece.repeat((MAX_PATTERN_BYTES - end.len()) / piece.len()) + end;
    vec![
        filled("*a", "*b"),
        filled("*", "b"),
        filled("a*", "b"),
        filled("?*", "b"),
        filled("*?", "b"),
        filled("[!b]*", "b"),
        filled("*[ab]", "*c"),
        format!("*{}b", "a".repeat(500)),
        filled("**/", "b"),
        filled("**/a/", "b"),
        filled("**/*/", "b"),
        filled("**/*a*/", "b"),
        filled("*/**/", "b"),
        filled("a**/", "b"),
        filled("[", "b"),
        filled("[a", "b"),
        filled("a/", "b"),
    ]
}

fn hostile_paths() -> Vec<String> {
    let filled = |piece: &str| piece.repeat(PATH_BYTES / piece.len());
    vec![
        filled("a"),
        filled("a/") + "a",
        filled("aa/") + "a",
        filled("aaaaaaa/") + "a",
        format!("{}/{}", "a".repeat(500), filled("a/") + "c"),
        filled("[") + "/",
    ]
}

#[test]
fn no_pattern_takes_more_steps_than_the_product_of_the_lengths() {
    for pattern in hostile_patterns() {
        for path in hostile_paths() {
            let Ok(scope) = Scope::parse([&pattern]) else {
                continue;
            };
            let mut walk = scope.walk();
            walk.find(path.as_bytes());
            let rows = scope.rules.len();
            let most = (2 * rows * pattern.len() * path.len()) as u64;
            assert!(walk.steps <= most, "{} steps for {pattern:?} and {path:?}", walk.steps);
        }
    }
}

#[test]
fn steps_grow_with_the_path_and_not_faster() {
    for pattern in hostile_patterns() {
        let Ok(scope) = Scope::parse([&pattern]) else {
            continue;
        };
        for piece in ["a", "a/", "aa/"] {
            let steps = |length: usize| {
                let mut walk = scope.walk();
                walk.find((piece.repeat(length) + "a").as_bytes());
                walk.steps
            };
            // Past the length of the pattern, twice the path takes twice the steps.
            let (once, twice) = (steps(2048) as f64, steps(4096) as f64);
            assert!(
                twice <= 2.2 * once + 10_000.0,
                "{once} and {twice} for {pattern:?} and {piece:?}"
            );
        }
    }
}

#[test]
fn no_ignore_file_takes_more_steps_than_the_product_of_the_lengths() {
    let lines = hostile_patterns().join("\n") + "\n";
    let mut files = vec![lines.repeat(IntentIgnore::MAX_BYTES / lines.len())];
    files.extend(
        ["[", "a**/", "[[:", "*a", "**/a/", "?*"].map(|piece| piece.repeat(IntentIgnore::MAX_BYTES / piece.len())),
    );
    for file in files {
        let ignore = IntentIgnore::parse(file.as_bytes());
        let mut walk = ignore.walk();
        for path in ["a".repeat(PATH_BYTES), "a/".repeat(PATH_BYTES / 2) + "a"] {
            let before = walk.steps();
            walk.find(path.as_bytes());
            let most = (8 * file.len() * path.len()) as u64;
            assert!(walk.steps() - before <= most, "{} steps", walk.steps() - before);
        }
    }
}

#[test]
fn two_segments_are_compared_in_the_product_of_their_lengths() {
    let segment = |end: u8| {
        let tokens = [Token::Star, Token::Byte(b'a')].repeat(250);
        Segment::new(
            [tokens, vec![Token::Star, Token::Byte(end), Token::Star]].concat(),
            None,
        )
    };
    let mut steps = 0;
    assert!(common_name::find(&segment(b'b'), &segment(b'c'), &mut steps).is_some());
    assert!(steps <= 512 * 512, "{steps}");
}

#[test]
fn hostile_scopes_are_compared_within_the_limit() {
    // Each position of the one pattern nearly matches the other pattern, so that all positions are tried.
    let scope = |pattern: String| Scope::parse(vec![pattern; MAX_PATTERNS]);
    let one = scope(format!("*{}b*", "a".repeat(250)));
    let other = scope(format!("{}[ac]", "a".repeat(500)));
    let (Ok(one), Ok(other)) = (one, other) else {
        panic!("both are scopes");
    };
    let mut steps = StepBudget::new();
    let sentence = one.overlap(&other, &mut steps).map(|overlap| overlap.to_string());
    assert!(steps.taken <= StepBudget::MAX_STEPS + (2 * MAX_PATTERN_BYTES * MAX_PATTERN_BYTES) as u64);
    assert!(sentence.is_some_and(|sentence| sentence.contains("count as overlapping")));
}

#[test]
fn rules_and_paths_of_any_bytes_do_not_panic() {
    let mut random = fastrand::Rng::with_seed(3);
    let alphabet = b"a/*?[]\\!-:{},. \n\r\0\xc3\xa9\xff^~#";
    for _ in 0..20_000 {
        let mut bytes = |most: usize| -> Vec<u8> {
            let length = random.usize(0..most);
            (0..length).map(|_| alphabet[random.usize(..alphabet.len())]).collect()
        };
        let (pattern, file, path) = (bytes(20), bytes(40), bytes(20));
        IntentIgnore::parse(&file).find(&path);
        if let Ok(scope) = Scope::parse([String::from_utf8_lossy(&pattern)]) {
            scope.covers(&path);
            scope.overlap(&scope, &mut StepBudget::new());
        }
        super::reserved_part(&path);
    }
}
