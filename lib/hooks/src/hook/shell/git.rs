//! Commands of git: those that write the files that they name, those that change a whole working copy, and pushes.

use super::arguments::Arguments;
use super::effects::TreeChange;
use super::guard_bypass;
use super::shell_state::ShellState;

/// Options before the command that have a value in the next word.
const WITH_VALUE: [&str; 6] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"];

/// `git` runs with `words`.
pub(super) fn run(place: &mut ShellState, words: &[Option<String>]) {
    let before = place.folder.clone();
    let mut position = 0;
    while let Some(Some(word)) = words.get(position).filter(|word| starts_with_dash(word)) {
        if word == "-C" {
            let folder = words.get(position + 1).and_then(Option::as_deref);
            place.folder = folder.and_then(|folder| place.absolute(folder));
        }
        position += if WITH_VALUE.contains(&word.as_str()) { 2 } else { 1 };
    }
    if let Some((Some(command), rest)) = words.get(position..).and_then(<[_]>::split_first) {
        let past = guard_bypass::in_git(words, command, rest);
        place.effects.guard_bypass = place.effects.guard_bypass.take().or(past);
        subcommand(place, command, rest);
    }
    place.folder = before;
}

fn starts_with_dash(word: &Option<String>) -> bool {
    word.as_deref().is_some_and(|word| word.starts_with('-'))
}

/// Commands that only show something.
const READERS: [&str; 18] = [
    "annotate",
    "blame",
    "cat-file",
    "check-ignore",
    "describe",
    "diff",
    "for-each-ref",
    "grep",
    "help",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];

fn subcommand(place: &mut ShellState, command: &str, words: &[Option<String>]) {
    let arguments = Arguments(words);
    let writes_output = arguments.value(&["--output"]).is_some();
    // The last two are commands that Coord gives agents.
    let is_advice = command == "push" || (command == "pull" && words.iter().flatten().any(|word| word == "--rebase"));
    place.effects.changes |= !(is_advice || (READERS.contains(&command) && !writes_output));
    let has = |names: &[&str]| words.iter().flatten().any(|word| names.contains(&word.as_str()));
    let first = words.first().and_then(Option::as_deref).unwrap_or_default();
    match command {
        "push" if !has(&["--dry-run", "-n"]) => place.effects.pushes.extend(place.folder.clone()),
        "rm" | "mv" if !has(&["--cached", "--dry-run", "-n"]) => moved(place, &arguments),
        "checkout" => match files_of_checkout(place, words) {
            Some(files) => files.into_iter().for_each(|path| place.writes(path)),
            None => tree(place, command),
        },
        // Of the index alone, it leaves files as they are.
        "restore" if !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]) => {
            let operands = arguments.operands(&["-s", "--source"]);
            operands.for_each(|path| place.writes(path));
        }
        "stash" if !matches!(first, "list" | "show" | "create" | "store" | "drop" | "clear") => tree(place, command),
        "reset" if has(&["--hard", "--merge", "--keep"]) => tree(place, "reset --hard"),
        "clean" if !has(&["-n", "--dry-run"]) => tree(place, command),
        "switch" | "merge" | "pull" | "rebase" => tree(place, command),
        _ => {}
    }
}

fn tree(place: &mut ShellState, command: &str) {
    if let Some(folder) = place.folder.clone() {
        place.effects.trees.push(TreeChange {
            folder,
            command: format!("git {command}"),
        });
    }
}

/// `git rm FILE...`, `git mv SOURCE... TARGET`.
fn moved(place: &mut ShellState, arguments: &Arguments<'_>) {
    let operands: Vec<&str> = arguments.operands(&[]).collect();
    operands.into_iter().for_each(|path| place.writes(path));
}

/// The files of a checkout of files: those after `--`, or all operands where each is a file that exists. `None` for a checkout of
/// a commit or a branch.
fn files_of_checkout<'a>(place: &ShellState, words: &'a [Option<String>]) -> Option<Vec<&'a str>> {
    let end = words.iter().position(|word| word.as_deref() == Some("--"));
    if let Some(end) = end.filter(|end| end + 1 < words.len()) {
        return Some(words[end + 1..].iter().flatten().map(String::as_str).collect());
    }
    let is_file = |word: &&str| place.absolute(word).is_some_and(|path| path.is_file());
    let plain: Option<Vec<&str>> = words.iter().map(Option::as_deref).collect();
    plain.filter(|words| !words.is_empty() && words.iter().all(is_file))
}
