//! Typed reads: plain commands whose replies are decoded in one place.

use coord_store::{Request, Store, StoreError, Value};
use serde::de::DeserializeOwned;

type Decode<T> = Box<dyn FnOnce(Vec<Value>) -> Result<T, StoreError> + Send>;

/// A read of the store, alone or in the round trip of a script.
pub struct Read<T> {
    requests: Vec<Request>,
    decode: Decode<T>,
}

impl Read<()> {
    /// No read.
    pub fn nothing() -> Self {
        Read {
            requests: Vec::new(),
            decode: Box::new(|_| Ok(())),
        }
    }
}

impl<T: Send + 'static> Read<T> {
    /// A read by `requests`; `decode` takes as many replies as there are requests, none of them an error.
    pub fn new<const N: usize>(
        requests: [Request; N],
        decode: impl FnOnce([Value; N]) -> Result<T, StoreError> + Send + 'static,
    ) -> Self {
        Read {
            requests: requests.into(),
            decode: Box::new(|replies| decode(into_array(replies)?)),
        }
    }

    /// This read and `other`, in one round trip.
    #[must_use]
    pub fn and<U: Send + 'static>(self, other: Read<U>) -> Read<(T, U)> {
        let own_count = self.requests.len();
        Read {
            requests: self.requests.into_iter().chain(other.requests).collect(),
            decode: Box::new(move |mut replies| {
                let other_replies = replies.split_off(own_count.min(replies.len()));
                Ok(((self.decode)(replies)?, (other.decode)(other_replies)?))
            }),
        }
    }

    /// This read, with `change` applied to its value.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U + Send + 'static) -> Read<U> {
        Read {
            requests: self.requests,
            decode: Box::new(|replies| Ok(change((self.decode)(replies)?))),
        }
    }

    /// Runs the read. One round trip.
    ///
    /// # Errors
    /// When the store does not respond, or its reply is malformed.
    pub async fn run(self, store: &dyn Store) -> Result<T, StoreError> {
        let (requests, decode) = self.into_parts();
        decode(store.run(requests).await?)
    }

    /// The requests, and the decoder of their replies.
    pub fn into_parts(self) -> (Vec<Request>, impl FnOnce(Vec<Value>) -> Result<T, StoreError>) {
        let decode = self.decode;
        let decode = |replies: Vec<Value>| match replies.iter().find(|reply| matches!(reply, Value::Error(_))) {
            Some(Value::Error(error)) => Err(StoreError::Failed(error.clone())),
            _ => decode(replies),
        };
        (self.requests, decode)
    }
}

/// The value of stored JSON.
pub fn parse_json<T: DeserializeOwned>(json: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(json).map_err(|error| StoreError::Malformed(error.to_string()))
}

fn into_array<const N: usize>(replies: Vec<Value>) -> Result<[Value; N], StoreError> {
    <[Value; N]>::try_from(replies)
        .map_err(|replies| StoreError::Malformed(format!("{} replies to {N} requests", replies.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number() -> Read<i64> {
        let request = Request::command(["ZCARD", "k"]);
        Read::new([request], |[count]| {
            count
                .as_int()
                .ok_or_else(|| StoreError::Malformed("no number".to_owned()))
        })
    }

    #[test]
    fn each_read_of_a_pair_decodes_its_own_replies() {
        let (requests, decode) = number().and(Read::nothing()).and(number()).into_parts();
        assert_eq!(requests.len(), 2);
        let decoded = decode(vec![Value::Int(1), Value::Int(2)]).unwrap();
        assert_eq!(decoded, ((1, ()), 2));
    }

    #[test]
    fn an_error_or_a_missing_or_surplus_reply_is_an_error() {
        for (replies, expected) in [
            (vec![], "0 replies to 1 requests"),
            (vec![Value::Int(1), Value::Int(2)], "2 replies to 1 requests"),
            (vec![Value::Nil], "no number"),
            (vec![Value::Error("ERR busy".to_owned())], "ERR busy"),
        ] {
            let (_, decode) = number().into_parts();
            let error = decode(replies).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
