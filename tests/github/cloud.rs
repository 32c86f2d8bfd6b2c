//! Functions as the cloud has them: each is made from its environment alone, with a separate source, and all share one
//! store that they reach by Upstash's protocol.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use coord_embedded::EmbeddedStore;
use coord_http::Endpoint;
use coord_sources::github::Credential;
use coord_store::{Request, Store, Value as Reply};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::people::person;
use crate::small;
use coord_test_support::embedded;
use coord_test_support::git::Repo;
use coord_test_support::github::{Fake, Person, Visibility};
use coord_test_support::upstash;
use coord_test_support::waiting::until;

pub const URL: &str = "https://127.0.0.1/acme/widgets";
pub const HEAD_KEY: &str = "coord:head:{127.0.0.1/acme/widgets}:main";
pub const JWT_SECRET: &str = "0123456789abcdef0123456789abcdef";
pub const WEBHOOK_SECRET: &str = "It's a Secret to Everybody";

/// A repository on the fake GitHub, and a store.
pub struct Cloud {
    pub fake: Fake,
    pub repo: Repo,
    /// The head of `main` at the start.
    pub head: String,
    pub store: EmbeddedStore,
    store_url: String,
    service: Person,
    _temp: tempfile::TempDir,
}

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Answer {
    /// Status and code of the error.
    pub fn error(&self) -> (u16, &str) {
        (self.status, self.body["error"].as_str().unwrap_or_default())
    }

    pub fn action(&self) -> &str {
        self.body["orchestration"]["action"].as_str().unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn message(&self) -> &str {
        self.body["message"].as_str().unwrap()
    }

    /// Asserts that the request was granted.
    #[track_caller]
    pub fn expect_ok(self) -> Answer {
        assert_eq!(self.status, 200, "{self:?}");
        self
    }

    /// Asserts that the request was granted with this command.
    #[track_caller]
    pub fn expect_action(self, action: &str) -> Answer {
        assert_eq!((self.status, self.action()), (200, action), "{self:?}");
        self
    }

    /// Asserts status and code of the error.
    #[track_caller]
    pub fn expect_error(self, status: u16, code: &str) -> Answer {
        assert_eq!(self.error(), (status, code), "{self:?}");
        self
    }

    /// Asserts that the caller has to pull this head.
    #[track_caller]
    pub fn expect_pull(self, head: &str) {
        assert_eq!(
            (self.action(), &self.body["repo_head"]),
            ("PULL", &json!(head)),
            "{self:?}"
        );
    }

    /// The outcome of a delivery.
    #[track_caller]
    pub fn outcome(&self) -> &str {
        assert_eq!(self.status, 200, "{self:?}");
        self.body["outcome"].as_str().unwrap()
    }

    pub fn warns_of(&self, code: &str) -> bool {
        let warnings = self.body["warnings"].as_array().into_iter().flatten();
        warnings
            .filter_map(Value::as_str)
            .any(|warning| warning.starts_with(code))
    }

    /// How often the store was asked.
    pub fn round_trips(&self) -> u64 {
        let timing = self.header("server-timing");
        let count = timing.split("desc=\"").nth(1).unwrap().split(' ').next().unwrap();
        count.parse().unwrap()
    }
}

impl Cloud {
    /// A private repository, and who else than the service has a token.
    pub async fn start(people: &[Person]) -> Cloud {
        let (temp, repo, head, fake) = small().await;
        let service = person("ghp_", "service", Some("pull"));
        fake.behave(|behavior| {
            behavior.visibility = Visibility::Token(service.token.clone());
            behavior.people = people.to_vec();
            behavior.people.push(service.clone());
        });
        let store = embedded::in_memory();
        let store_url = upstash::serve(Arc::new(store.clone())).await;
        Cloud {
            fake,
            repo,
            head,
            store,
            store_url,
            service,
            _temp: temp,
        }
    }

    pub fn is_public(&self) {
        self.fake.behave(|behavior| behavior.visibility = Visibility::Public);
    }

    /// Returns the credential that the service shows.
    pub fn credential(&self) -> Credential {
        Credential::Token(self.service.token.clone().into())
    }

    /// A function of each kind, with `more` in the environment. An empty value is none.
    pub async fn instance(&self, more: &[(&str, &str)]) -> Instance {
        let usual = [
            ("GITHUB_API_URL", self.fake.api()),
            ("GITHUB_TOKEN", self.service.token.as_str()),
            ("GITHUB_WEBHOOK_SECRET", WEBHOOK_SECRET),
            ("COORD_JWT_SECRET", JWT_SECRET),
            ("UPSTASH_REDIS_REST_URL", self.store_url.as_str()),
            ("UPSTASH_REDIS_REST_TOKEN", "token"),
        ];
        let environment = |name: &str| {
            let mut pairs = more.iter().chain(&usual);
            pairs
                .find(|(variable, _)| *variable == name)
                .map(|(_, value)| (*value).to_owned())
        };
        let mut addresses = Vec::new();
        for endpoint in [
            coord_http::endpoint::CHECK_STATUS,
            coord_http::endpoint::POST_STATUS,
            coord_http::endpoint::GRAPH,
            coord_http::endpoint::operation::GITHUB_WEBHOOK,
            coord_intents_server::INTENTS,
            coord_teams_server::TEAMS,
            coord_http::endpoint::EVENTS,
            coord_http::endpoint::operation::MCP,
        ] {
            let router = coord_extensions::function_router(endpoint, &environment);
            addresses.push((endpoint, listen(router).await));
        }
        Instance {
            addresses,
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
            head: self.head.clone(),
        }
    }

    pub async fn command<const N: usize>(&self, words: [&str; N]) -> Reply {
        self.store.run(vec![Request::command(words)]).await.unwrap().remove(0)
    }

    /// The names of all keys, sorted, but for what each process notes of its library of functions whoever asks.
    pub async fn keys(&self) -> Vec<String> {
        let Reply::Array(keys) = self.command(["KEYS", "*"]).await else {
            panic!("no list of keys");
        };
        let keys = keys.iter().map(|key| key.as_str().unwrap().to_owned());
        let mut keys: Vec<String> = keys.filter(|key| !key.starts_with("coord:library:")).collect();
        keys.sort();
        keys
    }

    /// Every key and what it holds, as text.
    pub async fn everything(&self) -> String {
        let mut text = String::new();
        for key in self.keys().await {
            let kind = self.command(["TYPE", &key]).await;
            let value = match kind.as_str().unwrap() {
                "string" => self.command(["GET", &key]).await,
                "hash" => self.command(["HGETALL", &key]).await,
                "zset" => self.command(["ZRANGE", &key, "0", "-1"]).await,
                "stream" => self.command(["XRANGE", &key, "-", "+"]).await,
                // Its time came since the keys were listed.
                "none" => continue,
                kind => panic!("{key} is a {kind}"),
            };
            printed(&Reply::Array(vec![Reply::bulk(key.as_str()), value]), &mut text);
            text.push('\n');
        }
        text
    }

    /// The same but for limits, which come and go with the time, and the list of what the next sweep looks at.
    pub async fn all_but_limits(&self) -> Vec<String> {
        let all = self.everything().await;
        let is_state = |line: &&str| !line.starts_with("coord:limit:") && !line.starts_with("coord:due ");
        let lines = all.lines().filter(is_state);
        lines.map(str::to_owned).collect()
    }

    pub async fn head_field(&self, field: &str) -> Option<String> {
        self.command(["HGET", HEAD_KEY, field])
            .await
            .as_str()
            .map(str::to_owned)
    }

    /// Lets the head have been looked at `seconds` ago.
    pub async fn age_head(&self, seconds: u64) {
        let at = (now() - seconds).to_string();
        self.command(["HSET", HEAD_KEY, "checked_at", &at]).await;
    }

    /// Lets the time be over for which GitHub was not to be asked again.
    pub async fn allow_refresh(&self) {
        self.command(["HSET", HEAD_KEY, "refresh_at", "0"]).await;
    }

    /// The requests to GitHub, since the last call, whose target has `part` in it.
    pub fn count_requests(&self, part: &str) -> usize {
        let requests = self.fake.requested_paths();
        requests.iter().filter(|target| target.contains(part)).count()
    }

    /// Whether the file is locked by anybody.
    pub async fn is_locked(&self, path: &str) -> bool {
        let key = "coord:locks:{127.0.0.1/acme/widgets}";
        self.command(["HGET", key, path]).await != Reply::Nil
    }
}

/// A cloud in which the head of `main` is known, and an instance that has asked for it once.
pub async fn started() -> (Cloud, Instance) {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    instance.check(&jwt("ann"), json!({})).await.expect_ok();
    cloud.fake.seen();
    (cloud, instance)
}

fn printed(reply: &Reply, text: &mut String) {
    match reply {
        Reply::Array(all) => all.iter().for_each(|one| printed(one, text)),
        Reply::Bulk(bytes) => {
            text.push_str(&String::from_utf8_lossy(bytes));
            text.push(' ');
        }
        other => text.push_str(&format!("{other:?} ")),
    }
}

pub async fn listen(router: axum::Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(coord_serve::listen::serve(listener, router, std::future::pending()));
    address
}

pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

pub fn jwt(login: &str) -> String {
    let claims = json!({"sub": login, "aud": "coord", "exp": now() + 60});
    let key = EncodingKey::from_secret(JWT_SECRET.as_bytes());
    jsonwebtoken::encode(&Header::default(), &claims, &key).unwrap()
}

/// The value of `X-Hub-Signature-256`.
pub fn signature(body: &[u8], secret: &str) -> String {
    let key = EncodingKey::from_secret(secret.as_bytes());
    let mac = jsonwebtoken::crypto::sign(body, &key, Algorithm::HS256).unwrap();
    let bytes = URL_SAFE_NO_PAD.decode(mac).unwrap();
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={}", digits.concat())
}

/// `body` with the fields of `more`.
pub fn merged(mut body: Value, more: &Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn with_body(request: RequestBuilder, body: &Value) -> RequestBuilder {
    request
        .header("content-type", "application/json")
        .body(body.to_string())
}

/// An empty token is none.
fn with_token(request: RequestBuilder, token: &str) -> RequestBuilder {
    match token {
        "" => request,
        token => request.bearer_auth(token),
    }
}

/// Functions that run at one place.
pub struct Instance {
    addresses: Vec<(Endpoint, SocketAddr)>,
    client: reqwest::Client,
    /// The head that agents have, unless they say otherwise.
    head: String,
}

impl Instance {
    /// With another function for `endpoint`.
    pub fn with(mut self, endpoint: Endpoint, address: SocketAddr) -> Instance {
        self.addresses.retain(|(one, _)| *one != endpoint);
        self.addresses.push((endpoint, address));
        self
    }

    fn url(&self, endpoint: Endpoint) -> String {
        let serves = |function: &Endpoint| function.of_function(coord_extensions::endpoints()).contains(&endpoint);
        let (_, address) = self.addresses.iter().find(|(function, _)| serves(function)).unwrap();
        format!("http://{address}{}", endpoint.path())
    }

    pub async fn send(&self, request: RequestBuilder) -> Answer {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap_or_default();
        Answer { status, headers, body }
    }

    /// A question with what is usual in it, and `more`.
    pub fn question(&self, endpoint: Endpoint, token: &str, more: &Value) -> RequestBuilder {
        let usual = json!({"repo_url": URL, "branch": "main", "file_paths": ["src/a.ts"], "agent_head": self.head});
        let request = self.client.post(self.url(endpoint));
        with_body(with_token(request, token), &merged(usual, more))
    }

    pub async fn check(&self, token: &str, more: Value) -> Answer {
        self.send(self.question(coord_http::endpoint::CHECK_STATUS, token, &more))
            .await
    }

    /// Checks until the check is allowed: for a moment, the function believes that the branch does not exist.
    pub async fn checks_at_last(&self, more: Value) {
        let is_allowed = async || self.check(&jwt("ann"), more.clone()).await.status == 200;
        until("the check of ann is allowed", is_allowed).await;
    }

    /// A request to `endpoint` with what most of them want, and ids in its path.
    pub async fn any(&self, endpoint: Endpoint, method: Method, token: &str) -> Answer {
        let url = self.url(endpoint).replace("{id}", "REQ-1").replace("{team}", "alpha");
        let request = if method == Method::GET {
            self.client.get(format!("{url}?repo_url={URL}&branch=main&team=alpha"))
        } else {
            let body = json!({"repo_url": URL, "branch": "main", "team": "alpha", "name": "alpha", "title": "A task"});
            with_body(self.client.request(method, url), &body)
        };
        self.send(request.bearer_auth(token)).await
    }

    /// `post_status`, to write unless `more` says otherwise.
    pub async fn post(&self, token: &str, more: Value) -> Answer {
        let usual = json!({"status": "WRITING", "message": "Changing what the module exports to its callers"});
        let body = merged(usual, &more);
        self.send(self.question(coord_http::endpoint::POST_STATUS, token, &body))
            .await
    }

    /// A request to the function of intents and the ledger, at `path`; with a body, a POST.
    pub async fn intents(&self, token: &str, path: &str, body: Option<&Value>) -> Answer {
        let url = self.url(coord_intents_server::INTENTS).replace("/api/intents", path);
        let request = match body {
            Some(body) => with_body(self.client.post(url), body),
            None => self.client.get(format!("{url}?repo_url={URL}")),
        };
        self.send(request.bearer_auth(token)).await
    }

    /// A request to the function of teams, at `path`; the team `alpha` is named where there is no body.
    pub async fn teams(&self, token: &str, method: Method, path: &str, body: &Value) -> Answer {
        let url = self.url(coord_teams_server::TEAMS).replace("/api/teams", path);
        let request = if body.is_null() {
            self.client.request(method, format!("{url}?repo_url={URL}&team=alpha"))
        } else {
            with_body(
                self.client.request(method, &url),
                &merged(json!({"repo_url": URL}), body),
            )
        };
        self.send(request.bearer_auth(token)).await
    }

    pub async fn graph(&self, token: &str) -> Answer {
        self.graph_of(URL, token).await
    }

    pub async fn graph_of(&self, repo_url: &str, token: &str) -> Answer {
        let url = self.url(coord_http::endpoint::GRAPH);
        let request = self.client.get(format!("{url}?repo_url={repo_url}&branch=main"));
        self.send(with_token(request, token)).await
    }

    /// Returns the holders of all locks, as the function of the graph reports them.
    pub async fn locks(&self, token: &str, query: &str) -> Answer {
        let url = self
            .url(coord_http::endpoint::GRAPH)
            .replace("/api/graph", "/api/locks");
        let request = self.client.get(format!("{url}?repo_url={URL}{query}"));
        self.send(with_token(request, token)).await
    }

    pub async fn deliver_as(&self, headers: &[(&str, &str)], body: Vec<u8>) -> Answer {
        let mut request = self
            .client
            .post(self.url(coord_http::endpoint::operation::GITHUB_WEBHOOK))
            .body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request).await
    }

    pub async fn deliver(&self, event: &str, payload: &Value) -> Answer {
        let body = payload.to_string().into_bytes();
        let headers = [
            ("content-type", "application/json"),
            ("x-github-event", event),
            ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
            ("x-hub-signature-256", &signature(&body, WEBHOOK_SECRET)),
        ];
        self.deliver_as(&headers, body).await
    }

    /// Delivers a push, and returns its outcome.
    pub async fn push(&self, payload: &Value) -> String {
        self.deliver("push", payload).await.outcome().to_owned()
    }
}
