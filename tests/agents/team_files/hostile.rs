//! Folders that are made to do harm: reported, not followed, not written over.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::{TeamClone, refused};

fn unreadable(place: &str) -> (String, String) {
    ("unreadable".to_owned(), place.to_owned())
}

#[test]
fn a_link_is_not_followed_wherever_it_is() {
    let place = TeamClone::alike();
    let outside = place.world.folder("outside");
    let secret = outside.join("secret.json");
    let task = json!({ "id": "x", "title": "secret", "status": "pending", "createdAt": "2026-12-01T00:00:00Z" });
    fs::write(&secret, task.to_string()).unwrap();
    symlink(&secret, place.path("tasks/alpha/x.json")).unwrap();
    fs::remove_file(place.path("tasks/alpha/a.json")).unwrap();
    symlink(&secret, place.path("tasks/alpha/a.json")).unwrap();
    fs::create_dir(place.path("tasks/alpha/y.json")).unwrap();
    place.retitles("a", "of the server");
    let report = place.sync(3);
    let refusals = refused(&report);
    for file in ["a", "x", "y"] {
        assert!(
            refusals.contains(&unreadable(&format!("tasks/alpha/{file}.json"))),
            "{report}"
        );
    }
    assert_eq!(report["applied"], json!([]));
    assert_eq!(fs::read_to_string(&secret).unwrap(), task.to_string());

    // Folders.
    let moved = outside.join("moved");
    fs::rename(place.path("teams/alpha/inboxes"), &moved).unwrap();
    symlink(&moved, place.path("teams/alpha/inboxes")).unwrap();
    let before = super::files(&moved);
    place.server(
        None,
        "POST",
        "messages",
        &json!({ "team": "alpha", "agent_id": "lead", "to": ["w1"], "message": "m" }),
    );
    let report = place.sync(3);
    assert!(
        refused(&report).contains(&unreadable("teams/alpha/inboxes")),
        "{report}"
    );
    assert_eq!(super::files(&moved), before);
    fs::rename(place.path("tasks"), outside.join("tasks")).unwrap();
    symlink(outside.join("tasks"), place.path("tasks")).unwrap();
    let before = super::files(&outside);
    let report = place.sync(3);
    assert!(refused(&report).contains(&unreadable("tasks")), "{report}");
    assert_eq!(super::files(&outside), before);
    assert_eq!(place.stored("c")["title"], "task c", "nothing is deleted");
}

#[test]
fn a_linked_folder_with_too_many_entries_is_refused_and_the_rest_is_synced() {
    let place = TeamClone::alike();
    let outside = place.world.folder("outside");
    for number in 0..=100_000 {
        fs::File::create(outside.join(number.to_string())).unwrap();
    }
    fs::remove_dir_all(place.path("teams/alpha/inboxes")).unwrap();
    symlink(&outside, place.path("teams/alpha/inboxes")).unwrap();
    place.retitles("a", "of the server");
    assert_eq!(refused(&place.sync(3)), [unreadable("teams/alpha/inboxes")]);
    assert_eq!(place.json("tasks/alpha/a.json")["title"], "of the server");
    // Nor is a team looked for behind a link.
    let elsewhere = place.world.folder("elsewhere");
    fs::create_dir(elsewhere.join("teams")).unwrap();
    symlink(&outside, elsewhere.join("teams/beta")).unwrap();
    let report = place.report(&["export", "--dir", &elsewhere.display().to_string()], 0);
    assert_eq!(report["team"], "alpha", "{report}");
}

#[test]
fn a_lock_that_is_a_link_or_a_pipe_is_not_opened() {
    let place = TeamClone::alike();
    let outside = place.world.folder("outside").join("new");
    fs::remove_file(place.path("tasks/alpha/.lock")).unwrap();
    symlink(&outside, place.path("tasks/alpha/.lock")).unwrap();
    place.coord(&["team", "sync"], 1);
    assert!(!outside.exists());
    fs::remove_file(place.path("tasks/alpha/.lock")).unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(place.path("tasks/alpha/.lock"))
            .status()
            .unwrap()
            .success()
    );
    place.coord(&["team", "sync"], 1);
    fs::remove_file(place.path("tasks/alpha/.lock")).unwrap();
    fs::remove_file(place.path("tasks/alpha/a.json")).unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(place.path("tasks/alpha/a.json"))
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(refused(&place.sync(3)), [unreadable("tasks/alpha/a.json")]);
}

