//! Programs that write the files in their arguments.

use std::path::Path;

use super::super::agents::patched_files;
use super::arguments::Arguments;
use super::shell_state::ShellState;
use super::{git, person, readers};

/// Programs that run the program in their arguments.
const WRAPPERS: [&str; 9] = [
    "sudo", "command", "builtin", "exec", "nohup", "time", "nice", "env", "stdbuf",
];

/// Options of these programs whose value is a separate word.
const WRAPPER_OPTIONS_WITH_VALUE: [&str; 7] = ["-u", "--unset", "-C", "--chdir", "-g", "-n", "--user"];

/// Programs that change something, even if they name no file plainly. `perl` may do anything.
const WRITERS: [&str; 19] = [
    "apply_patch",
    "applypatch",
    "chmod",
    "chown",
    "cp",
    "dd",
    "install",
    "ln",
    "mkdir",
    "mv",
    "patch",
    "perl",
    "rm",
    "rmdir",
    "shred",
    "tee",
    "touch",
    "truncate",
    "unlink",
];

/// Shells, whose `-c` is a command.
const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "ksh"];

/// Runs the program in the first of `words` with the others. `None` is a word that the shell replaces. `text` is the
/// program's here-document.
pub(super) fn run(state: &mut ShellState, words: &[Option<String>], text: Option<&str>) {
    let (program, words) = match words.split_first() {
        Some((Some(program), words)) => (program, words),
        Some((None, _)) => {
            state.effects.changes = true;
            return;
        }
        None => return,
    };
    let program = Path::new(program).file_name().and_then(|name| name.to_str());
    let program = program.unwrap_or_default();
    let arguments = Arguments(words);
    state.effects.changes |= WRITERS.contains(&program);
    match program {
        wrapper if WRAPPERS.contains(&wrapper) => {
            let is_skipped = |word: &Option<String>| {
                let word = word.as_deref().unwrap_or_default();
                word.starts_with('-') || (wrapper == "env" && word.contains('='))
            };
            let mut skipped = 0;
            while let Some(word) = words.get(skipped).filter(|word| is_skipped(word)) {
                let has_value = word
                    .as_deref()
                    .is_some_and(|word| WRAPPER_OPTIONS_WITH_VALUE.contains(&word));
                skipped += if has_value { 2 } else { 1 };
            }
            run(state, words.get(skipped..).unwrap_or_default(), text);
        }
        "timeout" => {
            let options = words
                .iter()
                .take_while(|word| word.as_deref().is_some_and(|word| word.starts_with('-')));
            let skipped = options.count() + 1;
            run(state, words.get(skipped..).unwrap_or_default(), text);
        }
        shell if SHELLS.contains(&shell) => {
            let position = words.iter().position(|word| {
                let word = word.as_deref().unwrap_or_default();
                word.starts_with('-') && !word.starts_with("--") && word.ends_with('c')
            });
            match position.and_then(|position| words.get(position + 1)) {
                Some(Some(command)) => state.nested.push(command.clone()),
                _ => state.effects.changes = true,
            }
        }
        "cd" | "pushd" => {
            let operand = words.iter().find(|word| word.as_deref() != Some("--"));
            state.folder = match operand {
                Some(Some(path)) if path != "-" => state.absolute(path),
                _ => None,
            };
        }
        "popd" => state.folder = None,
        "tee" | "truncate" => arguments
            .operands(&["-s", "--size", "-r", "--reference"])
            .for_each(|path| state.writes(path)),
        "mkdir" | "rmdir" | "chmod" | "chown" | "ln" | "touch" => {}
        "rm" | "unlink" | "shred" => arguments.operands(&["-n", "-s"]).for_each(|path| state.writes(path)),
        "mv" | "cp" | "install" => copy(state, &arguments, program == "mv"),
        "sed" => edit_in_place(
            state,
            &arguments,
            &["-i", "--in-place"],
            &["-e", "--expression", "-f", "--file"],
        ),
        "perl" => edit_in_place(state, &arguments, &["-i"], &["-e", "-E"]),
        "dd" => {
            let outputs = words.iter().flatten().filter_map(|word| word.strip_prefix("of="));
            outputs.for_each(|path| state.writes(path));
        }
        "patch" => patch(state, &arguments),
        "apply_patch" | "applypatch" => {
            let argument = words.first().and_then(Option::as_deref);
            let body = text.or(argument).unwrap_or_default();
            patched_files(body).iter().for_each(|path| state.writes(path));
        }
        "git" => git::run(state, words),
        "coord" => {
            let act = state.effects.person_act.take();
            state.effects.person_act = act.or_else(|| person::find_in_words(words));
        }
        program => state.effects.changes |= !readers::run(state, program, &arguments),
    }
}

