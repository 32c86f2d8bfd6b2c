//! A day's work with intents as it was recorded with another tool, where most of it went wrong: a registry written by hand
//! without its lists, hooks whose process is in another folder, empty files, the word "done" in a log.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Answer, claude, sha256};
use crate::commands::printed;
use crate::texts::assert_has;
use coord_test_worlds::hook_forms::CLAUDE_CODE;
use coord_test_worlds::world::World;

const ID: &str = "REQ-WEATHER-API-001";
const CRITERION: &str = "A request for a city is answered";
const REGISTRY: &str = "\
# Written by hand, on the first day
active_intents:
  - id: REQ-WEATHER-API-001
    name: 'Weather API'
    description: A small web service.
    owned_scope:
      - app/**
      - .orchestration/**
    acceptance_criteria:
      - A request for a city is answered
";

struct Day {
    world: World,
    /// The folder of the hooks' processes, which is in no repository.
    elsewhere: PathBuf,
    calls: Cell<u32>,
}

impl Day {
    fn start() -> Day {
        let world = World::with(&[
            ("README.md", "# Weather\n"),
            ("setup.py", ""),
            ("docs/plan.md", "Plan\n"),
            ("app/main.py", "print('hello')\n"),
        ]);
        let elsewhere = world.folder("elsewhere");
        Day {
            world,
            elsewhere,
            calls: Cell::new(0),
        }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.world.clone.path().join(file)
    }

    fn event(&self, name: &str, more: Value) -> Answer {
        let mut call = json!({ "session_id": "of-the-day", "cwd": self.world.clone.path(), "hook_event_name": name });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        claude(&self.world, "one").at(&self.elsewhere).call((name, call))
    }

    fn tool(&self, event: &str, name: &str, input: &Value) -> Answer {
        let id = format!("toolu_{}", self.calls.get());
        let more = json!({ "tool_name": name, "tool_input": input, "tool_use_id": id, "tool_response": {} });
        self.event(event, more)
    }

    /// Why a write of `content` to `file` is denied.
    fn denial_of_write(&self, file: &str, content: &str) -> String {
        let input = json!({ "file_path": self.path(file), "content": content });
        (CLAUDE_CODE.denial)(&self.tool("PreToolUse", "Write", &input)).unwrap()
    }

    /// Runs a tool that is allowed, does `work`, and must cause no message.
    fn does(&self, name: &str, input: &Value, work: impl FnOnce()) {
        self.calls.set(self.calls.get() + 1);
        let before = self.tool("PreToolUse", name, input);
        assert_eq!((CLAUDE_CODE.denial)(&before), None, "{name} {input}");
        work();
        let after = self.tool("PostToolUse", name, input);
        for answer in [before, after] {
            assert_eq!((answer.status, answer.aside.as_str()), (0, ""), "{name} {input}");
            assert_eq!(answer.body, Value::Null, "{name} {input}");
        }
    }

    fn reads(&self, file: &str) {
        self.does("Read", &json!({ "file_path": self.path(file) }), || ());
    }

    fn writes(&self, file: &str, content: &str) {
        let path = self.path(file);
        let input = json!({ "file_path": path, "content": content });
        self.does("Write", &input, || {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
        });
    }

    fn run(&self, args: &[&str], status: i32) -> String {
        printed(&self.world, args, status)
    }

    fn status(&self) -> Value {
        let shown: Value = serde_json::from_str(&self.run(&["intent", "show", ID, "--json"], 0)).unwrap();
        shown["intent"]["status"].clone()
    }

    fn lines(&self) -> Vec<Value> {
        let log = self.run(&["ledger", "log", "-n", "500", "--json"], 0);
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[test]
fn a_recorded_day_goes_right() {
    let day = Day::start();
    fs::create_dir(day.path(".orchestration")).unwrap();
    fs::write(day.path(".orchestration/active_intents.yaml"), REGISTRY).unwrap();
    day.run(&["sync"], 0);

    // An intent that does not exist is not selected, and the ledger does not say that it was.
    day.event("SessionStart", json!({ "source": "startup", "model": "m" }));
    day.event("UserPromptSubmit", json!({ "prompt": "Build the weather service" }));
    day.run(&["intent", "select", "REQ-WEATHER-API-002", "--agent", "one"], 1);
    let selected = day.run(&["intent", "select", ID, "--agent", "one", "--json"], 0);
    let selected: Value = serde_json::from_str(&selected).unwrap();
    assert_eq!(selected["state"], "ACTION", "at the first try, without lists");
    assert_eq!(selected["intent"]["status"], "IN_PROGRESS");

    // Files that are there are written, whatever folder the process of the hook is in.
    day.reads("app/main.py");
    let long = "x = 1\n".repeat(100);
    let mut written = Vec::new();
    let mut writes = |file: &'static str, content: &str| {
        day.writes(file, content);
        written.push((file.to_owned(), sha256(content)));
    };
    writes("app/main.py", "print('one')\n");
    writes("app/__init__.py", "");
    writes("app/routes/__init__.py", "");
    writes("app/routes/weather.py", &long);
    let words = "print('A request for a city is answered: done, COMPLETED')\n";
    writes("app/main.py", words);
    // The next prompt asks for no new selection.
    day.event("UserPromptSubmit", json!({ "prompt": "go on" }));
    writes("app/models.py", "class City: pass\n");
    assert_eq!(day.status(), "IN_PROGRESS", "no word in a file completes it");
    writes("app/main.py", "print('three')\n");

    // The hook refuses to overwrite an outside change; reading the file resolves that.
    fs::write(day.path("app/models.py"), "class City: name = ''\n").unwrap();
    let stale: Value = serde_json::from_str(&day.denial_of_write("app/models.py", "mine")).unwrap();
    assert_eq!(stale["error_type"], "STALE_FILE");
    assert_eq!(stale["file_path"], "app/models.py");
    day.reads("app/models.py");
    writes("app/models.py", "class City: name = 'x'\n");

    // The files of Coord are in no scope.
    day.calls.set(100);
    let denied = day.denial_of_write(".orchestration/intent_map.md", "All is done.");
    let violation = format!("Scope Violation: {ID} is not authorized to edit '.orchestration/intent_map.md'.");
    assert_has(&denied, &[&violation]);

    // It is complete when its criterion is met, and not before.
    day.run(&["intent", "complete", ID, "--agent", "one"], 3);
    assert_eq!(day.status(), "IN_PROGRESS");
    let edit = ["intent", "edit", ID, "--agent", "one"];
    let met = ["--met", CRITERION, "--evidence", "curl /weather/Oslo: 200"];
    day.run(&[&edit[..], &met].concat(), 0);
    day.run(&["intent", "complete", ID, "--agent", "one"], 0);
    assert_eq!(day.status(), "COMPLETED");

    let lines = day.lines();
    let about = |line: &&Value| line["payload"]["hash"].is_string() && line["action_type"] == "TOOL_EXECUTION";
    let recorded: Vec<(String, String)> = lines
        .iter()
        .filter(about)
        .map(|line| {
            assert_eq!(line["result"]["status"], "SUCCESS", "{line}");
            assert_eq!(line["intent_id"], ID, "{line}");
            let hash = line["payload"]["hash"].as_str().unwrap();
            let file = line["payload"]["target_files"][0].as_str().unwrap();
            (file.to_owned(), hash.trim_start_matches("sha256:").to_owned())
        })
        .collect();
    assert_eq!(recorded, written, "each write once, in order, empty files too");
    let of_type = |kind: &str, status: &str| {
        let matches = |line: &&Value| line["action_type"] == kind && line["result"]["status"] == status;
        lines.iter().filter(matches).count()
    };
    assert_eq!(of_type("INTENT_SELECTION", "SUCCESS"), 1);
    assert_eq!(of_type("INTENT_SELECTION", "DENIED"), 1);
    assert_eq!(of_type("SCOPE_VIOLATION", "DENIED"), 1);
    assert_eq!(of_type("TOOL_EXECUTION", "DENIED"), 1, "the stale write");
    let machine = day.world.clone.path().display().to_string();
    for line in &lines {
        assert_ne!(line["metadata"]["session_id"], "current");
        let text = line.to_string();
        assert!(!text.contains(&machine) && !text.contains(&long[..60]), "{text}");
        if line["result"]["status"] == "SUCCESS" {
            assert_eq!(line["result"].get("error_message"), None, "{text}");
        }
    }

    // The files say the same, and the comment is still there.
    day.run(&["sync"], 0);
    let registry = fs::read_to_string(day.path(".orchestration/active_intents.yaml")).unwrap();
    assert!(
        registry.starts_with("# Written by hand, on the first day\nactive_intents:\n  - id: REQ-WEATHER-API-001\n"),
        "{registry}"
    );
    assert!(registry.contains("status: COMPLETED"), "{registry}");
    day.run(&["ledger", "verify", ".orchestration/agent_trace.jsonl"], 0);
    day.run(&["verify"], 0);
}
