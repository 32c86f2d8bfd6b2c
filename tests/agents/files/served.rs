//! `coord serve --sync`.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use coord_intents::ledger::{Expectations, verify};
use coord_test_support::git::Repo;
use coord_test_support::waiting::block_until;

use super::{REPOSITORY, begin, file, json, read, run_coord, world, write};
use crate::processes::{end_server, kill};
use coord_test_worlds::world::World;

const YAML: &str = "active_intents.yaml";
const TRACE: &str = "agent_trace.jsonl";
const MAP: &str = "intent_map.md";

/// A `coord serve` of the clone; ended when dropped.
struct Serving {
    process: Child,
    log: PathBuf,
}

impl Serving {
    fn start(world: &World, options: &[&str]) -> Serving {
        let log = world.folder("logs").join("serve.log");
        let mut command = world.coord(world.clone.path());
        command.args(["serve", "--port", "0"]).args(options);
        // The tests ask again and again.
        command.env("COORD_LIMIT_HOLDER_PER_MINUTE", "0");
        let process = command
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn();
        let process = process.unwrap();
        let id = process.id().to_string();
        block_until("the server listens", || world.server().as_deref() == Some(&id));
        Serving { process, log }
    }

    /// Returns the log of the server.
    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    fn until_logged(&self, words: &str) {
        block_until(words, || self.log().contains(words));
    }

    /// Ends it as Ctrl-C does.
    fn stop(mut self) {
        self.end();
        assert!(self.process.wait().unwrap().success(), "{}", self.log());
    }

