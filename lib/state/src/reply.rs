//! Reads the reply of a script: `{ OUTCOME, now, JSON }`, where an outcome alone has no JSON.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use coord_store::{Request, Script, Store, StoreError, Value};

/// Runs one script and opens its reply.
pub async fn call(
    store: &dyn Store,
    script: &'static Script,
    keys: impl Into<Vec<String>>,
    args: Vec<Vec<u8>>,
) -> Result<Reply, StoreError> {
    let (reply, _) = call_with_reads(store, script, keys, args, Vec::new()).await?;
    Ok(reply)
}

/// The same with `reads` in its round trip, and their replies.
pub(crate) async fn call_with_reads(
    store: &dyn Store,
    script: &'static Script,
    keys: impl Into<Vec<String>>,
    args: Vec<Vec<u8>>,
    reads: Vec<Request>,
) -> Result<(Reply, Vec<Value>), StoreError> {
    let mut batch = vec![Request::Script {
        script,
        keys: keys.into(),
        args,
    }];
    batch.extend(reads);
    let mut replies = store.run(batch).await?.into_iter();
    let reply = Reply::open(script, replies.next())?;
    Ok((reply, replies.collect()))
}

pub struct Reply {
    script: &'static Script,
    pub outcome: String,
    /// The store's clock, Unix seconds.
    pub now: i64,
    answer: Option<Value>,
}

impl Reply {
    pub fn open(script: &'static Script, value: Option<Value>) -> Result<Self, StoreError> {
        let mut items = match value {
            Some(Value::Array(items)) => items.into_iter(),
            Some(Value::Error(message)) => return Err(StoreError::Failed(format!("{}: {message}", script.name))),
            other => {
                return Err(StoreError::Malformed(format!(
                    "{} returned {}",
                    script.name,
                    shape(other.as_ref())
                )));
            }
        };
        let outcome = items.next().as_ref().and_then(Value::as_str).map(str::to_owned);
        let now = items.next().as_ref().and_then(Value::as_int);
        let (Some(outcome), Some(now)) = (outcome, now) else {
            let text = format!("{} returned no outcome with a time", script.name);
            return Err(StoreError::Malformed(text));
        };
        Ok(Reply {
            script,
            outcome,
            now,
            answer: items.next(),
        })
    }

    pub fn malformed(&self, detail: &str) -> StoreError {
        StoreError::Malformed(format!("{} returned {} with {detail}", self.script.name, self.outcome))
    }

    /// The error of an outcome that no version of the script has.
    pub fn unknown<T>(&self) -> Result<T, StoreError> {
        Err(self.malformed("an unknown outcome"))
    }

    /// Fails unless the outcome is `only`: apart from denials, the script has no other.
    pub fn check_outcome(&self, only: &str) -> Result<(), StoreError> {
        match self.outcome == only {
            true => Ok(()),
            false => self.unknown(),
        }
    }

    /// The answer of such a script.
    pub fn object_of<T: DeserializeOwned>(&self, only: &str) -> Result<T, StoreError> {
        self.check_outcome(only)?;
        self.object()
    }

    pub fn object<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        match &self.answer {
            Some(Value::Bulk(json)) => serde_json::from_slice(json).map_err(|error| self.malformed(&error.to_string())),
            other => Err(self.malformed(&format!("{} for JSON", shape(other.as_ref())))),
        }
    }
}

/// An answer that is a count.
#[derive(Deserialize)]
pub struct Counted {
    pub count: u64,
}

/// The type of a reply, without its content, which may be a caller's text.
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

/// A value that is encoded as JSON within a JSON string, as scripts pass on stored lock entries.
#[derive(Debug)]
pub struct JsonText<T>(pub T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for JsonText<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let value = serde_json::from_str(&text).map_err(serde::de::Error::custom)?;
        Ok(JsonText(value))
    }
}

/// Deserializes a list of [`JsonText`] values.
pub fn json_texts<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: DeserializeOwned,
{
    Deserialize::deserialize(deserializer).map(unwrap_json_texts)
}

/// The values of these texts.
pub fn unwrap_json_texts<T>(texts: Vec<JsonText<T>>) -> Vec<T> {
    texts.into_iter().map(|JsonText(value)| value).collect()
}
