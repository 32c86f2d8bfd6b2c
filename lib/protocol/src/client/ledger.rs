//! Calls of `/api/ledger`.

use reqwest::Method;

use super::error::ClientError;
use super::http::Client;
use crate::{LedgerResponse, MapResponse, RecordRequest, RecordResponse, VerifyRequest, VerifyResponse};

/// Filters of `GET /api/ledger`. Without any, it returns all lines, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct LedgerFilter {
    /// Only lines after this one.
    pub after: Option<u64>,
    /// Maximum number of lines, 1 to 500.
    pub limit: Option<usize>,
    /// Only lines about this intent.
    pub intent: Option<String>,
    /// Only lines about this file.
    pub file: Option<String>,
    /// Only this many of the newest lines.
    pub last: Option<usize>,
}

impl Client {
    /// `POST /api/ledger`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn record(&self, request: &RecordRequest) -> Result<RecordResponse, ClientError> {
        let http_request = self.request(Method::POST, "api/ledger")?.json(request);
        self.send(http_request, &[]).await
    }

    /// `GET /api/ledger`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn ledger(&self, repo_url: &str, filter: &LedgerFilter) -> Result<LedgerResponse, ClientError> {
        let after = filter.after.map(|after| after.to_string());
        let limit = filter.limit.map(|limit| limit.to_string());
        let last = filter.last.map(|last| last.to_string());
        let query = [
            ("repo_url", Some(repo_url)),
            ("after", after.as_deref()),
            ("limit", limit.as_deref()),
            ("intent", filter.intent.as_deref()),
            ("file", filter.file.as_deref()),
            ("last", last.as_deref()),
        ];
        // A line's hash covers its exact bytes.
        self.get_exact("api/ledger", &query).await
    }

    /// `GET /api/ledger/checkpoint`: the note, signed where the server has a key.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn ledger_checkpoint(&self, repo_url: &str) -> Result<String, ClientError> {
        let url = self.url_with("api/ledger/checkpoint", &[("repo_url", Some(repo_url))])?;
        self.text(self.http.get(url)).await
    }

    /// `POST /api/ledger/verify`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn verify_files(&self, request: &VerifyRequest) -> Result<VerifyResponse, ClientError> {
        let http_request = self.request(Method::POST, "api/ledger/verify")?.json(request);
        self.send(http_request, &[]).await
    }

    /// `GET /api/ledger/map`, for one branch or for all.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn intent_map(&self, repo_url: &str, branch: Option<&str>) -> Result<MapResponse, ClientError> {
        let query = [("repo_url", Some(repo_url)), ("branch", branch)];
        self.get("api/ledger/map", &query).await
    }

    /// `GET /api/ledger/map` as Markdown.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn intent_map_text(&self, repo_url: &str) -> Result<String, ClientError> {
        let query = [("repo_url", Some(repo_url)), ("format", Some("markdown"))];
        self.text(self.http.get(self.url_with("api/ledger/map", &query)?)).await
    }
}
