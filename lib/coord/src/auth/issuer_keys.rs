//! The key set of an issuer, fetched from the one address that the configuration names, and kept.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use jsonwebtoken::Algorithm;
use reqwest::header::ACCEPT;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use tokio::task::AbortHandle;
use url::Url;

use super::AuthError;
use super::key_set::{KeySet, NoKey};
use super::verification_key::VerificationKey;
use crate::domain::Invalid;

/// Largest key set that is read, in bytes. One of ten keys with their certificates has about 40 KiB.
const MOST_BYTES: usize = 256 << 10;

/// Where the keys of an issuer are: an https address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySetUrl(Url);

impl KeySetUrl {
    /// # Errors
    /// When it is no https URL, or holds a credential or a fragment.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let example = "write for example https://login.example.com/.well-known/jwks.json";
        let url = Url::parse(text.trim()).map_err(|_| Invalid(format!("is no URL; {example}")))?;
        if url.scheme() != "https" {
            // Whoever is on the way could put a key of his own in.
            return Err(Invalid(format!("must begin with https://; {example}")));
        }
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(Invalid(format!(
                "must hold neither a credential nor a fragment; {example}"
            )));
        }
        Ok(KeySetUrl(url))
    }

    /// A server of this machine, without TLS. For tests: the configuration takes https alone.
    ///
    /// # Errors
    /// When `address` is not a loopback address, or `path` is no path.
    pub fn loopback(address: SocketAddr, path: &str) -> Result<Self, Invalid> {
        let url = Url::parse(&format!("http://{address}{path}")).map_err(|_| Invalid("is no path".to_owned()))?;
        if !address.ip().is_loopback() || !path.starts_with('/') {
            return Err(Invalid("is not a path on a loopback address".to_owned()));
        }
        Ok(KeySetUrl(url))
    }
}

/// How long keys are kept, and how often they are asked for.
#[derive(Clone, Copy, Debug)]
pub struct KeyTiming {
    /// Keys older than this are asked for again, while requests go on with those at hand.
    pub lifetime: Duration,
    /// Keys older than this count no more, should the issuer have been unreachable for so long.
    pub most_age: Duration,
    /// Least time from one fetch to the next, as long as there are keys: a token with an unknown `kid`, which anybody can
    /// make up, must not make us ask more often.
    pub pause: Duration,
    /// The same while there are none.
    pub pause_without_keys: Duration,
    /// Longest time for a connection.
    pub connect: Duration,
    /// Longest time for a fetch from beginning to end.
    pub fetch: Duration,
}

impl Default for KeyTiming {
    fn default() -> Self {
        KeyTiming {
            lifetime: Duration::from_secs(10 * 60),
            most_age: Duration::from_secs(24 * 60 * 60),
            pause: Duration::from_secs(30),
            pause_without_keys: Duration::from_secs(5),
            connect: Duration::from_secs(3),
            fetch: Duration::from_secs(5),
        }
    }
}

/// The keys of an issuer. One fetch is under way at a time, whatever the number of requests that wait for it.
#[derive(Clone)]
pub struct IssuerKeys(Arc<Inner>);

struct Inner {
    client: Client,
    url: KeySetUrl,
    timing: KeyTiming,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: Option<(KeySet, Instant)>,
    last: Option<Attempt>,
    flight: Option<(AbortHandle, Flight)>,
}

#[derive(Clone, Copy)]
struct Attempt {
    ended: Instant,
    has_failed: bool,
}

/// A fetch that is under way, for all who wait for it.
type Flight = Shared<BoxFuture<'static, ()>>;

impl std::fmt::Debug for IssuerKeys {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("IssuerKeys")
    }
}

