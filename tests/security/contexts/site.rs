//! A repository with a server that two logins ask: `eve` by HTTP, and whoever runs the tests by commands, hooks and MCP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Output, Stdio};
use std::sync::{Arc, Mutex};

use coord_store::redis::RedisStore;
use coord_store::{Request, Store, Value};
use coord_test_support::redis::empty_database;
use coord_test_support::waiting::block_until;
use reqwest::{Client, Method};
use serde_json::{Value as Json, json};

use coord_test_worlds::world::{REPO_URL, World};

/// The member that reads, an agent of whoever runs the tests.
pub const READER: &str = "reader";

pub struct Site {
    pub world: World,
    pub head: String,
    pub store: RedisStore,
    process: Child,
    client: Client,
    address: String,
    /// The bytes that watchers got so far.
    events: Arc<Mutex<Vec<u8>>>,
}

impl Site {
    /// `None` where redis-server is not installed.
    pub fn start() -> Option<Site> {
        let url = empty_database()?;
        let world = World::with(&[
            ("a.ts", "export const a = 1;\n"),
            ("b.ts", "import { a } from './a';\n"),
            ("c.txt", "c\n"),
        ]);
        let head = world.clone.git(&["rev-parse", "HEAD"]).trim().to_owned();
        let log = std::fs::File::create(world.folder("log").join("serve")).unwrap();
        let process = world
            .coord(world.clone.path())
            .args(["serve", "--port", "0", "--redis", &url])
            .env("COORD_LIMIT_HOLDER_PER_MINUTE", "0")
            .env("COORD_LIMIT_REPOSITORY_PER_MINUTE", "0")
            .env("COORD_LEDGER_MAX_LINES", "100000")
            .env("RUST_LOG", "coord=debug,tower_http=debug")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let id = process.id().to_string();
        block_until("the server listens", || world.server().as_deref() == Some(&id));
        let announced = std::fs::read_to_string(world.clone.path().join(".git/coord/listening")).unwrap();
        let address = announced
            .split(' ')
            .next()
            .unwrap()
            .trim_start_matches("http://")
            .to_owned();
        let events = watched(&address);
        Some(Site {
            store: RedisStore::connect(&url).unwrap(),
            client: Client::builder().no_proxy().build().unwrap(),
            world,
            head,
            process,
            address,
            events,
        })
    }