    fn end(&mut self) {
        if self.process.try_wait().unwrap().is_none() {
            kill(&self.process.id().to_string());
            self.process.wait().unwrap();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether the file of the ledger has all lines of the server, and is whole.
fn has_all_lines(world: &World) -> bool {
    let server = run_coord(world, &["ledger", "log", "--limit", "500", "--json"], 0).0;
    let here = read(world, TRACE);
    let report = verify(here.as_bytes(), &Expectations::chain_of(REPOSITORY)).unwrap();
    assert_eq!(report.damage, None, "{here}");
    here == server
}

fn name_on_server(world: &World) -> String {
    let shown = json(world, &["intent", "show", "a", "--json"], 0);
    shown["intent"]["name"].as_str().unwrap().to_owned()
}

// rule: files#serve-sync
#[test]
fn server_changes_reach_the_files_and_edits_reach_the_server() {
    let world = world();
    let serving = Serving::start(&world, &["--sync"]);
    block_until("the files are there", || file(&world, MAP).exists());
    begin(&world, "a", "src/**");
    block_until("the intent is in the file", || {
        let yaml = read(&world, YAML);
        yaml.contains("id: a") && yaml.contains("status: IN_PROGRESS")
    });
    block_until("the ledger is in the file", || has_all_lines(&world));
    let before = read(&world, TRACE);

    write(
        &world,
        YAML,
        &read(&world, YAML).replace("name: Pool", "name: Pond # ours"),
    );
    block_until("the edit is on the server", || name_on_server(&world) == "Pond");
    block_until("the line of the edit is in the file", || has_all_lines(&world));
    let after = read(&world, TRACE);
    assert!(after.len() > before.len() && after.starts_with(&before), "{after}");
    assert!(read(&world, YAML).contains("name: Pond # ours"));

    run_coord(&world, &["intent", "select", "a"], 0);
    run_coord(&world, &["claim", "src/db.ts", "-m", "Adding a pool"], 0);
    block_until("the owner is in the map", || read(&world, MAP).contains("`src/db.ts`"));
    assert_eq!(serving.log(), "");
    serving.stop();
}

#[test]
fn a_conflict_and_a_persons_act_are_logged_and_the_file_stays() {
    let world = world();
    let new = ["intent", "new", "a", "--name", "Pool", "--scope", "src/**"];
    run_coord(&world, &[&new[..], &["--max-turns", "5"]].concat(), 0);
    run_coord(&world, &["sync"], 0);
    let written = read(&world, YAML);
    run_coord(&world, &["intent", "edit", "a", "--name", "Theirs"], 0);
    end_server(&world);

    let ours = written.replace("name: Pool", "name: Ours");
    write(&world, YAML, &ours);
    let serving = Serving::start(&world, &["--sync"]);
    serving.until_logged("a: name was changed in the file and on the server");
    assert_eq!(read(&world, YAML), ours);
    assert_eq!(name_on_server(&world), "Theirs");

    write(&world, YAML, &written.replace("max_turns: 5", "max_turns: 6"));
    serving.until_logged("a: this takes a person: run coord sync in a terminal");
    assert!(read(&world, YAML).contains("max_turns: 6"));
    let shown = json(&world, &["intent", "show", "a", "--json"], 0);
    assert_eq!(shown["intent"]["budget"]["max_turns"], 5);

    write(&world, YAML, &written);
    serving.until_logged("the files are up to date again");
    block_until("the server's name is written", || {
        read(&world, YAML).contains("name: Theirs")
    });
    let log = serving.log();
    assert_eq!(log.matches("changed in the file and on the server").count(), 1, "{log}");
    assert_eq!(log.lines().count(), 3, "{log}");
}

#[test]
fn a_damaged_file_ends_no_server_and_counts_again_when_it_is_repaired() {
    let world = world();
    let serving = Serving::start(&world, &["--sync"]);
    begin(&world, "a", "src/**");
    block_until("the intent is in the file", || read(&world, YAML).contains("id: a"));
    block_until("the ledger is in the file", || has_all_lines(&world));
    let whole = read(&world, YAML);
    let damaged = format!("{whole}\t- id: b\n");
    write(&world, YAML, &damaged);
    serving.until_logged("active_intents.yaml: line ");
    // All else goes on.
    run_coord(&world, &["intent", "block", "a", "--reason", "A question"], 0);
    block_until("the ledger goes on", || has_all_lines(&world));
    assert_eq!(read(&world, YAML), damaged);
    write(&world, YAML, &whole);
    block_until("the file is written again", || {
        read(&world, YAML).contains("status: BLOCKED")
    });
    serving.until_logged("the files are up to date again");
    assert_eq!(serving.log().lines().count(), 2, "{}", serving.log());
}

#[test]
fn a_deleted_folder_blocks_no_claim_and_is_written_again() {
    let world = world();
    let serving = Serving::start(&world, &["--sync"]);
    begin(&world, "a", "src/**");
    block_until("the ledger is in the file", || has_all_lines(&world));
    std::fs::remove_dir_all(file(&world, "")).unwrap();
    run_coord(&world, &["claim", "src/db.ts", "-m", "Adding a pool"], 0);
    block_until("the files are there again", || {
        read(&world, YAML).contains("id: a") && has_all_lines(&world) && read(&world, MAP).contains("`src/db.ts`")
    });
    assert_eq!(serving.log(), "");
}

// rule: files#serve-sync
#[test]
fn without_a_working_copy_or_for_others_it_is_refused_with_a_sentence() {
    let world = world();
    let bare = world.folder("bare");
    Repo::init(bare.clone(), &["--bare"]);
    let bare = bare.display().to_string();
    for (options, sentence) in [
        (
            &["--github", "acme/shop"][..],
            "--sync writes files of working copies on this machine",
        ),
        (&["--repo", &bare], "is bare"),
        (&["--listen", "0.0.0.0:0"], "listen on 127.0.0.1, or run coord sync"),
    ] {
        let (_, error) = run_coord(&world, &[&["serve", "--sync"], options].concat(), 1);
        assert!(error.contains(sentence), "{options:?}: {error}");
    }
    let (_, error) = run_coord(&world, &["serve", "--sync", "--exit-when-idle", "1"], 2);
    assert!(error.contains("cannot be used with"), "{error}");
    assert!(!file(&world, "").exists());
}
