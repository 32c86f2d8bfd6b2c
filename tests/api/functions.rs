//! Functions as the processes that Vercel starts, with what stands on the other side of their runtime: a socket on which it says
//! that it listens, and that all that belongs to a request has ended. Until then Vercel does not freeze the process.

use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixListener;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use coord_test_support::embedded;
use coord_test_support::git::Repo;
use coord_test_support::github::{Fake, Fault};
use jsonwebtoken::{EncodingKey, Header};
use serde_json::{Value, json};
use tokio::sync::mpsc;

const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// A process of a function. It ends when this is dropped.
struct Function {
    process: Child,
    port: u64,
    messages: mpsc::UnboundedReceiver<Value>,
}

impl Drop for Function {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Function {
    async fn start(executable: &str, environment: &[(&str, &str)]) -> Function {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("ipc");
        let listener = UnixListener::bind(&socket).unwrap();
        let process = Command::new(executable)
            .env_clear()
            .envs(environment.iter().copied())
            .env("VERCEL_IPC_PATH", &socket)
            .env("VERCEL_DEV_PORT", free_port().to_string())
            .spawn()
            .unwrap();
        let (sender, messages) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            for message in BufReader::new(stream).split(0).map_while(Result::ok) {
                let _ = sender.send(serde_json::from_slice(&message).unwrap());
            }
            drop(folder);
        });
        let mut function = Function {
            process,
            port: 0,
            messages,
        };
        let started = function.next_message("server-started").await;
        function.port = started["httpPort"].as_u64().unwrap();
        function
    }

    /// Returns the next message of this kind.
    async fn next_message(&mut self, kind: &str) -> Value {
        let message_of_kind = async {
            loop {
                let message = self.messages.recv().await.expect("the process goes on");
                if message["type"] == kind {
                    return message["payload"].clone();
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(30), message_of_kind)
            .await
            .expect(kind)
    }

    /// Asks for the graph, as invocation `id`.
    async fn graph(&self, id: u64) -> (u16, Value) {
        let target = "/api/graph?repo_url=https://127.0.0.1/acme/widgets&branch=main";
        let answer = self.get(id, target).await;
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap())
    }

    /// Asks for `target`, as invocation `id`.
    async fn get(&self, id: u64, target: &str) -> reqwest::Response {
        let claims = json!({"sub": "ann", "aud": "coord", "exp": jsonwebtoken::get_current_timestamp() + 60});
        let key = EncodingKey::from_secret(SECRET.as_bytes());
        let token = jsonwebtoken::encode(&Header::default(), &claims, &key).unwrap();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client
            .get(format!("http://127.0.0.1:{}{target}", self.port))
            .bearer_auth(token)
            .header("x-vercel-internal-invocation-id", format!("invocation-{id}"))
            .header("x-vercel-internal-request-id", id.to_string());
        request.send().await.unwrap()
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// The address of an Upstash database over a file.
async fn store(folder: &tempfile::TempDir) -> String {
    let store = embedded::open(&folder.path().join("store.redb"));
    coord_test_support::upstash::serve(Arc::new(store)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_ends_once_the_graph_build_that_it_started_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let repo = Repo::init(folder.path().join("repo"), &[]);
    repo.commit(&[("a.ts", "import './b';\n"), ("b.ts", "")]);
    let fake = Fake::serve(repo.path()).await;
    let pause = Duration::from_secs(6);
    fake.fail("/git/trees", 1, Fault::Slow(pause));
    let mut function = Function::start(
        env!("CARGO_BIN_EXE_graph"),
        &[
            ("UPSTASH_REDIS_REST_URL", &store(&folder).await),
            ("UPSTASH_REDIS_REST_TOKEN", "token"),
            ("GITHUB_API_URL", fake.api()),
            ("COORD_JWT_SECRET", SECRET),
            ("COORD_HEAD_TTL_SECONDS", "600"),
        ],
    )
    .await;

    let (status, first) = function.graph(7).await;
    let answered = Instant::now();
    assert_eq!((status, &first["state"]), (202, &json!("building")), "{first}");
    let ended = function.next_message("end").await;
    assert_eq!(
        ended["context"],
        json!({"invocationId": "invocation-7", "requestId": 7})
    );
    let built_in = answered.elapsed();
    // The answer did not wait for the tree, and the end of the request did. The head was asked for meanwhile.
    assert!(built_in >= pause / 2, "{built_in:?}");

    let (status, built) = function.graph(8).await;
    let answered = Instant::now();
    assert_eq!((status, &built["state"]), (200, &json!("ready")), "{built}");
    assert_eq!(
        built["edges"],
        json!([{"source": "a.ts", "target": "b.ts", "type": "import"}])
    );
    // Nothing is left to do.
    assert_eq!(function.next_message("end").await["context"]["requestId"], 8);
    assert!(answered.elapsed() < pause / 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_for_events_ends_with_the_stream() {
    let folder = tempfile::tempdir().unwrap();
    let repo = Repo::init(folder.path().join("repo"), &[]);
    repo.commit(&[("a.ts", "")]);
    let fake = Fake::serve(repo.path()).await;
    let store = store(&folder).await;
    let mut function = Function::start(
        env!("CARGO_BIN_EXE_events"),
        &[
            ("UPSTASH_REDIS_REST_URL", &store),
            ("UPSTASH_REDIS_REST_TOKEN", "token"),
            ("GITHUB_API_URL", fake.api()),
            ("COORD_JWT_SECRET", SECRET),
        ],
    )
    .await;
    let target = "/api/events?repo_url=https://127.0.0.1/acme/widgets";
    let mut stream = function.get(7, target).await;
    assert_eq!(stream.status(), 200);
    let first = stream.chunk().await.unwrap().expect("a message");
    assert!(first.starts_with(b"id: 0-0\nevent: stream_opened\n"), "{first:?}");
    let early = tokio::time::timeout(Duration::from_secs(2), function.next_message("end")).await;
    assert!(early.is_err(), "the process would be frozen: {early:?}");
    drop(stream);
    // The runtime notices a client that is gone when it writes, some writes later.
    let repo = coord_domain::RepoId::parse("https://127.0.0.1/acme/widgets").unwrap();
    let channel = coord_state::events::keys::events(&repo);
    let progress = json!({"type": "graph_progress", "branch": "main", "version": "9bee4e1", "files": 1, "wanted": 1,
        "scanned": 1, "time": 1});
    let store = coord_store::upstash::UpstashStore::new(&store, "token".to_owned().into()).unwrap();
    let publishing = tokio::spawn(async move {
        loop {
            let publish = coord_store::Request::command(["PUBLISH", &channel, &progress.to_string()]);
            coord_store::Store::run(&store, vec![publish]).await.unwrap();
            // time: progress is published again and again.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    assert_eq!(function.next_message("end").await["context"]["requestId"], 7);
    publishing.abort();
}
