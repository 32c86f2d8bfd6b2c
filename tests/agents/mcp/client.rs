//! A client of `coord mcp`: one line of JSON-RPC out, one in.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use coord_test_support::waiting::block_until;
use serde_json::{Value as Json, json};

/// Much longer than any answer takes, that of a server which gives none included.
const PATIENCE: Duration = Duration::from_secs(60);

/// The sentence of every claim that has no other.
pub const MESSAGE: &str = "Moving the pool of connections behind a trait";

/// An agent with its `coord mcp`.
pub struct Agent {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    log: Option<JoinHandle<String>>,
    next: i64,
}

/// How a `coord mcp` has ended.
pub struct Ended {
    pub status: ExitStatus,
    pub log: String,
}

impl Agent {
    /// Starts `command`, which runs `coord mcp`, and says hello.
    pub fn start(command: Command) -> Agent {
        let mut agent = Agent::silent(command);
        agent.hello("test-client");
        agent
    }

    /// Starts `command`, and says nothing.
    pub fn silent(mut command: Command) -> Agent {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut errors = process.stderr.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            let _ = errors.read_to_string(&mut log);
            log
        });
        Agent {
            input: process.stdin.take(),
            process,
            lines,
            log: Some(log),
            next: 0,
        }
    }

    /// `initialize` as the client `name`.
    pub fn hello(&mut self, name: &str) -> Json {
        let hello = self.ask(
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": name, "version": "1" } }),
        );
        self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        hello
    }

    /// The result of a request.
    pub fn ask(&mut self, method: &str, params: Json) -> Json {
        match self.try_ask(method, params) {
            Ok(result) => result,
            Err(error) => panic!("{method}: {error}"),
        }
    }

    /// The result of a request, or its error.
    pub fn try_ask(&mut self, method: &str, params: Json) -> Result<Json, Json> {
        let id = self.send(method, params);
        let answer = self.answer();
        assert_eq!(answer["id"], id, "{answer}");
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].clone()),
        }
    }

    /// Sends a request, whose id this returns.
    pub fn send(&mut self, method: &str, params: Json) -> i64 {
        self.next += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }).to_string());
        self.next
    }

    pub fn answer(&mut self) -> Json {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("not the protocol: {line:?}: {error}"))
    }

    /// The next message as it was sent.
    pub fn line(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("an answer")
    }

    /// Writes a line.
    pub fn write(&mut self, line: &str) {
        let input = self.input.as_mut().expect("not closed");
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// The names of the tools that are listed.
    pub fn tool_names(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({}));
        let tools = listed["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The result of a call.
    pub fn call(&mut self, tool: &str, arguments: Json) -> Json {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The structured content of a call's result.
    pub fn structured(&mut self, tool: &str, arguments: Json) -> Json {
        self.call(tool, arguments)["structuredContent"].clone()
    }

    /// The answer to a check.
    pub fn check(&mut self, paths: &[&str]) -> Json {
        self.structured("check_status", json!({ "file_paths": paths }))
    }

    /// Checks `path` until a check warns with `code`: those warnings.
    pub fn warned(&mut self, path: &str, code: &str) -> Vec<String> {
        let mut warned = Vec::new();
        block_until(code, || {
            let checked = self.check(&[path]);
            warned = warnings(&checked, code).into_iter().map(str::to_owned).collect();
            !warned.is_empty()
        });
        warned
    }

    /// Claims files to write, and is granted them.
    #[track_caller]
    pub fn gets_locks(&mut self, paths: &[&str]) {
        let claimed = self.claim(paths);
        assert_eq!(action(&claimed), "PROCEED", "{claimed}");
    }

    /// The answer to a claim to write.
    pub fn claim(&mut self, paths: &[&str]) -> Json {
        self.post(paths, "WRITING", MESSAGE)
    }

    /// The answer to a claim or a release.
    pub fn post(&mut self, paths: &[&str], status: &str, message: &str) -> Json {
        let arguments = json!({ "file_paths": paths, "status": status, "message": message });
        self.structured("post_status", arguments)
    }

    /// The answer to a release of a file that may have changes.
    pub fn abandon(&mut self, path: &str) -> Json {
        let arguments = json!({ "file_paths": [path], "status": "OPEN", "abandon": true, "message": MESSAGE });
        self.structured("post_status", arguments)
    }

    /// Returns the content of a resource.
    pub fn read(&mut self, uri: &str) -> Json {
        let result = self.ask("resources/read", json!({ "uri": uri }));
        serde_json::from_str(result["contents"][0]["text"].as_str().unwrap()).unwrap()
    }

    /// The files that `coord://locks` shows, sorted, with `query`.
    pub fn held(&mut self, query: &str) -> Vec<String> {
        let locks = self.read(&format!("coord://locks{query}"));
        let locks = locks["locks"].as_array().unwrap().iter();
        locks
            .map(|lock| lock["file_path"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.process.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Closes its input.
    pub fn close(&mut self) {
        self.input = None;
    }

    /// Closes its input, and waits for its end.
    pub fn end(mut self) -> Ended {
        self.close();
        self.wait()
    }

    pub fn wait(mut self) -> Ended {
        let status = self.process.wait().unwrap();
        let rest: Vec<String> = self.lines.iter().collect();
        assert_eq!(rest, [""; 0], "nothing but the protocol is on standard output");
        Ended {
            status,
            log: self.log.take().unwrap().join().unwrap(),
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Where a test is over before its agent, nothing of it may go on: it would start the server again.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The `_meta` of each request of a client of the protocol's newest revision, which says no hello.
pub fn newest_revision(name: &str) -> Json {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": name, "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

pub fn action(answer: &Json) -> &str {
    answer["orchestration"]["action"].as_str().unwrap_or_default()
}

/// The warnings of an answer that begin with `code`.
pub fn warnings<'a>(answer: &'a Json, code: &str) -> Vec<&'a str> {
    let warnings = answer["warnings"].as_array().into_iter().flatten();
    let texts = warnings.filter_map(Json::as_str);
    texts
        .filter(|warning| warning.strip_prefix(code).is_some_and(|rest| rest.starts_with(':')))
        .collect()
}
