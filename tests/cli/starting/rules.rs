//! The pages of `docs/` have one form: an example, rules that can be cited, every code, every crate, and not too many words.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::starting::references::{ROOT, anchors, pages, prose_and_pictures, rule_anchors};

#[test]
fn the_documents_stay_short() {
    const MAX_WORDS: usize = 28_000;
    const MAX_LINES: usize = 150;
    let counts: BTreeMap<PathBuf, usize> = pages()
        .into_iter()
        .map(|(path, text)| (path, text.split_whitespace().count()))
        .collect();
    let sum: usize = counts.values().sum();
    assert!(sum > 10_000, "the pages are found: {counts:?}");
    assert!(
        sum <= MAX_WORDS,
        "docs/ has {sum} words, more than {MAX_WORDS}: say it once, and shorter. {counts:#?}"
    );
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).expect("a document");
    let words = readme.split_whitespace().count();
    assert!(words <= 1_500, "README.md has {words} words");
    let architecture = fs::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md")).expect("a document");
    let lines = architecture.lines().count();
    assert!(lines <= MAX_LINES, "ARCHITECTURE.md has {lines} lines");
}

#[test]
fn each_page_begins_with_prose_and_an_example() {
    const MAX_LINES_BEFORE: usize = 12;
    for (path, text) in pages() {
        let mut lines = text.lines();
        let heading = lines.next().expect("a heading");
        let prose = lines.next().expect("prose");
        assert!(heading.starts_with("# "), "{}", path.display());
        assert!(
            prose.starts_with(char::is_alphanumeric) || prose.starts_with(['`', '*', '[']),
            "{}",
            path.display()
        );
        let example = text.lines().position(|line| line.starts_with("```"));
        let is_early = example.is_some_and(|line| line <= MAX_LINES_BEFORE);
        assert!(is_early, "{} has no example at its beginning", path.display());
    }
}

/// The text after the number of a list item.
fn numbered_item(line: &str) -> Option<&str> {
    let (number, rest) = line.split_once(". ")?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(rest)
}

