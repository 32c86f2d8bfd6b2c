//! An issuer that publishes keys: well, slow, broken or hostile.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use coord_auth::{AuthError, IssuerKeys, JwtVerifier, KeySetUrl, KeyTiming};
use serde_json::{Value, json};

use crate::api::listen;
use crate::tokens::{ISSUER, claims, login};

/// The answers of an issuer.
#[derive(Clone)]
pub enum IssuerReply {
    Keys(Value),
    Text(StatusCode, String),
    Redirect(String),
    /// Nothing for so long, and then the keys.
    Late(Duration, Value),
    /// Bytes without end.
    Endless,
}

pub struct Issuer {
    pub address: SocketAddr,
    says: Arc<Mutex<IssuerReply>>,
    requests: Arc<AtomicUsize>,
}

type Shared = (Arc<Mutex<IssuerReply>>, Arc<AtomicUsize>);

async fn answer(State((says, requests)): State<Shared>) -> Response {
    requests.fetch_add(1, Ordering::SeqCst);
    let says = says.lock().unwrap().clone();
    match says {
        IssuerReply::Keys(set) => set.to_string().into_response(),
        IssuerReply::Text(status, text) => (status, text).into_response(),
        IssuerReply::Redirect(to) => (StatusCode::FOUND, [(LOCATION, to)]).into_response(),
        IssuerReply::Late(time, set) => {
            // time: an issuer that takes its time.
            tokio::time::sleep(time).await;
            set.to_string().into_response()
        }
        IssuerReply::Endless => {
            let chunks = futures::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b' '; 16 << 10]));
            axum::body::Body::from_stream(chunks).into_response()
        }
    }
}

impl Issuer {
    pub async fn start(says: IssuerReply) -> Self {
        let shared: Shared = (Arc::new(Mutex::new(says)), Arc::default());
        let router = Router::new().fallback(answer).with_state(shared.clone());
        Issuer {
            address: listen(router).await,
            says: shared.0,
            requests: shared.1,
        }
    }

    pub fn answer_with(&self, says: IssuerReply) {
        *self.says.lock().unwrap() = says;
    }

    pub fn request_count(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    pub fn verifier(&self, timing: KeyTiming) -> JwtVerifier {
        verifier(self.address, timing)
    }
}

pub fn verifier(address: SocketAddr, timing: KeyTiming) -> JwtVerifier {
    let url = KeySetUrl::loopback(address, "/.well-known/jwks.json").unwrap();
    JwtVerifier::key_set(IssuerKeys::new(url, timing).unwrap(), ISSUER)
}

pub fn set(keys: &[Value]) -> IssuerReply {
    IssuerReply::Keys(json!({ "keys": keys }))
}

/// Fetches again at once.
pub fn eager() -> KeyTiming {
    KeyTiming {
        pause: Duration::ZERO,
        pause_without_keys: Duration::ZERO,
        ..KeyTiming::default()
    }
}

pub fn good() -> Value {
    claims(&json!({}))
}

pub async fn is_refused(verifier: &JwtVerifier, token: &str) -> bool {
    matches!(login(verifier, token).await, Err(AuthError::Refused(_)))
}

pub async fn is_unavailable(verifier: &JwtVerifier, token: &str) -> bool {
    matches!(login(verifier, token).await, Err(AuthError::Unavailable(_)))
}
