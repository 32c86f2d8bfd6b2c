//! Commands of git: those that write the files that they name, those that change a whole working copy, and pushes.

use super::arguments::Arguments;
use super::effects::TreeChange;
use super::guard_bypass;
use super::shell_state::ShellState;

/// Options before the command whose value is the next word.
const OPTIONS_WITH_VALUE: [&str; 6] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"];

pub(super) fn run(state: &mut ShellState, words: &[Option<String>]) {
    let folder_before = state.folder.clone();
    let mut position = 0;
    while let Some(Some(word)) = words.get(position).filter(|word| starts_with_dash(word)) {
        if word == "-C" {
            let folder = words.get(position + 1).and_then(Option::as_deref);
            state.folder = folder.and_then(|folder| state.absolute(folder));
        }
        position += if OPTIONS_WITH_VALUE.contains(&word.as_str()) {
            2
        } else {
            1
        };
    }
    if let Some((Some(command), rest)) = words.get(position..).and_then(<[_]>::split_first) {
        let bypass = guard_bypass::find_in_git(words, command, rest);
        state.effects.guard_bypass = state.effects.guard_bypass.take().or(bypass);
        run_subcommand(state, command, rest);
    }
    state.folder = folder_before;
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

fn run_subcommand(state: &mut ShellState, command: &str, words: &[Option<String>]) {
    let arguments = Arguments(words);
    let writes_output = arguments.value(&["--output"]).is_some();
    // Coord itself gives these commands to agents.
    let is_advice = command == "push" || (command == "pull" && words.iter().flatten().any(|word| word == "--rebase"));
    state.effects.changes |= !(is_advice || (READERS.contains(&command) && !writes_output));
    let has = |names: &[&str]| words.iter().flatten().any(|word| names.contains(&word.as_str()));
    let first = words.first().and_then(Option::as_deref).unwrap_or_default();
    match command {
        "push" if !has(&["--dry-run", "-n"]) => state.effects.pushes.extend(state.folder.clone()),
        // `git rm FILE...`, `git mv SOURCE... TARGET`
        "rm" | "mv" if !has(&["--cached", "--dry-run", "-n"]) => {
            arguments.operands(&[]).for_each(|path| state.writes(path));
        }
        "checkout" => match files_of_checkout(state, words) {
            Some(files) => files.into_iter().for_each(|path| state.writes(path)),
            None => add_tree_change(state, command),
        },
        // Without the working tree, it changes only the index.
        "restore" if !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]) => {
            let operands = arguments.operands(&["-s", "--source"]);
            operands.for_each(|path| state.writes(path));
        }
        "stash" if !matches!(first, "list" | "show" | "create" | "store" | "drop" | "clear") => {
            add_tree_change(state, command);
        }
        "reset" if has(&["--hard", "--merge", "--keep"]) => add_tree_change(state, "reset --hard"),
        "clean" if !has(&["-n", "--dry-run"]) => add_tree_change(state, command),
        "switch" | "merge" | "pull" | "rebase" => add_tree_change(state, command),
        _ => {}
    }
}

fn add_tree_change(state: &mut ShellState, command: &str) {
    if let Some(folder) = state.folder.clone() {
        state.effects.tree_changes.push(TreeChange {
            folder,
            command: format!("git {command}"),
        });
    }
}

/// The files of a checkout of files: those after `--`, or all operands if each is an existing file. `None` for a
/// checkout of a commit or a branch.
fn files_of_checkout<'a>(state: &ShellState, words: &'a [Option<String>]) -> Option<Vec<&'a str>> {
    let end = words.iter().position(|word| word.as_deref() == Some("--"));
    if let Some(end) = end.filter(|end| end + 1 < words.len()) {
        return Some(words[end + 1..].iter().flatten().map(String::as_str).collect());
    }
    let is_file = |word: &&str| state.absolute(word).is_some_and(|path| path.is_file());
    let plain: Option<Vec<&str>> = words.iter().map(Option::as_deref).collect();
    plain.filter(|words| !words.is_empty() && words.iter().all(is_file))
}