// rule: files#team-refused
#[test]
fn broken_large_and_deep_files_are_refused_and_stay() {
    let place = TeamClone::alike();
    let deep = format!("{{\"id\": \"a\", \"x\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    place.write("tasks/alpha/a.json", &deep);
    place.write("tasks/alpha/b.json", "{\"id\": \"b\",");
    let large = fs::File::create(place.path("tasks/alpha/c.json")).unwrap();
    large.set_len(100 << 20).unwrap();
    let million = format!("[{}]", vec!["{}"; 1_000_000].join(","));
    place.write("teams/alpha/inboxes/w1.json", &million);
    place.edit("teams/alpha/config.json", |config| config["members"] = json!([]));
    let config = place.text("teams/alpha/config.json");
    place.retitles("a", "of the server");
    let report = place.sync(3);
    let refusals = refused(&report);
    for file in [
        "tasks/alpha/a.json",
        "tasks/alpha/b.json",
        "tasks/alpha/c.json",
        "teams/alpha/inboxes/w1.json",
        "teams/alpha/config.json: members",
    ] {
        assert!(refusals.contains(&unreadable(file)), "{file}: {refusals:?}");
    }
    assert_eq!(
        (&report["applied"], &report["written"]),
        (&json!([]), &json!([])),
        "{report}"
    );
    assert_eq!(place.text("tasks/alpha/a.json"), deep);
    assert_eq!(place.text("teams/alpha/inboxes/w1.json"), million);
    assert_eq!(place.text("teams/alpha/config.json"), config);
    assert_eq!(fs::metadata(place.path("tasks/alpha/c.json")).unwrap().len(), 100 << 20);
    assert_eq!(place.stored("b")["title"], "task b");
}

// rule: files#team-names
#[test]
fn names_are_parsed_before_they_are_paths() {
    let place = TeamClone::alike();
    let task = |id: &str| {
        json!({ "id": id, "title": "T", "status": "pending", "createdAt": "2026-12-01T00:00:00Z" }).to_string()
    };
    for name in ["a:b", "a{b}", "a b", "a\u{1b}[31m", "größe", "..x"] {
        fs::write(place.path("tasks/alpha").join(format!("{name}.json")), task(name)).unwrap();
    }
    fs::write(place.path("tasks/alpha/C.json"), task("C")).unwrap();
    fs::write(place.path("tasks/alpha/d.json"), task("../../../escape")).unwrap();
    fs::write(place.path("teams/alpha/inboxes/broadcast.json"), "[]").unwrap();
    place.edit("teams/alpha/config.json", |config| {
        for id in ["../../../escape", "a/b", ".hidden", "broadcast"] {
            let mut member = config["members"][1].clone();
            member["agentId"] = id.into();
            config["members"].as_array_mut().unwrap().push(member);
        }
    });
    let report = place.sync(3);
    let refusals = refused(&report);
    let count = |part: &str| {
        refusals
            .iter()
            .filter(|(reason, place)| reason == "unreadable" && place.contains(part))
            .count()
    };
    assert_eq!(count("members["), 4, "{report}");
    assert_eq!(
        count("tasks/alpha/"),
        8,
        "five names, two that differ in case, one that is not its file's: {report}"
    );
    assert_eq!(count("broadcast.json"), 1, "{report}");
    let printed = place.coord(&["team", "sync"], 3);
    assert!(!printed.contains('\u{1b}'), "{printed:?}");
    assert_eq!(report["applied"], json!([]), "{report}");
    for team in ["..", "a/b", "a:b", "{a}", "a\u{1b}b"] {
        place.coord(&["team", "sync", "--team", team], 1);
    }
    let names: Vec<_> = fs::read_dir(place.world.clone.path().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        !names.iter().any(|name| name == "escape" || name == "escape.json"),
        "{names:?}"
    );
}

#[test]
fn an_entry_that_another_program_locks_is_waited_for_and_then_reported() {
    let place = TeamClone::alike();
    let lock = fs::File::options()
        .write(true)
        .open(place.path("tasks/alpha/.lock"))
        .unwrap();
    rustix::fs::fcntl_lock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let ended = place.command().args(["team", "sync"]).output().unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{errors}");
    assert!(
        errors.contains("tasks/alpha/.lock is locked by another program for 10 s"),
        "{errors}"
    );
    drop(lock);
    place.assert_quiet();
}
