//! `coord team sync` of a team at work, with many tasks: the first one in each direction, one without a change, and how long a change of
//! one side takes to the other with `--watch`. Each is a process, as people run it, in front of a server with its own limits of requests.
//! They are off while the team is made.
//!
//! `cargo bench -p coord-cli --bench team_sync`, with the number of tasks as an argument (default 1000).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use coord_test_support::waiting::block_until;
use coord_test_worlds::world::{REPO_URL, World};
use serde_json::{Value, json};

const RUNS: usize = 30;
/// Of those after each of which the limits of requests take time to be as they were.
const LONG_RUNS: usize = 10;

const WORKERS: [&str; 4] = ["w0", "w1", "w2", "w3"];

struct Bench {
    world: World,
    client: reqwest::Client,
    runtime: tokio::runtime::Runtime,
    has_limits: bool,
}

impl Bench {
    fn new(has_limits: bool) -> Bench {
        Bench {
            world: World::with(&[("README.md", "a")]),
            client: reqwest::Client::new(),
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap(),
            has_limits,
        }
    }

    /// `coord ARGS`, which may start the server.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.world.coord(self.world.clone.path());
        for limit in ["HOLDER", "PERSON", "REPOSITORY"]
            .into_iter()
            .filter(|_| !self.has_limits)
        {
            command.env(format!("COORD_LIMIT_{limit}_PER_MINUTE"), "0");
        }
        command.args(args);
        command
    }

    /// Ends the server, so that the next command starts one.
    fn end_server(&self) {
        let process = self.world.server().unwrap();
        assert!(Command::new("kill").arg(&process).status().unwrap().success());
        block_until("it has ended", || self.world.server().as_ref() != Some(&process));
    }

    /// The text of an answer; the status is that of success.
    fn ask(&self, login: Option<String>, method: &str, path: &str, body: &Value) -> String {
        let mut body = body.clone();
        (body["repo_url"], body["team"]) = (REPO_URL.into(), "alpha".into());
        let mut request = self.client.request(method.parse().unwrap(), self.url(path));
        request = request
            .header("content-type", "application/json")
            .body(body.to_string());
        if let Some(login) = login {
            request = request.header("x-coord-user", login);
        }
        self.runtime.block_on(async {
            let answer = request.send().await.unwrap();
            let status = answer.status();
            let text = answer.text().await.unwrap();
            assert!(status.is_success(), "{method} {path}: {text}");
            text
        })
    }

    /// How long it takes.
    fn coord(&self, args: &[&str]) -> Duration {
        let started = Instant::now();
        let ended = self.command(args).output().unwrap();
        let took = started.elapsed();
        assert!(
            ended.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&ended.stderr)
        );
        took
    }

    /// Waits until the limits of requests have room again for what a synchronization asks.
    fn rest(&self) {
        std::thread::sleep(Duration::from_secs(5));
    }

    fn root(&self) -> PathBuf {
        self.world.clone.path().join(".opencode/opencode-teams")
    }

    fn url(&self, path: &str) -> String {
        let announced = fs::read_to_string(self.world.clone.path().join(".git/coord/listening")).unwrap();
        let address = announced
            .split_whitespace()
            .find(|word| word.starts_with("http://"))
            .unwrap();
        format!("{}/api/{path}", address.trim_end_matches('/'))
    }

    /// A team at work: two of five tasks are completed, and one of seven of the others is out; the rest waits, some of it for a member.
    /// Each depends on the one before. There are as many messages as a fifth of the tasks.
    fn fill(&self, count: usize) {
        self.coord(&["team", "create", "alpha", "--agent", "lead"]);
        for worker in WORKERS {
            self.coord(&["team", "join", "alpha", "--agent", worker]);
        }
        let tasks: Vec<Value> = (0..count)
            .map(|number| {
                let description = format!("What is to be done about part {number}, in some detail. ").repeat(4);
                let before: Vec<String> = (number > 0).then(|| format!("n{}", number - 1)).into_iter().collect();
                json!({ "id": format!("n{number}"), "title": format!("Part {number}"), "description": description, "dependencies": before })
            })
            .collect();
        for tasks in tasks.chunks(200) {
            self.ask(None, "POST", "tasks", &json!({ "agent_id": "lead", "tasks": tasks }));
        }
        for number in 0..count {
            let worker = json!({ "agent_id": WORKERS[number % 4] });
            let (task, is_completed) = (format!("tasks/n{number}"), number % 5 < 2);
            if is_completed || number % 7 == 0 {
                self.ask(None, "POST", &format!("{task}/claim"), &worker);
            } else if number % 7 == 1 {
                let assigned = json!({ "agent_id": "lead", "assignee": WORKERS[number % 4] });
                self.ask(None, "PATCH", &task, &assigned);
            }
            if is_completed {
                self.ask(None, "POST", &format!("{task}/complete"), &worker);
            }
            if number % 5 == 0 {
                let to = if number % 50 == 0 { "broadcast" } else { "lead" };
                let message =
                    json!({ "agent_id": WORKERS[number % 4], "to": [to], "message": format!("Part {number} goes on") });
                self.ask(None, "POST", "messages", &message);
            }
        }
    }
}

