//! KEYS of a function, by the names that `admission/modules/request.lua` gives them.

use serde::Serialize;

use super::reply::{self, Reply};
use coord_store::{Script, Store, StoreError};

/// A key, and the name that a function gives it.
pub type NamedKey = (&'static str, String);

/// KEYS of a function, by name.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    names: Vec<&'static str>,
    keys: Vec<String>,
}

impl Keys {
    pub fn of(keys: impl IntoIterator<Item = NamedKey>) -> Self {
        let mut named = Keys::default();
        named.add(keys);
        named
    }

    /// Adds the keys whose names are new.
    pub fn add(&mut self, keys: impl IntoIterator<Item = NamedKey>) {
        for (name, key) in keys {
            if !self.names.contains(&name) {
                self.names.push(name);
                self.keys.push(key);
            }
        }
    }

    /// Their names in order, separated by blanks.
    pub(crate) fn names(&self) -> String {
        self.names.join(" ")
    }

    /// ARGV of a function without an admission, with the fields of `own`, `()` for none.
    pub fn args<T: Serialize>(&self, own: &T) -> Vec<Vec<u8>> {
        let request = Request {
            keys: &self.names(),
            own,
        };
        // Encoding cannot fail: there are only texts, numbers and lists, under names.
        vec![serde_json::to_vec(&request).unwrap_or_default()]
    }

    /// Runs such a function.
    pub async fn call<T: Serialize>(
        self,
        store: &dyn Store,
        script: &'static Script,
        own: &T,
    ) -> Result<Reply, StoreError> {
        let args = self.args(own);
        reply::call(store, script, self, args).await
    }
}

/// ARGV[1] of `admission/modules/request.lua`, for functions without an admission.
#[derive(Serialize)]
struct Request<'a, T> {
    keys: &'a str,
    #[serde(flatten)]
    own: &'a T,
}

impl From<Keys> for Vec<String> {
    fn from(keys: Keys) -> Self {
        keys.keys
    }
}