/// `mv`, `cp`, `install`: writes the target, or the files in it if it is a folder. A move writes its sources too.
fn copy(state: &mut ShellState, arguments: &Arguments<'_>, is_move: bool) {
    let target_option = arguments.value(&["-t", "--target-directory"]);
    let mut operands: Vec<&str> = arguments
        .operands(&["-t", "--target-directory", "-S", "-m", "-o", "-g"])
        .collect();
    let Some(target) = target_option.or_else(|| operands.pop()) else {
        return;
    };
    let is_folder = target.ends_with('/') || state.absolute(target).is_some_and(|target| target.is_dir());
    for source in &operands {
        if is_move {
            state.writes(source);
        }
        let name = Path::new(source).file_name().and_then(|name| name.to_str());
        if let Some(name) = name.filter(|_| is_folder) {
            state.writes(&format!("{}/{name}", target.trim_end_matches('/')));
        }
    }
    if !is_folder {
        state.writes(target);
    }
}

/// `sed -i`, `perl -i`: writes the operands after the program's script. The script is the first operand, if no option
/// gives it.
fn edit_in_place(
    state: &mut ShellState,
    arguments: &Arguments<'_>,
    in_place_options: &[&str],
    script_options: &'static [&'static str],
) {
    let words = || arguments.0.iter().flatten().take_while(|word| *word != "--");
    let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--");
    let is_in_place = words().any(|word| {
        let is_long = in_place_options
            .iter()
            .any(|name| name.starts_with("--") && word.starts_with(name));
        // `-i`, `-i.bak`, `-pi`, `-ni.bak`
        let letters = word.split(['.', '=']).next().unwrap_or_default();
        is_long
            || (is_short(word) && letters.contains('i') && !letters.contains('e'))
            || word == "-pie"
            || word == "-ie"
    });
    if !is_in_place {
        readers::run_stream_editor(state, arguments);
        return;
    }
    state.effects.changes = true;
    let gives_script =
        |word: &String| script_options.contains(&word.as_str()) || (is_short(word) && word.ends_with('e'));
    let is_script_given = words().any(gives_script)
        || words().any(|word| {
            script_options
                .iter()
                .any(|name| name.starts_with("--") && word.starts_with(name))
        });
    let operands = arguments.operands(&["-e", "-E", "-f", "--expression", "--file", "-pe", "-ne", "-pie", "-ie"]);
    // On macOS, the suffix of backup files is a separate word, often an empty one.
    let operands = operands.filter(|word| !word.is_empty());
    operands
        .skip(usize::from(!is_script_given))
        .for_each(|path| state.writes(path));
}

/// `patch FILE`, `patch -o FILE`. Files that only the patch itself names are unknown.
fn patch(state: &mut ShellState, arguments: &Arguments<'_>) {
    let with_value = &[
        "-i",
        "--input",
        "-o",
        "--output",
        "-p",
        "-d",
        "--directory",
        "-r",
        "-D",
        "-F",
        "-B",
        "-z",
    ];
    if let Some(folder) = arguments.value(&["-d", "--directory"]) {
        state.folder = state.absolute(folder);
    }
    match arguments.value(&["-o", "--output"]) {
        Some(output) => state.writes(output),
        None => arguments
            .operands(with_value)
            .take(1)
            .for_each(|path| state.writes(path)),
    }
}
