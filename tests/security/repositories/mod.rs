//! The content of a repository must not take control of Coord. Each shape of a hostile repository meets every command
//! of `coord`, found in its own list, and the hooks of each form of agent: no program of the repository runs, no
//! credential leaves, and nothing outside of it is read or written.

mod archive;
mod commands;
mod pipes;
mod sandbox;
mod shapes;
mod table;
mod trust;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use coord_test_support::git::Repo;

use self::commands::{Run, commands, sessions};
use self::sandbox::{SECRET, Sandbox};
use self::shapes::{Made, Reached};

/// Commands that run at once.
const AT_ONCE: usize = 6;

/// How long each of them runs at most: some watch.
const SECONDS: u32 = 5;

fn hold(make: fn(&Sandbox) -> Made) {
    let sandbox = Sandbox::new();
    let Made {
        folder,
        reached,
        has_programs,
    } = make(&sandbox);
    let outside = sandbox.outside();
    let claim = ["claim", "a.txt", "--message", "x", "--agent", "first"];
    let claimed = sandbox.run(&folder, &claim);
    assert_eq!(claimed.contains("PROCEED"), reached != Reached::Nothing, "{claimed}");
    sandbox.run(&folder, &["release", "a.txt", "--abandon", "--agent", "first"]);
    let mut outputs = run_at_once(&sandbox, &folder, sessions(&folder));
    outputs.extend(run_at_once(
        &sandbox,
        &folder,
        commands().into_iter().map(|run| vec![run]).collect(),
    ));

    assert_eq!(sandbox.ran(), [""; 0], "programs of the repository ran");
    let seen = sandbox.seen();
    assert!(!seen.contains(SECRET), "a credential left: {seen}");
    assert_eq!(
        seen.contains("POST /api/post_status"),
        reached == Reached::Fake,
        "{seen}"
    );
    assert!(reached == Reached::Fake || seen.is_empty(), "{seen}");
    for (words, output) in &outputs {
        assert!(
            !output.contains(SECRET) && !output.contains("panicked"),
            "{words:?}: {output}"
        );
        assert!(!output.contains("forged"), "{words:?}: {output}");
    }
    assert_eq!(sandbox.outside(), outside, "files outside of the repository changed");
    assert!(
        !crate::links::contains(&folder, &format!("{SECRET}-")),
        "the secret was copied"
    );
    sandbox.unprotected_git(&folder);
    assert_eq!(
        !sandbox.ran().is_empty(),
        has_programs,
        "git alone runs {:?}",
        sandbox.ran()
    );
}

/// Runs the lists beside each other, each in order. Returns what each run printed.
fn run_at_once(sandbox: &Sandbox, folder: &Path, lists: Vec<Vec<Run>>) -> Vec<(Vec<String>, String)> {
    let (lists, outputs) = (Mutex::new(lists), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(runs) = { lists.lock().unwrap().pop() } {
                    for run in runs {
                        let printed = sandbox.coord_for(SECONDS, folder, &run);
                        outputs.lock().unwrap().push((run.0, printed));
                    }
                }
            });
        }
    });
    outputs.into_inner().unwrap()
}

#[test]
fn a_working_tree_elsewhere_is_refused() {
    let sandbox = Sandbox::new();
    let repo = Repo::init(sandbox.path("hostile"), &[]);
    repo.commit(&[("a.txt", "a\n")]);
    repo.git(&["config", "core.worktree", &sandbox.path("home").display().to_string()]);
    let printed = sandbox.run(&sandbox.path("hostile"), &["status"]);
    assert!(printed.contains("core.worktree"), "{printed}");
}

// rule: commands#safe-git
#[test]
fn git_is_run_from_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let commands = ["agent", "hooks", "intent_commands", "serve", "team_commands"];
    let mut folders: Vec<PathBuf> = commands.map(|name| root.join("lib").join(name).join("src")).into();
    folders.push(root.join("cli/src"));
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("git/prepared.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let is_test = path.ends_with("tests.rs");
                assert!(is_test || !text.contains("Command::new(\"git\")"), "{}", path.display());
            }
        }
    }
}
