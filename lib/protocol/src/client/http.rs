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
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// Time limit of a request: a server answers within 25 seconds.
const REQUEST_TIME: Duration = Duration::from_secs(30);

/// The header that names the server that a request is for: the `instance` that a `coord serve` announces. That one sends it back, and any
/// other that has its address by now refuses the request with status 421.
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
    /// The server that requests are for, as [`SERVER_HEADER`] names it: any where it is left out.
    pub server: Option<&'a str>,
    /// Time limit of a request.
    pub limit: Duration,
}

/// Filters of `GET /api/locks`. Without any, every lock of the repository is listed.
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
    /// The caller's own locks as the agent `agent_id`.
    pub fn held_by(agent_id: &str) -> Self {
        LocksFilter {
            branch: None,
            is_own: true,
            agent_id: Some(agent_id.to_owned()),
        }
    }
}

/// Which events `GET /api/activity` lists: without `after` the newest of the repository.
#[derive(Clone, Debug, Default)]
pub struct ActivityFilter {
    /// Only events of this branch.
    pub branch: Option<String>,
    /// Only events after this one, the oldest first: the `cursor` of an earlier response.
    pub after: Option<String>,
    /// Most events, 1 to 100; 50 where it is not set.
    pub limit: Option<usize>,
}

/// The part of a graph that `GET /api/graph` shows: that around one file.
#[derive(Clone, Debug, Default)]
pub struct GraphFilter {
    /// The file.
    pub focus: Option<String>,
    /// Most steps from it.
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
            limit: REQUEST_TIME,
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
        // No text of `base` is in a message: it may have a password in it, also where it is no URL.
        let base = Url::parse(base).map_err(|error| invalid(format!("the server's address is not a URL: {error}")))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(invalid("the server's address is not an http or https URL".to_owned()));
        }
        if !base.username().is_empty() || base.password().is_some() {
            let advice = "the server's address has a user or password in it: give the token by itself";
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
            .connect_timeout(CONNECT_TIME.min(limit))
            .timeout(limit)
            .redirect(reqwest::redirect::Policy::none());
        if base.scheme() == "http" {
            // Nothing is encrypted, and reading the system's certificates takes longer than a request.
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
        let sent = self.request(Method::POST, "api/check_status")?.json(request);
        self.send(sent, &[StatusCode::SERVICE_UNAVAILABLE]).await
    }

    /// `POST /api/post_status`. A refusal (409) is returned as a response: check [`PostResponse::success`].
    ///
    /// # Errors
    /// When the server returns another error, or no response.
    pub async fn post_status(&self, request: &PostRequest) -> Result<PostResponse, ClientError> {
        let sent = self.request(Method::POST, "api/post_status")?.json(request);
        let whole = [StatusCode::CONFLICT, StatusCode::SERVICE_UNAVAILABLE];
        self.send(sent, &whole).await
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
    /// When the server returns an error, or no response; also when the graph is larger than a response may be.
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

    /// `GET /api/health`, as JSON. A server that is not well (503) is returned like any other.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn health(&self) -> Result<Json, ClientError> {
        let sent = self.request(Method::GET, "api/health")?;
        self.send(sent, &[StatusCode::SERVICE_UNAVAILABLE]).await
    }

    /// Whether the server that [`ClientSettings::server`] names has the address.
    ///
    /// # Errors
    /// When nothing answers there in time.
    pub async fn finds_server(&self) -> Result<bool, ClientError> {
        let answer = self.request(Method::HEAD, "")?.send().await.map_err(unreachable)?;
        Ok(answer.headers().contains_key(SERVER_HEADER))
    }

    /// `GET path` with those of the parameters that have a value.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, Option<&str>)],
    ) -> Result<T, ClientError> {
        self.send(self.http.get(self.url_with(path, query)?), &[]).await
    }

    pub(super) fn url_with(&self, path: &str, query: &[(&str, Option<&str>)]) -> Result<Url, ClientError> {
        let mut url = self.url(path)?;
        let given = query.iter().filter_map(|(name, value)| Some((name, (*value)?)));
        url.query_pairs_mut().extend_pairs(given);
        Ok(url)
    }

    /// `GET path` with `query`: the JSON as the server sends it, for callers that pass it on.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn read(&self, path: &str, query: &[(&str, &str)]) -> Result<Box<RawValue>, ClientError> {
        let mut url = self.url(path)?;
        url.query_pairs_mut().extend_pairs(query);
        let answer: Json = self.send(self.http.get(url), &[]).await?;
        serde_json::value::to_raw_value(&answer).map_err(|error| ClientError::Invalid(error.to_string()))
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

    /// The decoded response. A body with one of the statuses `whole` counts as a response where it has that form.
    pub(super) async fn send<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        whole: &[StatusCode],
    ) -> Result<T, ClientError> {
        let received = WholeResponse::fetch(request).await?;
        if received.status.is_success() {
            return received.decode().map_err(|error| received.malformed(error.to_string()));
        }
        if whole.contains(&received.status)
            && let Ok(response) = received.decode()
        {
            return Ok(response);
        }
        Err(received.refusal())
    }

    /// `GET path`, with its texts as the server sends them, byte by byte.
    pub(super) async fn get_exact<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, Option<&str>)],
    ) -> Result<T, ClientError> {
        let received = WholeResponse::fetch(self.http.get(self.url_with(path, query)?)).await?;
        if !received.status.is_success() {
            return Err(received.refusal());
        }
        serde_json::from_slice(&received.body).map_err(|error| received.malformed(error.to_string()))
    }

    /// The response as text.
    pub(super) async fn text(&self, request: RequestBuilder) -> Result<String, ClientError> {
        let mut received = WholeResponse::fetch(request).await?;
        if !received.status.is_success() {
            return Err(received.refusal());
        }
        let body = std::mem::take(&mut received.body);
        String::from_utf8(body)
            .map(|text| plain_text::visible_text(&text).into_owned())
            .map_err(|_| received.malformed("it is not UTF-8".to_owned()))
    }
}

/// `id`, if it is one segment of a path: the id of an intent or a task, or the name of a team.
pub(super) fn segment(id: &str) -> Result<&str, ClientError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if (1..=64).contains(&id.len()) && id.bytes().all(is_plain) && !id.starts_with('.') {
        return Ok(id);
    }
    Err(ClientError::Invalid(format!(
        "{id:?} is no id: 1 to 64 letters, digits, '.', '_' and '-', the first no dot"
    )))
}
