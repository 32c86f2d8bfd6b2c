//! The content of a store, page by page, so that none has to fit into memory whole.

use anyhow::{Context, bail};
use coord_store::{Request, Store, Value};

/// Keys, and elements of a collection, of one page.
pub const PAGE: usize = 500;

/// The names of Coord's keys.
pub struct Keys<'s> {
    store: &'s dyn Store,
    /// `None` after the last page.
    cursor: Option<String>,
}

impl<'s> Keys<'s> {
    /// Those in `store`.
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
        let count = PAGE.to_string();
        let page = one(self.store, &["SCAN", &cursor, "MATCH", "coord:*", "COUNT", &count]).await?;
        let [next, names] = page.as_array().context("the store sent no page of keys")? else {
            bail!("the store sent no page of keys");
        };
        self.cursor = next.as_str().filter(|next| *next != "0").map(str::to_owned);
        Ok(Some(texts(names)))
    }
}

/// The texts in a list.
pub fn texts(list: &Value) -> Vec<String> {
    let items = list.as_array().unwrap_or_default().iter();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// The replies to commands.
///
/// # Errors
/// When the store does not respond, or one of them is an error.
pub async fn ask(store: &dyn Store, commands: &[Vec<&str>]) -> anyhow::Result<Vec<Value>> {
    let words = |command: &Vec<&str>| command.iter().map(|word| word.as_bytes().to_vec()).collect();
    let batch = commands.iter().map(|command| Request::Command(words(command)));
    let replies = store.run(batch.collect()).await?;
    if let Some(Value::Error(error)) = replies.iter().find(|reply| matches!(reply, Value::Error(_))) {
        bail!("the store reports an error: {error}");
    }
    Ok(replies)
}

/// The reply to one command.
///
/// # Errors
/// As [`ask`].
pub async fn one(store: &dyn Store, command: &[&str]) -> anyhow::Result<Value> {
    let replies = ask(store, &[command.to_vec()]).await?;
    replies.into_iter().next().context("the store sent no reply")
}
