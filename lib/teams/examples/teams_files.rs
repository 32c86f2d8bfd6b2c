//! Coord's parse of files, for the test in tests/node, which compares it with zod's verdict.
//!
//! Each line of the input is a JSON array of a path and a text. For each, a line of the output is `{"written": TEXT}`, the file as
//! Coord writes it anew, or `{"refused": FIELD, "message": TEXT}`.

use std::io::{BufRead, Write};

use coord_teams::layout::{Entry, PathKind, path_kind};
use coord_teams::message::InboxFile;
use coord_teams::refusal::Refusal;
use coord_teams::task::TaskFile;
use coord_teams::team::ConfigFile;

fn written(entry: &Entry, text: &[u8]) -> Result<String, Refusal> {
    match entry {
        Entry::Config(team) => {
            let config = ConfigFile::parse(team, text)?.config().clone();
            Ok(ConfigFile::new(config).render())
        }
        Entry::Inbox(team, handle) => {
            let mut inbox = InboxFile::default();
            for message in InboxFile::parse(team, handle, text)?.messages() {
                inbox.push(message.clone());
            }
            Ok(inbox.render())
        }
        Entry::Task(team, id) => {
            let task = TaskFile::parse(team, id, text)?.task().clone();
            Ok(TaskFile::new(task).render())
        }
        Entry::TeamLock(_) | Entry::TaskLock(_) => Ok(String::new()),
    }
}

fn main() {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let (path, text): (String, String) = serde_json::from_str(&line).expect("a path and a text");
        let PathKind::Ours(entry) = path_kind(&path) else {
            panic!("{path}");
        };
        let verdict = match written(&entry, text.as_bytes()) {
            Ok(written) => serde_json::json!({ "written": written }),
            Err(refusal) => serde_json::json!({ "refused": refusal.field, "message": refusal.message }),
        };
        writeln!(out, "{verdict}").expect("a reader");
    }
}