    /// Returns the log of the server.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.world.folder("log").join("serve")).unwrap()
    }

    /// The bytes of the live events.
    pub fn events(&self) -> String {
        // HTTP ends its own lines so.
        String::from_utf8(self.events.lock().unwrap().clone())
            .unwrap()
            .replace("\r\n", "\n")
    }

    /// The body of a reading request of the login that runs the tests.
    pub async fn reads(&self, target: &str) -> String {
        self.sends_as("ann", "GET", target, &[], &Json::Null).await.1
    }

    /// The status and the body of a request of `user`.
    pub async fn sends_as(
        &self,
        user: &str,
        method: &str,
        target: &str,
        headers: &[(String, Vec<u8>)],
        body: &Json,
    ) -> (u16, String) {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let url = format!("http://{}{target}", self.address);
        let mut request = self.client.request(method, url).header("x-coord-user", user);
        for (name, value) in headers {
            request = request.header(name, value.as_slice());
        }
        if !body.is_null() {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        match request.send().await {
            Ok(response) => (response.status().as_u16(), response.text().await.unwrap()),
            // HTTP itself takes no such header.
            Err(error) if error.is_builder() => (400, String::new()),
            Err(error) => panic!("{target}: {error}"),
        }
    }

    /// The answer of `POST /api/mcp` to `user`.
    pub async fn mcp(&self, user: &str, method: &str, mut params: Json) -> Json {
        const NEWEST: &str = "2026-07-28";
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default();
        let headers = [
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", NEWEST),
            ("mcp-method", method),
            ("mcp-name", name),
        ];
        let headers = headers.iter().filter(|(_, value)| !value.is_empty());
        let headers: Vec<_> = headers
            .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()))
            .collect();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": NEWEST,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let (_, body) = self.sends_as(user, "POST", "/api/mcp", &headers, &request).await;
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{method}: {error}: {body}"))
    }

    /// Returns the output of `coord ARGS` for the reader, on both streams.
    pub fn run(&self, args: &[&str], input: &str) -> (String, String) {
        let mut command = self.world.coord(self.world.clone.path());
        command.args(args).env("COORD_AGENT", READER);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut running = command.spawn().unwrap();
        // A command that reads nothing may have ended.
        let _ = running.stdin.take().unwrap().write_all(input.as_bytes());
        let Output { stdout, stderr, .. } = running.wait_with_output().unwrap();
        (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    }

    /// Rewrites every text of the store, as if another version had stored it. Returns how many were changed.
    pub async fn rewrites(&self, change: impl Fn(&str) -> String) -> usize {
        let mut count = 0;
        for key in self.texts(&["KEYS", "coord:*"]).await {
            let kind = self.texts(&["TYPE", &key]).await.remove(0);
            let read: &[&str] = match kind.as_str() {
                "string" => &["GET", &key],
                "hash" => &["HGETALL", &key],
                "list" => &["LRANGE", &key, "0", "-1"],
                "set" => &["SMEMBERS", &key],
                "zset" => &["ZRANGE", &key, "0", "-1", "WITHSCORES"],
                "stream" => &["XRANGE", &key, "-", "+"],
                // The key has expired since KEYS.
                "none" => continue,
                other => panic!("{other}"),
            };
            let stored = self.texts(read).await;
            let changed: Vec<String> = stored.iter().map(|text| change(text)).collect();
            count += stored.iter().zip(&changed).filter(|(one, other)| one != other).count();
            if stored == changed {
                continue;
            }
            let ttl = self.texts(&["PTTL", &key]).await.remove(0);
            let changed: Vec<&str> = changed.iter().map(String::as_str).collect();
            let mut commands: Vec<Vec<&str>> = vec![vec!["DEL", &key]];
            match kind.as_str() {
                "string" => commands.push(vec!["SET", &key, changed[0]]),
                "hash" => commands.push([&["HSET", key.as_str()], &changed[..]].concat()),
                "list" => commands.push([&["RPUSH", key.as_str()], &changed[..]].concat()),
                "set" => commands.push([&["SADD", key.as_str()], &changed[..]].concat()),
                "zset" => {
                    let scored = changed.chunks(2).flat_map(|pair| [pair[1], pair[0]]);
                    commands.push(["ZADD", key.as_str()].into_iter().chain(scored).collect());
                }
                // An entry is its id and its fields; all entries of ours have as many.
                _ => {
                    let mut entry: Vec<&str> = Vec::new();
                    for word in changed {
                        if is_entry(word) && !entry.is_empty() {
                            commands.push([&["XADD", key.as_str()], &entry[..]].concat());
                            entry.clear();
                        }
                        entry.push(word);
                    }
                    commands.push([&["XADD", key.as_str()], &entry[..]].concat());
                }
            }
            if ttl.parse::<i64>().unwrap() > 0 {
                commands.push(vec!["PEXPIRE", &key, &ttl]);
            }
            for command in commands {
                self.texts(&command).await;
            }
        }
        count
    }

    /// The answer to a command of Redis, as one list.
    async fn texts(&self, command: &[&str]) -> Vec<String> {
        let command = Request::Command(command.iter().map(|word| word.as_bytes().to_vec()).collect());
        let mut found = Vec::new();
        flatten(self.store.run(vec![command]).await.unwrap().remove(0), &mut found);
        found
    }
}

fn is_entry(word: &str) -> bool {
    word.split_once('-').is_some_and(|(time, count)| {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number(time) && is_number(count)
    })
}

fn flatten(value: Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.into_iter().for_each(|item| flatten(item, found)),
        // Some values are numbers in bytes.
        Value::Bulk(bytes) => found.push(String::from_utf8_lossy(&bytes).into_owned()),
        Value::Int(number) => found.push(number.to_string()),
        Value::Status(text) => found.push(text),
        Value::Nil => {}
        Value::Error(error) => panic!("{error}"),
    }
}

/// Collects the bytes that a watcher of the repository gets from now on.
fn watched(address: &str) -> Arc<Mutex<Vec<u8>>> {
    let mut stream = TcpStream::connect(address).unwrap();
    let target = format!("/api/events?repo_url={REPO_URL}&branch=main");
    let request = format!("GET {target} HTTP/1.1\r\nhost: {address}\r\naccept: text/event-stream\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let got = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&got);
    std::thread::spawn(move || {
        let mut part = [0; 4096];
        while let Ok(count) = stream.read(&mut part) {
            if count == 0 {
                return;
            }
            kept.lock().unwrap().extend(&part[..count]);
        }
    });
    block_until("the stream is open", || {
        memchr::memmem::find(&got.lock().unwrap(), b"event:").is_some()
    });
    got
}

impl Drop for Site {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
