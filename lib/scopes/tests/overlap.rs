//! Whether two scopes meet: tables, and random patterns against every short path.

use coord_scopes::{Scope, StepBudget};
use fastrand::Rng;

fn scope(pattern: &str) -> Scope {
    match Scope::parse([pattern]) {
        Ok(scope) => scope,
        Err(refusal) => panic!("{pattern:?}: {refusal}"),
    }
}

fn example(one: &str, other: &str) -> Option<String> {
    let overlap = scope(one).overlap(&scope(other), &mut StepBudget::new())?;
    assert_eq!((overlap.pattern.as_str(), overlap.other.as_str()), (one, other));
    assert!(overlap.example.is_some(), "{one:?} and {other:?} are not decided");
    overlap.example
}

// rule: intents#overlap
#[test]
fn scopes_that_meet_name_a_path() {
    let cases = [
        ("src/db/**", "src/**/*.ts"),
        ("src", "src/a/b/c.rs"),
        ("src/", "src"),
        ("src/**", "**/test"),
        ("a*b", "*ab"),
        ("a*b", "[a]?c*b"),
        ("app/[slug]/**", "app/[slug]/page.tsx"),
        ("app/[slug]/**", "app/s/*"),
        ("app/[slug]/page.tsx", "app/*/page.tsx"),
        ("*.ts", "a.*"),
        ("src/*.test.ts", "src/a*"),
        ("docs.v2/**", "docs.v2/a.md"),
        ("v1.2", "v1.2/a.md"),
        ("src/**/x/**", "src/y/**/x/z"),
        ("größe/*", "gr*/?"),
        ("src/**/*.ts", "src/a.ts"),
    ];
    for (one, other) in cases {
        for (one, other) in [(one, other), (other, one)] {
            let Some(path) = example(one, other) else {
                panic!("{one:?} and {other:?} meet");
            };
            assert!(
                scope(one).covers(&path) && scope(other).covers(&path),
                "{one:?}, {other:?}: {path:?}"
            );
        }
    }
}

#[test]
fn scopes_that_do_not_meet() {
    let cases = [
        ("src/**", "lib/**"),
        ("src", "src2"),
        ("src/a", "src/ab"),
        ("src/*.rs", "src/*.ts"),
        ("a*b", "a*c.d"),
        ("src/*", "lib/*/x"),
        ("src/[ab]x", "src/[cd]x"),
        ("app/[slug]/page.tsx", "app/[id]/page.tsx"),
        ("main.py", "x/main.py"),
        // Only below a folder named like a file.
        ("src/**/*.ts", "src/**/*.rs"),
        ("*.ts", "a.ts/b.rs"),
        ("src/*.tsx", "src/**/*.css"),
        // No name is of nothing but dots.
        ("a/[.]", "a/?"),
    ];
    for (one, other) in cases {
        // `[.]` is a name too, which `?` does not match.
        assert_eq!(example(one, other), None, "{one:?} and {other:?}");
        assert_eq!(example(other, one), None, "{other:?} and {one:?}");
    }
}

