//! The store on a port: the REST protocol of Upstash Redis over the server's store, so that functions under `vercel dev`,
//! and any Upstash client, work without an account.
//! The protocol: <https://upstash.com/docs/redis/features/restapi>.
//!
//! | request | does |
//! |---|---|
//! | `POST /` with `["CMD","arg",...]` | one command |
//! | `GET` or `POST /CMD/arg/...?NAME=VALUE` | one command; a posted body is the next argument, then the query |
//! | `POST /pipeline` with `[[...],...]` | commands in order, one reply each |
//! | `POST /multi-exec` with `[[...],...]` | the same as one transaction |
//! | `/subscribe/CHANNEL` | server-sent events |
//!
//! Not offered: `/psubscribe` and `/monitor`, and the commands that `commands.rs` lists.

mod answer;
mod auth;
mod body;
mod commands;
mod scripts;
mod subscribe;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::ALLOW;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use coord_http::Connection;
use coord_store::{self as store, Store, StoreError, Value};
use secrecy::SecretString;

use self::answer::{Encoding, Refusal};
use self::commands::Command;
use self::scripts::Scripts;

const SYNC_TOKEN: HeaderName = HeaderName::from_static("upstash-sync-token");

/// State shared by the routes.
struct Listener {
    store: Arc<dyn Store>,
    token: SecretString,
    scripts: Scripts,
    /// Number of answered requests: the whole content of a sync token for a single store.
    answered: AtomicU64,
}

/// Upstash's REST protocol over `store`, for callers with `token`. An empty token admits no caller.
pub fn router(store: Arc<dyn Store>, token: SecretString) -> Router {
    let listener = Listener {
        store,
        token,
        scripts: Scripts::default(),
        answered: AtomicU64::new(0),
    };
    // One handler for every path: in the path form any word can be a command.
    Router::new().fallback(answer_request).with_state(Arc::new(listener))
}

async fn answer_request(State(listener): State<Arc<Listener>>, request: Request) -> Response {
    let mut response = match listener.serve(request).await {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(),
    };
    let count = listener.answered.fetch_add(1, Ordering::Relaxed);
    if let Ok(token) = HeaderValue::from_str(&format!("{count:x}")) {
        response.headers_mut().insert(SYNC_TOKEN, token);
    }
    response
}

impl Listener {
    async fn serve(&self, request: Request) -> Result<Response, Refusal> {
        let method = request.method().clone();
        if ![Method::GET, Method::HEAD, Method::POST, Method::PUT].contains(&method) {
            let mut response = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "ERR method not allowed").into_response();
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("HEAD, GET, POST, PUT"));
            return Ok(response);
        }
        let query = auth::check(&self.token, &request)?;
        let encoding = Encoding::of(request.headers())?;
        let path = request.uri().path().to_owned();
        let has_body = matches!(method, Method::POST | Method::PUT);
        let first = path
            .trim_start_matches('/')
            .split('/')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        match first.as_str() {
            "subscribe" => {
                let events = subscribe::events(&self.store, &path).await?;
                if let Some(connection) = request.extensions().get::<Connection>() {
                    connection.keep();
                }
                return Ok(events);
            }
            "psubscribe" | "monitor" => return Err(Refusal::unavailable(&first.to_ascii_uppercase())),
            _ => {}
        }
        let body = if has_body {
            body::read(request.into_body()).await?
        } else {
            body::Posted::default()
        };
        match first.as_str() {
            "pipeline" if path == "/pipeline" => self.pipeline(body::rows(&body)?, encoding).await,
            "multi-exec" if path == "/multi-exec" => self.transaction(body::rows(&body)?, encoding).await,
            "" if path == "/" => self.single(body::row(&body)?, encoding).await,
            _ => self.single(body::path_form(&path, &query, body)?, encoding).await,
        }
    }

    async fn single(&self, words: Vec<Vec<u8>>, encoding: Encoding) -> Result<Response, Refusal> {
        let command = Command::parse(words)?;
        let (request, restore) = self.scripts.to_store(command);
        let replies = self.store.run(vec![request]).await.map_err(Refusal::from)?;
        let reply = replies.into_iter().next().ok_or_else(|| Refusal::from(no_reply()))?;
        Ok(answer::single(restore.apply(reply), encoding))
    }

    async fn pipeline(&self, rows: Vec<Vec<Vec<u8>>>, encoding: Encoding) -> Result<Response, Refusal> {
        let mut batch = Vec::with_capacity(rows.len());
        // The result of each row: an index in the batch, or a refusal of that row alone.
        let mut places = Vec::with_capacity(rows.len());
        for words in rows {
            places.push(Command::parse(words).map(|command| {
                let (request, restore) = self.scripts.to_store(command);
                batch.push(request);
                restore
            }));
        }
        let mut replies = self.run_all(batch).await?.into_iter();
        let answers = places.into_iter().map(|place| match place {
            Ok(restore) => replies
                .next()
                .map(|reply| restore.apply(reply))
                .ok_or_else(|| Refusal::from(no_reply())),
            Err(refusal) => Ok(Value::Error(refusal.message().to_owned())),
        });
        Ok(answer::many(answers.collect::<Result<Vec<_>, _>>()?, encoding))
    }

    /// The replies to `batch`, which may be empty when every row was refused.
    async fn run_all(&self, batch: Vec<store::Request>) -> Result<Vec<Value>, Refusal> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        self.store.run(batch).await.map_err(Refusal::from)
    }

    async fn transaction(&self, rows: Vec<Vec<Vec<u8>>>, encoding: Encoding) -> Result<Response, Refusal> {
        // One command that is not offered discards the whole transaction before any of it is sent.
        let commands = rows.into_iter().map(Command::parse).collect::<Result<Vec<_>, _>>()?;
        let (batch, restores): (Vec<_>, Vec<_>) = commands
            .into_iter()
            .map(|command| self.scripts.to_store(command))
            .unzip();
        let replies = self.store.run_atomically(batch).await.map_err(Refusal::from)?;
        let replies = restores
            .into_iter()
            .zip(replies)
            .map(|(restore, reply)| restore.apply(reply))
            .collect();
        // This endpoint replies in JSON, whatever the requested format.
        Ok(answer::many(replies, encoding.as_json()))
    }
}

fn no_reply() -> StoreError {
    StoreError::Malformed("fewer replies than requests".into())
}
