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
use std::process::Command;
use std::sync::LazyLock;

use serde_json::{Value, json};

use coord_test_worlds::world::{REPO_URL, World};

/// The root of the files in a project.
const ROOT: &str = ".opencode/opencode-teams";

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
        place.server(
            None,
            "POST",
            "tasks",
            &json!({ "team": "alpha", "agent_id": "lead", "tasks": plan }),
        );
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
        for name in [
            "OPENCODE_TEAMS_DIR",
            "OPENCODE_PROJECT_ROOT",
            "OPENCODE_TEAM_NAME",
            "OPENCODE_AGENT_ID",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// Returns the output of `coord ARGS`, which must exit with `status`.
    pub fn coord(&self, args: &[&str], status: i32) -> String {
        let ended = self.command().args(args).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, error) = (text(&ended.stdout), text(&ended.stderr));
        assert_eq!(ended.status.code(), Some(status), "{args:?}: {out}{error}");
        out
    }

    /// The report of `coord team ARGS`.
    pub fn report(&self, args: &[&str], status: i32) -> Value {
        let printed = self.coord(&[&["team"], args, &["--json"]].concat(), status);
        serde_json::from_str(&printed).unwrap()
    }

    pub fn sync(&self, status: i32) -> Value {
        self.report(&["sync"], status)
    }

    /// Another synchronization finds nothing to do.
    pub fn assert_quiet(&self) {
        let report = self.sync(0);
        for list in ["applied", "written", "removed", "refused", "changed_meanwhile", "notes"] {
            assert_eq!(report[list], json!([]), "{report}");
        }
    }

    /// Gives a task another title on the server.
    pub fn retitles(&self, id: &str, title: &str) {
        let title = json!({ "team": "alpha", "agent_id": "lead", "title": title });
        self.server(None, "PATCH", &format!("tasks/{id}"), &title);
    }

    /// The address of the server, which runs since the first command.
    pub fn address(&self) -> String {
        let announced = fs::read_to_string(self.world.clone.path().join(".git/coord/listening")).unwrap();
        let address = announced.split_whitespace().find(|word| word.starts_with("http://"));
        address.unwrap().trim_end_matches('/').to_owned()
    }

    /// The answer of the server, to the user of this machine or to another login.
    pub fn server(&self, login: Option<&str>, method: &str, path: &str, body: &Value) -> Value {
        let mut body = body.clone();
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
        let answer: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{method} {path}: {text}"));
        answer
    }

    /// A task on the server.
    pub fn stored(&self, id: &str) -> Value {
        self.server(None, "GET", &format!("tasks/{id}"), &json!({ "team": "alpha" }))["task"].clone()
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
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

/// A new message of a file.
pub fn message(from: &str, to: &str, text: &str) -> Value {
    json!({ "from": from, "to": to, "message": text, "type": "plain", "timestamp": "2026-12-01T01:02:03.004Z", "read": false })
}

/// File and field of what was refused.
pub fn refused(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let refused = report["refused"].as_array().unwrap().iter();
    let shown = refused.map(|one| {
        let place = match text(&one["field"]) {
            field if field.is_empty() => text(&one["file"]),
            field => format!("{}: {field}", text(&one["file"])),
        };
        (text(&one["reason"]), place)
    });
    shown.collect()
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
