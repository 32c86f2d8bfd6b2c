//! Requests to GitHub in an hour of a team, and the latency of a cached identity: `cargo bench -p coord-cli --bench
//! github_requests`; with `-- latency` only the second.
//!
//! Fifty agents, each of a person with a GitHub token, call `check_status` twice a minute: ten on each of five branches,
//! spread evenly. So a check of some branch comes every 0.6 s, and one of each branch every 3 s. Each branch is pushed to
//! twelve times, and agents with the command PULL pull. Three sets of functions, each with its own source, take turns over
//! one store and the fake GitHub.
//!
//! The hour is played in 1,200 steps of 3 s, without waiting. After each step, everything in the store that has a time is
//! made 3 s older: the times in the hashes of heads are rewritten, and identities expire 3 s sooner. Functions keep no other
//! relevant times: a head in the store is never taken from the process's cache. Rate limits are off, since they go by the
//! real clock. Before the hour, each branch is checked and pushed to once, so that first requests for a branch are not
//! counted.
//!
//! A request counts as answered with 304, which counts against no primary limit, if its `If-None-Match` is the ETag of the
//! head at that time.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use coord_cli::commands::serve::upstash_listen;
use coord_embedded::EmbeddedStore;
use coord_http::Endpoint;
use coord_http::function::function_router;
use coord_store::{Request, Store, Value as Reply};
use coord_test_support::git::Repo;
use coord_test_support::github::{Fake, NAME, OWNER, Person, Visibility};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use secrecy::SecretString;
use serde_json::{Value, json};

const BRANCHES: usize = 5;
const AGENTS_OF_A_BRANCH: usize = 10;
const STEP_SECONDS: i64 = 3;
const STEPS: usize = 1_200;
const STEPS_BETWEEN_PUSHES: usize = 100;
const INSTANCES: usize = 3;
const CALLS: usize = 2_000;
const SECRET: &str = "0123456789abcdef0123456789abcdef";
const REPOSITORY: &str = "127.0.0.1/acme/widgets";

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn person(login: &str) -> Person {
    Person {
        token: format!("ghp_{login:0<40}"),
        login: login.to_owned(),
        name: None,
        role: Some("push"),
        is_installation: false,
    }
}

fn login(branch: usize, agent: usize) -> String {
    format!("agent{branch}x{agent}y")
}

fn name(branch: usize) -> String {
    format!("feature{branch}")
}

async fn listen(router: axum::Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(coord_cli::commands::serve::listen::serve(
        listener,
        router,
        std::future::pending(),
    ));
    address
}

/// A store, the fake GitHub, and functions that check and take webhook deliveries.
struct Cloud {
    repo: Repo,
    fake: Fake,
    store: EmbeddedStore,
    instances: Vec<[SocketAddr; 2]>,
    client: reqwest::Client,
    /// The heads of the branches.
    heads: Vec<String>,
    _temp: tempfile::TempDir,
}

