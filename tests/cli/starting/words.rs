//! Words that may not come back: in comments and sentences of the code, in the documents, and in names.
//!
//! Texts of tests and benches are samples, and are not read.
//!
//! Prose says who does what with the verbs of the field: acquire, release, expire, refuse, notify (`ARCHITECTURE.md`, Words).

use std::fs;
use std::path::{Path, PathBuf};

use crate::starting::references::{ROOT, prose_and_pictures};
use crate::starting::rules::files_below;

/// Phrases that no prose has, in lower case, each with the better word.
const PHRASES: [(&str, &str); 24] = [
    ("all the same", "anyway, still"),
    ("another's", "someone else's"),
    ("by somebody", "by someone else"),
    ("gave back", "released"),
    ("give back", "release"),
    ("given back", "released"),
    ("gives back", "releases"),
    ("heard of", "last activity"),
    ("in the way", "blocks"),
    ("lapse", "expire"),
    ("lapsed", "expired"),
    ("lapses", "expires"),
    ("let in", "allowed"),
    ("lets in", "allows"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("mends", "fixes"),
    ("of its own", "its own, a separate"),
    ("of their own", "their own, separate"),
    ("somebody", "someone, an agent"),
    ("take away", "remove, force-release"),
    ("taken away", "removed, force-released"),
    ("takes away", "removes"),
    ("to its word", "keeps its promise"),
];

/// Words that follow `of its own` behind its noun.
const AFTER_OWN: [&str; 12] = [
    "and", "as", "at", "by", "for", "from", "in", "on", "or", "that", "which", "with",
];

/// Words with which no sentence of a comment begins, unless it is a question: "Who waits ..." is "A caller that waits ...".
const BEGINNINGS: [&str; 5] = ["What", "Whatever", "Who", "Whoever", "Whose"];

/// Names that say nothing of what they are.
const NAMES: [&str; 14] = [
    "Asked",
    "Found",
    "Heard",
    "Judged",
    "Kept",
    "Place",
    "Said",
    "Seen",
    "Sent",
    "Told",
    "Wanted",
    "What",
    "Whose",
    "WithFiles",
];

/// Words that no name has, not even one of a test.
const WORDS_OF_NAMES: [&str; 6] = ["heard", "lapsed", "mend", "said", "somebody", "told"];

/// Words that only names of tests have, which are sentences.
const WORDS_OF_SENTENCES: [&str; 2] = ["nobody", "whose"];

/// How a language writes comments and texts.
pub(super) struct Syntax {
    comment: &'static str,
    /// The beginnings of other lines of comments.
    comment_lines: &'static [&'static str],
    quotes: &'static [char],
}

impl Syntax {
    /// That of the file at `path`.
    pub(super) fn of(path: &Path) -> Syntax {
        let none: &[&str] = &[];
        let (comment, comment_lines, quotes): (_, _, &[char]) = match path.extension().and_then(|name| name.to_str()) {
            Some("lua") => ("--", none, &['"', '\'']),
            Some("js") => ("//", &["/**", "* ", "*/"], &['"', '\'', '`']),
            // In Rust, a character stands between apostrophes.
            _ => ("//", none, &['"']),
        };
        Syntax {
            comment,
            comment_lines,
            quotes,
        }
    }
}

/// A part of a source file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Code,
    Comment,
    Text,
}

/// The parts of a source file, each with its line; lines of a comment that follow each other are one part, and so is each line of a text.
pub(super) fn parts(source: &str, syntax: &Syntax) -> Vec<(Part, usize, String)> {
    let Syntax {
        comment,
        comment_lines,
        quotes,
    } = *syntax;
    let mut parts: Vec<(Part, usize, String)> = Vec::new();
    let (mut part, mut hashes, mut quote) = (Part::Code, None, '"');
    for (number, line) in source.lines().enumerate() {
        let trimmed = line.trim_start();
        let is_comment = trimmed.starts_with(comment) || comment_lines.iter().any(|begin| trimmed.starts_with(begin));
        if part == Part::Code && is_comment {
            let text = trimmed.trim_start_matches(['/', '!', '-', '*']).trim();
            match parts.last_mut() {
                Some((Part::Comment, first, before)) if *first + before.matches('\n').count() + 1 == number + 1 => {
                    before.push('\n');
                    before.push_str(text);
                }
                _ => parts.push((Part::Comment, number + 1, text.to_owned())),
            }
            continue;
        }
        let mut piece = String::new();
        let mut letters = line.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            let rest = &line[at..];
            match part {
                Part::Text => {
                    let is_end = match &hashes {
                        Some(end) => rest.starts_with(end),
                        None => letter == quote,
                    };
                    if is_end {
                        let skipped = hashes.take().map_or(0, |end: String| end.len() - 1);
                        letters.by_ref().take(skipped).for_each(drop);
                        parts.push((Part::Text, number + 1, std::mem::take(&mut piece)));
                        part = Part::Code;
                    } else {
                        piece.push(letter);
                        if hashes.is_none() && letter == '\\' {
                            piece.extend(letters.next().map(|(_, escaped)| escaped));
                        }
                    }
                }
                _ if rest.starts_with(comment) => {
                    parts.push((Part::Code, number + 1, std::mem::take(&mut piece)));
                    parts.push((Part::Comment, number + 1, rest[comment.len()..].trim().to_owned()));
                    break;
                }
                _ if comment == "//" && rest.starts_with("'\"'") => drop(letters.nth(1)),
                _ if comment == "//" && rest.starts_with("'\\\"'") => drop(letters.nth(2)),
                _ if quotes.contains(&letter) => {
                    quote = letter;
                    let count = piece.len() - piece.trim_end_matches('#').len();
                    let is_raw = piece.trim_end_matches('#').ends_with('r');
                    hashes = is_raw.then(|| format!("\"{}", "#".repeat(count)));
                    parts.push((Part::Code, number + 1, std::mem::take(&mut piece)));
                    part = Part::Text;
                }
                _ => piece.push(letter),
            }
        }
        if !piece.is_empty() {
            parts.push((part, number + 1, piece));
        }
    }
    parts
}

