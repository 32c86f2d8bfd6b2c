//! The folder that the plugin wrote, in and out.

use std::process::Stdio;

use serde_json::{Value, json};

use super::{TeamClone, files};

const SAMPLE: &[u8] = include_bytes!("../../../lib/teams/tests/files/data/opencode-teams-sample.tar.gz");

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
    fn without(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(without),
            Value::Object(members) => {
                for time in [
                    "created",
                    "joinedAt",
                    "createdAt",
                    "updatedAt",
                    "claimedAt",
                    "completedAt",
                    "timestamp",
                ] {
                    if let Some(value) = members.get_mut(time) {
                        assert!(value.as_str().is_some_and(|time| time.ends_with('Z')), "{value}");
                        *value = json!("TIME");
                    }
                }
                members.values_mut().for_each(without);
            }
            _ => {}
        }
    }
    let mut value = serde_json::from_slice(text).unwrap();
    without(&mut value);
    value
}

#[test]
fn an_import_takes_the_sample_and_changes_no_byte() {
    let place = sample();
    let before = files(&place.root);
    let report = place.report(&["import", "--team", "review-pr-7"], 0);
    assert_eq!(report["refused"], json!([]), "{report}");
    let solo = place.report(&["import", "--team", "solo"], 0);
    assert_eq!(solo["refused"], json!([]), "{solo}");
    let mut after = files(&place.root);
    // The lock of tasks was not there for one team.
    after.retain(|path, _| !path.ends_with(".lock"));
    let mut unlocked = before.clone();
    unlocked.retain(|path, _| !path.ends_with(".lock"));
    assert_eq!(after, unlocked);
    let listed = place.server(None, "GET", "tasks", &json!({ "team": "review-pr-7" }));
    let ids: Vec<&str> = listed["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 6, "{listed}");
    assert!(ids.contains(&"1795348589271-bfb705e1"), "{ids:?}");
    let team = place.server(None, "GET", "teams/review-pr-7", &json!({}));
    assert_eq!(team["team"]["description"], "Three reviews of one change");
    let names: Vec<&Value> = team["team"]["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| &member["agentName"])
        .collect();
    assert_eq!(names, ["Lead", "Performance", "Security", "Style"]);
    let again = place.report(&["import", "--team", "review-pr-7"], 0);
    assert_eq!(again["applied"], json!([]), "{again}");
}

#[test]
fn a_first_sync_takes_more_finished_work_of_one_owner_than_it_may_have_claims() {
    let place = sample();
    // A member that is stopping gets no task.
    place.edit("teams/review-pr-7/config.json", |config| {
        config.as_object_mut().unwrap().remove("shutdownApprovals");
    });
    for number in 0..120 {
        let task = json!({
            "id": format!("done-{number}"), "title": "D", "status": "completed", "owner": "sec",
            "createdAt": "2026-12-01T00:00:00Z", "completedAt": "2026-12-01T00:00:00Z",
        });
        place.write(&format!("tasks/review-pr-7/done-{number}.json"), &task.to_string());
    }
    for number in 0..60 {
        let task = json!({
            "id": format!("begun-{number}"), "title": "B", "status": "in_progress", "owner": "sec",
            "createdAt": "2026-12-01T00:00:00Z",
        });
        place.write(&format!("tasks/review-pr-7/begun-{number}.json"), &task.to_string());
    }
    let report = place.report(&["sync", "--team", "review-pr-7"], 3);
    let is_begun =
        |(reason, place): &(String, String)| reason == "refused" && place.starts_with("tasks/review-pr-7/begun-");
    let refused = super::refused(&report);
    assert!(
        refused.len() == 10 && refused.iter().all(is_begun),
        "no more than 50 claims: {refused:?}"
    );
    let status = |id: &str| place.json(&format!("tasks/review-pr-7/{id}.json"))["status"].clone();
    for number in 0..120 {
        assert_eq!(status(&format!("done-{number}")), "completed");
    }
    // A refused change stays in the file, and is taken once there is room.
    for number in 0..60 {
        assert_eq!(status(&format!("begun-{number}")), "in_progress");
    }
    for number in 0..20 {
        place.edit(&format!("tasks/review-pr-7/begun-{number}.json"), |task| {
            task["status"] = "completed".into();
        });
    }
    let report = place.report(&["sync", "--team", "review-pr-7"], 0);
    assert_eq!(report["refused"], json!([]), "{report}");
    for number in 0..60 {
        let expected = if number < 20 { "completed" } else { "in_progress" };
        assert_eq!(status(&format!("begun-{number}")), expected);
    }
}

#[test]
fn a_sync_of_the_sample_leaves_what_is_not_used_and_ends() {
    let place = sample();
    let before = files(&place.root);
    let first = place.report(&["sync", "--team", "review-pr-7"], 0);
    place.report(&["sync", "--team", "review-pr-7"], 0);
    let after = files(&place.root);
    let written: Vec<&str> = first["written"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| path.as_str().unwrap())
        .collect();
    for (path, bytes) in &before {
        assert!(after.contains_key(path), "{path}");
        if !written.contains(&path.as_str()) && !path.ends_with(".lock") && !path.contains("inboxes") {
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
    let third = place.report(&["sync", "--team", "review-pr-7"], 0);
    assert_eq!(
        (&third["applied"], &third["written"]),
        (&json!([]), &json!([])),
        "{third}"
    );
}

#[test]
fn an_export_is_what_zod_takes_and_imports_to_the_same_team() {
    let first = sample();
    first.report(&["import", "--team", "review-pr-7"], 0);
    first.report(&["import", "--team", "review-pr-7"], 0);
    let out = first.world.folder("exported");
    let shown = out.display().to_string();
    let report = first.report(&["export", "--team", "review-pr-7", "--dir", &shown], 0);
    assert_eq!(report["applied"], json!([]), "{report}");
    let exported = files(&out);
    assert!(exported.len() > 11, "{exported:?}");
    assert_taken_by_zod(&exported);

    let second = TeamClone::empty();
    std::fs::create_dir_all(second.root.parent().unwrap()).unwrap();
    std::fs::rename(&out, &second.root).unwrap();
    // The messages already read are known once the messages have numbers.
    for _ in 0..2 {
        second.report(&["import", "--team", "review-pr-7"], 0);
    }
    let again = second.world.folder("again");
    second.report(&["export", "--dir", &again.display().to_string()], 0);
    let again = files(&again);
    assert_eq!(again.keys().collect::<Vec<_>>(), exported.keys().collect::<Vec<_>>());
    for (path, bytes) in &exported {
        if path.ends_with(".json") {
            assert_eq!(timeless(&again[path]), timeless(bytes), "{path}");
        }
    }
}

/// Holds files against the schemas of the plugin's data model with zod 3.24, where node and zod are installed.
fn assert_taken_by_zod(files: &std::collections::BTreeMap<String, Vec<u8>>) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/node");
    let has_node = std::process::Command::new("node").arg("--version").output().is_ok();
    if !has_node || !folder.join("node_modules/zod").is_dir() {
        coord_test_support::skipping::skip("zod is not installed: npm ci in tests/node");
        return;
    }
    let lines = files.iter().filter(|(path, _)| path.ends_with(".json"));
    let lines = lines.map(|(path, bytes)| json!([path, String::from_utf8(bytes.clone()).unwrap()]).to_string());
    let mut node = std::process::Command::new("node");
    node.current_dir(folder)
        .arg("check_teams_files.mjs")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut node = node.spawn().unwrap();
    let input = lines.collect::<Vec<_>>().join("\n");
    std::io::Write::write_all(&mut node.stdin.take().unwrap(), input.as_bytes()).unwrap();
    let output = String::from_utf8(node.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(output, format!("{} files are taken\n", input.lines().count()));
}
