//! A server that grants claims and has intents, in place of Coord's: it says what it was asked.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use crate::world::World;

#[derive(Clone, Debug)]
pub struct Request {
    pub path: String,
    pub body: Value,
}

/// The server's answers, and the requests that it got.
#[derive(Default)]
struct State {
    requests: Vec<Request>,
    /// Status and body by path, in place of the usual ones.
    answers: BTreeMap<String, (u16, Value)>,
    /// The files that are held, with their holders.
    held: BTreeMap<String, String>,
    has_intents: bool,
    is_required: bool,
    selected: Option<String>,
}

/// The server; it lives as long as the test's process.
#[derive(Clone)]
pub struct Fake {
    state: Arc<Mutex<State>>,
    pub address: String,
}

impl Fake {
    /// In front of `world`.
    pub fn of(world: &World) -> Fake {
        let fake = Fake::start();
        world.clone.git(&["config", "coord.url", &fake.address]);
        fake
    }

    /// In front of nothing yet.
    pub fn start() -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || while serve(&stream, &shared).is_some() {});
            }
        });
        Fake { state, address }
    }

    /// With an intent, which is selected where `selected` is set.
    pub fn with_intent(world: &World, selected: bool) -> Fake {
        let fake = Fake::of(world);
        fake.state().has_intents = true;
        if selected {
            fake.select();
        }
        fake
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub fn require_intents(&self) {
        self.state().is_required = true;
    }

    pub fn select(&self) {
        self.state().selected = Some("REQ-1".to_owned());
    }

    /// From now on, `path` is answered so.
    pub fn answer(&self, path: &str, status: u16, body: Value) {
        self.state().answers.insert(path.to_owned(), (status, body));
    }

    /// Another holder has `file`.
    pub fn hold(&self, file: &str, holder: &str) {
        self.state().held.insert(file.to_owned(), holder.to_owned());
    }

    fn take_requests(&self) -> impl Iterator<Item = Request> {
        std::mem::take(&mut self.state().requests).into_iter()
    }

    /// The requests to `path` since the last look, and no others.
    pub fn requests_to(&self, path: &str) -> Vec<Value> {
        let of_path = self.take_requests().filter(|request| request.path == path);
        of_path.map(|request| request.body).collect()
    }

    /// The paths of the requests since the last look.
    pub fn paths(&self) -> Vec<String> {
        self.take_requests().map(|request| request.path).collect()
    }

    /// The recorded entries since the last look.
    pub fn recorded(&self) -> Vec<Value> {
        let requests = self.requests_to("/api/ledger").into_iter();
        let entries = requests.flat_map(|request| request["entries"].as_array().unwrap().clone());
        entries.collect()
    }
}

fn serve(stream: &TcpStream, state: &Mutex<State>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|bytes| *bytes > 0)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let target = first.split(' ').nth(1)?;
    let path = target.split('?').next()?.to_owned();
    let body: Value = serde_json::from_slice(&body).unwrap_or_else(|_| json!(target));
    let (status, answer) = answered(&mut state.lock().unwrap(), &path, &body);
    state.lock().unwrap().requests.push(Request { path, body });
    let text = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        text.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(text.as_bytes()).ok()
}

fn answered(state: &mut State, path: &str, body: &Value) -> (u16, Value) {
    if let Some(answer) = state.answers.get(path) {
        return answer.clone();
    }
    let proceed = json!({ "type": "orchestration_command", "action": "PROCEED", "command": null, "reason": "x",
        "metadata": state.selected.as_ref().map(|id| json!({ "intent_id": id })) });
    let intent = || {
        json!({ "id": "REQ-1", "name": "n", "description": "d", "status": "IN_PROGRESS", "constraints": [], "owned_scope": ["a/**"],
            "acceptance_criteria": [] })
    };
    let held = |file: &str, holder: &str| {
        json!({ "file_path": file, "branch": "main", "user": "u", "user_name": "u", "agent_id": holder, "status": "WRITING",
            "message": "m", "timestamp": 1, "expiry": 4_000_000_000_u64 })
    };
    let answer = match path {
        "/api/post_status" => {
            let holder = body["agent_id"].as_str().unwrap_or_default().to_owned();
            let mut locks = json!({});
            for file in body["file_paths"].as_array().into_iter().flatten() {
                let file = file.as_str().unwrap();
                state.held.insert(file.to_owned(), holder.clone());
                locks[file] = json!({ "status": "WRITING", "message": "m", "timestamp": 1, "expiry": 4_000_000_000_u64, "token": 7 });
            }
            json!({ "success": true, "orphaned_dependencies": [], "orchestration": proceed, "repo_head": null, "repo_head_ref": null,
                "locks": locks, "warnings": [] })
        }
        "/api/locks" => {
            let locks: Vec<Value> = state.held.iter().map(|(file, holder)| held(file, holder)).collect();
            json!({ "locks": locks })
        }
        "/api/intents" => {
            let intents: Vec<Value> = state.has_intents.then(intent).into_iter().collect();
            json!({ "intents": intents, "state": "REQUEST", "selected": state.selected, "is_required": state.is_required,
                "context": "Select one: REQ-1" })
        }
        "/api/intents/REQ-1" => {
            json!({ "success": true, "intent": intent(), "state": "ACTION", "context": "Intent REQ-1: n", "warnings": [],
                "orchestration": proceed })
        }
        "/api/intents/REQ-1/usage" => {
            json!({ "success": true, "state": "ACTION", "warnings": [], "orchestration": proceed })
        }
        "/api/ledger" => json!({ "recorded": [], "warnings": [], "orchestration": proceed }),
        _ => return (404, json!({ "error": "UNKNOWN_ROUTE", "message": "no such route" })),
    };
    (200, answer)
}
