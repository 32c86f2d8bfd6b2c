//! Protects the guard in git's hooks: reports its loss, and refuses commands of agents that bypass it.

use coord_agent::{git_hooks, local_server};
use coord_files::{FILE_MODE, PRIVATE_MODE};
use coord_git::WorkingCopy;

/// Exists while git runs the guard, so that its loss is reported only once.
const FILE: &str = "guarded";

/// A note for the session if git has run the guard before and no longer does.
pub(super) async fn loss_note(working_copy: &WorkingCopy) -> Option<String> {
    let file = local_server::file(working_copy, FILE);
    if git_hooks::is_guarded(working_copy).await {
        let noted = file.create_parents(PRIVATE_MODE).and_then(|_| file.append(FILE_MODE));
        if let Err(error) = noted {
            tracing::debug!(%error, "it cannot be noted that git runs the guard");
        }
        return None;
    }
    let was_guarded = file.remove().unwrap_or(false);
    was_guarded.then(|| {
        "Coord: git no longer runs `coord guard` here, so commits of files that others hold are not blocked. Tell your \
         user: `coord init` restores it, and `coord doctor` shows details."
            .to_owned()
    })
}

/// Why `act`, which bypasses the guard, must not run in `working_copy`. `None` if git runs no guard there.
pub(super) async fn refusal(working_copy: &WorkingCopy, act: &str) -> Option<String> {
    git_hooks::is_guarded(working_copy).await.then(|| {
        format!(
            "STOP: {act} bypasses `coord guard`, which blocks commits of files that others hold. Next: run it without \
             that; if the guard refuses, leave these files out or wait until they are free."
        )
    })
}
