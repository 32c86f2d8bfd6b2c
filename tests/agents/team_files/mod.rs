//! `coord team sync`, `export` and `import`: the files of opencode-teams in a clone, and the team on its server.

mod between;
mod both_ways;
mod hostile;
mod plugin;
mod refused;
mod sample;
mod there_and_back;
mod two_sides;
mod unchanged;
mod unfinished;
mod watching;
mod writer;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::{Value, json};

use coord_test_worlds::world::{REPO_URL, World};

/// The root of the files in a project.
const ROOT: &str = ".opencode/opencode-teams";

const A: &str = "tasks/alpha/a.json";
const B: &str = "tasks/alpha/b.json";
const C: &str = "tasks/alpha/c.json";
const CONFIG: &str = "teams/alpha/config.json";

/// It keeps no connection: each request has a separate runtime.
static CLIENT: LazyLock<reqwest::Client> =
    LazyLock::new(|| reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap());

/// A clone with a team: `lead` and `w1`, and tasks `a`, `b` and `c`, of which `b` waits for `a`.
pub struct TeamClone {
    pub world: World,
    pub root: PathBuf,
}

impl TeamClone {
    /// Without a team.
    pub fn empty() -> TeamClone {
        let world = World::with(&[("README.md", "# Shop\n")]);
        let root = world.clone.path().join(ROOT);
        TeamClone { world, root }
    }

    /// With the team on the server, and no file.
    pub fn with_team() -> TeamClone {
        let place = TeamClone::empty();
        place.coord(&["team", "create", "alpha", "--agent", "lead"], 0);
        place.coord(&["team", "join", "alpha", "--agent", "w1"], 0);
        let plan = [
            json!({ "id": "a", "title": "task a", "description": "First\nof all" }),
            json!({ "id": "b", "title": "task b", "dependencies": ["a"], "priority": "high" }),
            json!({ "id": "c", "title": "task c" }),
        ];
        place.lead("POST", "tasks", json!({ "tasks": plan }));
        place
    }

    /// With the same in files.
    pub fn alike() -> TeamClone {
        let place = TeamClone::with_team();
        place.sync(0);
        place.assert_quiet();
        place
    }

    /// `coord` in the clone; the server that it may start limits nothing.
    pub fn command(&self) -> Command {
        let mut command = self.world.coord(self.world.clone.path());
        for limit in ["HOLDER", "PERSON", "REPOSITORY"] {
            command.env(format!("COORD_LIMIT_{limit}_PER_MINUTE"), "0");
        }
        for name in ["TEAMS_DIR", "PROJECT_ROOT", "TEAM_NAME", "AGENT_ID"] {
            command.env_remove(format!("OPENCODE_{name}"));
        }
        command
    }

    /// Runs `coord ARGS`.
    pub fn run(&self, args: &[&str]) -> Output {
        self.command().args(args).output().unwrap()
    }

    /// Returns the output of `coord ARGS`, which must exit with `status`.
    #[track_caller]
    pub fn coord(&self, args: &[&str], status: i32) -> String {
        let ended = self.run(args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, error) = (text(&ended.stdout), text(&ended.stderr));
        assert_eq!(ended.status.code(), Some(status), "{args:?}: {out}{error}");
        out
    }

    /// The report of `coord team ARGS`.
    #[track_caller]
    pub fn report(&self, args: &[&str], status: i32) -> Value {
        let printed = self.coord(&[&["team"], args, &["--json"]].concat(), status);
        serde_json::from_str(&printed).unwrap()
    }

    #[track_caller]
    pub fn sync(&self, status: i32) -> Value {
        self.report(&["sync"], status)
    }

    /// Another synchronization finds nothing to do.
    #[track_caller]
    pub fn assert_quiet(&self) {
        let report = self.sync(0);
        for list in ["applied", "written", "removed", "refused", "changed_meanwhile", "notes"] {
            assert_eq!(report[list], json!([]), "{report}");
        }
    }

    /// The address of the server, which runs since the first command.
    pub fn address(&self) -> String {
        let announced = fs::read_to_string(self.world.clone.path().join(".git/coord/listening")).unwrap();
        let address = announced.split_whitespace().find(|word| word.starts_with("http://"));
        address.unwrap().trim_end_matches('/').to_owned()
    }

    /// The answer of the server to the user of this machine.
    pub fn server(&self, method: &str, path: &str, body: Value) -> Value {
        self.server_as(None, method, path, body)
    }

    /// The answer of the server to the user of this machine or to another login.
    pub fn server_as(&self, login: Option<&str>, method: &str, path: &str, mut body: Value) -> Value {
        body["repo_url"] = REPO_URL.into();
        let url = format!("{}/api/{path}", self.address());
        let mut request = CLIENT.request(method.parse().unwrap(), url);
        if let Some(login) = login {
            request = request.header("x-coord-user", login);
        }
        let mut request = request.header("content-type", "application/json").build().unwrap();
        if matches!(method, "GET" | "DELETE") {
            let members = body.as_object().unwrap().iter();
            let query = members.filter_map(|(name, value)| Some((name, value.as_str()?)));
            request.url_mut().query_pairs_mut().extend_pairs(query);
        } else {
            *request.body_mut() = Some(body.to_string().into());
        }
        let response = async { CLIENT.execute(request).await.unwrap().text().await.unwrap() };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let text = runtime.block_on(response);
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{method} {path}: {text}"))
    }

