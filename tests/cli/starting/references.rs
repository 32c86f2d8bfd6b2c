//! Everything that the documents name exists: files, pages, headings and rules of pages; and their lists are complete:
//! keys and events.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::starting::rules::files_below;

pub(super) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

const FOLDERS: [&str; 8] = [".ci/", "api/", "benches/", "cli/", "docs/", "lib/", "public/", "tests/"];

/// The documents by their paths. The changelog is none of them: it may mention things of earlier versions that are
/// gone.
fn documents() -> Vec<(PathBuf, String)> {
    let root = Path::new(ROOT);
    let mut paths: Vec<PathBuf> = [
        "README.md",
        "ARCHITECTURE.md",
        "SECURITY.md",
        "examples/sessions.md",
        "tests/graph-truth/README.md",
    ]
    .map(PathBuf::from)
    .to_vec();
    for folder in ["docs", "docs/guide", "docs/internals", "docs/reference"] {
        for entry in fs::read_dir(root.join(folder)).expect("a folder") {
            let name = entry.expect("an entry").file_name();
            paths.push(Path::new(folder).join(name));
        }
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root.join(&path)).expect("a document");
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// Those of them that are pages of `docs/`.
pub(super) fn pages() -> Vec<(PathBuf, String)> {
    let mut documents = documents();
    documents.retain(|(path, _)| path.starts_with("docs"));
    documents
}

/// Prose, and the fenced blocks that are pictures (`text`). Other blocks have commands and answers.
pub(super) fn prose_and_pictures(text: &str) -> (String, String) {
    let (mut prose, mut pictures) = (String::new(), String::new());
    let mut fence: Option<(usize, &str)> = None;
    for line in text.lines() {
        let content = line.trim_start();
        let ticks = content.len() - content.trim_start_matches('`').len();
        match fence {
            None if ticks >= 3 => fence = Some((ticks, &content[ticks..])),
            None => prose += &format!("{line}\n"),
            Some((opened, _)) if ticks >= opened && content.len() == ticks => fence = None,
            Some((_, "text")) => pictures += &format!("{line}\n"),
            Some(_) => {}
        }
    }
    assert!(fence.is_none(), "a block has no end");
    (prose, pictures)
}

/// The paths that a text names, by the folder at the top with which they begin.
fn named_paths(text: &str) -> Vec<String> {
    let (prose, pictures) = prose_and_pictures(text);
    assert!(prose.matches('`').count() % 2 == 0, "code in a line has no end");
    let code = prose.split('`').skip(1).step_by(2);
    code.chain([pictures.as_str()])
        .flat_map(str::split_whitespace)
        .filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder)))
        // Of a test, the file.
        .filter_map(|word| word.trim_end_matches([',', ';', ':', '.']).split("::").next())
        .map(str::to_owned)
        .collect()
}

/// The part of a path before what stands for a name (`*`, `NAME`).
fn literal_part(path: &str) -> PathBuf {
    let is_literal = |part: &&str| !part.contains('*') && part.split('.').next() != Some("NAME");
    path.split('/').take_while(is_literal).collect()
}

