//! Reads the reply of a script: `{ OUTCOME, now, ... }`, element by element.

use serde::de::DeserializeOwned;

use crate::domain::CommitSha;
use crate::store::{Request, Script, Store, StoreError, Value};

/// Runs one script and opens its reply.
pub(super) async fn call(
    store: &dyn Store,
    script: &'static Script,
    keys: impl Into<Vec<String>>,
    args: Vec<Vec<u8>>,
) -> Result<Reply, StoreError> {
    let mut replies = store
        .run(vec![Request::Script {
            script,
            keys: keys.into(),
            args,
        }])
        .await?
        .into_iter();
    Reply::open(script, replies.next())
}

/// A reply, read from front to back.
pub(super) struct Reply {
    script: &'static Script,
    /// The named outcome.
    pub outcome: String,
    /// The store's clock, Unix seconds.
    pub now: i64,
    rest: std::vec::IntoIter<Value>,
}

impl Reply {
    pub fn open(script: &'static Script, value: Option<Value>) -> Result<Self, StoreError> {
        let items = match value {
            Some(Value::Array(items)) => items,
            Some(Value::Error(message)) => return Err(StoreError::Failed(format!("{}: {message}", script.name))),
            other => {
                return Err(StoreError::Malformed(format!(
                    "{} returned {}",
                    script.name,
                    shape(other.as_ref())
                )));
            }
        };
        let mut reply = Reply {
            script,
            outcome: String::new(),
            now: 0,
            rest: items.into_iter(),
        };
        reply.outcome = reply.text()?;
        reply.now = reply.number()?;
        Ok(reply)
    }

    pub fn malformed(&self, what: &str) -> StoreError {
        StoreError::Malformed(format!("{} returned {} with {what}", self.script.name, self.outcome))
    }

    pub fn text(&mut self) -> Result<String, StoreError> {
        match self.rest.next() {
            Some(Value::Bulk(bytes)) => String::from_utf8(bytes).map_err(|_| self.malformed("text that is not UTF-8")),
            Some(Value::Status(text)) => Ok(text),
            other => Err(self.malformed(&format!("{} for text", shape(other.as_ref())))),
        }
    }

    /// Text, `None` if it is empty.
    pub fn optional_text(&mut self) -> Result<Option<String>, StoreError> {
        Ok(Some(self.text()?).filter(|text| !text.is_empty()))
    }

    pub fn number(&mut self) -> Result<i64, StoreError> {
        let value = self.rest.next();
        value
            .as_ref()
            .and_then(Value::as_int)
            .ok_or_else(|| self.malformed("no number where one is expected"))
    }

    /// A number, `None` for empty text.
    pub fn optional_number(&mut self) -> Result<Option<u64>, StoreError> {
        if self
            .rest
            .as_slice()
            .first()
            .is_some_and(|value| value.as_str() == Some(""))
        {
            self.rest.next();
            return Ok(None);
        }
        self.number().map(|number| Some(number.unsigned_abs()))
    }

    /// A commit.
    pub fn commit(&mut self) -> Result<CommitSha, StoreError> {
        let text = self.text()?;
        CommitSha::parse(&text).map_err(|error| self.malformed(&error.to_string()))
    }

    /// A commit, `None` for empty text.
    pub fn optional_commit(&mut self) -> Result<Option<CommitSha>, StoreError> {
        let text = self.optional_text()?;
        let commit = text.as_deref().map(CommitSha::parse).transpose();
        commit.map_err(|error| self.malformed(&error.to_string()))
    }

    /// `'1'` or `'0'`.
    pub fn flag(&mut self) -> Result<bool, StoreError> {
        match self.text()?.as_str() {
            "1" => Ok(true),
            "0" => Ok(false),
            _ => Err(self.malformed("no flag where one is expected")),
        }
    }

    pub fn texts(&mut self) -> Result<Vec<String>, StoreError> {
        self.lists(Reply::text)
    }

    /// A list whose elements are each read by `read`, from a reply of that one element.
    fn lists<T>(&mut self, read: impl Fn(&mut Reply) -> Result<T, StoreError>) -> Result<Vec<T>, StoreError> {
        let Some(Value::Array(items)) = self.rest.next() else {
            return Err(self.malformed("no list where one is expected"));
        };
        let mut inner = self.inner(items);
        let mut list = Vec::with_capacity(inner.rest.len());
        while inner.rest.len() > 0 {
            list.push(read(&mut inner)?);
        }
        Ok(list)
    }

    /// A list of tuples, each read by `read`.
    pub fn tuples<T>(&mut self, read: impl Fn(&mut Reply) -> Result<T, StoreError>) -> Result<Vec<T>, StoreError> {
        self.lists(|list| match list.rest.next() {
            Some(Value::Array(items)) => read(&mut list.inner(items)),
            _ => Err(list.malformed("no tuple where one is expected")),
        })
    }

    /// A value that is JSON in a text.
    pub fn object<T: DeserializeOwned>(&mut self) -> Result<T, StoreError> {
        let object = self.following();
        self.rest.next();
        object
    }

    /// The same, which stays to be read.
    pub fn following<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        match self.rest.as_slice().first() {
            Some(Value::Bulk(json)) => serde_json::from_slice(json).map_err(|error| self.malformed(&error.to_string())),
            other => Err(self.malformed(&format!("{} for JSON", shape(other)))),
        }
    }

    fn inner(&self, items: Vec<Value>) -> Reply {
        Reply {
            script: self.script,
            outcome: self.outcome.clone(),
            now: self.now,
            rest: items.into_iter(),
        }
    }
}

/// The type of a reply. Its content may be a caller's text, and is omitted.
fn shape(value: Option<&Value>) -> &'static str {
    match value {
        None => "nothing",
        Some(Value::Nil) => "nil",
        Some(Value::Int(_)) => "a number",
        Some(Value::Bulk(_)) => "a string",
        Some(Value::Status(_)) => "a status",
        Some(Value::Array(_)) => "a list",
        Some(Value::Error(_)) => "an error",
    }
}

/// A value that is JSON in a text of JSON, as scripts pass lock entries on.
#[derive(Debug)]
pub(super) struct JsonText<T>(pub T);

impl<'de, T: DeserializeOwned> serde::Deserialize<'de> for JsonText<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let value = serde_json::from_str(&text).map_err(serde::de::Error::custom)?;
        Ok(JsonText(value))
    }
}

/// Reads a list of values that are each JSON in a text.
pub(super) fn json_texts<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: DeserializeOwned,
{
    serde::Deserialize::deserialize(deserializer).map(in_texts)
}

/// What each of these texts has.
pub(super) fn in_texts<T>(texts: Vec<JsonText<T>>) -> Vec<T> {
    texts.into_iter().map(|JsonText(value)| value).collect()
}
