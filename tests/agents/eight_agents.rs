//! Eight agents with a worktree each work on files that import each other, through `coord mcp`, and obey its commands. A judge who
//! knows nothing of Coord sees the edits.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use coord_test_support::git::Repo;
use coord_test_support::waiting::block_until;
use serde_json::{Value as Json, json};

use crate::mcp::{Agent, action};
use crate::worktree_agent::{pull, without_limits};
use coord_test_worlds::world::World;

const AGENTS: usize = 8;
const TASKS: usize = 4;
const FILES: usize = 20;

/// The path that an agent claims before it pushes, as the instructions say.
const TURN: &str = ".coord/push";

/// Time in which an agent gives up: the test has failed.
const PATIENCE: Duration = Duration::from_secs(300);

/// `sleep 5`, at the pace of this test.
const PAUSE: Duration = Duration::from_millis(50);

fn file(number: usize) -> String {
    format!("src/part{}.ts", number % FILES)
}

/// Sees who edits what, from the first change until it is on the branch.
#[derive(Default)]
struct Judge {
    edits: Mutex<BTreeMap<usize, usize>>,
    /// Edits that have ended.
    ended: AtomicUsize,
    /// Most edits at once.
    most: AtomicUsize,
    /// Pushes that git has refused.
    refused_pushes: AtomicUsize,
}

impl Judge {
    fn begin(&self, agent: usize, parts: &[usize]) {
        let mut edits = self.edits.lock().unwrap();
        for part in parts {
            for near in [part + FILES - 1, *part, part + 1] {
                let other = edits.get(&(near % FILES));
                assert!(
                    other.is_none_or(|other| *other == agent),
                    "agents {agent} and {other:?} edit {part} and {near} at once"
                );
            }
            edits.insert(*part, agent);
        }
        self.most.fetch_max(edits.len(), Ordering::Relaxed);
    }

    fn end(&self, parts: &[usize]) {
        let mut edits = self.edits.lock().unwrap();
        for part in parts {
            assert!(edits.remove(part).is_some());
        }
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// An agent at work.
struct Worker<'a> {
    number: usize,
    mcp: Agent,
    tree: Repo,
    judge: &'a Judge,
    takes_turns: bool,
    deadline: Instant,
}

impl Worker<'_> {
    /// Does every task, in the order in which it can be done.
    fn work(mut self) {
        let mut tasks: VecDeque<_> = tasks_of(self.number).into_iter().enumerate().collect();
        while let Some((number, parts)) = tasks.pop_front() {
            assert!(Instant::now() < self.deadline, "agent {} is never done", self.number);
            if !self.may_edit(&parts) {
                tasks.push_back((number, parts));
                // time: an agent that has to wait pauses.
                std::thread::sleep(PAUSE);
                continue;
            }
            self.judge.begin(self.number, &parts);
            for part in &parts {
                let path = self.tree.path().join(file(*part));
                let mut text = std::fs::read_to_string(&path).unwrap();
                text.push_str(&format!("// agent {}, task {number}\n", self.number));
                std::fs::write(&path, text).unwrap();
            }
            self.tree
                .git(&["commit", "--quiet", "--all", "--message", "Change some parts"]);
            self.push();
            self.judge.end(&parts);
            self.release(&parts);
        }
        let ended = self.mcp.end();
        assert!(ended.status.success() && ended.log.is_empty(), "{}", ended.log);
    }

    /// Checks and claims, and says whether the files are its own now; otherwise another task is the better one.
    fn may_edit(&mut self, parts: &[usize]) -> bool {
        let files: Vec<String> = parts.iter().map(|part| file(*part)).collect();
        let checked = self.call("check_status", json!({ "file_paths": files }));
        if action(&checked) == "PULL" {
            self.pull();
        }
        if action(&checked) == "SWITCH_TASK" {
            return false;
        }
        let message = format!("Agent {} adds a line to each of them", self.number);
        // A refused agent looks after its pause for what else there is to do.
        self.claim(&json!(files), &message)
    }

    /// Claims files, after each pull that is asked for: whether they are granted.
    fn claim(&mut self, files: &Json, message: &str) -> bool {
        loop {
            let is_in_time = Instant::now() < self.deadline;
            assert!(is_in_time, "agent {} never gets {files}", self.number);
            let claim = json!({ "file_paths": files, "status": "WRITING", "message": message });
            let claimed = self.call("post_status", claim);
            match action(&claimed) {
                "PROCEED" => return true,
                "PULL" => self.pull(),
                "WAIT" => return false,
                _ => panic!("agent {}: {claimed}", self.number),
            }
        }
    }

