//! A synchronization that finds names, sizes and times of the files, and the team, as they were, compares nothing.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::{TeamClone, message};

const A: &str = "tasks/alpha/a.json";

/// As if the files had been written an hour ago, which is then known to be unchanged.
fn aged() -> TeamClone {
    let place = TeamClone::alike();
    place.age();
    assert_eq!(place.kept()["unchanged"], Value::Null);
    place.assert_quiet();
    assert!(place.kept()["unchanged"].is_object(), "{}", place.kept());
    place
}

impl TeamClone {
    fn age(&self) {
        let then = SystemTime::now() - Duration::from_secs(3600);
        let files = super::files(&self.root).into_keys().map(|path| self.path(&path));
        for path in files.chain([self.path("teams/alpha/inboxes")]) {
            File::open(path).unwrap().set_modified(then).unwrap();
        }
    }

    /// Returns the stored state of the team.
    fn kept(&self) -> Value {
        let folder = fs::read_dir(self.world.clone.path().join(".git/coord/teams")).unwrap();
        let folder = folder.map(|entry| entry.unwrap().path()).next().unwrap();
        serde_json::from_slice(&fs::read(folder.join("alpha.json")).unwrap()).unwrap()
    }
}

#[test]
fn unchanged_files_are_not_compared() {
    let place = aged();
    let text = place.text(A);
    let time = fs::metadata(place.path(A)).unwrap().modified().unwrap();
    // The same size and time, as nobody writes it: so it is not read.
    place.write(A, &text.replace("task a", "TASK A"));
    File::options()
        .append(true)
        .open(place.path(A))
        .unwrap()
        .set_modified(time)
        .unwrap();
    place.assert_quiet();
    place.write(A, &text.replace("task a", "TASK B"));
    assert_eq!(place.sync(0)["applied"], json!(["task a changed"]));
}

#[test]
fn every_change_of_either_side_is_found() {
    let place = aged();
    place.retitles("a", "of the server");
    assert_eq!(place.sync(0)["written"], json!([A]));
    place.append("lead", message("w1", "lead", "m"));
    assert_eq!(place.sync(0)["applied"], json!(["message of w1 to lead"]));
    place.age();
    place.assert_quiet();
    assert!(place.kept()["unchanged"].is_object());
    // A read has no event.
    place.server(
        None,
        "POST",
        "messages/read",
        &json!({ "team": "alpha", "agent_id": "lead", "cursor": 1 }),
    );
    assert_eq!(place.sync(0)["written"], json!(["teams/alpha/inboxes/lead.json"]));
    place.age();
    place.assert_quiet();
    // Changes to another team, or to none, change nothing.
    place.coord(&["team", "create", "beta", "--agent", "lead"], 0);
    place.coord(&["claim", "README.md", "-m", "Reading", "--reading", "--agent", "x"], 0);
    let before = place.kept();
    place.report(&["sync", "--team", "alpha"], 0);
    assert_eq!(place.kept(), before);
    // A refused change is reported again.
    place.write("tasks/alpha/d.json", "{");
    place.age();
    for _ in 0..2 {
        assert_eq!(
            place.report(&["sync", "--team", "alpha"], 3)["refused"]
                .as_array()
                .map(Vec::len),
            Some(1)
        );
    }
    fs::remove_file(place.path("tasks/alpha/d.json")).unwrap();
    fs::remove_file(place.path("tasks/alpha/c.json")).unwrap();
    assert_eq!(
        place.report(&["sync", "--team", "alpha"], 0)["applied"],
        json!(["task c deleted"])
    );
}
