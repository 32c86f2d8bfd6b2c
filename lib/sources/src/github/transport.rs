//! One request and its response: time limit, rate limits, and errors by status.

use std::time::Duration;

use bytes::Bytes;
use futures::TryFutureExt;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, IF_NONE_MATCH, LOCATION, USER_AGENT,
};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response, StatusCode};
use tokio::time::timeout;
use url::Url;

use super::address::ApiBase;
use super::error::GithubError;
use super::limits::Limits;
use super::rate_limit::{Account, Gate, Reserve, UsedUpLimit, refusal, used_up};
use coord_runtime::root_cause::root_cause;

/// The version of the API, <https://docs.github.com/en/rest/about-the-rest-api/api-versions>.
const VERSION: &str = "2022-11-28";
/// Pooled connections that idle longer are dropped: a function may have been frozen for minutes between two calls.
const POOL_IDLE: Duration = Duration::from_secs(20);
/// Maximum bytes read of a refusal, for its message.
const MAX_REFUSAL_BYTES: u64 = 16 << 10;
/// Maximum number of redirects for one request.
const MAX_REDIRECTS: usize = 3;

pub(super) const JSON: &str = "application/vnd.github+json";

#[derive(Clone, Debug)]
pub(super) struct ApiRequest<'a> {
    pub(super) accept: &'static str,
    pub(super) etag: Option<&'a HeaderValue>,
    /// Marked as sensitive.
    pub(super) authorization: Option<HeaderValue>,
    pub(super) account: Account,
    /// The JSON to post; without it, the request is a GET.
    pub(super) post: Option<&'static str>,
    /// Whether a 302 redirect leads to a download, and is returned instead of followed.
    pub(super) is_download: bool,
    /// Whether this request may use the part of an hour's requests that is reserved for heads.
    pub(super) may_use_reserve: bool,
}

/// A response that is not an error: success, 304, or a redirect out of the API.
#[derive(Debug)]
pub(super) struct ApiResponse {
    pub(super) response: Response,
    pub(super) url: Url,
}

/// The connection to one API.
#[derive(Debug)]
pub(super) struct Transport {
    http: Client,
    pub(super) api: ApiBase,
    pub(super) limits: Limits,
    gate: Gate,
    reserve: Reserve,
}

impl Transport {
    /// # Errors
    /// When the client cannot be built; a text for the operator.
    pub(super) fn new(api: ApiBase, limits: Limits) -> Result<Self, String> {
        let mut builder = Client::builder()
            // A redirect would carry the credential to any target.
            .redirect(Policy::none())
            .connect_timeout(limits.connect)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_keepalive(POOL_IDLE);
        builder = if api.is_https() {
            let roots = coord_runtime::root_certificates::built_in();
            builder.tls_certs_merge(roots.filter_map(|root| reqwest::Certificate::from_der(root).ok()))
        } else {
            // Loading hundreds of unused certificates would be most of the cost of a start.
            builder.tls_certs_only([])
        };
        if api.is_loopback() {
            builder = builder.no_proxy();
        }
        let http = builder
            .build()
            .map_err(|error| format!("the client for GitHub cannot be built: {}", root_cause(&error)))?;
        Ok(Transport {
            http,
            api,
            limits,
            gate: Gate::default(),
            reserve: Reserve::default(),
        })
    }

    /// Sends a request, and follows redirects within the API. Other redirects are returned. `moved_to` is set to the
    /// target of permanent redirects, whatever the response there.
    pub(super) async fn send(
        &self,
        mut url: Url,
        request: &ApiRequest<'_>,
        moved_to: &mut Option<Url>,
    ) -> Result<ApiResponse, GithubError> {
        let mut redirects = 0;
        let mut is_permanent = true;
        loop {
            let response = self.send_once(url.clone(), request).await?;
            let status = response.status();
            if !status.is_redirection() || status == StatusCode::NOT_MODIFIED {
                return Ok(ApiResponse { response, url });
            }
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let target = location.and_then(|location| self.api.within(&url, location));
            let is_to_download = request.is_download && status == StatusCode::FOUND;
            let Some(next) = target.filter(|_| !is_to_download) else {
                *moved_to = None;
                return Ok(ApiResponse { response, url });
            };
            redirects += 1;
            if redirects > MAX_REDIRECTS || request.post.is_some() {
                return Err(GithubError::BadRedirect("too many in a row, or for a POST"));
            }
            is_permanent &= matches!(status, StatusCode::MOVED_PERMANENTLY | StatusCode::PERMANENT_REDIRECT);
            *moved_to = is_permanent.then(|| next.clone());
            url = next;
        }
    }

