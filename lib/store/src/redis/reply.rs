//! Replies and errors of the `redis` crate, converted to ours.

use redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::round_trip::Failure;
use crate::{StoreError, Value};

/// The replies of a pipeline.
///
/// # Errors
/// When the server does not serve requests: it requires a password, or is still loading its data.
pub(super) fn replies(replies: Vec<redis::Value>) -> Result<Vec<Value>, Failure> {
    let replies = replies
        .into_iter()
        .map(value)
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::permanent)?;
    match replies.first() {
        Some(Value::Error(text)) if text.starts_with("NOAUTH") => {
            Err(Failure::permanent(StoreError::Denied(text.clone())))
        }
        Some(Value::Error(text)) if text.starts_with("LOADING") => {
            Err(Failure::transient(StoreError::Unreachable(text.clone())))
        }
        _ => Ok(replies),
    }
}

fn value(reply: redis::Value) -> Result<Value, StoreError> {
    Ok(match reply {
        redis::Value::Nil => Value::Nil,
        redis::Value::Int(number) => Value::Int(number),
        redis::Value::BulkString(bytes) => Value::Bulk(bytes),
        redis::Value::SimpleString(text) => Value::Status(text),
        redis::Value::Okay => Value::Status("OK".into()),
        redis::Value::Array(items) => Value::Array(items.into_iter().map(value).collect::<Result<_, _>>()?),
        redis::Value::ServerError(error) => Value::Error(error_line(&error)),
        _ => {
            return Err(StoreError::Malformed(
                "a reply of a kind that RESP2 does not have".into(),
            ));
        }
    })
}

/// The server's line, code first.
fn error_line(error: &redis::ServerError) -> String {
    match error.details() {
        Some(details) if !details.is_empty() => format!("{} {details}", error.code()),
        _ => error.code().to_owned(),
    }
}

/// Whether `error` concerns one command, and the connection remains usable.
pub(super) fn is_command_error(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension)
}

/// Why there is no reply.
pub(super) fn failure(error: &RedisError) -> Failure {
    match error.kind() {
        ErrorKind::AuthenticationFailed | ErrorKind::Server(ServerErrorKind::NoPerm) => {
            Failure::permanent(StoreError::Denied(server_text(error)))
        }
        ErrorKind::Server(ServerErrorKind::BusyLoading) => {
            Failure::transient(StoreError::Unreachable(server_text(error)))
        }
        ErrorKind::Server(_) | ErrorKind::Extension => match error.code() {
            Some("NOAUTH" | "WRONGPASS") => Failure::permanent(StoreError::Denied(server_text(error))),
            _ => Failure::permanent(StoreError::Failed(server_text(error))),
        },
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => {
            Failure::permanent(StoreError::Malformed("not the Redis protocol".into()))
        }
        _ => Failure::transient(StoreError::Unreachable(error.to_string())),
    }
}

/// Why a login failed. The crate drops the code of an error during the setup of a connection, so a server that requires
/// a password is recognized by its text.
pub(super) fn login_failure(error: &RedisError) -> Failure {
    match error.detail() {
        Some(detail) if detail.contains("Authentication required") => {
            Failure::permanent(StoreError::Denied(format!("NOAUTH {detail}")))
        }
        _ => failure(error),
    }
}

/// The server's text of `error`, without the name of the kind, which the crate adds in its own text.
fn server_text(error: &RedisError) -> String {
    if let (Some(code), Some(detail)) = (error.code(), error.detail()) {
        return format!("{code} {detail}");
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The crate's parse of `bytes`.
    fn parsed(bytes: &[u8]) -> redis::Value {
        redis::parse_redis_value(bytes).expect("RESP")
    }

    #[test]
    fn every_reply_of_resp2_keeps_its_type() {
        let bytes = b"*7\r\n$-1\r\n:-5\r\n$2\r\n\xff\x00\r\n+OK\r\n+PONG\r\n*0\r\n-WRONGTYPE Operation x\r\n";
        let Ok(Value::Array(items)) = value(parsed(bytes)) else {
            panic!("an array")
        };
        let expected = [
            Value::Nil,
            Value::Int(-5),
            Value::Bulk(vec![0xff, 0]),
            Value::Status("OK".into()),
            Value::Status("PONG".into()),
            Value::Array(vec![]),
            Value::Error("WRONGTYPE Operation x".into()),
        ];
        assert_eq!(items, expected);
    }

    #[test]
    fn an_error_keeps_its_words_whatever_its_code() {
        for line in [
            "ERR x y",
            "NOSCRIPT No matching script.",
            "My own error",
            "ONEWORD",
            "NOPERM no",
        ] {
            let reply = value(parsed(format!("-{line}\r\n").as_bytes())).unwrap();
            assert_eq!(reply, Value::Error(line.into()));
        }
    }

    #[test]
    fn a_loading_server_is_unreachable_and_one_that_wants_a_password_denies() {
        let loading = replies(vec![parsed(b"-LOADING Redis is loading the dataset in memory\r\n")]).unwrap_err();
        assert!(
            matches!(loading.error, StoreError::Unreachable(_)) && loading.is_transient,
            "{loading:?}"
        );
        let denied = replies(vec![parsed(b"-NOAUTH Authentication required.\r\n")]).unwrap_err();
        assert!(
            matches!(denied.error, StoreError::Denied(_)) && !denied.is_transient,
            "{denied:?}"
        );
    }
}
