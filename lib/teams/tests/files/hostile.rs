//! Files that were not written by the plugin.

use coord_teams::bounds::{INBOX_BYTES, INBOX_MESSAGES, TASK_BYTES};
use coord_teams::compare::Folder;
use coord_teams::layout::{Entry, EntryType, PathKind, admit_file, admit_folder, path_kind};
use coord_teams::message::InboxFile;
use coord_teams::task::TaskFile;
use coord_teams::team::ConfigFile;

use super::sync::{handle, task, team};

const TASK: &str = r#"{"id": "t1", "status": "pending", "createdAt": "2026-12-01T00:00:00Z""#;

fn refused(text: &str) -> String {
    let refusal = TaskFile::parse(&team("alpha"), &task("t1"), text.as_bytes()).unwrap_err();
    assert_eq!(refusal.file, "tasks/alpha/t1.json");
    refusal.to_string()
}

#[test]
fn a_refusal_names_file_and_field() {
    let parse = |rest: &str| refused(&format!("{TASK}{rest}}}"));
    for (rest, expected) in [
        (r#", "title": null"#, "title: Expected string, received null"),
        (
            r#", "priority": "urgent""#,
            "priority: Invalid enum value. Expected 'high' | 'normal' | 'low', received 'urgent'",
        ),
        (
            r#", "dependencies": ["a", 1]"#,
            "dependencies[1]: Expected string, received number",
        ),
        (r#", "blocks": {}"#, "blocks: Expected array, received object"),
        (
            r#", "claimedAt": "2026-12-01T00:00:00+00:00""#,
            "claimedAt: Invalid datetime",
        ),
        (
            r#", "owner": "\u001b[2J\u202e", "warning": 7"#,
            "warning: Expected string, received number",
        ),
        (r#", "status": "done""#, "duplicate member \"status\""),
    ] {
        assert_eq!(parse(rest), format!("tasks/alpha/t1.json: {expected}"), "{rest}");
    }
    for (text, expected) in [
        ("{\"id\": \"t1\"}", "status: Required"),
        ("{\"id\": \"\"}", "id: String must contain at least 1 character(s)"),
        ("[]", "Expected object, received array"),
        (TASK, "not JSON: EOF while parsing an object at line 1 column 69"),
        (
            &format!("{}}}", TASK.replace("pending", "\\u001b[31m")),
            "status: Invalid enum value. Expected 'pending' | 'in_progress' | 'completed', received '\\u{1b}[31m'",
        ),
        (
            &format!("{}}}", TASK.replace("\"t1\"", "\"../t1\"")),
            "id: \"../t1\" is not the id that the file is named for",
        ),
        (
            "{\"id\": \"\\ud800\"}",
            "not JSON: unexpected end of hex escape at line 1 column 8",
        ),
        ("\u{feff}{}", "not JSON: expected value at line 1 column 1"),
        ("", "not JSON: EOF while parsing a value at line 1 column 0"),
        ("{} {}", "not JSON: trailing characters at line 1 column 4"),
    ] {
        assert_eq!(refused(text), format!("tasks/alpha/t1.json: {expected}"), "{text}");
    }
    let not_text = TaskFile::parse(&team("alpha"), &task("t1"), b"\"\xff\"").unwrap_err();
    assert!(not_text.message.starts_with("not UTF-8"), "{not_text}");
}

#[test]
fn deep_and_large_files_are_refused_before_they_cost_anything() {
    for (open, close) in [("[", "]"), ("{\"x\":", "}")] {
        let deep = |levels: usize| format!("{TASK}, \"x\": {}0{}}}", open.repeat(levels), close.repeat(levels));
        assert!(refused(&deep(10_000)).ends_with("more than 32 levels of arrays and objects"));
        assert!(refused(&deep(32)).ends_with("more than 32 levels of arrays and objects"));
        assert!(TaskFile::parse(&team("alpha"), &task("t1"), deep(31).as_bytes()).is_ok());
    }
    // One byte too many, and one less.
    let text = |bytes: usize| format!("{TASK}{}}}", " ".repeat(bytes - TASK.len() - 1));
    assert!(refused(&text(TASK_BYTES + 1)).ends_with("the file has 1048577 bytes; at most 1048576 are read"));
    assert!(TaskFile::parse(&team("alpha"), &task("t1"), text(TASK_BYTES).as_bytes()).is_ok());

    let inbox = |messages: usize| {
        let message = r#"{"from":"a","to":"b","message":"","timestamp":"2026-12-01T00:00:00Z"}"#;
        let text = format!("[{}]", vec![message; messages].join(","));
        InboxFile::parse(&team("alpha"), &handle("b"), text.as_bytes())
    };
    assert!(inbox(INBOX_MESSAGES).is_ok());
    let refused = inbox(INBOX_MESSAGES + 1).unwrap_err().to_string();
    assert_eq!(
        refused,
        "teams/alpha/inboxes/b.json: 100001 messages; at most 100000 are read"
    );
    let million = inbox(1_000_000).unwrap_err().to_string();
    assert!(
        million.ends_with(&format!("at most {INBOX_BYTES} are read")),
        "{million}"
    );
}

#[test]
fn a_configuration_is_that_of_its_folder() {
    let config = |name: &str, members: &str| {
        let text = format!(
            r#"{{"name": "{name}", "created": "2026-12-01T00:00:00Z", "leader": "a", "members": [{members}], "dispatchLog": []}}"#
        );
        ConfigFile::parse(&team("alpha"), text.as_bytes())
            .map(drop)
            .map_err(|refusal| refusal.to_string())
    };
    let member = r#"{"agentId": "a", "agentName": "A", "agentType": "leader", "joinedAt": "2026-12-01T00:00:00Z"}"#;
    assert_eq!(config("alpha", member), Ok(()));
    let of = |rest: &str| Err(format!("teams/alpha/config.json: {rest}"));
    assert_eq!(
        config("beta", member),
        of("name: \"beta\" is not the name of the folder")
    );
    assert_eq!(
        config("alpha", ""),
        of("members: Array must contain at least 1 element(s)")
    );
    let nameless = format!("{member}, {}", member.replace("\"A\"", "\"\""));
    assert_eq!(
        config("alpha", &nameless),
        of("members[1].agentName: String must contain at least 1 character(s)")
    );
    let sentence = "name: Invalid team name \"a/b\": Team name must be alphanumeric with hyphens/underscores";
    assert_eq!(config("a/b", member), of(sentence));
}

#[test]
fn only_parsed_names_become_paths() {
    let ours = |entry: Entry| PathKind::Ours(entry);
    for (path, expected) in [
        ("teams/alpha/config.json", ours(Entry::Config(team("alpha")))),
        ("teams/alpha/.lock", ours(Entry::TeamLock(team("alpha")))),
        ("tasks/alpha/.lock", ours(Entry::TaskLock(team("alpha")))),
        (
            "teams/alpha/inboxes/w.1.json",
            ours(Entry::Inbox(team("alpha"), handle("w.1"))),
        ),
        ("tasks/alpha/t1.json", ours(Entry::Task(team("alpha"), task("t1")))),
        ("tasks/alpha/.t1.json.77.1795348589271.tmp", PathKind::Other),
        ("tasks/alpha/.json", PathKind::Other),
        ("tasks/alpha/t1.txt", PathKind::Other),
        ("tasks/alpha/deep/t1.json", PathKind::Other),
        ("teams/alpha/inboxes/.lead.json", PathKind::Other),
        ("teams/alpha/notes.md", PathKind::Other),
        ("teams/.hidden", PathKind::Other),
        ("agents/x.json", PathKind::Other),
        ("color-pool.json", PathKind::Other),
        ("../escape.json", PathKind::Other),
        ("", PathKind::Other),
    ] {
        assert_eq!(path_kind(path), expected, "{path}");
        if let PathKind::Ours(entry) = expected {
            assert_eq!(entry.path(), path);
        }
    }
    for path in [
        "tasks/../t1.json",
        "tasks/./t1.json",
        "tasks//t1.json",
        "tasks/al pha/t1.json",
        "tasks/alpha/t 1.json",
        "tasks/alpha/a\\b.json",
        "tasks/alpha/a:b.json",
        "teams/../config.json",
        "teams/alpha/inboxes/a\n.json",
        "teams/alpha/inboxes/broadcast.json",
        "teams/a{b}",
    ] {
        assert!(matches!(path_kind(path), PathKind::Refused(_)), "{path:?}");
    }
    let entry = Entry::Task(team("alpha"), task("t1"));
    assert_eq!(
        entry.temporary_path(77, 5).as_deref(),
        Some("tasks/alpha/.t1.json.77.5.tmp")
    );
    assert_eq!(path_kind(&entry.temporary_path(77, 5).unwrap()), PathKind::Other);
    assert_eq!(Entry::TaskLock(team("alpha")).temporary_path(77, 5), None);
}

#[test]
fn links_and_devices_are_not_followed() {
    let entry = Entry::Task(team("alpha"), task("t1"));
    assert!(admit_file(&entry, EntryType::File(TASK_BYTES as u64)).is_ok());
    assert!(admit_file(&entry, EntryType::File(100 << 20)).is_err());
    assert!(admit_file(&Entry::TaskLock(team("alpha")), EntryType::File(9)).is_ok());
    assert!(admit_folder("tasks/alpha", EntryType::Folder).is_ok());
    for found in [EntryType::Symlink, EntryType::Other] {
        assert!(admit_file(&entry, found).is_err(), "{found:?}");
        assert!(admit_folder("tasks/alpha", found).is_err(), "{found:?}");
    }
    assert!(admit_file(&entry, EntryType::Folder).is_err());
    assert!(admit_folder("tasks/alpha", EntryType::File(1)).is_err());
    let refusal = admit_file(&entry, EntryType::Symlink).unwrap_err().to_string();
    assert_eq!(refusal, "tasks/alpha/t1.json: a symbolic link, which is not followed");
}

#[test]
fn names_that_differ_in_case_alone_are_one_file_elsewhere() {
    let files = ["a", "A", "b"].map(|id| {
        let text = format!("{}}}", TASK.replace("\"t1\"", &format!("\"{id}\"")));
        (Entry::Task(team("alpha"), task(id)), Ok(text.into_bytes()))
    });
    let folder = Folder::read(&team("alpha"), files);
    assert_eq!(folder.tasks.len(), 2);
    let refused: Vec<_> = folder.refused.values().map(ToString::to_string).collect();
    assert_eq!(
        refused,
        ["tasks/alpha/a.json: another file has this name in another case"]
    );
}
