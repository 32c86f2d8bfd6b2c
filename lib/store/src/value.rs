//! Replies of a store: the types of RESP2, which are also all that Upstash's REST API can carry.

/// One reply of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A missing value: a nil bulk string or a nil array.
    Nil,
    Int(i64),
    /// A bulk string: bytes, not necessarily UTF-8.
    Bulk(Vec<u8>),
    /// A status reply, such as `OK`.
    Status(String),
    /// An array of replies.
    Array(Vec<Value>),
    /// An error reply of one command, code first: `WRONGTYPE Operation against a key ...`.
    Error(String),
}

impl Value {
    /// The bulk string `text`.
    pub fn bulk(text: impl Into<Vec<u8>>) -> Self {
        Value::Bulk(text.into())
    }

    /// This reply as UTF-8 text, if it is a string or a status.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Bulk(bytes) => std::str::from_utf8(bytes).ok(),
            Value::Status(text) => Some(text),
            _ => None,
        }
    }

    /// This reply as a number: an integer reply, or a string of decimal digits.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            other => other.as_str()?.parse().ok(),
        }
    }

    /// The elements, if this reply is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The fields of a hash with their values, if this reply is an array. A last field without a value is omitted.
    pub fn as_pairs(&self) -> Option<&[[Value; 2]]> {
        let (pairs, _) = self.as_array()?.as_chunks();
        Some(pairs)
    }
}
