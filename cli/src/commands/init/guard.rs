//! The hooks of git that run `coord guard`: a line in the hooks that are there, or new ones.

use std::path::Path;

use coord_agent::git_hooks;
use coord_files::RootedPath;
use coord_git::WorkingCopy;

use super::block::{Block, Language};
use super::files::MOST_BYTES;
use super::managers;
use super::target::{Content, Target};

/// The hooks, with the command of the guard. A machine without coord goes on without it, because such files may be in the
/// repository.
const HOOKS: [(&str, &str); 3] = [
    (
        "pre-commit",
        "if command -v coord >/dev/null 2>&1; then coord guard pre-commit || exit $?; fi\n",
    ),
    // A commit goes on without its trailers.
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

/// Their folder in git's.
const FOLDER: &str = "hooks";

/// Shells whose scripts understand these lines.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// The hooks of a repository.
#[derive(Debug)]
pub struct Hooks {
    /// Those that get the lines.
    pub targets: Vec<Target>,
    /// Clauses about those that cannot have them.
    pub notes: Vec<String>,
    /// Whether their folder is refused, because it is a link.
    pub is_refused: bool,
}

/// The hooks of the repository.
///
/// # Errors
/// When git does not say where they are.
pub async fn hooks(working_copy: &WorkingCopy) -> anyhow::Result<Hooks> {
    let run = git_hooks::folder(working_copy).await?;
    // Husky 9 has git run generated hooks in `_`, which run the hooks beside them.
    let folder = git_hooks::of_husky(&run).map_or_else(|| run.clone(), Path::to_owned);
    let entries = managers::entries(working_copy.root());
    let mut hooks = Hooks {
        notes: entries.notes,
        targets: entries.targets,
        is_refused: false,
    };
    let shown = folder.display();
    if folder == working_copy.shared_folder().join(FOLDER)
        && let Err(error) = RootedPath::new(working_copy.shared_folder(), FOLDER).folder()
    {
        hooks.notes.push(format!("{shown} {}", error.clause()));
        hooks.is_refused = true;
        return Ok(hooks);
    }
    if folder != run && !run.exists() {
        hooks.notes.push(format!(
            "git runs no hook here until Husky has made {}: install the packages of this working copy",
            run.display()
        ));
    }
    if !is_of_repository(&folder, working_copy) {
        hooks.notes.push(format!(
            "{shown} (core.hooksPath) has the hooks of other repositories too: add `coord guard pre-commit`, \
             `coord guard commit-msg \"$1\"` and `coord guard pre-push \"$@\"` there yourself"
        ));
        return Ok(hooks);
    }
    for (name, lines) in HOOKS {
        let path = folder.join(name);
        match refusal(&path) {
            Some(why) => hooks.notes.push(format!(
                "{} {why}: run `coord guard {name}` there yourself",
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
    // Anything but a regular file was refused in planning.
    if path.is_symlink() {
        return None;
    }
    let text = coord_files::regular(path, MOST_BYTES).ok()??;
    let text = String::from_utf8_lossy(&text);
    if text.contains(Language::Shell.markers()[0]) {
        return None;
    }
    let first = text.lines().next().unwrap_or_default();
    if let Some(program) = first.strip_prefix("#!") {
        let words: Vec<&str> = program.split_whitespace().collect();
        let names = words.iter().filter_map(|word| word.rsplit('/').next());
        if !names.into_iter().any(|name| SHELLS.contains(&name)) {
            return Some("is no script of a shell");
        }
    }
    // Husky runs its hooks by name, whatever their mode.
    let is_husky = path.parent().is_some_and(|folder| folder.ends_with(".husky"));
    (!is_husky && !git_hooks::is_executable(path)).then_some("is not executable, so git does not run it")
}