#[test]
fn each_path_that_a_document_names_exists() {
    let mut missing = Vec::new();
    let mut count = 0;
    for (document, text) in documents() {
        for path in named_paths(&text) {
            count += 1;
            if !Path::new(ROOT).join(literal_part(&path)).exists() {
                missing.push(format!("{}: {path}", document.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 150, "{count} paths are named");
}

#[test]
fn a_documented_path_is_checked_up_to_its_placeholder() {
    let text = "`lib/a.rs::name_of_a_test`, `bash .ci/run`, `/api/graph` `src/lib/a`\n```text\nedge cli/b.rs\n```\n```sh\nlib/c\n```\n";
    assert_eq!(named_paths(text), ["lib/a.rs", ".ci/run", "cli/b.rs"]);
    for (path, literal) in [
        ("api/*.rs", "api"),
        ("lib/graph/NAME/a", "lib/graph"),
        ("lib/NAME.rs", "lib"),
        ("docs/a.md", "docs/a.md"),
    ] {
        assert_eq!(literal_part(path), Path::new(literal), "{path}");
    }
}

/// The targets of the links of a text, besides those to other sites.
fn links(text: &str) -> Vec<String> {
    let (prose, _) = prose_and_pictures(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets
        .filter(|target| !target.contains("://"))
        .map(str::to_owned)
        .collect()
}

/// The anchors that rules have: `<a id="renewal"></a>`.
pub(super) fn rule_anchors(prose: &str) -> Vec<String> {
    between(prose, "<a id=\"", &['"'])
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// The names by which links reach the headings of a text, as GitHub makes them, and its rules.
pub(super) fn anchors(text: &str) -> BTreeSet<String> {
    let (prose, _) = prose_and_pictures(text);
    let headings = prose.lines().filter(|line| line.starts_with('#')).map(|line| {
        let kept = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        kept.chars()
            .filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter))
            .collect()
    });
    headings.chain(rule_anchors(&prose)).collect()
}

#[test]
fn each_link_leads_to_a_page_and_a_heading_and_each_page_is_linked() {
    let mut broken = Vec::new();
    let mut linked = BTreeSet::new();
    let documents = documents();
    for (document, text) in &documents {
        for link in links(text) {
            let (page, heading) = link.split_once('#').unwrap_or((&link, ""));
            let path = match page {
                "" => Path::new(ROOT).join(document),
                _ => Path::new(ROOT).join(document).with_file_name("").join(page),
            };
            let is_there = match heading {
                "" => path.exists(),
                _ => fs::read_to_string(&path).is_ok_and(|text| anchors(&text).contains(heading)),
            };
            if is_there && !page.is_empty() {
                linked.insert(path.canonicalize().expect("a page"));
            } else if !is_there {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    for (document, _) in &documents {
        let path = Path::new(ROOT).join(document).canonicalize().expect("a page");
        let is_entrance = document.ends_with("README.md");
        assert!(
            is_entrance || linked.contains(&path),
            "{} is not linked",
            document.display()
        );
    }
}

/// Returns each part of `text` between `begin` and the first of `ends`.
fn between<'a>(text: &'a str, begin: &str, ends: &[char]) -> Vec<&'a str> {
    let rests = text.split(begin).skip(1);
    rests.filter_map(|rest| rest.split(ends).next()).collect()
}

/// The files of the state with this extension.
fn files_of_the_state(extension: &str) -> Vec<PathBuf> {
    ["lib/state/src", "lib/intents_state/src", "lib/teams_state/src"]
        .iter()
        .flat_map(|folder| files_below(folder, &[extension]))
        .collect()
}

fn page_of_the_state() -> String {
    fs::read_to_string(Path::new(ROOT).join("docs/internals/state.md")).expect("the page")
}

#[test]
fn the_page_of_the_state_lists_each_key() {
    let page = page_of_the_state();
    let mut code = String::new();
    for path in files_of_the_state("rs") {
        if path.ends_with("keys.rs") {
            code += &fs::read_to_string(path).expect("keys");
        }
    }
    let code: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let kinds: BTreeSet<&str> = between(&code, "\"coord:", &['"', '{']).into_iter().collect();
    for kind in &kinds {
        assert!(
            page.contains(&format!("\n| `coord:{kind}")),
            "docs/internals/state.md lacks coord:{kind}"
        );
    }
    assert!(kinds.len() > 12, "{kinds:?}");
}

#[test]
fn the_page_of_the_state_lists_each_event() {
    let page = page_of_the_state();
    let (_, events) = page.split_once("\n## Events\n").expect("the events");
    let (events, _) = events.split_once("\n## ").expect("their end");
    let mut found = BTreeSet::new();
    for path in files_of_the_state("lua") {
        let script = fs::read_to_string(path).expect("a script");
        for begin in ["emit_by_claim('", "event_about('", "type = '"] {
            found.extend(between(&script, begin, &['\'']).into_iter().map(str::to_owned));
        }
    }
    for event in &found {
        assert!(
            events.contains(&format!("`{event}`")),
            "docs/internals/state.md lacks {event}"
        );
    }
    assert!(found.len() >= 7, "{found:?}");
}
