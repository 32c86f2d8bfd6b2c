//! The client: its settings, and the operations on locks and the graph.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, RequestBuilder, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use url::Url;

use super::error::{ClientError, unreachable};
use super::response::WholeResponse;
use crate::loopback::is_loopback;
use crate::plain_text;
use crate::{ActivityResponse, CheckRequest, CheckResponse, LocksResponse, PostRequest, PostResponse};

/// Time limit of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time limit of a request: a server responds within 25 seconds.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The header that names the server that a request is for: the `instance` that a `coord serve` announces.
///
/// That server sends the header back. Another server that has the address now refuses the request with status 421.
pub const SERVER_HEADER: &str = "x-coord-server";

/// A client of one server. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) http: reqwest::Client,
    base: Url,
}

/// The settings of a client.
#[derive(Clone, Copy, Debug)]
pub struct ClientSettings<'a> {
    /// The server's address.
    pub base: &'a str,
    /// The bearer token.
    pub token: Option<&'a SecretString>,
    /// The value of `X-Coord-Agent`.
    pub agent_id: Option<&'a str>,
    /// The server that requests are for, as in [`SERVER_HEADER`]; any server if `None`.
    pub server: Option<&'a str>,
    /// Time limit of a request.
    pub limit: Duration,
}

/// Filters of `GET /api/locks`. Without any, it returns every lock of the repository.
#[derive(Clone, Debug, Default)]
pub struct LocksFilter {
    /// Only locks on this branch.
    pub branch: Option<String>,
    /// Only the caller's own locks.
    pub is_own: bool,
    /// Only locks of this agent.
    pub agent_id: Option<String>,
}

impl LocksFilter {
    /// Only the locks that the caller holds as the agent `agent_id`.
    pub fn held_by(agent_id: &str) -> Self {
        LocksFilter {
            branch: None,
            is_own: true,
            agent_id: Some(agent_id.to_owned()),
        }
    }
}

/// Filters of `GET /api/activity`. Without `after`, it returns the newest events of the repository.
#[derive(Clone, Debug, Default)]
pub struct ActivityFilter {
    /// Only events of this branch.
    pub branch: Option<String>,
    /// Only events after this one, the oldest first: the `cursor` of an earlier response.
    pub after: Option<String>,
    /// Maximum number of events, 1 to 100; 50 if `None`.
    pub limit: Option<usize>,
}

/// Filters of `GET /api/graph`: the graph around one file.
#[derive(Clone, Debug, Default)]
pub struct GraphFilter {
    /// The file.
    pub focus: Option<String>,
    /// Maximum number of steps from the file.
    pub depth: Option<u32>,
    /// `imports`, `importers` or `both`.
    pub direction: Option<String>,
}

impl Client {
    /// A client of the server at `base`. `token` is the bearer token, `agent_id` the value of `X-Coord-Agent`.
    ///
    /// # Errors
    /// As [`Client::with_settings`].
    pub fn new(base: &str, token: Option<&SecretString>, agent_id: Option<&str>) -> Result<Self, ClientError> {
        Client::with_settings(ClientSettings {
            base,
            token,
            agent_id,
            server: None,
            limit: REQUEST_TIMEOUT,
        })
    }