impl IssuerKeys {
    /// The keys at `url`, none of which is fetched before it is needed.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn new(url: KeySetUrl, timing: KeyTiming) -> Result<Self, Invalid> {
        let mut builder = Client::builder()
            // Nobody but the configuration says where keys come from.
            .redirect(Policy::none())
            .user_agent(concat!("coord/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(timing.connect)
            .pool_max_idle_per_host(0);
        builder = if url.0.scheme() == "https" {
            let roots = crate::store::roots::built_in();
            builder
                .https_only(true)
                .tls_certs_merge(roots.filter_map(|root| reqwest::Certificate::from_der(root).ok()))
        } else {
            builder.tls_certs_only([]).no_proxy()
        };
        let client = builder
            .build()
            .map_err(|error| Invalid(format!("cannot be asked: {}", cause(&error))))?;
        Ok(IssuerKeys(Arc::new(Inner {
            client,
            url,
            timing,
            state: Mutex::default(),
        })))
    }

    /// The key for a token with this header.
    ///
    /// # Errors
    /// [`AuthError::Refused`] when the issuer has no such key, [`AuthError::Unavailable`] when it cannot be asked.
    pub(super) async fn key(&self, algorithm: Algorithm, kid: Option<&str>) -> Result<Arc<VerificationKey>, AuthError> {
        let found = match self.at_hand() {
            Some(keys) => keys.find(algorithm, kid),
            None => Err(NoKey::Unknown),
        };
        let found = match found {
            Err(NoKey::Unknown) => {
                let flight = self.ask_if_due();
                if let Some(flight) = flight {
                    flight.await;
                }
                let keys = self.at_hand().ok_or_else(unavailable)?;
                keys.find(algorithm, kid)
            }
            found => found,
        };
        found.map_err(|reason| match reason {
            // It may be a new key, which only the issuer knows.
            NoKey::Unknown if self.state().last.is_some_and(|last| last.has_failed) => unavailable(),
            NoKey::Unknown => AuthError::refused("the token is signed with a key (kid) that its issuer does not have"),
            NoKey::OtherAlgorithm => AuthError::refused("the key that the token names (kid) is for another algorithm"),
            NoKey::Ambiguous => {
                AuthError::refused("the token does not say which of its issuer's keys it is signed with")
            }
        })
    }

    /// The keys that count. Has them fetched again where they are no longer fresh, without waiting for it.
    fn at_hand(&self) -> Option<KeySet> {
        let timing = &self.0.timing;
        let (keys, age) = {
            let state = self.state();
            let (keys, fetched) = state.kept.as_ref()?;
            (keys.clone(), fetched.elapsed())
        };
        if age >= timing.most_age {
            return None;
        }
        if age >= timing.lifetime {
            drop(self.ask_if_due());
        }
        Some(keys)
    }

    /// A fetch: the one that is under way, or a new one if the last is long enough ago.
    fn ask_if_due(&self) -> Option<Flight> {
        let timing = &self.0.timing;
        let mut state = self.state();
        if let Some((task, flight)) = &state.flight
            && !task.is_finished()
        {
            return Some(flight.clone());
        }
        let has_keys = state
            .kept
            .as_ref()
            .is_some_and(|(_, fetched)| fetched.elapsed() < timing.most_age);
        let pause = if has_keys {
            timing.pause
        } else {
            timing.pause_without_keys
        };
        if state.last.is_some_and(|last| last.ended.elapsed() < pause) {
            return None;
        }
        let inner = Arc::clone(&self.0);
        // A task of its own: a request that goes away must not take the fetch from those who wait for it too.
        let task = tokio::spawn(async move { inner.fetch().await });
        let handle = task.abort_handle();
        let flight = async move {
            // A task that panicked has brought no keys; that it is over is all there is to know.
            let _ = task.await;
        };
        let flight = flight.boxed().shared();
        state.flight = Some((handle, flight.clone()));
        Some(flight)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state()
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn fetch(&self) {
        let fetched = tokio::time::timeout(self.timing.fetch, self.download())
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {:?}", self.timing.fetch)));
        if let Err(cause) = &fetched {
            tracing::warn!(%cause, "the keys of the tokens' issuer could not be fetched");
        }
        let mut state = self.state();
        let ended = Instant::now();
        state.last = Some(Attempt {
            ended,
            has_failed: fetched.is_err(),
        });
        state.flight = None;
        // A set without a usable key counts as well: so an issuer takes back all that it had.
        if let Ok(keys) = fetched {
            tracing::debug!(keys = keys.len(), "the keys of the tokens' issuer are fetched");
            state.kept = Some((keys, ended));
        }
    }

    async fn download(&self) -> Result<KeySet, String> {
        let request = self.client.get(self.url.0.clone());
        let request = request.header(ACCEPT, "application/json, application/jwk-set+json");
        let response = request.send().await.map_err(|error| cause(&error))?;
        match response.status() {
            StatusCode::OK => {}
            status if status.is_redirection() => {
                return Err(format!("HTTP {}, a redirect, which is never followed", status.as_u16()));
            }
            status => return Err(format!("HTTP {}", status.as_u16())),
        }
        KeySet::parse(&read(response).await?).map_err(str::to_owned)
    }
}

async fn read(mut response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| cause(&error))? {
        if body.len() + chunk.len() > MOST_BYTES {
            return Err(format!("an answer of more than {MOST_BYTES} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn unavailable() -> AuthError {
    let sentence =
        "the keys of the tokens' issuer cannot be fetched, so that this token cannot be verified; try again soon";
    AuthError::Unavailable(sentence.to_owned())
}

/// The first cause of `error`, which says more than "error sending request", and never holds the URL.
fn cause(error: &reqwest::Error) -> String {
    let first = std::iter::successors(std::error::Error::source(error), |error| error.source()).last();
    first.map_or_else(|| "the request failed".to_owned(), ToString::to_string)
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
