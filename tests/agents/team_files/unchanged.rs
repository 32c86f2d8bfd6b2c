//! A synchronization that finds names, sizes and times of the files, and the team, as they were, compares nothing.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use coord_test_support::opencode_runs::texts;
use serde_json::{Value, json};

use super::{A, C, TeamClone, message};

/// As if the files had been written an hour ago, which is then known to be unchanged.
fn aged() -> TeamClone {
    let place = TeamClone::alike();
    assert_eq!(place.kept()["unchanged"], Value::Null);
    place.ages();
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

    /// Ages the files, which the next synchronization knows to be unchanged.
    fn ages(&self) {
        self.age();
        self.assert_quiet();
        assert!(self.kept()["unchanged"].is_object(), "{}", self.kept());
    }

    /// Returns the stored state of the team.
    fn kept(&self) -> Value {
        let mut folders = fs::read_dir(self.memory()).unwrap();
        let folder = folders.next().unwrap().unwrap().path();
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
    let file = File::options().append(true).open(place.path(A)).unwrap();
    file.set_modified(time).unwrap();
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
    place.ages();
    // A read has no event.
    place.lead("POST", "messages/read", json!({ "cursor": 1 }));
    assert_eq!(place.sync(0)["written"], json!(["teams/alpha/inboxes/lead.json"]));
    place.age();
    place.assert_quiet();
    // Changes to another team, or to none, change nothing.
    place.coord(&["team", "create", "beta", "--agent", "lead"], 0);
    place.coord(&["claim", "README.md", "-m", "Reading", "--reading", "--agent", "x"], 0);
    let before = place.kept();
    let sync = |status| place.report(&["sync", "--team", "alpha"], status);
    sync(0);
    assert_eq!(place.kept(), before);
    // A refused change is reported again.
    place.write("tasks/alpha/d.json", "{");
    place.age();
    for _ in 0..2 {
        assert_eq!(super::refused(&sync(3)).len(), 1);
    }
    place.remove("tasks/alpha/d.json");
    place.remove(C);
    assert_eq!(texts(&sync(0)["applied"]), ["task c deleted"]);
}
