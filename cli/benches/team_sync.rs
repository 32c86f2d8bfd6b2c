//! `coord team sync` of a team with many tasks: the first one in each direction, one without a change, and how long a change of one side
//! takes to the other with `--watch`. Each is a process, as people run it.
//!
//! `cargo bench -p coord-cli --bench team_sync`, with the number of tasks as an argument (default 1000).

#[path = "../../tests/agents/world.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod world;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use world::{REPO_URL, World};

const RUNS: usize = 30;

struct Bench {
    world: World,
    client: reqwest::Client,
}

impl Bench {
    fn new() -> Bench {
        let bench = Bench {
            world: World::with(&[("README.md", "a")]),
            client: reqwest::Client::new(),
        };
        bench.coord(&["team", "create", "alpha", "--agent", "lead"]);
        bench
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.world.coord(self.world.clone.path());
        for limit in ["HOLDER", "PERSON", "REPOSITORY"] {
            command.env(format!("COORD_LIMIT_{limit}_PER_MINUTE"), "0");
        }
        command.args(args);
        command
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

    fn add_tasks(&self, count: usize) {
        let tasks: Vec<Value> = (0..count)
            .map(|number| {
                let description = format!("What is to be done about part {number}, in some detail. ").repeat(4);
                let before: Vec<String> = (number > 0).then(|| format!("n{}", number - 1)).into_iter().collect();
                json!({ "id": format!("n{number}"), "title": format!("Part {number}"), "description": description, "dependencies": before })
            })
            .collect();
        let plan = self.world.folder("plans").join("plan.jsonl");
        for tasks in tasks.chunks(200) {
            let lines: Vec<String> = tasks.iter().map(Value::to_string).collect();
            fs::write(&plan, lines.join("\n")).unwrap();
            self.coord(&["task", "add", "--agent", "lead", "--from", &plan.display().to_string()]);
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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let out = Bench::new();
    report(
        "a process that does nothing",
        (0..RUNS).map(|_| out.coord(&["--version"])).collect(),
    );
    out.add_tasks(count);
    report(
        &format!("first, {count} tasks, server to files"),
        vec![out.coord(&["team", "sync"])],
    );
    let files = fs::read_dir(out.root().join("tasks/alpha")).unwrap().count();
    assert!(files >= count, "{files}");

    let back = Bench::new();
    back.coord(&["team", "delete", "alpha", "--agent", "lead"]);
    fs::create_dir_all(back.root().parent().unwrap()).unwrap();
    assert!(
        Command::new("cp")
            .arg("-r")
            .args([out.root(), back.root()])
            .status()
            .unwrap()
            .success()
    );
    report(
        &format!("first, {count} tasks, files to server"),
        vec![back.coord(&["team", "sync"])],
    );

    let task = out.root().join("tasks/alpha/n7.json");
    let compared = (0..RUNS).map(|_| {
        // The same content at another time: all is read and compared.
        fs::write(&task, text(&task)).unwrap();
        out.coord(&["team", "sync"])
    });
    report(&format!("all compared, {count} tasks"), compared.collect());
    // Files that were written just now are read once more.
    std::thread::sleep(Duration::from_secs(7));
    out.coord(&["team", "sync"]);
    let unchanged = (0..RUNS).map(|_| out.coord(&["team", "sync"]));
    report(&format!("without a change, {count} tasks"), unchanged.collect());

    let mut watch = out
        .command(&["team", "sync", "--watch"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let (mut to_file, mut to_server) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        let title = format!("of the server, run {run}");
        let body = json!({ "repo_url": REPO_URL, "team": "alpha", "agent_id": "lead", "title": title }).to_string();
        let started = Instant::now();
        let patched = out
            .client
            .patch(out.url("tasks/n7"))
            .header("content-type", "application/json")
            .body(body);
        assert!(runtime.block_on(patched.send()).unwrap().status().is_success());
        while !text(&task).contains(&title) {
            assert!(started.elapsed() < Duration::from_secs(30), "it never came");
            std::thread::sleep(Duration::from_millis(1));
        }
        to_file.push(started.elapsed());
        std::thread::sleep(Duration::from_millis(300));
        let title = format!("of the file, run {run}");
        let mut changed: Value = serde_json::from_str(&text(&task)).unwrap();
        changed["title"] = title.clone().into();
        let started = Instant::now();
        let written = task.with_file_name(".n7.json.1.1.tmp");
        fs::write(&written, serde_json::to_string_pretty(&changed).unwrap()).unwrap();
        fs::rename(&written, &task).unwrap();
        let url = format!("{}?repo_url={REPO_URL}&team=alpha", out.url("tasks/n7"));
        loop {
            let shown = runtime.block_on(async { out.client.get(&url).send().await.unwrap().text().await.unwrap() });
            if shown.contains(&title) {
                break;
            }
            assert!(started.elapsed() < Duration::from_secs(30), "it never came: {shown}");
            std::thread::sleep(Duration::from_millis(1));
        }
        to_server.push(started.elapsed());
        std::thread::sleep(Duration::from_millis(300));
    }
    let _ = watch.kill();
    let _ = watch.wait();
    report("a change of the server, in the file", to_file);
    report("a change of a file, on the server", to_server);
}
