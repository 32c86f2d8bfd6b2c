//! The folder that the plugin wrote.

use coord_teams::compare::FindingKind;
use coord_teams::layout::{PathKind, path_kind};
use coord_teams::message::InboxFile;
use coord_teams::status::Status;
use coord_teams::task::TaskFile;
use coord_teams::team::ConfigFile;

use super::sync::{A, Both, C, Files, handle, kinds, sample, store, sync_reports, task, team};

const CONFIG: &str = "teams/review-pr-7/config.json";

#[test]
fn every_file_of_the_sample_is_read_and_written_with_the_same_bytes() {
    let mut read = 0;
    for (path, text) in sample() {
        let entry = match path_kind(&path) {
            PathKind::Ours(entry) => entry,
            other => panic!("{path}: {other:?}"),
        };
        assert_eq!(entry.path(), path);
        use coord_teams::layout::Entry::{Config, Inbox, Task, TaskLock, TeamLock};
        let written = match &entry {
            Config(team) => ConfigFile::parse(team, text.as_bytes()).map(|file| file.render()),
            Inbox(team, handle) => InboxFile::parse(team, handle, text.as_bytes()).map(|file| file.render()),
            Task(team, id) => TaskFile::parse(team, id, text.as_bytes()).map(|file| file.render()),
            TeamLock(_) | TaskLock(_) => Ok(String::new()),
        };
        assert_eq!(written, Ok(text), "{path}");
        read += 1;
    }
    assert_eq!(read, 16);
}

#[test]
fn files_of_the_old_form_get_their_defaults() {
    let files = sample();
    let (solo, id) = (team("solo"), task("1700000000000-0badcafe"));
    let text = &files["tasks/solo/1700000000000-0badcafe.json"];
    let old = TaskFile::parse(&solo, &id, text.as_bytes()).unwrap();
    assert_eq!(old.task().priority.as_str(), "normal");
    assert_eq!((old.task().dependencies.len(), old.task().blocks.len()), (0, 0));
    let untitled = text.replace("\"title\": \"Old file\",", "");
    let untitled = TaskFile::parse(&solo, &id, untitled.as_bytes()).unwrap();
    assert_eq!(untitled.task().title, "Untitled Task");
    let text = &files["teams/solo/inboxes/only.json"];
    let inbox = InboxFile::parse(&solo, &handle("only"), text.as_bytes()).unwrap();
    assert_eq!(inbox.messages()[0].kind.as_str(), "plain");
    assert!(!inbox.messages()[0].read);
}

fn of_team(name: &str) -> Files {
    let of_team = |path: &str| path.split('/').nth(1) == Some(name);
    sample().into_iter().filter(|(path, _)| of_team(path)).collect()
}

#[test]
fn an_import_reads_everything_and_leaves_equal_files_unchanged() {
    let before = of_team("review-pr-7");
    let mut both = Both::new(before.clone(), store("review-pr-7", "lead"));
    let done = both.sync();
    assert_eq!(kinds(&done.taken.findings), []);
    // Its approvals are older than the first sync: they ask for no shutdown, and go.
    let mut expected: serde_json::Value = serde_json::from_str(&before[CONFIG]).unwrap();
    assert!(expected.as_object_mut().unwrap().remove("shutdownApprovals").is_some());
    assert_eq!(both.file(CONFIG), expected);
    let mut after = before;
    after.insert(CONFIG.to_owned(), both.files[CONFIG].clone());
    assert_eq!(both.files, after);
    assert_eq!(done.given.writes.len(), 1);
    assert_eq!(both.store.members.len(), 4);
    assert_eq!(both.store.tasks.len(), 6);
    let completed = |id: &str| both.store.tasks[id].status == Status::Completed;
    assert!(completed("1795348589271-bfb705e1") && completed("1795348589277-88242c44"));
    let summary = &both.store.tasks["1795348589292-c2692ac7"];
    assert_eq!(summary.owner, Some(handle("lead")));
    assert_eq!(summary.dependencies.len(), 2);
    // One broadcast, though it is in three inboxes; the messages of the shutdown are its calls.
    assert_eq!(
        both.stored_texts(),
        [
            "Two findings in the token check",
            "The summary is due today",
            "Please take the style review",
            "perf is idle"
        ]
    );
    assert_eq!(both.store.approvals.len(), 0);
    // The read state is unknown until the messages have numbers: the next sync shows it.
    let done = both.sync();
    assert!(done.given.writes.is_empty());
    assert_eq!(both.store.members["sec"].read_to, 2);
    both.assert_quiet();
    assert_eq!(both.files, after);
}

#[test]
fn an_export_imported_by_another_store_is_the_same_team() {
    let mut first = Both::new(of_team("review-pr-7"), store("review-pr-7", "lead"));
    first.sync();
    first.sync();
    first.files.clear();
    first.seen = None;
    first.sync();
    let exported = first.files.clone();
    let mut second = Both::new(exported.clone(), store("review-pr-7", "lead"));
    assert_eq!(second.sync().taken.findings, []);
    second.sync();
    assert_eq!(second.store.task_files(), first.store.task_files());
    // With each member's read messages, which are in the files too.
    assert_eq!(second.files, exported);
}

#[test]
fn a_sync_without_memory_only_adds() {
    let mut both = Both::alike();
    both.edit(A, "task a", "changed");
    both.files.remove(C);
    both.seen = None;
    let before = both.files.clone();
    let unknown = [(FindingKind::Unknown, A.to_owned())];
    let taken = both.sync().taken;
    assert_eq!(kinds(&taken.findings), unknown);
    assert_eq!(taken.changes, []);
    assert_eq!(both.store.tasks["a"].title, "task a");
    // Entries missing on one side are added; different ones stay as they are on both.
    assert_eq!(both.files[A], before[A]);
    assert!(both.files.contains_key(C));
    assert_eq!(sync_reports(&mut both), unknown);
}
