//! The guard in git's hooks, as the hooks of agents look after it: its loss is said, and no command of an agent goes past it.

use coord_agent::{git_hooks, local_server};
use coord_files::{FILE_MODE, PRIVATE_MODE};
use coord_git::WorkingCopy;

/// There while git runs the guard, so that its loss is said once.
const FILE: &str = "guarded";

/// A note for the session if git has run the guard before and no longer does.
pub(super) async fn note(working_copy: &WorkingCopy) -> Option<String> {
    let file = local_server::file(working_copy, FILE);
    if git_hooks::is_guarded(working_copy).await {
        let noted = file.make_parents(PRIVATE_MODE).and_then(|_| file.append(FILE_MODE));
        if let Err(error) = noted {
            tracing::debug!(%error, "it cannot be noted that git runs the guard");
        }
        return None;
    }
    let was_there = file.remove().is_ok_and(|was_there| was_there);
    was_there.then(|| {
        "Coord: git no longer runs `coord guard` here, so that nothing keeps commits from files of others. Tell your user: `coord init` \
         puts it back, and `coord doctor` says more."
            .to_owned()
    })
}

/// Why `act`, which goes past the guard, must not run in `working_copy`; `None` where git runs no guard there.
pub(super) async fn refusal(working_copy: &WorkingCopy, act: &str) -> Option<String> {
    git_hooks::is_guarded(working_copy).await.then(|| {
        format!(
            "STOP: {act} goes past `coord guard`, which keeps commits from files that others hold. Next: run it without that; where the \
             guard refuses, leave these files out or wait until they are free."
        )
    })
}
