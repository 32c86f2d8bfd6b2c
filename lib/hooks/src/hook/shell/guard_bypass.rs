//! Commands that go past the guard in git's hooks.

use std::path::Path;

/// Variables that switch hooks off, of Coord and of managers of hooks.
const VARIABLES: [&str; 5] = [
    "COORD_BYPASS=",
    "HUSKY=0",
    "LEFTHOOK=0",
    "LEFTHOOK=false",
    "SKIP_SIMPLE_GIT_HOOKS=",
];

/// The setting that moves hooks away, in lower case.
const HOOKS_PATH: &str = "core.hookspath";

/// The part of a shell command that goes past the guard, whatever program reads it.
pub(super) fn in_text(command: &str) -> Option<String> {
    let is_begun = |word: &&str| VARIABLES.iter().any(|variable| word.starts_with(variable));
    let words = command.split(|letter: char| letter.is_whitespace() || "\"';&|()".contains(letter));
    words.into_iter().find(is_begun).map(|word| format!("`{word}`"))
}

/// The part of `git WORDS`, which runs `command` with `rest`.
pub(super) fn in_git(words: &[Option<String>], command: &str, rest: &[Option<String>]) -> Option<String> {
    let given: Vec<&str> = words.iter().flatten().map(String::as_str).collect();
    let rest: Vec<&str> = rest.iter().flatten().map(String::as_str).collect();
    let is_short_n = |word: &&str| {
        let options = word.strip_prefix('-').unwrap_or_default();
        // The text after these letters is their value.
        let own = options
            .split(['m', 'F', 'C', 'c', 't', 'u', 'S'])
            .next()
            .unwrap_or_default();
        !options.starts_with('-') && own.contains('n')
    };
    let options = rest.iter().take_while(|word| **word != "--");
    let skips =
        options.clone().any(|word| *word == "--no-verify") || (command == "commit" && options.clone().any(is_short_n));
    if skips && ["commit", "push", "merge", "am", "rebase", "pull"].contains(&command) {
        return Some(format!("`git {command}` without its hooks"));
    }
    let names = |word: &&str| word.to_ascii_lowercase().contains(HOOKS_PATH);
    let is_read = command == "config"
        && !rest
            .iter()
            .any(|word| word.starts_with("--unset") || *word == "unset" || *word == "set")
        && rest.iter().rev().position(names) == Some(0);
    (given.iter().any(names) && !is_read).then(|| "`core.hooksPath`".to_owned())
}

/// Whether `path` is a hook of git.
pub fn is_hook(path: &Path) -> bool {
    let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
    names.windows(2).any(|pair| pair[0] == ".git" && pair[1] == "hooks")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::effects;

    #[test]
    fn commands_that_go_past_the_guard_are_found_and_no_others() {
        let past = |command: &str| effects(command, Path::new("/w")).guard_bypass;
        for command in [
            "git commit --no-verify -m x",
            "git commit -nm x",
            "git commit -anm x",
            "cd a && git push --no-verify",
            "COORD_BYPASS=1 git commit -m x",
            "export COORD_BYPASS=1; git commit -m x",
            "env HUSKY=0 git commit -m x",
            "bash -c 'git commit --no-verify'",
            "git -c core.hooksPath=/dev/null commit -m x",
            "git config core.hooksPath /dev/null && git commit -m x",
            "git config --unset core.hookspath",
            "rm -f .git/hooks/pre-commit",
            "echo > .git/hooks/pre-push",
        ] {
            assert!(past(command).is_some(), "{command}");
        }
        for command in [
            "git commit -m 'no -n here'",
            "git commit -mn",
            "git commit -am x",
            "git push -n",
            "git merge -n topic",
            "git commit -m x -- --no-verify",
            "git config core.hooksPath",
            "git config --get core.hooksPath",
            "cat .git/hooks/pre-commit",
            "HUSKY=1 git commit -m x",
            "echo $COORD_BYPASS",
        ] {
            assert_eq!(past(command), None, "{command}");
        }
    }
}
