//! A double of Upstash: as much of its REST protocol as Coord's client uses, over any store.
//! The protocol: <https://upstash.com/docs/redis/features/restapi>.
//!
//! `POST /pipeline` with `[["CMD","arg",...],...]` runs commands in order; `POST /subscribe/CHANNEL` is a stream of server-sent events.
//! Strings of replies are base64.
//!
//! Coord's own scripts, whether they come by FCALL, EVALSHA or EVAL, reach the store as such. Other scripts and libraries pass
//! without the flag that only Upstash knows: Redis would refuse it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, LazyLock};

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request as HttpRequest, State};
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use coord_state as state;
use coord_state::libraries::library;
use coord_store::script::sha1_hex;
use coord_store::upstash::UpstashStore;
use coord_store::{Request, Script, Store, StoreError, Value};
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use serde_json::{Value as JsonValue, json};

/// The token that a caller must present.
pub const TOKEN: &str = "token";

const FLAG: &str = "allow-key-locking";
/// A flag of Redis that changes nothing on a primary.
const HARMLESS_FLAG: &str = "allow-stale";

/// Coord's scripts by all their names: of functions and by SHA-1, each with and without the flag.
static OURS: LazyLock<HashMap<String, &'static Script>> = LazyLock::new(|| {
    coord_extensions::register_state();
    let names = |script: &'static Script| {
        let names = [
            library().function("", script),
            library().function(FLAG, script),
            script.sha().to_owned(),
            sha1_hex(&with_flag(script.source())),
        ];
        names.map(|name| (name, script))
    };
    state::scripts().flat_map(names).collect()
});

fn with_flag(text: &str) -> String {
    format!("#!lua flags={FLAG}\n{text}")
}

struct Upstash {
    store: Arc<dyn Store>,
    /// SHA-1 of a script's text with the flag -> that without it.
    plain: Mutex<HashMap<String, String>>,
}

/// Serves `store` on a port of this machine for as long as the runtime lives. Returns the address.
pub async fn serve(store: Arc<dyn Store>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, router(store)).await });
    url
}

/// A client of `store` served so.
pub async fn client(store: Arc<dyn Store>) -> UpstashStore {
    UpstashStore::new(&serve(store).await, TOKEN.to_owned().into()).expect("an address")
}

/// The protocol over `store`.
pub fn router(store: Arc<dyn Store>) -> Router {
    let upstash = Upstash {
        store,
        plain: Mutex::default(),
    };
    Router::new()
        .route("/pipeline", post(pipeline))
        .route("/subscribe/{channel}", post(subscribe))
        .layer(from_fn(authenticate))
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(Arc::new(upstash))
}

async fn authenticate(request: HttpRequest, next: Next) -> Response {
    let given = request.headers().get(AUTHORIZATION).map(|value| value.as_bytes());
    if given == Some(format!("Bearer {TOKEN}").as_bytes()) {
        return next.run(request).await;
    }
    refusal(
        StatusCode::UNAUTHORIZED,
        "WRONGPASS invalid or missing auth token. Unauthorized",
    )
}

fn refusal(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({ "error": message }))).into_response()
}

fn unavailable(error: &StoreError) -> Response {
    let status = match error {
        StoreError::Failed(_) => StatusCode::BAD_REQUEST,
        StoreError::Timeout(_) => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    refusal(status, &error.to_string())
}

async fn pipeline(State(upstash): State<Arc<Upstash>>, Json(rows): Json<Vec<Vec<String>>>) -> Response {
    // A row that is not offered has an error in its place.
    let is_offered = |words: &Vec<String>| words.first().is_none_or(|name| name != "CONFIG");
    let offered: Vec<bool> = rows.iter().map(is_offered).collect();
    let sent = rows.into_iter().filter(is_offered);
    let replies = match upstash
        .store
        .run(sent.map(|words| upstash.request(words)).collect())
        .await
    {
        Ok(replies) => replies,
        Err(error) => return unavailable(&error),
    };
    let mut replies = replies.into_iter();
    let all = offered.into_iter().filter_map(|is_offered| match is_offered {
        true => replies.next(),
        false => Some(Value::Error("ERR Command is not available: 'CONFIG'".to_owned())),
    });
    Json(all.map(reply).collect::<JsonValue>()).into_response()
}

async fn subscribe(State(upstash): State<Arc<Upstash>>, Path(channel): Path<String>) -> Response {
    let messages = match upstash.store.subscribe(&channel).await {
        Ok(messages) => messages,
        Err(error) => return unavailable(&error),
    };
    let confirmation = event(&format!("subscribe,{channel},1"));
    let messages =
        messages.map(move |payload| event(&format!("message,{channel},{}", String::from_utf8_lossy(&payload))));
    let events = stream::iter([confirmation]).chain(messages).map(Ok::<_, Infallible>);
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

/// A line break begins another `data:` line, as the format requires.
fn event(data: &str) -> Bytes {
    format!("data: {}\n\n", data.replace('\n', "\ndata: ")).into()
}

impl Upstash {
    fn request(&self, mut words: Vec<String>) -> Request {
        if let Some(request) = own_call(&words) {
            return request;
        }
        let (first_line, harmless) = (with_flag(""), format!("'{HARMLESS_FLAG}'"));
        match words.as_mut_slice() {
            [name, text, ..] if name == "EVAL" => {
                if let Some(plain) = text.strip_prefix(&first_line) {
                    self.plain.lock().insert(sha1_hex(text), sha1_hex(plain));
                    *text = plain.to_owned();
                }
            }
            [name, sha, ..] if name == "EVALSHA" => {
                if let Some(plain) = self.plain.lock().get(sha) {
                    plain.clone_into(sha);
                }
            }
            [name, .., code] if name == "FUNCTION" => *code = code.replace(&format!("'{FLAG}'"), &harmless),
            _ => {}
        }
        Request::Command(words.into_iter().map(String::into_bytes).collect())
    }
}

/// The call of one of Coord's scripts, if `words` are one.
fn own_call(words: &[String]) -> Option<Request> {
    let [name, script, count, rest @ ..] = words else {
        return None;
    };
    let script = match name.as_str() {
        "EVALSHA" | "FCALL" => OURS.get(script)?,
        "EVAL" => OURS.get(&sha1_hex(script))?,
        _ => return None,
    };
    let (keys, args) = rest.split_at_checked(count.parse().ok()?)?;
    Some(Request::Script {
        script,
        keys: keys.to_vec(),
        args: args.iter().map(|argument| argument.clone().into_bytes()).collect(),
    })
}

/// `{"result":...}` or `{"error":...}`; errors and the status OK are never encoded.
fn reply(reply: Value) -> JsonValue {
    match reply {
        Value::Error(error) => json!({ "error": error }),
        Value::Status(text) if text == "OK" => json!({ "result": text }),
        other => json!({ "result": element(other) }),
    }
}

fn element(value: Value) -> JsonValue {
    match value {
        Value::Nil => JsonValue::Null,
        Value::Int(number) => JsonValue::from(number),
        Value::Bulk(bytes) => JsonValue::from(STANDARD.encode(bytes)),
        Value::Status(text) => JsonValue::from(STANDARD.encode(text)),
        Value::Array(items) => items.into_iter().map(element).collect(),
        Value::Error(error) => json!({ "error": error }),
    }
}
