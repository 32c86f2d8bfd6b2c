//! The bypass of the guard. It is noted on standard error, and in a file in git's folder.

use std::io::Write;
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use coord_agent::local_server;
use coord_domain::AgentId;
use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};
use coord_git::WorkingCopy;
use coord_protocol::plain_text::visible_line;
use coord_settings::env_vars;

/// The file, in the folder of Coord's files.
const FILE: &str = "bypass.log";

/// Maximum size of the file, in bytes; then its older half is dropped.
const MAX_BYTES: usize = 64 * 1024;

/// Whether the environment asks for a bypass.
pub(super) fn is_requested() -> bool {
    std::env::var_os(env_vars::COORD_BYPASS).is_some_and(|value| value == "1")
}

/// Reports that an agent cannot bypass `hook`, and notes the attempt.
pub(super) fn refuse(working_copy: &WorkingCopy, hook: &str, agent: &AgentId) {
    let clause = add(working_copy, &format!("{hook} refused to {}", agent.as_str()));
    let _ = writeln!(
        std::io::stderr(),
        "coord guard {hook}: checked anyway: {} is for people, and {} is an agent; {clause}",
        env_vars::COORD_BYPASS,
        agent.as_str()
    );
}

/// Notes that `hook` was bypassed.
pub(super) fn note(working_copy: &WorkingCopy, hook: &str) {
    let clause = add(working_copy, hook);
    let _ = writeln!(
        std::io::stderr(),
        "coord guard {hook}: not checked, because of {}=1; {clause}",
        env_vars::COORD_BYPASS
    );
}

/// Adds a line about `act` to the file. Returns a clause about the result.
fn add(working_copy: &WorkingCopy, act: &str) -> String {
    let path = local_server::file(working_copy, FILE);
    let head = working_copy
        .head()
        .map_or_else(|| "none".to_owned(), |head| head.to_string());
    let root = working_copy.root().display().to_string().replace(char::is_control, "?");
    let now = DateTime::<Utc>::from(SystemTime::now()).format("%Y-%m-%dT%H:%M:%SZ");
    let line = format!("{now} {act} head={head} {root}\n");
    match append(&path, &line) {
        Ok(()) => format!("noted in {}", path.full().display()),
        Err(error) => format!("not noted: {error}"),
    }
}

/// The number of noted bypasses, and the newest note.
pub fn noted(working_copy: &WorkingCopy) -> Option<(usize, String)> {
    let text = local_server::file(working_copy, FILE)
        .read(2 * MAX_BYTES as u64)
        .ok()??;
    let text = String::from_utf8_lossy(&text).into_owned();
    let newest = visible_line(text.lines().last()?).into_owned();
    Some((text.lines().count(), newest))
}

fn append(path: &RootedPath, line: &str) -> std::io::Result<()> {
    path.create_parents(PRIVATE_MODE)?;
    let is_full = path
        .about()?
        .is_some_and(|entry| entry.len as usize + line.len() > MAX_BYTES);
    if is_full {
        let text = path.read(2 * MAX_BYTES as u64)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let middle = text.len() / 2;
        let newline = text.as_bytes()[middle..].iter().position(|byte| *byte == b'\n');
        let newer_half = newline.map_or("", |newline| &text[middle + newline + 1..]);
        path.write(newer_half.as_bytes(), FILE_MODE)?;
    }
    path.append(FILE_MODE)?.write_all(line.as_bytes())
}
