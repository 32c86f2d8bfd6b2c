//! The git hooks that run `coord guard`: lines in existing hooks, or new hooks.

use std::path::Path;

use coord_agent::git_hooks;
use coord_files::RootedPath;
use coord_git::WorkingCopy;

use super::block::{Block, Language};
use super::files::MAX_BYTES;
use super::managers::{self, Entries};
use super::target::{Content, Target};

/// The hooks, with the lines that run the guard. They do nothing on a machine without coord, because the files may be
/// in the repository.
const HOOKS: [(&str, &str); 3] = [
    (
        "pre-commit",
        "if command -v coord >/dev/null 2>&1; then coord guard pre-commit || exit $?; fi\n",
    ),
    // If the guard fails, the commit proceeds without trailers.
    (
        "commit-msg",
        "if command -v coord >/dev/null 2>&1; then coord guard commit-msg \"$1\" || :; fi\n",
    ),
    // The rest of the hook gets the same input.
    (
        "pre-push",
        "\
if command -v coord >/dev/null 2>&1; then
    coord_refs=$(cat)
    if [ -n \"$coord_refs\" ]; then
        printf '%s\\n' \"$coord_refs\" | coord guard pre-push \"$@\" || exit $?
        exec <<COORD_REFS
$coord_refs
COORD_REFS
    else
        exec </dev/null
    fi
fi
",
    ),
];

/// The folder of the hooks, in git's folder.
const FOLDER: &str = "hooks";

/// The shells that can run these lines.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// The hooks of the repository, with the files of their managers.
///
/// # Errors
/// When git does not report the folder of the hooks.
pub async fn hooks(working_copy: &WorkingCopy) -> anyhow::Result<Entries> {
    let active_folder = git_hooks::folder(working_copy).await?;
    // Husky 9 has git run generated hooks in `_`, which run the hooks beside them.
    let folder = git_hooks::of_husky(&active_folder).map_or_else(|| active_folder.clone(), Path::to_owned);
    let mut hooks = managers::entries(working_copy.root());
    let name = folder.display();
    if folder == working_copy.shared_folder().join(FOLDER)
        && let Err(error) = RootedPath::new(working_copy.shared_folder(), FOLDER).folder()
    {
        hooks.notes.push(format!("{name} {}", error.clause()));
        hooks.is_refused = true;
        return Ok(hooks);
    }
    if folder != active_folder && !active_folder.exists() {
        hooks.notes.push(format!(
            "git runs no hook here until Husky has made {}: install the packages of this working copy",
            active_folder.display()
        ));
    }
    if !is_of_repository(&folder, working_copy) {
        hooks.notes.push(format!(
            "{name} (core.hooksPath) has the hooks of other repositories too: add `coord guard pre-commit`, \
             `coord guard commit-msg \"$1\"` and `coord guard pre-push \"$@\"` there yourself"
        ));
        return Ok(hooks);
    }
    for (hook, lines) in HOOKS {
        let path = folder.join(hook);
        match refusal(&path) {
            Some(reason) => hooks.notes.push(format!(
                "{} {reason}: run `coord guard {hook}` there yourself",
                path.display()
            )),
            None => hooks.targets.push(Target {
                path,
                is_program: true,
                content: Content::Block(Block {
                    text: lines.to_owned(),
                    language: Language::Shell,
                }),
            }),
        }
    }
    Ok(hooks)
}

fn is_of_repository(folder: &Path, working_copy: &WorkingCopy) -> bool {
    let existing = folder.ancestors().find_map(|folder| folder.canonicalize().ok());
    let shared = working_copy.shared_folder();
    let shared = shared.canonicalize().unwrap_or(shared.to_owned());
    existing.is_some_and(|folder| folder.starts_with(working_copy.root()) || folder.starts_with(&shared))
}

/// Why the hook at `path` cannot have our lines.
fn refusal(path: &Path) -> Option<&'static str> {
    // The plan follows a link, or refuses it.
    if path.is_symlink() {
        return None;
    }
    let text = coord_files::regular(path, MAX_BYTES).ok()??;
    let text = String::from_utf8_lossy(&text);
    if text.contains(Language::Shell.markers()[0]) {
        return None;
    }
    let first_line = text.lines().next().unwrap_or_default();
    if let Some(interpreter) = first_line.strip_prefix("#!") {
        let mut names = interpreter
            .split_whitespace()
            .filter_map(|word| word.rsplit('/').next());
        if !names.any(|name| SHELLS.contains(&name)) {
            return Some("is not a script of a shell");
        }
    }
    // Husky runs its hooks by name, whatever their mode.
    let is_husky = path.parent().is_some_and(|folder| folder.ends_with(".husky"));
    (!is_husky && !git_hooks::is_executable(path)).then_some("is not executable, so git does not run it")
}