fn report(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!(
        "{name:44} median {:7.1} ms   most {:7.1} ms   of {}",
        at(50),
        at(100),
        times.len()
    );
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn main() {
    let count = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .next()
        .unwrap_or(1000);
    let mut out = Bench::new(false);
    report(
        "a process that does nothing",
        (0..RUNS).map(|_| out.coord(&["--version"])).collect(),
    );
    out.fill(count);
    out.end_server();
    out.has_limits = true;
    out.coord(&["team", "list"]);
    report(
        &format!("first, {count} tasks, server to files"),
        vec![out.coord(&["team", "sync"])],
    );
    let files = fs::read_dir(out.root().join("tasks/alpha")).unwrap().count();
    assert!(files >= count, "{files}");
    let back = Bench::new(true);
    back.coord(&["team", "list"]);
    fs::create_dir_all(back.root().parent().unwrap()).unwrap();
    let copied = Command::new("cp").arg("-r").args([out.root(), back.root()]).status();
    assert!(copied.unwrap().success());
    let took = back.coord(&["team", "sync"]);
    report(&format!("first, {count} tasks, files to server"), vec![took]);

    let task = out.root().join("tasks/alpha/n8.json");
    // Files that were written just now are read once more.
    std::thread::sleep(Duration::from_secs(7));
    out.coord(&["team", "sync"]);
    let unchanged = (0..RUNS).map(|_| {
        std::thread::sleep(Duration::from_millis(400));
        out.coord(&["team", "sync"])
    });
    report(&format!("without a change, {count} tasks"), unchanged.collect());

    let mut watch = out
        .command(&["team", "sync", "--watch"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let (mut to_file, mut to_server) = (Vec::new(), Vec::new());
    for run in 0..LONG_RUNS {
        out.rest();
        let title = format!("of the server, run {run}");
        let started = Instant::now();
        out.ask(
            None,
            "PATCH",
            "tasks/n8",
            &json!({ "agent_id": "lead", "title": title }),
        );
        while !text(&task).contains(&title) {
            assert!(started.elapsed() < Duration::from_secs(60), "it never came");
            std::thread::sleep(Duration::from_millis(1));
        }
        to_file.push(started.elapsed());
        out.rest();
        let title = format!("of the file, run {run}");
        let mut changed: Value = serde_json::from_str(&text(&task)).unwrap();
        changed["title"] = title.clone().into();
        let started = Instant::now();
        let written = task.with_file_name(".n8.json.1.1.tmp");
        fs::write(&written, serde_json::to_string_pretty(&changed).unwrap()).unwrap();
        fs::rename(&written, &task).unwrap();
        let path = format!("tasks/n8?repo_url={REPO_URL}&team=alpha");
        // Another person each time, whose own limit is not reached.
        while !out
            .ask(Some(format!("reader-{run}")), "GET", &path, &json!({}))
            .contains(&title)
        {
            assert!(started.elapsed() < Duration::from_secs(60), "it never came");
            std::thread::sleep(Duration::from_millis(2));
        }
        to_server.push(started.elapsed());
    }
    let _ = watch.kill();
    let _ = watch.wait();
    report("a change of the server, in the file", to_file);
    report("a change of a file, on the server", to_server);
}