    /// A client with these settings.
    ///
    /// # Errors
    /// When `base` is not an HTTP URL, or has a credential, a query or a fragment. Also when `token` or `agent_id` has
    /// characters that a header cannot have.
    pub fn with_settings(settings: ClientSettings<'_>) -> Result<Self, ClientError> {
        let ClientSettings {
            base,
            token,
            agent_id,
            server,
            limit,
        } = settings;
        let invalid = |problem: String| ClientError::Invalid(problem);
        // No message quotes `base`: it may contain a password, even if it is not a URL.
        let base = Url::parse(base).map_err(|error| invalid(format!("the server's address is not a URL: {error}")))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(invalid("the server's address is not an http or https URL".to_owned()));
        }
        if !base.username().is_empty() || base.password().is_some() {
            let advice = "the server's address contains a user name or password: pass the token separately";
            return Err(invalid(advice.to_owned()));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(invalid("the server's address has a query or a fragment".to_owned()));
        }
        let mut headers = HeaderMap::new();
        if let Some(token) = token {
            let value = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()));
            let mut value =
                value.map_err(|_| invalid("the token has characters that a header cannot have".to_owned()))?;
            value.set_sensitive(true);
            headers.insert("authorization", value);
        }
        if let Some(agent_id) = agent_id {
            let value = HeaderValue::try_from(agent_id);
            headers.insert(
                "x-coord-agent",
                value.map_err(|_| invalid("the agent id has characters that a header cannot have".to_owned()))?,
            );
        }
        if let Some(server) = server {
            let value = HeaderValue::try_from(server);
            headers.insert(
                SERVER_HEADER,
                value.map_err(|_| invalid("the server's name has characters that a header cannot have".to_owned()))?,
            );
        }
        let mut http = reqwest::Client::builder()
            .default_headers(headers)
            .connect_timeout(CONNECT_TIMEOUT.min(limit))
            .timeout(limit)
            .redirect(reqwest::redirect::Policy::none());
        if base.scheme() == "http" {
            // Without encryption the certificates are not needed, and reading them takes longer than a request.
            http = http.tls_certs_only([]);
        }
        if is_loopback(&base) {
            http = http.no_proxy();
        }
        let http = http.build().map_err(ClientError::Unreachable)?;
        Ok(Client { http, base })
    }

    /// `POST /api/check_status`. An OFFLINE response (status 503) is returned like any other.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn check_status(&self, request: &CheckRequest) -> Result<CheckResponse, ClientError> {
        let http_request = self.request(Method::POST, "api/check_status")?.json(request);
        self.send(http_request, &[StatusCode::SERVICE_UNAVAILABLE]).await
    }

    /// `POST /api/post_status`. A refusal (409) is returned as a response: check [`PostResponse::success`].
    ///
    /// # Errors
    /// When the server returns another error, or no response.
    pub async fn post_status(&self, request: &PostRequest) -> Result<PostResponse, ClientError> {
        let http_request = self.request(Method::POST, "api/post_status")?.json(request);
        let response_statuses = [StatusCode::CONFLICT, StatusCode::SERVICE_UNAVAILABLE];
        self.send(http_request, &response_statuses).await
    }

    /// `GET /api/locks`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn locks(&self, repo_url: &str, filter: &LocksFilter) -> Result<LocksResponse, ClientError> {
        let query = [
            ("repo_url", Some(repo_url)),
            ("branch", filter.branch.as_deref()),
            ("holder", filter.is_own.then_some("me")),
            ("agent_id", filter.agent_id.as_deref()),
        ];
        self.get("api/locks", &query).await
    }

    /// `GET /api/activity`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn activity(&self, repo_url: &str, filter: &ActivityFilter) -> Result<ActivityResponse, ClientError> {
        let limit = filter.limit.map(|limit| limit.to_string());
        let query = [
            ("repo_url", Some(repo_url)),
            ("branch", filter.branch.as_deref()),
            ("after", filter.after.as_deref()),
            ("limit", limit.as_deref()),
        ];
        self.get("api/activity", &query).await
    }

    /// `GET /api/graph`, as JSON.
    ///
    /// # Errors
    /// When the server returns an error, or no response, or a graph that is too large for a response.
    pub async fn graph(&self, repo_url: &str, branch: &str, filter: &GraphFilter) -> Result<Json, ClientError> {
        let depth = filter.depth.map(|depth| depth.to_string());
        let query = [
            ("repo_url", Some(repo_url)),
            ("branch", Some(branch)),
            ("focus", filter.focus.as_deref()),
            ("depth", depth.as_deref()),
            ("direction", filter.direction.as_deref()),
        ];
        self.get("api/graph", &query).await
    }

    /// `GET /api/health`, as JSON. The report of an unhealthy server (503) is returned like any other.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn health(&self) -> Result<Json, ClientError> {
        let request = self.request(Method::GET, "api/health")?;
        self.send(request, &[StatusCode::SERVICE_UNAVAILABLE]).await
    }

    /// Whether the server that [`ClientSettings::server`] names has the address.
    ///
    /// # Errors
    /// When no server responds there in time.
    pub async fn finds_server(&self) -> Result<bool, ClientError> {
        let response = self.request(Method::HEAD, "")?.send().await.map_err(unreachable)?;
        Ok(response.headers().contains_key(SERVER_HEADER))
    }

    /// `GET path` with the parameters that have a value.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, Option<&str>)],
    ) -> Result<T, ClientError> {
        self.send(self.http.get(self.url_with(path, query)?), &[]).await
    }

    pub(super) fn url_with(&self, path: &str, query: &[(&str, Option<&str>)]) -> Result<Url, ClientError> {
        let mut url = self.url(path)?;
        let parameters = query.iter().filter_map(|(name, value)| Some((name, (*value)?)));
        url.query_pairs_mut().extend_pairs(parameters);
        Ok(url)
    }

    /// `GET path` with `query`: the JSON as the server sends it, for callers that pass it on.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn read(&self, path: &str, query: &[(&str, &str)]) -> Result<Box<RawValue>, ClientError> {
        let mut url = self.url(path)?;
        url.query_pairs_mut().extend_pairs(query);
        let response: Json = self.send(self.http.get(url), &[]).await?;
        serde_json::value::to_raw_value(&response).map_err(|error| ClientError::Invalid(error.to_string()))
    }

    pub(super) fn url(&self, path: &str) -> Result<Url, ClientError> {
        let mut base = self.base.clone();
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        base.join(path).map_err(|error| ClientError::Invalid(error.to_string()))
    }

    pub(super) fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, ClientError> {
        Ok(self.http.request(method, self.url(path)?))
    }

    /// Sends a request and decodes the response. An error with one of `response_statuses` is returned as a response if
    /// its body has the form of one.
    pub(super) async fn send<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        response_statuses: &[StatusCode],
    ) -> Result<T, ClientError> {
        let response = WholeResponse::fetch(request).await?;
        if response.status.is_success() {
            return response.decode().map_err(|error| response.malformed(error.to_string()));
        }
        if response_statuses.contains(&response.status)
            && let Ok(decoded) = response.decode()
        {
            return Ok(decoded);
        }
        Err(response.into_error())
    }

    /// `GET path`, with all texts exactly as the server sends them.
    pub(super) async fn get_exact<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, Option<&str>)],
    ) -> Result<T, ClientError> {
        let response = WholeResponse::fetch(self.http.get(self.url_with(path, query)?)).await?;
        if !response.status.is_success() {
            return Err(response.into_error());
        }
        serde_json::from_slice(&response.body).map_err(|error| response.malformed(error.to_string()))
    }

    /// Sends a request and returns the response as visible text.
    pub(super) async fn text(&self, request: RequestBuilder) -> Result<String, ClientError> {
        let response = WholeResponse::fetch(request).await?;
        if !response.status.is_success() {
            return Err(response.into_error());
        }
        std::str::from_utf8(&response.body)
            .map(|text| plain_text::visible_text(text).into_owned())
            .map_err(|_| response.malformed("it is not UTF-8".to_owned()))
    }
}

/// `id`, if it is one segment of a path: the id of an intent or a task, or the name of a team.
pub(super) fn segment(id: &str) -> Result<&str, ClientError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if (1..=64).contains(&id.len()) && id.bytes().all(is_plain) && !id.starts_with('.') {
        return Ok(id);
    }
    Err(ClientError::Invalid(format!(
        "{id:?} is not an id: 1 to 64 letters, digits, '.', '_' and '-', no leading dot"
    )))
}