#[test]
fn the_sentence_names_both_patterns_and_the_path() {
    let overlap = scope("src/db/**").overlap(&scope("src/{api,db}/pool.ts"), &mut StepBudget::new());
    let sentence = overlap.map(|overlap| overlap.to_string());
    assert_eq!(
        sentence.as_deref(),
        Some(r#""src/db/**" and "src/db/pool.ts" both cover "src/db/pool.ts""#)
    );
}

#[test]
fn random_patterns_meet_if_and_only_if_a_path_is_in_both() {
    let mut random = Rng::with_seed(5);
    let paths = paths();
    let patterns: Vec<(String, Vec<bool>)> = (0..150)
        .map(|_| {
            let pattern = pattern(&mut random);
            let covered = paths.iter().map(|path| meant(&pattern, path)).collect();
            (pattern, covered)
        })
        .collect();
    let (mut meeting, mut apart) = (0, 0);
    for (one, in_one) in &patterns {
        for (other, in_other) in &patterns {
            let sampled = in_one.iter().zip(in_other).position(|(one, other)| *one && *other);
            match (example(one, other), sampled) {
                (Some(path), _) => {
                    meeting += 1;
                    assert!(
                        scope(one).covers(&path) && scope(other).covers(&path),
                        "{one:?}, {other:?}: {path:?}"
                    );
                    let segments: Vec<&str> = path.split('/').collect();
                    assert!(
                        meant(one, &segments) && meant(other, &segments),
                        "{one:?}, {other:?}: {path:?}"
                    );
                }
                (None, Some(index)) => panic!("{one:?} and {other:?} meet in {:?}", paths[index]),
                (None, None) => apart += 1,
            }
        }
    }
    assert!(meeting > 500 && apart > 500, "{meeting} and {apart}");
}

/// Three segments at most, of names of three bytes at most.
fn paths() -> Vec<Vec<&'static str>> {
    let names = ["a", "b", "aa", "ab", "ba", "a.b", "aab", "bab", "b.a"];
    let mut paths: Vec<Vec<&str>> = vec![Vec::new()];
    let mut first = 0;
    for _ in 0..3 {
        let last = paths.len();
        for index in first..last {
            paths.extend(names.map(|name| paths[index].iter().copied().chain([name]).collect()));
        }
        first = last;
    }
    paths.remove(0);
    paths
}

fn pattern(random: &mut Rng) -> String {
    let mut segments: Vec<String> = Vec::new();
    for _ in 0..random.usize(1..4) {
        let deep = random.u8(..5) == 0;
        let pieces = ["a", "a", "b", "b", "*", "?", "[ab]", ".b"];
        let mut segment: String = (0..random.usize(1..4))
            .map(|_| pieces[random.usize(..pieces.len())])
            .collect();
        while segment.contains("**") {
            segment = segment.replace("**", "*");
        }
        segments.push(if deep { "**".to_owned() } else { segment });
    }
    let end = if random.u8(..5) == 0 { "/" } else { "" };
    segments.join("/") + end
}

/// The paths that a pattern covers for overlaps, decided by trying everything.
fn meant(pattern: &str, path: &[&str]) -> bool {
    let text = pattern.strip_suffix('/').unwrap_or(pattern);
    let segments: Vec<&str> = text.split('/').collect();
    let last = segments.last().copied().unwrap_or_default();
    let has_extension = last.find('.').is_some_and(|dot| dot > 0);
    let is_folder = pattern.ends_with('/');
    (1..=path.len()).any(|length| {
        let allowed = match length == path.len() {
            true => !is_folder,
            false => is_folder || !has_extension,
        };
        allowed && row(&segments, &path[..length])
    })
}

fn row(pattern: &[&str], path: &[&str]) -> bool {
    match pattern {
        [] => path.is_empty(),
        ["**"] => !path.is_empty(),
        ["**", rest @ ..] => (0..=path.len()).any(|skipped| row(rest, &path[skipped..])),
        [segment, rest @ ..] => {
            let (name, left) = match path {
                [name, left @ ..] => (name, left),
                [] => return false,
            };
            (segment == name || glob(segment, name)) && row(rest, left)
        }
    }
}

fn glob(pattern: &str, name: &str) -> bool {
    if let Some(rest) = pattern.strip_prefix('*') {
        return (0..=name.len()).any(|skipped| glob(rest, &name[skipped..]));
    }
    if let Some(rest) = pattern.strip_prefix("[ab]") {
        return name.starts_with(['a', 'b']) && glob(rest, &name[1..]);
    }
    match (pattern.as_bytes(), name.as_bytes()) {
        ([], []) => true,
        ([one, ..], [other, ..]) if *one == b'?' || one == other => glob(&pattern[1..], &name[1..]),
        _ => false,
    }
}
