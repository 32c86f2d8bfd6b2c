//! The key set of an issuer, fetched from the configured address and cached.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jsonwebtoken::Algorithm;
use reqwest::header::ACCEPT;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use tokio::time::Instant;
use url::Url;

use super::AuthError;
use super::key_set::{KeySet, MissingKey};
use super::verification_key::VerificationKey;
use coord_domain::Invalid;
use coord_runtime::mutex::lock;
use coord_runtime::root_cause::root_cause;
use coord_runtime::single_flight::{Flight, SingleFlight};

/// Maximum size of a key set in bytes. A set of ten keys with their certificates has about 40 KiB.
const MAX_BYTES: usize = 256 << 10;

/// The address of an issuer's keys: https only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySetUrl(Url);

impl KeySetUrl {
    /// # Errors
    /// When it is not an https URL, or holds a credential or a fragment.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let example = "write for example https://login.example.com/.well-known/jwks.json";
        let url = Url::parse(text.trim()).map_err(|_| Invalid(format!("is not a URL; {example}")))?;
        if url.scheme() != "https" {
            // Without TLS, anyone on the network path could insert a key.
            return Err(Invalid(format!("must begin with https://; {example}")));
        }
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(Invalid(format!(
                "must hold neither a credential nor a fragment; {example}"
            )));
        }
        Ok(KeySetUrl(url))
    }

    /// An address on this machine, without TLS. For tests: the configuration accepts https only.
    ///
    /// # Errors
    /// When `address` is not a loopback address, or `path` is not a path.
    pub fn loopback(address: SocketAddr, path: &str) -> Result<Self, Invalid> {
        let url = Url::parse(&format!("http://{address}{path}")).map_err(|_| Invalid("is not a path".to_owned()))?;
        if !address.ip().is_loopback() || !path.starts_with('/') {
            return Err(Invalid("is not a path on a loopback address".to_owned()));
        }
        Ok(KeySetUrl(url))
    }
}

/// How long keys are kept, and how often they are fetched.
#[derive(Clone, Copy, Debug)]
pub struct KeyTiming {
    /// Older keys are fetched again, while requests go on with the cached ones.
    pub lifetime: Duration,
    /// Older keys no longer count, even if the issuer is unreachable.
    pub max_age: Duration,
    /// Minimum time between two fetches while there are keys. Anyone can invent a `kid`, so a token with an unknown one
    /// must not cause more fetches.
    pub pause: Duration,
    /// Minimum time between two fetches while there are no keys.
    pub pause_without_keys: Duration,
    /// Timeout of the connection.
    pub connect: Duration,
    /// Timeout of a complete fetch.
    pub fetch: Duration,
}

impl Default for KeyTiming {
    fn default() -> Self {
        KeyTiming {
            lifetime: Duration::from_secs(10 * 60),
            max_age: Duration::from_secs(24 * 60 * 60),
            pause: Duration::from_secs(30),
            pause_without_keys: Duration::from_secs(5),
            connect: Duration::from_secs(3),
            fetch: Duration::from_secs(5),
        }
    }
}

/// The keys of an issuer. At most one fetch is in progress, however many requests wait for it.
#[derive(Clone)]
pub struct IssuerKeys(Arc<Inner>);

struct Inner {
    client: Client,
    url: KeySetUrl,
    timing: KeyTiming,
    state: Mutex<State>,
    fetches: SingleFlight<(), ()>,
}

#[derive(Default)]
struct State {
    /// The last keys, and when they were fetched.
    cached: Option<(KeySet, Instant)>,
    last_fetch: Option<FetchOutcome>,
}

#[derive(Clone, Copy)]
struct FetchOutcome {
    ended_at: Instant,
    has_failed: bool,
}

impl std::fmt::Debug for IssuerKeys {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("IssuerKeys")
    }
}

