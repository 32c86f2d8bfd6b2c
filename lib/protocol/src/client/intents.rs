//! Calls of `/api/intents`.

use reqwest::{Method, StatusCode};

use super::error::ClientError;
use super::http::{Client, segment};
use crate::{
    EditIntentRequest, ErrorCode, IntentAct, IntentResponse, IntentsResponse, IntentsView, NewIntentRequest,
    UsageRequest,
};

/// Refusals with these statuses have the body of a response.
const REFUSAL_STATUSES: [StatusCode; 3] = [
    StatusCode::CONFLICT,
    StatusCode::FORBIDDEN,
    StatusCode::SERVICE_UNAVAILABLE,
];

impl IntentsView {
    fn parameter(self) -> Option<&'static str> {
        match self {
            IntentsView::List => None,
            IntentsView::State => Some("state"),
            IntentsView::Context => Some("context"),
        }
    }
}

impl Client {
    /// `GET /api/intents`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn intents(&self, repo_url: &str, view: IntentsView) -> Result<IntentsResponse, ClientError> {
        let query = [("repo_url", Some(repo_url)), ("view", view.parameter())];
        self.get("api/intents", &query).await
    }

    /// [`Self::intents`], or an empty list for a server that was built without intents.
    ///
    /// # Errors
    /// When the server returns another error, or no response.
    pub async fn intents_if_any(&self, repo_url: &str, view: IntentsView) -> Result<IntentsResponse, ClientError> {
        match self.intents(repo_url, view).await {
            Err(ClientError::Refused { error, .. }) if error.error == ErrorCode::UnknownRoute => {
                Ok(IntentsResponse::default())
            }
            result => result,
        }
    }

    /// `GET /api/intents/{id}`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn intent(&self, repo_url: &str, id: &str, view: IntentsView) -> Result<IntentResponse, ClientError> {
        let query = [("repo_url", Some(repo_url)), ("view", view.parameter())];
        self.get(&path(id, None)?, &query).await
    }

    /// `POST /api/intents`. A refusal by the rules is returned as a response: check [`IntentResponse::success`].
    ///
    /// # Errors
    /// When the server returns another error, or no response.
    pub async fn new_intent(&self, request: &NewIntentRequest) -> Result<IntentResponse, ClientError> {
        let http_request = self.request(Method::POST, "api/intents")?.json(request);
        self.send(http_request, &REFUSAL_STATUSES).await
    }

    /// `PATCH /api/intents/{id}`. A refusal by the rules is returned as a response.
    ///
    /// # Errors
    /// When the server returns another error, or no response.
    pub async fn edit_intent(&self, id: &str, request: &EditIntentRequest) -> Result<IntentResponse, ClientError> {
        let http_request = self.request(Method::PATCH, &path(id, None)?)?.json(request);
        self.send(http_request, &REFUSAL_STATUSES).await
    }

    /// `POST /api/intents/{id}/select` and its siblings. A refusal by the rules is returned as a response.
    ///
    /// # Errors
    /// When the server returns another error, or no response.
    pub async fn act_on_intent(&self, id: &str, act: &IntentAct) -> Result<IntentResponse, ClientError> {
        let http_request = self.request(Method::POST, &path(id, Some(act.name()))?)?.json(act);
        self.send(http_request, &REFUSAL_STATUSES).await
    }

    /// `POST /api/intents/{id}/usage`. A refusal by the rules is returned as a response.
    ///
    /// # Errors
    /// When the server returns another error, or no response.
    pub async fn use_intent(&self, id: &str, request: &UsageRequest) -> Result<IntentResponse, ClientError> {
        let http_request = self.request(Method::POST, &path(id, Some("usage"))?)?.json(request);
        self.send(http_request, &REFUSAL_STATUSES).await
    }
}

/// The path of an intent, or of an act on it. The id cannot lead to another path: it is one segment.
fn path(id: &str, act: Option<&str>) -> Result<String, ClientError> {
    let id = segment(id)?;
    Ok(match act {
        None => format!("api/intents/{id}"),
        Some(act) => format!("api/intents/{id}/{act}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stays_one_segment_of_the_path() {
        assert_eq!(path("INT-001", None).unwrap(), "api/intents/INT-001");
        assert_eq!(path("a.b", Some("select")).unwrap(), "api/intents/a.b/select");
        for wrong in ["", "..", "a/b", "a?b", "a#b", "a%2fb", "ä", &"a".repeat(65)] {
            assert!(matches!(path(wrong, None), Err(ClientError::Invalid(_))), "{wrong}");
        }
    }
}
