//! Interface changes of tasks, by the same comparison that the server makes.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Result;
use coord_interfaces::{InterfaceComparison, InterfaceResult, InterfaceUnknown, MAX_INTERFACE_BYTES, interface};
use coord_scan::Language;
use tokio::sync::Mutex;

use super::branch::Base;
use super::history::Change;

/// The interfaces of blobs, each read once.
pub struct Interfaces {
    base: Arc<Base>,
    known: Mutex<HashMap<String, Arc<InterfaceResult>>>,
}

impl Interfaces {
    pub fn of(base: Arc<Base>) -> Self {
        Interfaces {
            base,
            known: Mutex::default(),
        }
    }

    /// Whether others can notice a change of the file at `path`, as the hook decides it before an edit.
    pub async fn is_changed(&self, path: &str, (before, after): &Change) -> Result<bool> {
        let Some(before) = before.as_ref().filter(|_| before != after) else {
            // A new file breaks nothing.
            return Ok(false);
        };
        let Some(language) = Language::of_path(path) else {
            // A file that cannot be compared counts as changed.
            return Ok(true);
        };
        let older = self.read(path, language, &before.blob).await?;
        let newer = match after {
            Some(after) => self.read(path, language, &after.blob).await?,
            None => Arc::new(interface(language, b"")),
        };
        Ok(InterfaceComparison::between(&older, &newer).is_change())
    }

    async fn read(&self, path: &str, language: Language, blob: &str) -> Result<Arc<InterfaceResult>> {
        // The language is that of the ending.
        let ending = path.rsplit('.').next().unwrap_or_default();
        let name = format!("{blob} {ending}");
        let mut known = self.known.lock().await;
        if let Some(known) = known.get(&name) {
            return Ok(Arc::clone(known));
        }
        let content = self.base.read(blob, MAX_INTERFACE_BYTES).await?;
        let read = content.map_or(Err(InterfaceUnknown::TooLarge), |content| interface(language, &content));
        Ok(Arc::clone(known.entry(name).or_insert_with(|| Arc::new(read))))
    }
}