/// `text` without code in backticks.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join(" ` ")
}

/// `line` of JSDoc without the tag, its type, and the name that it describes.
fn without_tag(line: &str) -> &str {
    if !line.starts_with('@') {
        return line;
    }
    let (_, rest) = line
        .rsplit_once("} ")
        .or_else(|| line.split_once(' '))
        .unwrap_or((line, ""));
    rest.trim_start()
        .split_once(' ')
        .map_or("", |(_, description)| description)
}

/// `line` without the names in its tags: `<a id="NAME">`.
fn without_anchors(line: &str) -> String {
    line.split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, rest)| rest))
        .collect()
}

/// The phrases in `text`, as whole words. Words in capitals are codes, `{names}` are values, and `--words` are flags.
fn phrases(text: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut words = vec![String::new()];
    let (mut is_value, mut last) = (false, ' ');
    let words_without_flags: Vec<&str> = text.split(' ').filter(|word| !word.starts_with("--")).collect();
    for letter in words_without_flags.join(" ").chars() {
        is_value = (is_value && letter != '}') || letter == '{';
        let is_part = !is_value && (letter.is_alphanumeric() || matches!(letter, '_' | '\''));
        let was_part = last.is_alphanumeric() || matches!(last, '_' | '\'');
        if is_part != was_part || !is_part {
            words.push(String::new());
        }
        if !letter.is_whitespace() {
            words.last_mut().expect("a word").push(letter);
        }
        last = if is_value { '{' } else { letter };
    }
    words.retain(|word| !word.is_empty() && word.chars().any(|letter| !letter.is_uppercase()));
    let text = format!(" {} . ", words.join(" ").to_lowercase());
    PHRASES.into_iter().filter(move |(phrase, _)| {
        let phrase = format!(" {phrase} ");
        // `the agents of its own login` is fine; `a server of its own` is not.
        let is_at_end = |at: usize| {
            let next = text[at + phrase.len()..].split(' ').next().unwrap_or_default();
            !phrase.ends_with(" own ") || AFTER_OWN.contains(&next) || !next.starts_with(char::is_alphanumeric)
        };
        text.match_indices(&phrase).any(|(at, _)| is_at_end(at))
    })
}

/// The beginning of a sentence of `comment` that begins with one of [`BEGINNINGS`] and is no question.
fn beginning(comment: &str) -> Option<String> {
    let text = comment.replace('\n', " ");
    text.split_inclusive(['.', '?', '!', ':']).find_map(|sentence| {
        let sentence = sentence.trim();
        let first = sentence.split(|letter: char| !letter.is_alphanumeric()).next()?;
        let is_wrong = BEGINNINGS.contains(&first) && !sentence.ends_with('?');
        is_wrong.then(|| sentence.to_owned())
    })
}

