//! The content of a store, read in pages, so that memory never has to hold all of it.

use anyhow::{Context, bail};
use coord_store::{Request, Store, Value};

/// Number of keys, or of elements of a collection, on one page.
pub const PAGE_SIZE: usize = 500;

/// The names of Coord's keys.
pub struct Keys<'s> {
    store: &'s dyn Store,
    /// `None` after the last page.
    cursor: Option<String>,
}

impl<'s> Keys<'s> {
    pub fn of(store: &'s dyn Store) -> Self {
        Keys {
            store,
            cursor: Some("0".to_owned()),
        }
    }

    /// The next page, which may be empty; `None` after the last one. Redis may return a key twice.
    ///
    /// # Errors
    /// When the store does not respond.
    pub async fn next(&mut self) -> anyhow::Result<Option<Vec<String>>> {
        let Some(cursor) = self.cursor.take() else {
            return Ok(None);
        };
        let count = PAGE_SIZE.to_string();
        let page = run_command(self.store, &["SCAN", &cursor, "MATCH", "coord:*", "COUNT", &count]).await?;
        let [next, names] = page.as_array().context("the store sent no page of keys")? else {
            bail!("the store sent no page of keys");
        };
        self.cursor = next.as_str().filter(|next| *next != "0").map(str::to_owned);
        Ok(Some(strings(names)))
    }
}

pub fn strings(list: &Value) -> Vec<String> {
    let items = list.as_array().unwrap_or_default().iter();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Runs the commands in one request, and returns the reply to each.
///
/// # Errors
/// When the store does not respond, or one of the replies is an error.
pub async fn run_commands(store: &dyn Store, commands: &[Vec<&str>]) -> anyhow::Result<Vec<Value>> {
    let words = |command: &Vec<&str>| command.iter().map(|word| word.as_bytes().to_vec()).collect();
    let batch = commands.iter().map(|command| Request::Command(words(command)));
    let replies = store.run(batch.collect()).await?;
    if let Some(Value::Error(error)) = replies.iter().find(|reply| matches!(reply, Value::Error(_))) {
        bail!("the store reports an error: {error}");
    }
    Ok(replies)
}

/// Runs one command, and returns the reply.
///
/// # Errors
/// As [`run_commands`].
pub async fn run_command(store: &dyn Store, command: &[&str]) -> anyhow::Result<Value> {
    let replies = run_commands(store, &[command.to_vec()]).await?;
    replies.into_iter().next().context("the store sent no reply")
}
