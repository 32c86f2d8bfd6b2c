//! Commands that bypass the guard in git's hooks.

use std::path::Path;

/// Assignments that disable the hooks of Coord and of hook managers.
const VARIABLES: [&str; 5] = [
    "COORD_BYPASS=",
    "HUSKY=0",
    "LEFTHOOK=0",
    "LEFTHOOK=false",
    "SKIP_SIMPLE_GIT_HOOKS=",
];

/// The setting of the folder with the hooks, in lower case.
const HOOKS_PATH: &str = "core.hookspath";

/// The part of a shell command that bypasses the guard, whatever program runs it.
pub(super) fn find_in_text(command: &str) -> Option<String> {
    let disables_hooks = |word: &&str| VARIABLES.iter().any(|variable| word.starts_with(variable));
    let mut words = command.split(|letter: char| letter.is_whitespace() || "\"';&|()".contains(letter));
    words.find(disables_hooks).map(|word| format!("`{word}`"))
}

/// The part of `git WORDS` that bypasses the guard. It runs `command` with `rest`.
pub(super) fn find_in_git(words: &[Option<String>], command: &str, rest: &[Option<String>]) -> Option<String> {
    let rest: Vec<&str> = rest.iter().flatten().map(String::as_str).collect();
    let has_short_n = |word: &&str| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        // The text after these options is their value.
        let options = letters
            .split(['m', 'F', 'C', 'c', 't', 'u', 'S'])
            .next()
            .unwrap_or_default();
        !letters.starts_with('-') && options.contains('n')
    };
    let mut options = rest.iter().take_while(|word| **word != "--");
    let skips_hooks =
        options.clone().any(|word| *word == "--no-verify") || (command == "commit" && options.any(has_short_n));
    if skips_hooks && ["commit", "push", "merge", "am", "rebase", "pull"].contains(&command) {
        return Some(format!("`git {command}` without its hooks"));
    }
    let names_hooks_path = |word: &str| word.to_ascii_lowercase().contains(HOOKS_PATH);
    let only_reads = command == "config"
        && !rest
            .iter()
            .any(|word| word.starts_with("--unset") || *word == "unset" || *word == "set")
        && rest.last().is_some_and(|word| names_hooks_path(word));
    let is_named = words.iter().flatten().any(|word| names_hooks_path(word));
    (is_named && !only_reads).then(|| "`core.hooksPath`".to_owned())
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
