//! The folder that the plugin wrote, in and out.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use coord_test_support::opencode_runs::{text, texts};
use coord_test_support::skipping::skip;
use serde_json::{Value, json};

use super::{TeamClone, assert_fields, files, refused, task};
use crate::mcp::without_times;

const SAMPLE: &[u8] = include_bytes!("../../../lib/teams/tests/files/data/opencode-teams-sample.tar.gz");
const TEAM: &str = "review-pr-7";

fn sample() -> TeamClone {
    let place = TeamClone::empty();
    let archive = flate2::read::GzDecoder::new(SAMPLE);
    tar::Archive::new(archive).unpack(place.world.clone.path()).unwrap();
    // Files that other features of the plugin write.
    place.write("agents/one.json", "{}");
    place.write("templates/t.json", "no JSON");
    place.write("color-pool.json", "[]");
    place
}

/// A value without times, which are the store's own.
pub fn timeless(text: &[u8]) -> Value {
    without_times(serde_json::from_slice(text).unwrap())
}

/// The files without locks: where a team has no tasks, theirs is missing.
fn unlocked(place: &TeamClone) -> BTreeMap<String, Vec<u8>> {
    let mut files = files(&place.root);
    files.retain(|path, _| !path.ends_with(".lock"));
    files
}

#[test]
fn an_import_takes_the_sample_and_changes_no_byte() {
    let place = sample();
    let before = unlocked(&place);
    for team in [TEAM, "solo"] {
        let report = place.report(&["import", "--team", team], 0);
        assert_eq!(report["refused"], json!([]), "{report}");
    }
    assert_eq!(unlocked(&place), before);
    let listed = place.server("GET", "tasks", json!({ "team": TEAM }));
    let tasks = listed["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 6, "{listed}");
    let id = "1795348589271-bfb705e1";
    assert!(tasks.iter().any(|task| task["id"] == id), "{listed}");
    let team = place.server("GET", "teams/review-pr-7", json!({}))["team"].clone();
    assert_eq!(team["description"], "Three reviews of one change");
    let members = team["members"].as_array().unwrap().iter();
    let names: Vec<&str> = members.map(|member| text(member, "agentName")).collect();
    assert_eq!(names, ["Lead", "Performance", "Security", "Style"]);
    let again = place.report(&["import", "--team", TEAM], 0);
    assert_eq!(again["applied"], json!([]), "{again}");
}

#[test]
fn a_first_sync_takes_more_finished_work_of_one_owner_than_it_may_have_claims() {
    let place = sample();
    // A member that is stopping gets no task.
    place.edit("teams/review-pr-7/config.json", |config| {
        config.as_object_mut().unwrap().remove("shutdownApprovals");
    });
    let file = |id: &str| format!("tasks/review-pr-7/{id}.json");
    for (kind, count, status) in [("done", 120, "completed"), ("begun", 60, "in_progress")] {
        for number in 0..count {
            let mut task = task(&format!("{kind}-{number}"));
            (task["status"], task["owner"]) = (status.into(), "sec".into());
            if kind == "done" {
                task["completedAt"] = "2026-12-01T00:00:00Z".into();
            }
            place.write(&file(text(&task, "id")), &task.to_string());
        }
    }
    let report = place.report(&["sync", "--team", TEAM], 3);
    let refused = refused(&report);
    let is_begun = |refusal: &String| refusal.starts_with("refused tasks/review-pr-7/begun-");
    assert!(
        refused.len() == 10 && refused.iter().all(is_begun),
        "no more than 50 claims: {refused:?}"
    );
    let status = |id: &str| place.json(&file(id))["status"].clone();
    for number in 0..120 {
        assert_eq!(status(&format!("done-{number}")), "completed");
    }
    // A refused change stays in the file, and is taken once there is room.
    for number in 0..60 {
        assert_eq!(status(&format!("begun-{number}")), "in_progress");
    }
    for number in 0..20 {
        place.edit(&file(&format!("begun-{number}")), |task| {
            task["status"] = "completed".into();
        });
    }
    let report = place.report(&["sync", "--team", TEAM], 0);
    assert_eq!(report["refused"], json!([]), "{report}");
    for number in 0..60 {
        let expected = if number < 20 { "completed" } else { "in_progress" };
        assert_eq!(status(&format!("begun-{number}")), expected);
    }
}

#[test]
fn a_sync_of_the_sample_leaves_what_is_not_used_and_ends() {
    let place = sample();
    let sync = || place.report(&["sync", "--team", TEAM], 0);
    let before = files(&place.root);
    let written = texts(&sync()["written"]);
    sync();
    let after = files(&place.root);
    for (path, bytes) in &before {
        assert!(after.contains_key(path), "{path}");
        if !written.contains(path) && !path.ends_with(".lock") && !path.contains("inboxes") {
            assert_eq!(after[path], *bytes, "{path}");
        }
    }
    for other in [
        "agents/one.json",
        "templates/t.json",
        "color-pool.json",
        "teams/solo/config.json",
    ] {
        assert_eq!(after[other], before[other]);
    }
    assert_fields(&sync(), json!({ "applied": [], "written": [] }));
}

#[test]
fn an_export_is_what_zod_takes_and_imports_to_the_same_team() {
    let first = sample();
    for _ in 0..2 {
        first.report(&["import", "--team", TEAM], 0);
    }
    let out = first.world.folder("exported");
    let shown = out.display().to_string();
    let report = first.report(&["export", "--team", TEAM, "--dir", &shown], 0);
    assert_eq!(report["applied"], json!([]), "{report}");
    let exported = files(&out);
    assert!(exported.len() > 11, "{exported:?}");
    assert_taken_by_zod(&exported);

    let second = TeamClone::empty();
    std::fs::create_dir_all(second.root.parent().unwrap()).unwrap();
    std::fs::rename(&out, &second.root).unwrap();
    // The messages already read are known once the messages have numbers.
    for _ in 0..2 {
        second.report(&["import", "--team", TEAM], 0);
    }
    let again = second.world.folder("again");
    second.report(&["export", "--dir", &again.display().to_string()], 0);
    let again = files(&again);
    assert!(again.keys().eq(exported.keys()), "{:?}", again.keys());
    for (path, bytes) in &exported {
        if path.ends_with(".json") {
            assert_eq!(timeless(&again[path]), timeless(bytes), "{path}");
        }
    }
}

/// Holds files against the schemas of the plugin's data model with zod 3.24, where node and zod are installed.
fn assert_taken_by_zod(files: &BTreeMap<String, Vec<u8>>) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/node");
    let has_node = Command::new("node").arg("--version").output().is_ok();
    if !has_node || !folder.join("node_modules/zod").is_dir() {
        skip("zod is not installed: npm ci in tests/node");
        return;
    }
    let lines = files.iter().filter(|(path, _)| path.ends_with(".json"));
    let lines = lines.map(|(path, bytes)| json!([path, String::from_utf8(bytes.clone()).unwrap()]).to_string());
    let input = lines.collect::<Vec<_>>().join("\n");
    let mut node = Command::new("node");
    node.current_dir(folder).arg("check_teams_files.mjs");
    let mut node = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    node.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = String::from_utf8(node.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(output, format!("{} files are taken\n", input.lines().count()));
}