    /// The answer of the server to `agent`, about the team.
    pub fn agent(&self, agent: &str, method: &str, path: &str, mut body: Value) -> Value {
        (body["team"], body["agent_id"]) = ("alpha".into(), agent.into());
        self.server(method, path, body)
    }

    /// The answer of the server to the leader.
    pub fn lead(&self, method: &str, path: &str, body: Value) -> Value {
        self.agent("lead", method, path, body)
    }

    /// Changes the title of a task on the server.
    pub fn retitles(&self, id: &str, title: &str) {
        self.lead("PATCH", &format!("tasks/{id}"), json!({ "title": title }));
    }

    /// A task on the server.
    pub fn stored(&self, id: &str) -> Value {
        self.server("GET", &format!("tasks/{id}"), json!({ "team": "alpha" }))["task"].clone()
    }

    /// The team on the server.
    pub fn team(&self) -> Value {
        self.server("GET", "teams/alpha", json!({}))["team"].clone()
    }

    /// All messages on the server, which are one page.
    pub fn messages(&self) -> Vec<Value> {
        let history = self.server("GET", "messages", json!({ "team": "alpha", "limit": "500" }));
        assert_eq!(history["earlier"], Value::Null);
        history["messages"].as_array().unwrap().clone()
    }

    /// The folder with what was last seen of teams.
    pub fn memory(&self) -> PathBuf {
        self.world.clone.path().join(".git/coord/teams")
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    pub fn remove(&self, file: &str) {
        fs::remove_file(self.path(file)).unwrap();
    }

    pub fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    pub fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.text(file)).unwrap()
    }

    pub fn write(&self, file: &str, text: &str) {
        fs::create_dir_all(self.path(file).parent().unwrap()).unwrap();
        fs::write(self.path(file), text).unwrap();
    }

    /// Writes the file of a task.
    pub fn add_task(&self, task: &Value) {
        let file = format!("tasks/alpha/{}.json", task["id"].as_str().unwrap());
        self.write(&file, &task.to_string());
    }

    /// Changes members of a file, as the plugin writes it.
    pub fn edit(&self, file: &str, change: impl FnOnce(&mut Value)) {
        let mut value = self.json(file);
        change(&mut value);
        self.write(file, &serde_json::to_string_pretty(&value).unwrap());
    }

    pub fn append(&self, inbox: &str, message: Value) {
        self.edit(&format!("teams/alpha/inboxes/{inbox}.json"), |inbox| {
            inbox.as_array_mut().unwrap().push(message);
        });
    }
}

/// A new task of a file.
pub fn task(id: &str) -> Value {
    json!({ "id": id, "title": "T", "status": "pending", "createdAt": "2026-12-01T00:00:00Z" })
}

/// An edit that claims a task.
pub fn claimed_by(owner: &str) -> impl Fn(&mut Value) {
    move |task| (task["status"], task["owner"]) = ("in_progress".into(), owner.into())
}

/// An edit that adds members like `w1` to a configuration.
pub fn add_members(ids: &[&str]) -> impl Fn(&mut Value) {
    move |config| {
        for id in ids {
            let mut member = config["members"][1].clone();
            member["agentId"] = (*id).into();
            config["members"].as_array_mut().unwrap().push(member);
        }
    }
}

/// A new message of a file.
pub fn message(from: &str, to: &str, text: &str) -> Value {
    json!({ "from": from, "to": to, "message": text, "type": "plain", "timestamp": "2026-12-01T01:02:03.004Z", "read": false })
}

pub fn message_texts(messages: &[Value]) -> Vec<String> {
    let text = |message: &Value| message["message"].as_str().unwrap().to_owned();
    messages.iter().map(text).collect()
}

/// Asserts these fields of a value, which may have others.
#[track_caller]
pub fn assert_fields(value: &Value, expected: Value) {
    for (name, expected) in expected.as_object().unwrap() {
        assert_eq!(&value[name], expected, "{name}: {value}");
    }
}

/// Reason, file and field of each refused change.
pub fn refused(report: &Value) -> Vec<String> {
    let refused = report["refused"].as_array().unwrap().iter();
    let shown = refused.map(|one| {
        let [reason, file, field] = ["reason", "file", "field"].map(|name| one[name].as_str().unwrap());
        match field {
            "" => format!("{reason} {file}"),
            _ => format!("{reason} {file}: {field}"),
        }
    });
    shown.collect()
}

/// Asserts that these changes were refused, maybe among others.
#[track_caller]
pub fn assert_refused(report: &Value, expected: &[&str]) {
    let refused = refused(report);
    for expected in expected {
        assert!(refused.iter().any(|one| one == expected), "{expected}: {report}");
    }
}

/// Every file below a folder, by path.
pub fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}