impl Cloud {
    async fn start() -> Cloud {
        let temp = tempfile::tempdir().unwrap();
        let repo = Repo::init(temp.path(), &[]);
        let head = repo.commit(&[("src/a.ts", "export const a = 1;\n")]);
        for branch in 0..BRANCHES {
            repo.git(&["branch", &name(branch)]);
        }
        let fake = Fake::serve(repo.path()).await;
        let service = person("service");
        fake.behave(|behavior| {
            behavior.visibility = Visibility::Token(service.token.clone());
            behavior.people.push(service.clone());
            for branch in 0..BRANCHES {
                let agents = (0..AGENTS_OF_A_BRANCH).map(|agent| person(&login(branch, agent)));
                behavior.people.extend(agents);
            }
        });
        let store = EmbeddedStore::in_memory().unwrap();
        let router = upstash_listen::router(Arc::new(store.clone()), SecretString::from("token"));
        let store_url = format!("http://{}", listen(router).await);
        let environment = |name: &str| {
            let value = match name {
                "GITHUB_API_URL" => fake.api(),
                "GITHUB_TOKEN" => &service.token,
                "GITHUB_WEBHOOK_SECRET" | "COORD_JWT_SECRET" => SECRET,
                "UPSTASH_REDIS_REST_URL" => &store_url,
                "UPSTASH_REDIS_REST_TOKEN" => "token",
                "COORD_LIMIT_HOLDER_PER_MINUTE" | "COORD_LIMIT_REPOSITORY_PER_MINUTE" => "0",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let mut instances = Vec::new();
        for _ in 0..INSTANCES {
            let check = listen(function_router(Endpoint::CheckStatus, &environment)).await;
            let webhook = listen(function_router(Endpoint::GithubWebhook, &environment)).await;
            instances.push([check, webhook]);
        }
        Cloud {
            repo,
            fake,
            store,
            instances,
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
            heads: vec![head; BRANCHES],
            _temp: temp,
        }
    }

    async fn ask(&self, instance: usize, branch: usize, token: &str, agent_head: &str) -> Value {
        let body = json!({
            "repo_url": format!("https://{REPOSITORY}"), "branch": name(branch), "file_paths": ["src/a.ts"],
            "agent_head": agent_head,
        });
        let address = self.instances[instance % INSTANCES][0];
        let request = self.client.post(format!("http://{address}/api/check_status"));
        let request = request.bearer_auth(token).header("content-type", "application/json");
        let response = request.body(body.to_string()).send().await.unwrap();
        let bytes = response.bytes().await.unwrap();
        let answer: Value = serde_json::from_slice(&bytes).unwrap();
        let status = answer["status"].as_str().unwrap_or_default();
        assert!(matches!(status, "OK" | "STALE"), "{answer}");
        answer
    }

    /// Pushes to `branch`, and delivers the push if there is a webhook.
    async fn push(&mut self, branch: usize, has_webhook: bool) {
        let before = self.heads[branch].clone();
        let tree = format!("{before}^{{tree}}");
        let after = self
            .repo
            .git(&["commit-tree", &tree, "-p", &before, "-m", "Change something"]);
        let reference = format!("refs/heads/{}", name(branch));
        self.repo.git(&["update-ref", &reference, &after]);
        self.heads[branch].clone_from(&after);
        if !has_webhook {
            return;
        }
        let payload = json!({
            "ref": reference, "before": before, "after": after, "created": false, "deleted": false, "forced": false,
            "commits": [{"id": after}],
            "repository": {
                "full_name": format!("{OWNER}/{NAME}"), "html_url": format!("https://{REPOSITORY}"), "pushed_at": now(),
            },
        });
        let body = payload.to_string();
        let key = EncodingKey::from_secret(SECRET.as_bytes());
        let mac = jsonwebtoken::crypto::sign(body.as_bytes(), &key, Algorithm::HS256).unwrap();
        let mac = URL_SAFE_NO_PAD.decode(mac).unwrap();
        let digits: Vec<String> = mac.iter().map(|byte| format!("{byte:02x}")).collect();
        let request = self
            .client
            .post(format!("http://{}/api/github_webhook", self.instances[0][1]))
            .header("content-type", "application/json")
            .header("x-github-event", "push")
            .header("x-hub-signature-256", format!("sha256={}", digits.concat()));
        let response = request.body(body).send().await.unwrap();
        assert!(response.status().is_success(), "{:?}", response.bytes().await);
    }

    async fn run(&self, batch: Vec<Request>) -> Vec<Reply> {
        self.store.run(batch).await.unwrap()
    }

    /// Makes everything in the store that has a time older by one step.
    async fn pass_time(&self) {
        let mut batch = vec![Request::command(["DEL", &format!("coord:limit:{{{REPOSITORY}}}:new")])];
        for branch in 0..BRANCHES {
            let key = format!("coord:head:{{{REPOSITORY}}}:{}", name(branch));
            let fields = [
                "checked_at",
                "read_at",
                "source_at",
                "pushed_at",
                "known_at",
                "refresh_at",
            ];
            for field in fields {
                let is_there = self.run(vec![Request::command(["HEXISTS", &key, field])]).await[0].as_int() == Some(1);
                if is_there {
                    batch.push(Request::command(["HINCRBY", &key, field, &(-STEP_SECONDS).to_string()]));
                }
            }
        }
        let pattern = format!("coord:identity:{{{REPOSITORY}}}:*");
        let keys = self.run(vec![Request::command(["KEYS", &pattern])]).await.remove(0);
        for key in keys.as_array().unwrap().iter().filter_map(Reply::as_str) {
            let left = self.run(vec![Request::command(["TTL", key])]).await[0]
                .as_int()
                .unwrap();
            let left = (left - STEP_SECONDS).to_string();
            batch.push(Request::command(["EXPIRE", key, &left]));
        }
        for reply in self.run(batch).await {
            assert!(!matches!(reply, Reply::Error(_)), "{reply:?}");
        }
    }

    /// Adds the requests since the last call, by kind.
    fn count(&self, counts: &mut BTreeMap<&'static str, usize>) {
        for seen in self.fake.seen() {
            let path = seen.target.strip_prefix("/api/v3").unwrap_or(&seen.target);
            let rest = path.strip_prefix(&format!("/repos/{OWNER}/{NAME}"));
            let kind = match rest {
                None if path == "/user" => "callers: who it is",
                Some("") => "callers: what it may do",
                Some(rest) if rest.starts_with("/commits/heads/") => {
                    let etags = self.heads.iter().map(|head| format!("\"{head}\""));
                    let is_known = etags.into_iter().any(|etag| seen.if_none_match.as_ref() == Some(&etag));
                    if is_known {
                        "service: head, 304"
                    } else {
                        "service: head, in whole"
                    }
                }
                Some(rest) if rest.starts_with("/commits?") => "service: commits of a branch",
                _ => "other",
            };
            *counts.entry(kind).or_default() += 1;
        }
    }
}

async fn hour(has_webhook: bool) {
    let mut cloud = Cloud::start().await;
    let mut agents = vec![vec![cloud.heads[0].clone(); AGENTS_OF_A_BRANCH]; BRANCHES];
    for branch in 0..BRANCHES {
        for agent in 0..AGENTS_OF_A_BRANCH {
            let token = person(&login(branch, agent)).token;
            cloud.ask(agent, branch, &token, &cloud.heads[branch]).await;
        }
        cloud.push(branch, has_webhook).await;
    }
    cloud.fake.seen();
    let started = Instant::now();
    let mut counts = BTreeMap::new();
    let (mut asked, mut pulled, mut pushed) = (0, 0, 0);
    for step in 0..STEPS {
        for (branch, heads) in agents.iter_mut().enumerate() {
            if step % STEPS_BETWEEN_PUSHES == branch * STEPS_BETWEEN_PUSHES / BRANCHES {
                cloud.push(branch, has_webhook).await;
                pushed += 1;
            }
            let agent = step % AGENTS_OF_A_BRANCH;
            let token = person(&login(branch, agent)).token;
            let answer = cloud.ask(step + branch, branch, &token, &heads[agent]).await;
            asked += 1;
            if answer["orchestration"]["action"] == "PULL" {
                pulled += 1;
                heads[agent] = answer["repo_head"].as_str().unwrap().to_owned();
            }
            // Before the next push, so that an ETag is compared with the head of its time.
            cloud.count(&mut counts);
        }
        cloud.pass_time().await;
    }
    let with = if has_webhook { "with" } else { "without" };
    let all: usize = counts.values().sum();
    let by_service: usize = counts
        .iter()
        .filter(|(kind, _)| kind.starts_with("service"))
        .map(|(_, count)| count)
        .sum();
    let free = counts.get("service: head, 304").copied().unwrap_or_default();
    println!(
        "{with} the webhook: {asked} questions, {pushed} pushes, {pulled} told to pull ({:.0?})",
        started.elapsed()
    );
    println!("  requests to GitHub: {all}");
    println!(
        "  with the token of the service: {by_service}, of which {} count against its limit",
        by_service - free
    );
    for (kind, count) in counts {
        println!("  {count:>6}  {kind}");
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The same request to the same function, with a cached GitHub token and with a JWT, in turn.
async fn latency() {
    let cloud = Cloud::start().await;
    let claims = json!({"sub": "ann", "aud": "coord", "exp": now() + 3_600});
    let key = EncodingKey::from_secret(SECRET.as_bytes());
    let jwt = jsonwebtoken::encode(&Header::default(), &claims, &key).unwrap();
    let token = person(&login(0, 0)).token;
    let mut times = [Vec::new(), Vec::new()];
    for call in 0..CALLS + 100 {
        for (shown, times) in [&token, &jwt].into_iter().zip(&mut times) {
            let started = Instant::now();
            cloud.ask(0, 0, shown, &cloud.heads[0]).await;
            if call >= 100 {
                times.push(started.elapsed());
            }
        }
        if call % 100 == 0 {
            // So that no head is fetched during the measurement.
            let head = format!("coord:head:{{{REPOSITORY}}}:{}", name(0));
            cloud
                .run(vec![Request::command([
                    "HSET",
                    &head,
                    "checked_at",
                    &(now() + 60).to_string(),
                ])])
                .await;
        }
    }
    let [by_token, by_jwt] = times.each_mut().map(|times| median(times));
    println!(
        "median of {CALLS} calls in turn: token of GitHub's, remembered {by_token:.2?}; JWT {by_jwt:.2?}; ratio {:.3}",
        by_token.as_secs_f64() / by_jwt.as_secs_f64()
    );
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        if !std::env::args().any(|argument| argument == "latency") {
            hour(false).await;
            hour(true).await;
        }
        latency().await;
    });
}