impl IssuerKeys {
    /// The keys at `url`, fetched on first use.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn new(url: KeySetUrl, timing: KeyTiming) -> Result<Self, Invalid> {
        let mut builder = Client::builder()
            // Only the configuration says where keys come from.
            .redirect(Policy::none())
            .user_agent(concat!("coord/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(timing.connect)
            .pool_max_idle_per_host(0);
        builder = if url.0.scheme() == "https" {
            let roots = coord_runtime::root_certificates::built_in();
            builder
                .https_only(true)
                .tls_certs_merge(roots.filter_map(|root| reqwest::Certificate::from_der(root).ok()))
        } else {
            builder.tls_certs_only([]).no_proxy()
        };
        let client = builder
            .build()
            .map_err(|error| Invalid(format!("cannot be fetched: {}", root_cause(&error))))?;
        Ok(IssuerKeys(Arc::new(Inner {
            client,
            url,
            timing,
            state: Mutex::default(),
            fetches: SingleFlight::default(),
        })))
    }

    /// The key for a token with this header.
    ///
    /// # Errors
    /// [`AuthError::Refused`] when the issuer has no such key, [`AuthError::Unavailable`] when it does not respond.
    pub(super) async fn key(&self, algorithm: Algorithm, kid: Option<&str>) -> Result<Arc<VerificationKey>, AuthError> {
        let cached_key = match self.valid_keys() {
            Some(keys) => keys.find(algorithm, kid),
            None => Err(MissingKey::Unknown),
        };
        let key = match cached_key {
            Err(MissingKey::Unknown) => {
                if let Some(fetch) = self.fetch_if_due() {
                    // A fetch that panicked brought no keys; only its end matters here.
                    let _ = fetch.await;
                }
                let keys = self.valid_keys().ok_or_else(unavailable)?;
                keys.find(algorithm, kid)
            }
            key => key,
        };
        key.map_err(|reason| match reason {
            // The issuer may have a new key that the failed fetch would have brought.
            MissingKey::Unknown if lock(&self.0.state).last_fetch.is_some_and(|fetch| fetch.has_failed) => {
                unavailable()
            }
            MissingKey::Unknown => {
                AuthError::refused("the token is signed with a key (kid) that its issuer does not have")
            }
            MissingKey::OtherAlgorithm => {
                AuthError::refused("the key that the token names (kid) is for another algorithm")
            }
            MissingKey::Ambiguous => {
                AuthError::refused("the token does not identify its key: several keys of its issuer match")
            }
        })
    }

    /// The cached keys that still count. Starts a fetch if they are no longer fresh, without waiting for it.
    fn valid_keys(&self) -> Option<KeySet> {
        let timing = &self.0.timing;
        let (keys, age) = {
            let state = lock(&self.0.state);
            let (keys, fetched_at) = state.cached.as_ref()?;
            (keys.clone(), fetched_at.elapsed())
        };
        if age >= timing.max_age {
            return None;
        }
        if age >= timing.lifetime {
            drop(self.fetch_if_due());
        }
        Some(keys)
    }

    /// The fetch in progress, or a new one if the pause after the last one is over.
    fn fetch_if_due(&self) -> Option<Flight<()>> {
        let timing = &self.0.timing;
        let state = lock(&self.0.state);
        if let Some(fetch) = self.0.fetches.in_progress(&()) {
            return Some(fetch);
        }
        let has_keys = state
            .cached
            .as_ref()
            .is_some_and(|(_, fetched_at)| fetched_at.elapsed() < timing.max_age);
        let pause = if has_keys {
            timing.pause
        } else {
            timing.pause_without_keys
        };
        if state.last_fetch.is_some_and(|fetch| fetch.ended_at.elapsed() < pause) {
            return None;
        }
        let inner = Arc::clone(&self.0);
        Some(self.0.fetches.start((), || async move { inner.fetch().await }))
    }
}

impl Inner {
    async fn fetch(&self) {
        let fetched = tokio::time::timeout(self.timing.fetch, self.download())
            .await
            .unwrap_or_else(|_| Err(format!("no response within {:?}", self.timing.fetch)));
        if let Err(cause) = &fetched {
            tracing::warn!(%cause, "the issuer's keys could not be fetched");
        }
        let mut state = lock(&self.state);
        let ended_at = Instant::now();
        state.last_fetch = Some(FetchOutcome {
            ended_at,
            has_failed: fetched.is_err(),
        });
        // A set without usable keys replaces the old one too: that is how an issuer revokes all of its keys.
        if let Ok(keys) = fetched {
            tracing::debug!(keys = keys.len(), "the issuer's keys were fetched");
            state.cached = Some((keys, ended_at));
        }
    }

    async fn download(&self) -> Result<KeySet, String> {
        let request = self.client.get(self.url.0.clone());
        let request = request.header(ACCEPT, "application/json, application/jwk-set+json");
        let response = request.send().await.map_err(|error| root_cause(&error))?;
        match response.status() {
            StatusCode::OK => {}
            status if status.is_redirection() => {
                return Err(format!("HTTP {}: redirects are not followed", status.as_u16()));
            }
            status => return Err(format!("HTTP {}", status.as_u16())),
        }
        KeySet::parse(&read_body(response).await?).map_err(str::to_owned)
    }
}

async fn read_body(mut response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| root_cause(&error))? {
        if body.len() + chunk.len() > MAX_BYTES {
            return Err(format!("a response of more than {MAX_BYTES} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn unavailable() -> AuthError {
    let sentence = "the issuer's keys cannot be fetched, so this token cannot be verified; try again soon";
    AuthError::Unavailable(sentence.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_from_an_https_address_and_from_nowhere_else() {
        assert!(KeySetUrl::parse("https://login.example.com/.well-known/jwks.json?v=2").is_ok());
        for url in [
            "",
            "login.example.com",
            "http://login.example.com/jwks",
            "http://127.0.0.1/jwks",
            "http://localhost:8080/jwks",
            "http://169.254.169.254/latest/meta-data",
            "file:///etc/passwd",
            "data:application/json,{}",
            "ftp://example.com/jwks",
            "https://user:secret@example.com/jwks",
            "https://example.com/jwks#x",
            "https://",
        ] {
            let error = KeySetUrl::parse(url).unwrap_err();
            assert!(!error.0.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_test_reaches_this_machine_alone() {
        let loopback = |address: &str, path| KeySetUrl::loopback(address.parse().unwrap(), path);
        assert!(loopback("127.0.0.1:80", "/jwks").is_ok());
        assert!(loopback("[::1]:80", "/jwks").is_ok());
        assert!(loopback("10.0.0.1:80", "/jwks").is_err());
        assert!(loopback("127.0.0.1:80", "@example.com/").is_err());
    }
}
