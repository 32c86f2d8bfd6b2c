//! Every bound of the scripts has its row in `docs/internals/bounds.md`: the share of one login with its test, or why it needs none.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The constants that a line of Lua declares and that are bounds.
fn bounds_of(line: &str) -> Vec<&str> {
    let declared = line
        .trim_start()
        .strip_prefix("local ")
        .and_then(|rest| rest.split_once(" ="));
    let names = declared.map_or("", |(names, _)| names).split(", ");
    names.filter(|name| name.starts_with("MAX_")).collect()
}

/// Returns the parts between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The rows of the page: constants, files, and the other cells.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

#[test]
fn every_bound_of_the_scripts_has_its_share_of_one_login_documented() {
    let states = ["state", "intents_state", "teams_state"].map(|name| root().join("lib").join(name).join("src"));
    let mut declared = BTreeSet::new();
    let files = states
        .iter()
        .flat_map(|state| files_below(state, "lua").into_iter().map(move |file| (state, file)));
    for (state, file) in files {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(state).unwrap().to_str().unwrap().replace('\\', "/");
        assert!(!text.contains("'MAXLEN', 1"), "{name} has a bound without a name");
        for bound in text.lines().flat_map(bounds_of) {
            declared.insert((name.clone(), bound.to_owned()));
        }
    }
    assert!(declared.len() > 80, "the bounds are found: {declared:?}");
    let page = fs::read_to_string(root().join("docs/internals/bounds.md")).unwrap();
    let listed: BTreeSet<(String, String)> = rows(&page)
        .iter()
        .flat_map(|row| {
            quoted(row[1]).flat_map(|file| quoted(row[0]).map(move |bound| (file.to_owned(), bound.to_owned())))
        })
        .collect();
    let missing: Vec<_> = declared.difference(&listed).collect();
    assert!(
        missing.is_empty(),
        "without a row in docs/internals/bounds.md: {missing:?}"
    );
    let gone: Vec<_> = listed
        .difference(&declared)
        .filter(|(file, bound)| !is_shared(&declared, file, bound))
        .collect();
    assert!(
        gone.is_empty(),
        "docs/internals/bounds.md has rows of what is not there: {gone:?}"
    );
}

/// A row about two files names the constants of both.
fn is_shared(declared: &BTreeSet<(String, String)>, file: &str, bound: &str) -> bool {
    declared.iter().any(|(of, _)| of == file) && declared.iter().any(|(of, name)| of != file && name == bound)
}

#[test]
fn every_share_has_a_test_and_every_bound_without_a_share_a_reason() {
    let page = fs::read_to_string(root().join("docs/internals/bounds.md")).unwrap();
    let tests: String = files_below(&root().join("tests/state/stores"), "rs")
        .iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    let rows = rows(&page);
    let kept: Vec<_> = rows.iter().filter(|row| row.len() == 5).collect();
    assert!(kept.len() > 30, "the table is found");
    for row in kept {
        let [constants, _, _, share, held_by] = row[..] else {
            unreachable!()
        };
        let has_reason = share.starts_with("None: ") && share.len() > "None: ".len();
        assert!(
            has_reason || share.contains("without a ticket") || quoted(held_by).count() > 0,
            "{constants}: neither a reason nor a test"
        );
        for name in quoted(held_by) {
            assert!(
                tests.contains(&format!("async fn {name}(")),
                "{constants}: there is no test {name}"
            );
            assert!(tests.contains(&format!("    {name},\n")), "{name} runs on no store");
        }
    }
}