/// The words of a name in snake or camel case, in lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in name.chars() {
        if letter == '_' || letter.is_uppercase() {
            words.push(String::new());
        }
        if letter != '_' {
            words.last_mut().expect("a word").extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The names that a line of code declares and that say nothing of what they are. Those of tests are sentences.
fn names(code: &str, is_of_tests: bool) -> Vec<String> {
    let words: Vec<&str> = code
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let declared = words
        .windows(2)
        .filter(|pair| matches!(pair[0], "enum" | "fn" | "mod" | "struct" | "trait" | "type"));
    declared
        .map(|pair| pair[1])
        .filter(|name| {
            let has = |words: &[&str]| words_of(name).iter().any(|word| words.contains(&word.as_str()));
            has(&WORDS_OF_NAMES) || (!is_of_tests && (NAMES.contains(name) || has(&WORDS_OF_SENTENCES)))
        })
        .map(str::to_owned)
        .collect()
}

/// The number of lines of the file at `path` before its tests, which come last.
pub(super) fn lines_before_tests(path: &Path, source: &str) -> usize {
    if is_of_tests(path) {
        return 0;
    }
    let tests = ["#[cfg(test)]\nmod ", "#[cfg(test)]\npub(super) mod "].map(|begin| source.find(begin));
    let end = tests.into_iter().flatten().min().unwrap_or(source.len());
    source[..end].lines().count()
}

/// Returns the faults of a source file, a line each.
fn wrong_in_source(path: &Path, source: &str) -> Vec<String> {
    let lines_before_tests = lines_before_tests(path, source);
    let mut wrong = Vec::new();
    for (part, line, text) in parts(source, &Syntax::of(path)) {
        let is_of_tests = line > lines_before_tests;
        if part == Part::Text && is_of_tests {
            continue;
        }
        let place = format!("{}:{line}", path.display());
        if part == Part::Code {
            wrong.extend(
                names(&text, is_of_tests)
                    .into_iter()
                    .map(|name| format!("{place}: the name {name}")),
            );
            continue;
        }
        let prose = if part == Part::Comment {
            let lines: Vec<&str> = text.lines().map(without_tag).collect();
            without_code(&lines.join("\n"))
        } else {
            text
        };
        // A text without a blank is a name on the wire or in the store.
        if part == Part::Text && !prose.trim().contains(' ') {
            continue;
        }
        for (phrase, better) in phrases(&prose) {
            wrong.push(format!("{place}: \"{phrase}\" (say: {better}): {prose}"));
        }
        if part == Part::Comment {
            wrong.extend(beginning(&prose).map(|sentence| format!("{place}: {sentence}")));
        }
    }
    wrong
}

/// Whether the file is one of tests or of benches.
fn is_of_tests(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().to_str().unwrap_or_default();
        matches!(
            name,
            "tests" | "benches" | "examples" | "tests.rs" | "fake.rs" | "properties.rs" | "bounds.rs"
        )
    })
}

#[test]
fn plain_words_stay_plain() {
    let mut files: Vec<PathBuf> = ["lib", "cli", "api", "public", "tests", "benches"]
        .iter()
        .flat_map(|folder| files_below(folder, &["js", "lua", "rs"]))
        .collect();
    files.sort();
    assert!(files.len() > 1500, "{} files", files.len());
    let mut wrong = Vec::new();
    for path in files {
        let source = fs::read_to_string(&path).expect("a source file");
        wrong.extend(wrong_in_source(path.strip_prefix(ROOT).unwrap_or(&path), &source));
    }
    for page in files_below("docs", &["md"]) {
        let text = fs::read_to_string(&page).expect("a page");
        let (prose, _) = prose_and_pictures(&text);
        for (number, line) in prose.lines().enumerate() {
            let line = without_anchors(&without_code(line));
            for (phrase, better) in phrases(&line) {
                let place = page.strip_prefix(ROOT).unwrap_or(&page).display();
                wrong.push(format!("{place}:{}: \"{phrase}\" (say: {better}): {line}", number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{} places: {wrong:#?}", wrong.len());
}

#[test]
fn a_word_that_comes_back_is_found() {
    let in_tests = |line: &str| format!("#[cfg(test)]\nmod tests {{\n{line}}}\n");
    for (path, source, count) in [
        ("a.rs", "/// A lock of another holder.\nfn holder_name() {}\n", 0),
        ("a.rs", "/// Who holds it.\n", 1),
        ("a.rs", "// It is free. What remains\n// is kept.\n", 1),
        ("a.rs", "/// Who holds it? The caller.\n", 0),
        ("a.rs", "let it = 1; // Files that are given\n", 0),
        ("a.rs", "// Files that are given\n// back by somebody.\n", 3),
        ("a.rs", "return \"The lock has lapsed\";\n", 1),
        ("a.rs", "return r#\"\"lapsed\" \"LAPSED\" it\"#;\n", 1),
        ("a.rs", "return (\"LAPSED\", call.lapses); // `lapses`\n", 0),
        (
            "a.js",
            "/**\n * Who holds it.\n * @param {string} lapses The number.\n */\n",
            1,
        ),
        ("a.js", "say(`run --clear-lapses`); say('it lapses'); // mended\n", 2),
        ("a.rs", "struct Told;\nfn told_state() {}\n", 2),
        ("a.rs", &in_tests("    fn notified_members() {}\n"), 0),
        ("a.rs", &in_tests("    // Who holds it.\n    fn told_state() {}\n"), 2),
        (
            "tests/a.rs",
            "fn a_member_whose_lock_ends_is_notified() {\n    is(\"The lock has lapsed\");\n}\n",
            0,
        ),
        (
            "tests/a.rs",
            "/// What is given back.\nfn told() {} // It has lapsed.\n",
            4,
        ),
    ] {
        let wrong = wrong_in_source(Path::new(path), source);
        assert_eq!(wrong.len(), count, "{source}: {wrong:#?}");
    }
}
