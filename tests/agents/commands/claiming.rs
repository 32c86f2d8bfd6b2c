//! A claim and what others get meanwhile.

use super::{json, printed, run, steady, world};

const MESSAGE: &str = "Adding a pool: query() becomes async";

#[test]
fn a_file_is_one_agents_until_it_is_released() {
    let world = world();
    let mut texts = Vec::new();
    let mut say = |args: &[&str], status: i32| {
        texts.push(format!("$ coord {}\n{}", args.join(" "), printed(&world, args, status)));
    };
    say(&["check", "src/db.ts", "--agent", "one"], 0);
    say(&["claim", "src/db.ts", "-m", MESSAGE, "--agent", "one"], 0);
    say(&["check", "src/db.ts", "--agent", "two"], 3);
    say(
        &[
            "claim",
            "src/db.ts",
            "README.md",
            "-m",
            "Renaming query()",
            "--agent",
            "two",
        ],
        3,
    );
    say(&["release", "src/db.ts", "--agent", "two"], 3);
    say(&["release", "src/db.ts", "--agent", "one"], 0);
    say(&["claim", "src/db.ts", "-m", "Renaming query()", "--agent", "two"], 0);
    insta::assert_snapshot!(steady(&texts.join("\n"), &world));
}

#[test]
fn readers_share_a_file_and_keep_writers_off() {
    let world = world();
    let claim = |agent: &str, more: &[&str], status: i32| {
        let args = [
            &["claim", "README.md", "-m", "Reading how it begins", "--agent", agent],
            more,
        ]
        .concat();
        printed(&world, &args, status);
    };
    claim("one", &["--reading"], 0);
    claim("two", &["--reading"], 0);
    claim("three", &[], 3);
    printed(&world, &["check", "--reading", "README.md", "--agent", "three"], 0);
    printed(&world, &["check", "README.md", "--agent", "three"], 3);
}

#[test]
fn a_person_is_one_holder_in_every_shell_and_folder() {
    let world = world();
    printed(&world, &["claim", "src/db.ts", "-m", MESSAGE], 0);
    let elsewhere = world
        .coord(&world.clone.path().join("src"))
        .args(["release", "db.ts"])
        .output();
    let (code, out, _) = super::parts(&elsewhere.unwrap());
    assert_eq!(code, 0, "{out}");
    assert_eq!(json(&world, &["status", "--json"], 0)["locks"], serde_json::json!([]));
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
    std::fs::write(
        sessions.join(format!("{id}-{started}.json")),
        r#"{"agent_id":"claude-code-1a2b"}"#,
    )
    .unwrap();
    printed(&world, &["claim", "src/db.ts", "-m", MESSAGE], 0);
    let status = json(&world, &["status", "--json"], 0);
    assert_eq!(status["agent_id"], "claude-code-1a2b");
    assert_eq!(status["locks"][0]["agent_id"], "claude-code-1a2b");
    assert_eq!(status["locks"][0]["is_own"], true);
    let named = json(&world, &["status", "--json", "--agent", "other"], 0);
    assert_eq!(
        (&named["agent_id"], &named["locks"][0]["is_own"]),
        (&"other".into(), &false.into())
    );
}

// rule: commands#json
#[test]
fn json_is_the_response_as_it_is() {
    let world = world();
    let claimed = json(
        &world,
        &["claim", "src/db.ts", "-m", MESSAGE, "--json", "--agent", "one"],
        0,
    );
    assert_eq!(claimed["orchestration"]["action"], "PROCEED");
    assert!(
        claimed["locks"]["src/db.ts"]["token"].as_i64().unwrap() > 0,
        "{claimed}"
    );
    let refused = json(
        &world,
        &["claim", "src/db.ts", "-m", MESSAGE, "--json", "--agent", "two"],
        3,
    );
    assert_eq!(refused["error"], "LOCK_CONFLICT");
    let check = json(&world, &["check", "src/db.ts", "--json", "--agent", "two"], 3);
    assert_eq!(
        (&check["status"], &check["locks"]["src/db.ts"]["agent_id"]),
        (&"CONFLICT".into(), &"one".into())
    );
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
        let (code, _, error) = run(&world, args);
        assert_eq!(code, 2, "{args:?}: {error}");
    }
    let (code, _, error) = run(&world, &["claim", "src/db.ts", "-m", MESSAGE, "--agent", "a b"]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("the agent \"a b\""), "{error}");
    let (code, out, _) = run(&world, &["claim", "src/db.ts", "-m", " "]);
    assert_eq!(code, 1, "{out}");
    assert!(out.starts_with("FIX: message"), "{out}");
}
