//! Patterns and `.intentignore` against git's answers: `git check-ignore --no-index`.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use coord_scopes::{IntentIgnore, Scope};
use fastrand::Rng;

const FOLDERS: usize = 1500;
const PATHS: usize = 30;

type Outcome = Result<(), Box<dyn Error>>;

/// Pieces of names. A pattern is a row of such pieces, so that it often meets a path made of the same ones.
const PIECES: [&str; 12] = ["a", "b", "c", "ab", ".", "-", "é", " x", "A", "#", "`", "|"];
const WILDCARDS: [&str; 6] = ["*", "*", "?", "**", "***", "\\*"];
const SETS: [&str; 11] = [
    "[ab]",
    "[!a]",
    "[^b]",
    "[a-c]",
    "[]-]",
    "[c-a]",
    "[[a]",
    "[a-]",
    "[\\]]",
    "[!a-b]",
    "[[...a-b]]",
];

#[test]
fn random_patterns_match_what_git_matches() -> Outcome {
    let mut matched = 0;
    let parsed = compare(14, &[], |text, path, covered, by_git| {
        assert_eq!(covered, by_git, "pattern {text:?}, path {path:?}");
        matched += usize::from(by_git);
    })?;
    assert!(parsed > FOLDERS / 2, "only {parsed} patterns were parsed");
    assert!(matched > FOLDERS, "only {matched} paths matched");
    Ok(())
}

#[test]
fn brackets_match_what_git_matches_and_themselves() -> Outcome {
    let (mut by_git_too, mut literally) = (0, 0);
    compare(15, &SETS, |text, path, covered, by_git| match (covered, by_git) {
        (true, false) => {
            assert!(path.contains('['), "pattern {text:?}, path {path:?}");
            literally += 1;
        }
        (covered, by_git) => {
            assert_eq!(covered, by_git, "pattern {text:?}, path {path:?}");
            by_git_too += usize::from(by_git);
        }
    })?;
    assert!(by_git_too > 500 && literally > 50, "{by_git_too} and {literally}");
    Ok(())
}

/// Calls `check` with a random pattern, a path, and whether the scope covers it and git ignores it. Returns the number of
/// patterns that are scopes.
fn compare(seed: u64, sets: &[&str], mut check: impl FnMut(&str, &str, bool, bool)) -> Result<usize, Box<dyn Error>> {
    let mut random = Rng::with_seed(seed);
    let patterns: Vec<String> = (0..FOLDERS).map(|_| pattern(&mut random, &WILDCARDS, sets)).collect();
    let cases = cases(&mut random, &patterns);
    let files: Vec<String> = patterns.iter().map(|pattern| format!("/{pattern}\n")).collect();
    let ignored = check_ignore(&files, &cases)?;
    let mut parsed = 0;
    for (index, text) in patterns.iter().enumerate() {
        let Ok(scope) = Scope::parse([text]) else { continue };
        parsed += 1;
        for path in &cases[index] {
            let by_git = ignored.contains(&(index, path.clone()));
            check(text, path, scope.covers(path), by_git);
        }
    }
    Ok(parsed)
}

#[test]
fn an_intentignore_ignores_what_git_ignores() -> Outcome {
    let mut random = Rng::with_seed(16);
    let sets: Vec<&str> = SETS
        .iter()
        .copied()
        .chain(["[[:alpha:]]", "[![:digit:]]", "[a[:space:]]", "[a", "[[:no:]]", "[a/b]"])
        .collect();
    let wildcards: Vec<&str> = WILDCARDS.iter().copied().chain(["\\", "\\/", "\\a", "\\ "]).collect();
    let mut lines = Vec::new();
    for _ in 0..FOLDERS {
        let row: Vec<String> = (0..random.usize(1..7))
            .map(|_| pattern(&mut random, &wildcards, &sets))
            .collect();
        lines.push(row);
    }
    let joined: Vec<String> = lines
        .iter()
        .map(|lines| random.choice(lines).cloned().unwrap_or_default())
        .collect();
    let cases = cases(&mut random, &joined);
    let mut files = Vec::new();
    for lines in &lines {
        let mut file = if random.u8(..20) == 0 {
            "\u{feff}".to_owned()
        } else {
            String::new()
        };
        for line in lines {
            let before = random
                .choice(["", "", "", "/", "!", "!/", "#", "\\!", "**/"])
                .unwrap_or_default();
            let after = random
                .choice(["\n", "\n", "/\n", "\r\n", " \n", "/**\n", "\n\n"])
                .unwrap_or_default();
            file.push_str(&format!("{before}{line}{after}"));
        }
        files.push(file);
    }
    let ignored = check_ignore(&files, &cases)?;
    let mut matched = 0;
    for (index, file) in files.iter().enumerate() {
        let ignore = IntentIgnore::parse(file.as_bytes());
        for path in &cases[index] {
            let by_git = ignored.contains(&(index, path.clone()));
            assert_eq!(ignore.find(path).is_some(), by_git, "file {file:?}, path {path:?}");
            matched += usize::from(by_git);
        }
    }
    assert!(matched > FOLDERS, "only {matched} paths were ignored");
    Ok(())
}

