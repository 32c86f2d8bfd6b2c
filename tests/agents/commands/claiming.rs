//! A claim and what others get meanwhile.

use super::{claim, error, json as json_of, locked, parts, printed, run, steady, world};
use crate::texts::assert_has;

const MESSAGE: &str = "Adding a pool: query() becomes async";

#[test]
fn a_file_is_one_agents_until_it_is_released() {
    let world = world();
    let mut texts = Vec::new();
    let mut say = |args: &[&str], status: i32| {
        texts.push(format!("$ coord {}\n{}", args.join(" "), printed(&world, args, status)));
    };
    let renaming = ["-m", "Renaming query()", "--agent", "two"];
    say(&["check", "src/db.ts", "--agent", "one"], 0);
    say(&["claim", "src/db.ts", "-m", MESSAGE, "--agent", "one"], 0);
    say(&["check", "src/db.ts", "--agent", "two"], 3);
    say(&[&["claim", "src/db.ts", "README.md"][..], &renaming].concat(), 3);
    say(&["release", "src/db.ts", "--agent", "two"], 3);
    say(&["release", "src/db.ts", "--agent", "one"], 0);
    say(&[&["claim", "src/db.ts"][..], &renaming].concat(), 0);
    insta::assert_snapshot!(steady(&texts.join("\n"), &world));
}

#[test]
fn readers_share_a_file_and_keep_writers_off() {
    let world = world();
    for agent in ["one", "two"] {
        let claim = ["claim", "README.md", "-m", "Reading how it begins", "--agent", agent];
        printed(&world, &[&claim[..], &["--reading"]].concat(), 0);
    }
    claim(&world, "three", "README.md", "Reading how it begins", 3);
    printed(&world, &["check", "--reading", "README.md", "--agent", "three"], 0);
    printed(&world, &["check", "README.md", "--agent", "three"], 3);
}

#[test]
fn a_person_is_one_holder_in_every_shell_and_folder() {
    let world = world();
    printed(&world, &["claim", "src/db.ts", "-m", MESSAGE], 0);
    let mut elsewhere = world.coord(&world.clone.path().join("src"));
    let (code, out, _) = parts(&elsewhere.args(["release", "db.ts"]).output().unwrap());
    assert_eq!(code, 0, "{out}");
    assert_eq!(locked(&world), [""; 0]);
}

#[test]
fn a_command_in_the_session_of_an_agent_acts_for_that_agent() {
    let world = world();
    // The process of the tests stands for the agent: it starts the commands.
    let id = sysinfo::get_current_pid().unwrap();
    let mut system = sysinfo::System::new();
    system.refresh_processes(sysinfo::ProcessesToUpdate::Some(&[id]), false);
    let started = system.process(id).unwrap().start_time();
    let sessions = world.sessions();
    std::fs::create_dir_all(&sessions).unwrap();
    let file = sessions.join(format!("{id}-{started}.json"));
    std::fs::write(file, r#"{"agent_id":"claude-code-1a2b"}"#).unwrap();
    printed(&world, &["claim", "src/db.ts", "-m", MESSAGE], 0);
    let status = json_of(&world, &["status", "--json"], 0);
    assert_eq!(status["agent_id"], "claude-code-1a2b");
    assert_eq!(status["locks"][0]["agent_id"], "claude-code-1a2b");
    assert_eq!(status["locks"][0]["is_own"], true);
    let named = json_of(&world, &["status", "--json", "--agent", "other"], 0);
    assert_eq!(named["agent_id"], "other");
    assert_eq!(named["locks"][0]["is_own"], false);
}

// rule: commands#json
#[test]
fn json_is_the_response_as_it_is() {
    let world = world();
    let claim = |agent: &str, status: i32| {
        let claim = ["claim", "src/db.ts", "-m", MESSAGE, "--json", "--agent", agent];
        json_of(&world, &claim, status)
    };
    let claimed = claim("one", 0);
    assert_eq!(claimed["orchestration"]["action"], "PROCEED");
    let token = &claimed["locks"]["src/db.ts"]["token"];
    assert!(token.as_i64().unwrap() > 0, "{claimed}");
    assert_eq!(claim("two", 3)["error"], "LOCK_CONFLICT");
    let check = json_of(&world, &["check", "src/db.ts", "--json", "--agent", "two"], 3);
    assert_eq!(check["status"], "CONFLICT");
    assert_eq!(check["locks"]["src/db.ts"]["agent_id"], "one");
}

#[test]
fn a_command_line_that_is_not_complete_is_wrong_usage() {
    let world = world();
    for args in [
        &["claim", "src/db.ts"][..],
        &["claim", "-m", MESSAGE],
        &["claim", "src/db.ts", "-m", MESSAGE, "--wait", "0"],
        &["check"],
        &["release"],
        &["release", "src/db.ts", "--all"],
        &["status", "--watch", "--json"],
        &["log", "--limit", "0"],
        &["log", "--limit", "101"],
    ] {
        error(&world, args, 2);
    }
    let unnamed = ["claim", "src/db.ts", "-m", MESSAGE, "--agent", "a b"];
    assert_has(&error(&world, &unnamed, 1), &["the agent \"a b\""]);
    let (code, out, _) = run(&world, &["claim", "src/db.ts", "-m", " "]);
    assert_eq!(code, 1, "{out}");
    assert!(out.starts_with("FIX: message"), "{out}");
}