    fn push(&mut self) {
        let push = ["push", "--quiet", "origin", "HEAD:main"];
        if self.takes_turns {
            while !self.claim(&json!([TURN]), "Pushing what is committed") {
                // time: an agent that has to wait pauses.
                std::thread::sleep(PAUSE);
            }
            // Its first push lands, or this panics.
            self.tree.git(&push);
            return;
        }
        while self.tree.try_git(&push).is_err() {
            self.judge.refused_pushes.fetch_add(1, Ordering::Relaxed);
            self.pull();
        }
    }

    fn release(&mut self, parts: &[usize]) {
        let mut files: Vec<String> = parts.iter().map(|part| file(*part)).collect();
        if self.takes_turns {
            files.push(TURN.to_owned());
        }
        let release = json!({ "file_paths": files, "status": "OPEN", "message": "Each has a line more" });
        let released = self.call("post_status", release);
        assert_eq!(action(&released), "PROCEED", "agent {}: {released}", self.number);
    }

    fn pull(&self) {
        pull(&self.tree, self.deadline);
    }

    fn call(&mut self, tool: &str, arguments: Json) -> Json {
        let result = self.mcp.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }
}

/// The tasks of an agent: one part, or two that are far from each other. They are the same in every run.
fn tasks_of(agent: usize) -> Vec<Vec<usize>> {
    let mut random = fastrand::Rng::with_seed(agent as u64);
    let mut task = || {
        let first = random.usize(..FILES);
        match random.bool() {
            true => vec![first],
            false => vec![first, (first + FILES / 2) % FILES],
        }
    };
    (0..TASKS).map(|_| task()).collect()
}

/// Starts `coord mcp` below a separate process, which identifies the session: eight agents of one person are eight
/// holders.
fn start(world: &World, tree: &Path) -> Agent {
    let coord = world.coord(tree);
    let environment = coord.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let mcp = format!("alias.agent=!{} mcp", env!("CARGO_BIN_EXE_coord"));
    let mut agent = std::process::Command::new("git");
    agent.args(["-c", &mcp, "agent"]).current_dir(tree);
    agent.env_clear().envs(environment);
    agent.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    without_limits(&mut agent);
    Agent::start(agent)
}

/// Plays the eight agents to the end.
fn play(takes_turns: bool) -> Judge {
    let texts: Vec<(String, String)> = (0..FILES)
        .map(|part| (file(part), format!("import './part{}';\n", (part + 1) % FILES)))
        .collect();
    let files: Vec<(&str, &str)> = texts
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let world = World::with(&files);
    let mut observer = start(&world, world.clone.path());
    block_until("the graph is built", || {
        observer.read(&format!("coord://graph/{}", file(0)))["state"] == "ready"
    });
    let judge = Judge::default();
    let workers: Vec<Worker<'_>> = (0..AGENTS)
        .map(|number| {
            let tree = world.worktree(&format!("agent{number}"));
            Worker {
                number,
                mcp: start(&world, tree.path()),
                tree,
                judge: &judge,
                takes_turns,
                deadline: Instant::now() + PATIENCE,
            }
        })
        .collect();
    std::thread::scope(|scope| {
        for worker in workers {
            scope.spawn(|| worker.work());
        }
    });

    assert_eq!(observer.held(""), [""; 0], "nothing stays locked");
    world.clone.git(&["pull", "--quiet", "--rebase"]);
    for agent in 0..AGENTS {
        for (number, parts) in tasks_of(agent).iter().enumerate() {
            for part in parts {
                let text = std::fs::read_to_string(world.clone.path().join(file(*part))).unwrap();
                let line = format!("// agent {agent}, task {number}\n");
                assert_eq!(text.matches(&line).count(), 1, "{}: {line}", file(*part));
            }
        }
    }
    assert!(judge.edits.lock().unwrap().is_empty());
    assert_eq!(judge.ended.load(Ordering::Relaxed), AGENTS * TASKS);
    judge
}

// rule: mcp#push-turn
#[test]
fn no_two_edit_one_file_at_once_every_push_lands_first_time_and_nothing_stays_locked() {
    let judge = play(true);
    assert!(judge.most.load(Ordering::Relaxed) > 1, "they have worked side by side");
}

#[test]
fn without_turns_to_push_git_refuses_some_pushes_and_nothing_is_lost() {
    let judge = play(false);
    let refused = judge.refused_pushes.load(Ordering::Relaxed);
    // How many depends on the machine; the first try of an agent that is not the only one is mostly too late.
    println!("{refused} pushes of {} were refused", AGENTS * TASKS);
}
