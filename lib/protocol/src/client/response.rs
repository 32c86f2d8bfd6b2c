//! A whole response, bounded in size, and how it is decoded.

use reqwest::header::RETRY_AFTER;
use reqwest::{RequestBuilder, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::error::{ClientError, unreachable};
use crate::plain_text;
use crate::{AgentError, Waiting};

/// Largest response, in bytes: the locks of a whole repository have at most 4 MB.
const MAX_BYTES: usize = 8 << 20;

pub(super) struct WholeResponse {
    pub(super) status: StatusCode,
    retry_after: Option<u64>,
    pub(super) body: Vec<u8>,
}

impl WholeResponse {
    pub(super) async fn fetch(request: RequestBuilder) -> Result<WholeResponse, ClientError> {
        WholeResponse::read(request.send().await.map_err(unreachable)?).await
    }

    pub(super) async fn read(mut response: reqwest::Response) -> Result<WholeResponse, ClientError> {
        let retry_after = response.headers().get(RETRY_AFTER);
        let mut whole = WholeResponse {
            status: response.status(),
            retry_after: retry_after.and_then(|value| value.to_str().ok()?.parse().ok()),
            body: Vec::new(),
        };
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if whole.body.len() + chunk.len() > MAX_BYTES {
                return Err(whole.malformed(format!("it is larger than {MAX_BYTES} bytes")));
            }
            whole.body.extend_from_slice(&chunk);
        }
        Ok(whole)
    }

    /// The decoded body, with texts in their visible form. ASCII without escapes needs no cleaning.
    pub(super) fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        if self.body.is_ascii() && !self.body.contains(&b'\\') {
            return serde_json::from_slice(&self.body);
        }
        let mut json: Json = serde_json::from_slice(&self.body)?;
        plain_text::clean(&mut json);
        serde_json::from_value(json)
    }

    pub(super) fn malformed(&self, problem: String) -> ClientError {
        ClientError::Malformed {
            status: self.status.as_u16(),
            problem,
        }
    }

    /// The error that the server responded with.
    pub(super) fn into_error(self) -> ClientError {
        if self.status == StatusCode::MISDIRECTED_REQUEST {
            return ClientError::OtherServer;
        }
        let (error, orchestration, waiting) = match self.decode::<AgentError>() {
            Ok(body) => (body.error, Some(Box::new(body.orchestration)), body.waiting),
            Err(_) => match self.decode() {
                Ok(error) => (error, None, Waiting::default()),
                Err(error) => return self.malformed(error.to_string()),
            },
        };
        ClientError::Refused {
            status: self.status.as_u16(),
            error: Box::new(error),
            orchestration,
            waiting: Box::new(waiting),
            retry_after: self.retry_after,
        }
    }
}