    async fn send_once(&self, url: Url, request: &ApiRequest<'_>) -> Result<Response, GithubError> {
        let account = request.account;
        self.gate.check(account).map_err(GithubError::RateLimited)?;
        if !request.may_use_reserve {
            self.reserve.check(account).map_err(GithubError::RateLimited)?;
        }
        let method = if request.post.is_some() {
            Method::POST
        } else {
            Method::GET
        };
        let mut builder = self
            .http
            .request(method, url)
            .header(ACCEPT, request.accept)
            .header(USER_AGENT, concat!("coord/", env!("CARGO_PKG_VERSION")))
            .header("x-github-api-version", VERSION);
        if let Some(authorization) = &request.authorization {
            builder = builder.header(AUTHORIZATION, authorization.clone());
        }
        if let Some(etag) = request.etag {
            builder = builder.header(IF_NONE_MATCH, etag.clone());
        }
        if let Some(body) = request.post {
            builder = builder.header(CONTENT_TYPE, "application/json").body(body);
        }
        let response = self.wait_for_headers(builder).await?;
        let status = response.status();
        self.reserve.note(account, response.headers());
        if let Some(limit) = used_up(response.headers()) {
            self.gate.close(account, limit);
        }
        if status.is_success() || status.is_redirection() {
            return Ok(response);
        }
        let error = self.read_refusal(response).await;
        if let GithubError::RateLimited(limit) = &error {
            self.block(account, *limit);
        }
        Err(error)
    }

    /// Blocks `account` until the end of the limit's pause.
    pub(super) fn block(&self, account: Account, limit: UsedUpLimit) {
        tracing::warn!(?account, limited = %limit, "GitHub limits");
        self.gate.close(account, limit);
    }

    /// Requests an archive, without any credential.
    pub(super) async fn download(&self, url: Url) -> Result<Response, GithubError> {
        let request = self
            .http
            .get(url)
            .header(USER_AGENT, concat!("coord/", env!("CARGO_PKG_VERSION")));
        let response = self.wait_for_headers(request).await?;
        match response.status() {
            status if status.is_success() => Ok(response),
            status if status.is_redirection() => Err(GithubError::BadRedirect("from the host of a download")),
            _ => Err(self.read_refusal(response).await),
        }
    }

    async fn wait_for_headers(&self, request: reqwest::RequestBuilder) -> Result<Response, GithubError> {
        within(self.limits.headers, "response", request.send().map_err(unreachable)).await
    }

    /// The body of a response.
    pub(super) async fn read(&self, mut response: Response, max_bytes: u64) -> Result<Bytes, GithubError> {
        let too_large = GithubError::TooLarge {
            subject: "a response",
            limit: max_bytes,
        };
        if response.content_length().is_some_and(|length| length > max_bytes) {
            return Err(too_large);
        }
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk(&mut response).await? {
            if body.len() as u64 + chunk.len() as u64 > max_bytes {
                return Err(too_large);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.into())
    }

    /// The next chunk of a body.
    pub(super) async fn chunk(&self, response: &mut Response) -> Result<Option<Bytes>, GithubError> {
        let chunk = response.chunk().map_err(unreachable);
        within(self.limits.idle, "further part of a response", chunk).await
    }

    /// The error for a response without success.
    async fn read_refusal(&self, mut response: Response) -> GithubError {
        let status = response.status();
        let headers: HeaderMap = response.headers().clone();
        let mut body = Vec::new();
        if status == StatusCode::FORBIDDEN || status == StatusCode::TOO_MANY_REQUESTS {
            // Part of the body suffices, because the headers matter most.
            while let Ok(Some(chunk)) = self.chunk(&mut response).await {
                body.extend_from_slice(&chunk);
                if body.len() as u64 > MAX_REFUSAL_BYTES {
                    break;
                }
            }
        }
        if let Some(limit) = refusal(status, &headers, &body) {
            return GithubError::RateLimited(limit);
        }
        match status.as_u16() {
            401 => GithubError::BadCredential,
            403 => GithubError::Forbidden(message(&body)),
            404 => GithubError::NotFound,
            code @ (410 | 451) => GithubError::Gone(code),
            409 => GithubError::Empty,
            422 => GithubError::NoSuchCommit,
            code @ 500..=599 => GithubError::Server(code),
            code => GithubError::Unexpected(code),
        }
    }
}

/// The result of `work`, or the error that GitHub returned no `subject` within `limit`.
pub(super) async fn within<T>(
    limit: Duration,
    subject: &'static str,
    work: impl Future<Output = Result<T, GithubError>>,
) -> Result<T, GithubError> {
    let result = timeout(limit, work).await;
    result.unwrap_or(Err(GithubError::Timeout { subject, limit }))
}

fn unreachable(error: reqwest::Error) -> GithubError {
    GithubError::Unreachable(root_cause(&error))
}

/// The message of a refusal, on one line for the log.
fn message(body: &[u8]) -> String {
    let json: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let text = json.as_ref().and_then(|json| json.get("message")?.as_str());
    let text = text.unwrap_or("without a reason");
    text.chars().take(200).flat_map(char::escape_debug).collect()
}

/// The header for a bearer token, marked as sensitive, so that it is never printed.
pub(super) fn bearer(token: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_one_line_of_a_log() {
        assert_eq!(message(br#"{"message": "a\nb"}"#), "a\\nb");
        assert_eq!(message(b"<html>"), "without a reason");
        let long = format!(r#"{{"message": "{}"}}"#, "x".repeat(9_000));
        assert_eq!(message(long.as_bytes()).len(), 200);
    }
}