#[test]
fn each_numbered_rule_of_the_reference_has_a_unique_anchor() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (path, text) in pages() {
        let (prose, _) = prose_and_pictures(&text);
        let rules = rule_anchors(&prose);
        let unique: BTreeSet<&String> = rules.iter().collect();
        if unique.len() < rules.len() {
            wrong.push(format!("{}: two rules have one anchor", path.display()));
        }
        if anchors(&text).len() < rules.len() + prose.lines().filter(|line| line.starts_with('#')).count() {
            wrong.push(format!("{}: a rule and a heading have one anchor", path.display()));
        }
        if !path.starts_with("docs/reference") {
            continue;
        }
        for item in prose.lines().filter_map(numbered_item) {
            count += 1;
            if !item.starts_with("<a id=\"") {
                wrong.push(format!("{}: {item}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 200, "{count} rules");
}

/// The files below a folder with one of these extensions.
pub(super) fn files_below(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(ROOT).join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let (path, name) = (entry.path(), entry.file_name());
            if entry.file_type().expect("a type").is_dir() {
                if name != "node_modules" && name != "target" {
                    folders.push(path);
                }
            } else if path
                .extension()
                .is_some_and(|found| extensions.iter().any(|extension| found == *extension))
            {
                files.push(path);
            }
        }
    }
    files
}

/// Returns the text that follows `begin` in each file, as far as it is made of these characters.
fn found_after(files: &[PathBuf], begin: &str, is_part: fn(char) -> bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files {
        let text = fs::read_to_string(path).unwrap_or_default();
        for rest in text.split(begin).skip(1) {
            found.insert(rest.chars().take_while(|letter| is_part(*letter)).collect());
        }
    }
    found
}

#[test]
fn each_rule_of_the_reference_has_a_test_that_names_it() {
    let folders = ["tests", "lib", "cli"];
    let files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| files_below(folder, &["rs", "mjs", "lua"]))
        .collect();
    let begin = concat!("// ", "rule: ");
    let named = found_after(&files, begin, |letter| {
        letter.is_ascii_alphanumeric() || "-#".contains(letter)
    });
    let mut rules = BTreeSet::new();
    for (path, text) in pages() {
        if let Ok(name) = path.strip_prefix("docs/reference") {
            let (prose, _) = prose_and_pictures(&text);
            let page = name.with_extension("");
            rules.extend(
                rule_anchors(&prose)
                    .iter()
                    .map(|rule| format!("{}#{rule}", page.display())),
            );
        }
    }
    let unknown: Vec<_> = named.difference(&rules).collect();
    assert!(unknown.is_empty(), "tests name rules that no page has: {unknown:#?}");
    let untested: Vec<_> = rules.difference(&named).collect();
    assert!(
        untested.is_empty(),
        "no test names these rules by `{begin}PAGE#RULE`: {untested:#?}"
    );
}

fn is_of_code(letter: char) -> bool {
    letter.is_ascii_uppercase() || letter == '_'
}

/// The codes of errors, and then those of warnings.
fn codes_on_the_wire() -> BTreeSet<String> {
    let source = fs::read_to_string(Path::new(ROOT).join("lib/protocol/src/error.rs")).expect("the codes");
    // `Name = 400 "CODE"`, with or without the group behind it.
    let errors: BTreeSet<String> = source
        .lines()
        .filter_map(|line| line.trim().strip_suffix(';')?.split_once(" = ")?.1.split('"').nth(1))
        .filter(|code| code.len() > 3 && code.chars().all(is_of_code))
        .map(str::to_owned)
        .collect();
    assert!(errors.len() > 70, "the codes are found: {errors:?}");
    let schema = fs::read_to_string(Path::new(ROOT).join("lib/protocol/src/schema/mod.rs")).expect("the schema");
    let (_, pattern) = schema.split_once("\"^(STALE_BRANCH|").expect("the pattern of warnings");
    let (pattern, _) = pattern.split_once("): \"").expect("its end");
    let mut warnings: BTreeSet<String> = pattern
        .split(|letter| !is_of_code(letter))
        .filter(|code| code.len() > 3)
        .map(str::to_owned)
        .collect();
    assert!(warnings.len() > 35, "the warnings are found: {warnings:?}");
    // Those of tasks and of commands: sentences that begin with their code.
    let places = [
        "lib/server/src/operations",
        "lib/agent/src",
        "lib/hooks/src/hook",
        "lib/intents_server/src",
        "lib/teams_server/src/operations",
        "cli/src/commands/mcp",
    ];
    for path in places.iter().flat_map(|folder| files_below(folder, &["rs"])) {
        warnings.extend(sentences_with_codes(&fs::read_to_string(path).expect("a source")));
    }
    errors.into_iter().chain(warnings).collect()
}

#[test]
fn the_page_of_messages_lists_each_code_on_the_wire() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/reference/messages.md")).expect("the page");
    let lacks = |code: &String| !page.contains(&format!("`{code}`")) && !page.contains(&format!("`{code}: "));
    let mut missing = codes_on_the_wire();
    missing.retain(lacks);
    assert!(missing.is_empty(), "docs/reference/messages.md lacks {missing:?}");
}

#[test]
fn each_code_on_the_wire_has_a_test_that_meets_it() {
    let source = fs::read_to_string(Path::new(ROOT).join("lib/protocol/src/error.rs")).expect("the codes");
    let mut tests = String::new();
    for path in files_below("tests", &["rs", "snap", "mjs", "py"]) {
        if !path.ends_with("starting/rules.rs") {
            tests += &fs::read_to_string(&path).unwrap_or_default();
        }
    }
    for path in ["lib", "cli"]
        .iter()
        .flat_map(|folder| files_below(folder, &["rs", "snap"]))
    {
        let text = fs::read_to_string(&path).expect("a source");
        let is_whole = path.extension().is_some_and(|found| found == "snap");
        let begin = if is_whole { Some(0) } else { text.find("#[cfg(test)]") };
        tests += begin.map_or("", |begin| &text[begin..]);
    }
    let spelled: BTreeSet<&str> = tests
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .collect();
    // As `ErrorCode::Name`.
    let named: BTreeSet<&str> = tests
        .split("Code::")
        .skip(1)
        .filter_map(|rest| rest.split(|letter: char| !letter.is_ascii_alphanumeric()).next())
        .collect();
    let name_of = |code: &str| {
        let line = source.lines().find(|line| line.contains(&format!(" \"{code}\"")));
        line.and_then(|line| line.trim().split(' ').next())
    };
    let is_met =
        |code: &String| spelled.contains(code.as_str()) || name_of(code).is_some_and(|name| named.contains(name));
    let unmet: Vec<String> = codes_on_the_wire().into_iter().filter(|code| !is_met(code)).collect();
    assert!(unmet.is_empty(), "no test meets these codes: {unmet:?}");
}