fn pattern(random: &mut Rng, wildcards: &[&str], sets: &[&str]) -> String {
    let mut segments = Vec::new();
    for _ in 0..random.usize(1..5) {
        let mut segment = String::new();
        if random.u8(..5) == 0 {
            segment.push_str("**");
        } else {
            for _ in 0..random.usize(1..4) {
                let from = match random.u8(..10) {
                    0..5 => PIECES.as_slice(),
                    5..8 if !sets.is_empty() => sets,
                    _ => wildcards,
                };
                segment.push_str(random.choice(from).unwrap_or(&"a"));
            }
        }
        segments.push(segment);
    }
    let end = if random.u8(..5) == 0 { "/" } else { "" };
    segments.join("/") + end
}

/// Paths for each pattern: its own text with its wildcards replaced, changed a little, and random ones.
fn cases(random: &mut Rng, patterns: &[String]) -> Vec<Vec<String>> {
    let paths = |pattern: &String, random: &mut Rng| {
        let paths: BTreeSet<String> = (0..PATHS).map(|_| path(random, pattern)).collect();
        paths.into_iter().filter(|path| is_valid(path)).collect()
    };
    patterns.iter().map(|pattern| paths(pattern, random)).collect()
}

fn path(random: &mut Rng, pattern: &str) -> String {
    let mut path = String::new();
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        let length = match character {
            '*' => {
                for _ in 0..random.usize(0..3) {
                    path.push_str(random.choice(["a", "b", "/", "c/", "/ab/", "."]).unwrap_or_default());
                }
                1
            }
            '?' => {
                path.push_str(random.choice(["a", "b", ".", "é"]).unwrap_or_default());
                1
            }
            '\\' => 1,
            '[' if random.bool() => {
                path.push_str(random.choice(["a", "b", "c", "[", "]", "-", "1"]).unwrap_or_default());
                rest.find(']').map_or(1, |end| end + 1)
            }
            _ if random.u8(..25) == 0 => {
                path.push_str(random.choice(PIECES).unwrap_or_default());
                character.len_utf8()
            }
            _ => {
                path.push(character);
                character.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    if random.u8(..4) == 0 {
        path.push_str(random.choice(["/a", "/b/c", "a", "/a b"]).unwrap_or_default());
    }
    path.trim_end_matches('/').to_owned()
}

fn is_valid(path: &str) -> bool {
    path.split('/').all(|segment| !["", ".", ".."].contains(&segment))
}

/// Which cases git ignores, when the folder of each has its own `.gitignore`.
fn check_ignore(files: &[String], cases: &[Vec<String>]) -> Result<BTreeSet<(usize, String)>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    git(folder.path(), &["init", "--quiet"], String::new())?;
    for (index, file) in files.iter().enumerate() {
        fs::create_dir(folder.path().join(index.to_string()))?;
        fs::write(folder.path().join(format!("{index}/.gitignore")), file)?;
    }
    let mut input = String::new();
    for (index, paths) in cases.iter().enumerate() {
        paths
            .iter()
            .for_each(|path| input.push_str(&format!("{index}/{path}\0")));
    }
    let output = git(folder.path(), &["check-ignore", "--no-index", "-z", "--stdin"], input)?;
    let mut ignored = BTreeSet::new();
    for line in output.split_terminator('\0') {
        let (index, path) = line.split_once('/').ok_or("a path without its folder")?;
        ignored.insert((index.parse()?, path.to_owned()));
    }
    Ok(ignored)
}

fn git(folder: &Path, arguments: &[&str], input: String) -> Result<String, Box<dyn Error>> {
    let mut child = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| "the writer panicked")??;
    Ok(String::from_utf8(output.stdout)?)
}
