//! Programs that change nothing, and the files that they show.

use super::arguments::Arguments;
use super::shell_state::ShellState;

/// Programs that show the files in their arguments.
const SHOW: [&str; 17] = [
    "bat",
    "cat",
    "cmp",
    "diff",
    "head",
    "hexdump",
    "jq",
    "less",
    "md5sum",
    "more",
    "nl",
    "od",
    "sha256sum",
    "tac",
    "tail",
    "wc",
    "xxd",
];

/// Programs that show parts of the files in their arguments, after a pattern.
const SEARCH: [&str; 5] = ["egrep", "fgrep", "grep", "rg", "ag"];

/// Other programs that change no file. `sleep` is also a command that Coord gives agents.
const QUIET: [&str; 46] = [
    ":", "[", "basename", "cd", "column", "cut", "date", "df", "dirname", "du", "echo", "export", "false", "fd",
    "file", "hostname", "id", "ls", "man", "popd", "printenv", "printf", "ps", "pushd", "pwd", "read", "readlink",
    "realpath", "return", "rev", "seq", "set", "shopt", "sleep", "stat", "test", "top", "tr", "tree", "true", "type",
    "uname", "unset", "which", "whoami", "exit",
];

/// Options of `head` and `tail` whose value is a separate word.
const HEAD_OPTIONS: &[&str] = &["-n", "-c", "--lines", "--bytes"];

/// Options of the searching programs whose value is a separate word.
const SEARCH_OPTIONS: &[&str] = &[
    "-A",
    "-B",
    "-C",
    "-m",
    "-e",
    "-f",
    "-g",
    "-t",
    "--glob",
    "--type",
    "-j",
    "--max-count",
];

/// Runs `program`, and records the files that it shows. Returns whether it changes nothing.
pub(super) fn run(state: &mut ShellState, program: &str, arguments: &Arguments<'_>) -> bool {
    let has = |names: &[&str]| {
        let mut words = arguments.0.iter().flatten();
        words.any(|word| names.iter().any(|name| word.starts_with(name)))
    };
    match program {
        show if SHOW.contains(&show) => {
            let with_value = match show {
                "head" | "tail" => HEAD_OPTIONS,
                _ => &[],
            };
            arguments.operands(with_value).for_each(|path| state.reads(path));
            true
        }
        search if SEARCH.contains(&search) => {
            let operands = arguments.operands(SEARCH_OPTIONS);
            let is_pattern_given = has(&["-e", "-f", "--regexp", "--file"]);
            operands
                .skip(usize::from(!is_pattern_given))
                .for_each(|path| state.reads(path));
            // With this option, ripgrep runs a program for each file.
            !has(&["--pre"])
        }
        "find" => !has(&["-delete", "-exec", "-ok", "-fprint", "-fls"]),
        "sort" => !has(&["-o", "--output"]),
        quiet => QUIET.contains(&quiet),
    }
}

/// Runs `sed` without `-i`: it shows its files, and its script may write others.
pub(super) fn run_stream_editor(state: &mut ShellState, arguments: &Arguments<'_>) {
    let mut words = arguments.0.iter();
    state.effects.changes |= words.any(|word| word.as_deref().is_none_or(|word| word.contains("w ")));
    let is_script_given = arguments.value(&["-e", "--expression", "-f", "--file"]).is_some();
    let operands = arguments.operands(&["-e", "--expression", "-f", "--file", "-l"]);
    operands
        .skip(usize::from(!is_script_given))
        .for_each(|path| state.reads(path));
}