/// The codes with which texts in quotes begin, as in `"LOCK_EXPIRED: ..."`.
fn sentences_with_codes(source: &str) -> Vec<String> {
    let production = source.split("#[cfg(test)]").next().unwrap_or_default();
    let texts = production.split('"').skip(1);
    let codes = texts.filter_map(|text| {
        let (code, _) = text.split_once(": ")?;
        let is_code = code.len() > 5 && code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        is_code.then(|| code.to_owned())
    });
    codes.collect()
}

#[test]
fn the_page_of_dependencies_names_each_direct_crate() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/internals/dependencies.md")).expect("the page");
    let folders = ["cli", "lib", "tests", "fuzz"];
    let manifests = folders.iter().flat_map(|folder| files_below(folder, &["toml"]));
    let mut missing = BTreeSet::new();
    let mut count = 0;
    for manifest in manifests.chain([Path::new(ROOT).join("Cargo.toml")]) {
        if !manifest.ends_with("Cargo.toml") {
            continue;
        }
        let text = fs::read_to_string(&manifest).expect("a manifest");
        // Samples in the tests of the graph need not be complete.
        let Ok(manifest) = text.parse::<toml::Table>() else {
            continue;
        };
        for name in dependencies(&manifest) {
            count += 1;
            if !name.starts_with("coord") && !page.contains(&format!("`{name}`")) {
                missing.insert(name);
            }
        }
    }
    assert!(missing.is_empty(), "docs/internals/dependencies.md lacks {missing:?}");
    assert!(count > 150, "{count} dependencies");
}

/// The names in each table of dependencies of a manifest, of one target too.
fn dependencies(table: &toml::Table) -> Vec<String> {
    let mut names = Vec::new();
    for (key, value) in table {
        let Some(inner) = value.as_table() else { continue };
        match key.as_str() {
            "dependencies" | "dev-dependencies" | "build-dependencies" => names.extend(inner.keys().cloned()),
            "workspace" => names.extend(dependencies(inner)),
            "target" => names.extend(inner.values().filter_map(toml::Value::as_table).flat_map(dependencies)),
            _ => {}
        }
    }
    names
}

#[test]
fn each_page_that_code_names_exists() {
    let folders = [
        ".ci",
        "api",
        "benches",
        "cli",
        "fuzz",
        "lib",
        "packaging",
        "public",
        "tests",
    ];
    let extensions = ["rs", "lua", "mjs", "js", "py", "sh", "toml", "md", "service", "yml"];
    let files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| files_below(folder, &extensions))
        .collect();
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-_/.#".contains(letter);
    let mut missing = Vec::new();
    let mut count = 0;
    for folder in ["guide", "reference", "internals"] {
        let begin = format!("docs/{folder}/");
        for found in found_after(&files, &begin, is_part) {
            let found = found.trim_end_matches(['.', '/']);
            let (page, anchor) = found.split_once('#').unwrap_or((found, ""));
            // A folder, a name that is put together, or a pattern.
            if !page.ends_with(".md") {
                continue;
            }
            count += 1;
            let text = fs::read_to_string(Path::new(ROOT).join(format!("{begin}{page}")));
            let has_anchor = |text: &String| anchor.is_empty() || anchors(text).contains(anchor);
            if !text.as_ref().is_ok_and(has_anchor) {
                missing.push(format!("{begin}{found}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 10, "{count} pages are named");
}
