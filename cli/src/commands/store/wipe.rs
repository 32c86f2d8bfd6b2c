//! `coord store wipe`: deletes Coord's keys.

use std::io::{Write, stderr};

use anyhow::{Context, ensure};
use coord_agent::terminal::question;
use coord_store::{Store, Value};

use super::contents::{Keys, run_commands};

/// Deletes Coord's keys in `store`, after asking unless `is_confirmed`.
///
/// # Errors
/// When the answer is no, there is no terminal to ask, or the store does not respond. In the last case some keys may be
/// deleted.
pub async fn run(store: &dyn Store, is_confirmed: bool) -> anyhow::Result<()> {
    if !is_confirmed {
        ensure!(
            question::has_person(&stderr()),
            "nothing was deleted: there is no terminal to ask; run it with --yes"
        );
        let sentence = format!(
            "Delete all locks, intents, teams and the ledger in the {}?",
            store.describe()
        );
        ensure!(question::is_confirmed(stderr(), &sentence)?, "nothing was deleted");
    }
    let mut deleted = 0;
    let mut keys = Keys::of(store);
    while let Some(page) = keys.next().await? {
        // One command for each key: the keys of one page may be on several servers of a cluster.
        let commands: Vec<Vec<&str>> = page.iter().map(|key| vec!["UNLINK", key]).collect();
        if !commands.is_empty() {
            let replies = run_commands(store, &commands).await?;
            deleted += replies.iter().filter_map(Value::as_int).sum::<i64>();
        }
    }
    writeln!(stderr(), "Deleted {deleted} keys.").context("standard error")
}
