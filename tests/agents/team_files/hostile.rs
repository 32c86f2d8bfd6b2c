//! Folders that are made to do harm: reported, not followed, not written over.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;

use super::{A, B, C, CONFIG, TeamClone, add_members, assert_fields, assert_refused, files, refused, task};

const INBOXES: &str = "teams/alpha/inboxes";
const LOCK: &str = "tasks/alpha/.lock";

impl TeamClone {
    /// Puts a pipe in place of a file.
    fn replace_by_pipe(&self, file: &str) {
        self.remove(file);
        let made = Command::new("mkfifo").arg(self.path(file)).status();
        assert!(made.unwrap().success());
    }
}

#[test]
fn a_link_is_not_followed_wherever_it_is() {
    let place = TeamClone::alike();
    let outside = place.world.folder("outside");
    let secret = outside.join("secret.json");
    let task = task("x").to_string();
    fs::write(&secret, &task).unwrap();
    symlink(&secret, place.path("tasks/alpha/x.json")).unwrap();
    place.remove(A);
    symlink(&secret, place.path(A)).unwrap();
    fs::create_dir(place.path("tasks/alpha/y.json")).unwrap();
    place.retitles("a", "of the server");
    let report = place.sync(3);
    for id in ["a", "x", "y"] {
        assert_refused(&report, &[&format!("unreadable tasks/alpha/{id}.json")]);
    }
    assert_eq!(report["applied"], json!([]));
    assert_eq!(fs::read_to_string(&secret).unwrap(), task);

    // Folders.
    let moved = outside.join("moved");
    fs::rename(place.path(INBOXES), &moved).unwrap();
    symlink(&moved, place.path(INBOXES)).unwrap();
    let before = files(&moved);
    place.lead("POST", "messages", json!({ "to": ["w1"], "message": "m" }));
    assert_refused(&place.sync(3), &["unreadable teams/alpha/inboxes"]);
    assert_eq!(files(&moved), before);
    fs::rename(place.path("tasks"), outside.join("tasks")).unwrap();
    symlink(outside.join("tasks"), place.path("tasks")).unwrap();
    let before = files(&outside);
    assert_refused(&place.sync(3), &["unreadable tasks"]);
    assert_eq!(files(&outside), before);
    assert_eq!(place.stored("c")["title"], "task c", "nothing is deleted");
}

#[test]
fn a_linked_folder_with_too_many_entries_is_refused_and_the_rest_is_synced() {
    let place = TeamClone::alike();
    let outside = place.world.folder("outside");
    for number in 0..=100_000 {
        fs::File::create(outside.join(number.to_string())).unwrap();
    }
    fs::remove_dir_all(place.path(INBOXES)).unwrap();
    symlink(&outside, place.path(INBOXES)).unwrap();
    place.retitles("a", "of the server");
    assert_eq!(refused(&place.sync(3)), ["unreadable teams/alpha/inboxes"]);
    assert_eq!(place.json(A)["title"], "of the server");
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
    place.remove(LOCK);
    symlink(&outside, place.path(LOCK)).unwrap();
    place.coord(&["team", "sync"], 1);
    assert!(!outside.exists());
    place.replace_by_pipe(LOCK);
    place.coord(&["team", "sync"], 1);
    place.remove(LOCK);
    place.replace_by_pipe(A);
    assert_eq!(refused(&place.sync(3)), [format!("unreadable {A}")]);
}

// rule: files#team-refused
#[test]
fn broken_large_and_deep_files_are_refused_and_stay() {
    let place = TeamClone::alike();
    let w1 = "teams/alpha/inboxes/w1.json";
    let deep = format!("{{\"id\": \"a\", \"x\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    place.write(A, &deep);
    place.write(B, "{\"id\": \"b\",");
    let large = fs::File::create(place.path(C)).unwrap();
    large.set_len(100 << 20).unwrap();
    let million = format!("[{}]", vec!["{}"; 1_000_000].join(","));
    place.write(w1, &million);
    place.edit(CONFIG, |config| config["members"] = json!([]));
    let config = place.text(CONFIG);
    place.retitles("a", "of the server");
    let report = place.sync(3);
    let unreadable = [
        "unreadable tasks/alpha/a.json",
        "unreadable tasks/alpha/b.json",
        "unreadable tasks/alpha/c.json",
        "unreadable teams/alpha/inboxes/w1.json",
        "unreadable teams/alpha/config.json: members",
    ];
    assert_refused(&report, &unreadable);
    assert_fields(&report, json!({ "applied": [], "written": [] }));
    for (file, text) in [(A, deep), (w1, million), (CONFIG, config)] {
        assert_eq!(place.text(file), text);
    }
    assert_eq!(fs::metadata(place.path(C)).unwrap().len(), 100 << 20);
    assert_eq!(place.stored("b")["title"], "task b");
}

// rule: files#team-names
#[test]
fn names_are_parsed_before_they_are_paths() {
    let place = TeamClone::alike();
    for name in ["a:b", "a{b}", "a b", "a\u{1b}[31m", "größe", "..x", "C"] {
        place.add_task(&task(name));
    }
    place.write("tasks/alpha/d.json", &task("../../../escape").to_string());
    place.write("teams/alpha/inboxes/broadcast.json", "[]");
    let members = ["../../../escape", "a/b", ".hidden", "broadcast"];
    place.edit(CONFIG, add_members(&members));
    let report = place.sync(3);
    let refusals = refused(&report);
    let is_unreadable = |refusal: &&String, part: &str| refusal.starts_with("unreadable ") && refusal.contains(part);
    // Of tasks: five names, two that differ in case, and one that is not its file's.
    for (part, count) in [("members[", 4), ("tasks/alpha/", 8), ("broadcast.json", 1)] {
        let found = refusals.iter().filter(|refusal| is_unreadable(refusal, part));
        assert_eq!(found.count(), count, "{part}: {report}");
    }
    let printed = place.coord(&["team", "sync"], 3);
    assert!(!printed.contains('\u{1b}'), "{printed:?}");
    assert_eq!(report["applied"], json!([]), "{report}");
    for team in ["..", "a/b", "a:b", "{a}", "a\u{1b}b"] {
        place.coord(&["team", "sync", "--team", team], 1);
    }
    let beside = place.world.clone.path().parent().unwrap();
    for escaped in ["escape", "escape.json"] {
        assert!(!beside.join(escaped).exists(), "{escaped}");
    }
}

#[test]
fn an_entry_that_another_program_locks_is_waited_for_and_then_reported() {
    let place = TeamClone::alike();
    let lock = fs::File::options().write(true).open(place.path(LOCK)).unwrap();
    rustix::fs::fcntl_lock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let ended = place.run(&["team", "sync"]);
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{errors}");
    let sentence = "tasks/alpha/.lock is locked by another program for 10 s";
    assert!(errors.contains(sentence), "{errors}");
    drop(lock);
    place.assert_quiet();
}
