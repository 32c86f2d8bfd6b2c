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
const WRAPPERS_VALUES: [&str; 7] = ["-u", "--unset", "-C", "--chdir", "-g", "-n", "--user"];

/// Programs that change something, also where they name no file plainly. `perl` may do anything.
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

/// The program in the first of `words` runs with the others; `None` is a word that the shell replaces. `text` is its here-document.
pub(super) fn run(place: &mut ShellState, words: &[Option<String>], text: Option<&str>) {
    let (program, words) = match words.split_first() {
        Some((Some(program), words)) => (program, words),
        Some((None, _)) => {
            place.effects.changes = true;
            return;
        }
        None => return,
    };
    let program = Path::new(program).file_name().and_then(|name| name.to_str());
    let program = program.unwrap_or_default();
    let arguments = Arguments(words);
    place.effects.changes |= WRITERS.contains(&program);
    match program {
        wrapper if WRAPPERS.contains(&wrapper) => {
            let is_setting = |word: &Option<String>| {
                let word = word.as_deref().unwrap_or_default();
                word.starts_with('-') || (wrapper == "env" && word.contains('='))
            };
            let mut skipped = 0;
            while let Some(word) = words.get(skipped).filter(|word| is_setting(word)) {
                let has_value = word.as_deref().is_some_and(|word| WRAPPERS_VALUES.contains(&word));
                skipped += if has_value { 2 } else { 1 };
            }
            run(place, words.get(skipped..).unwrap_or_default(), text);
        }
        "timeout" => {
            let skipped = words
                .iter()
                .take_while(|word| word.as_deref().is_some_and(|word| word.starts_with('-')));
            let skipped = skipped.count() + 1;
            run(place, words.get(skipped..).unwrap_or_default(), text);
        }
        shell if SHELLS.contains(&shell) => {
            let position = words.iter().position(|word| {
                let word = word.as_deref().unwrap_or_default();
                word.starts_with('-') && !word.starts_with("--") && word.ends_with('c')
            });
            match position.and_then(|position| words.get(position + 1)) {
                Some(Some(command)) => place.nested.push(command.clone()),
                _ => place.effects.changes = true,
            }
        }
        "cd" | "pushd" => {
            let operand = words.iter().find(|word| word.as_deref() != Some("--"));
            place.folder = match operand {
                Some(Some(path)) if path != "-" => place.absolute(path),
                _ => None,
            };
        }
        "popd" => place.folder = None,
        "tee" | "truncate" => arguments
            .operands(&["-s", "--size", "-r", "--reference"])
            .for_each(|path| place.writes(path)),
        "mkdir" | "rmdir" | "chmod" | "chown" | "ln" | "touch" => {}
        "rm" | "unlink" | "shred" => arguments.operands(&["-n", "-s"]).for_each(|path| place.writes(path)),
        "mv" | "cp" | "install" => copied(place, &arguments, program == "mv"),
        "sed" => in_place(
            place,
            &arguments,
            &["-i", "--in-place"],
            &["-e", "--expression", "-f", "--file"],
        ),
        "perl" => in_place(place, &arguments, &["-i"], &["-e", "-E"]),
        "dd" => {
            let outputs = words.iter().flatten().filter_map(|word| word.strip_prefix("of="));
            outputs.for_each(|path| place.writes(path));
        }
        "patch" => patched(place, &arguments),
        "apply_patch" | "applypatch" => {
            let argument = words.first().and_then(Option::as_deref);
            let body = text.or(argument).unwrap_or_default();
            patched_files(body).iter().for_each(|path| place.writes(path));
        }
        "git" => git::run(place, words),
        "coord" => place.effects.person = place.effects.person.take().or_else(|| person::in_words(words)),
        program => place.effects.changes |= !readers::run(place, program, &arguments),
    }
}

/// `mv`, `cp`: the target, or the files in it where it is a folder; of `mv`, the sources too.
fn copied(place: &mut ShellState, arguments: &Arguments<'_>, is_moved: bool) {
    let into = arguments.value(&["-t", "--target-directory"]);
    let mut operands: Vec<&str> = arguments
        .operands(&["-t", "--target-directory", "-S", "-m", "-o", "-g"])
        .collect();
    let Some(target) = into.or_else(|| operands.pop()) else {
        return;
    };
    let is_folder = target.ends_with('/') || place.absolute(target).is_some_and(|target| target.is_dir());
    for source in &operands {
        if is_moved {
            place.writes(source);
        }
        let name = Path::new(source).file_name().and_then(|name| name.to_str());
        if let Some(name) = name.filter(|_| is_folder) {
            place.writes(&format!("{}/{name}", target.trim_end_matches('/')));
        }
    }
    if !is_folder {
        place.writes(target);
    }
}

/// `sed -i`, `perl -i`: the operands after the program's script, which is the first where no option gives it.
fn in_place(place: &mut ShellState, arguments: &Arguments<'_>, in_place: &[&str], scripts: &'static [&'static str]) {
    let words = || arguments.0.iter().flatten().take_while(|word| *word != "--");
    let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--");
    let changes = words().any(|word| {
        let is_long = in_place
            .iter()
            .any(|name| name.starts_with("--") && word.starts_with(name));
        // `-i`, `-i.bak`, `-pi`, `-ni.bak`
        let letters = word.split(['.', '=']).next().unwrap_or_default();
        is_long
            || (is_short(word) && letters.contains('i') && !letters.contains('e'))
            || word == "-pie"
            || word == "-ie"
    });
    if !changes {
        readers::stream_editor(place, arguments);
        return;
    }
    place.effects.changes = true;
    let gives_script = |word: &String| scripts.contains(&word.as_str()) || (is_short(word) && word.ends_with('e'));
    let is_given = words().any(gives_script)
        || words().any(|word| {
            scripts
                .iter()
                .any(|name| name.starts_with("--") && word.starts_with(name))
        });
    let operands = arguments.operands(&["-e", "-E", "-f", "--expression", "--file", "-pe", "-ne", "-pie", "-ie"]);
    // On macOS, the suffix of copies is a separate word, often an empty one.
    let operands = operands.filter(|word| !word.is_empty());
    operands
        .skip(usize::from(!is_given))
        .for_each(|path| place.writes(path));
}

/// `patch FILE`, `patch -o FILE`. The files that only the patch itself names are not known.
fn patched(place: &mut ShellState, arguments: &Arguments<'_>) {
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
        place.folder = place.absolute(folder);
    }
    match arguments.value(&["-o", "--output"]) {
        Some(output) => place.writes(output),
        None => arguments
            .operands(with_value)
            .take(1)
            .for_each(|path| place.writes(path)),
    }
}
