//! One synchronization.

use std::collections::HashSet;

use coord_agent::intents::intent;
use coord_agent::workplace::Failure;
use coord_domain::RepoId;
use coord_files::FileError;
use coord_git::WorkingCopy;
use coord_intents::intent::Intent;
use coord_intents::intent_map::{self, Row};
use coord_protocol::{Client, ClientError, IntentsView};

use super::super::map::rows;
use super::folder::{Folder, MAP, REGISTRY};
use super::report::Report;
use super::{registry, taking};

/// The clients of the server.
pub struct Callers<'a> {
    /// For all that takes no person.
    pub client: &'a Client,
    /// A client for a person's acts, once a person agrees.
    pub as_person: &'a dyn Fn() -> anyhow::Result<Client>,
}

/// Brings the files of `working_copy`, which is of `repo`, and the store together; with `is_check` it reports the changes without making them.
///
/// # Errors
/// When the server returns an error or no response, or a file cannot be read or written.
pub async fn once(
    working_copy: &WorkingCopy,
    repo: &RepoId,
    callers: &Callers<'_>,
    is_check: bool,
) -> Result<Report, Failure> {
    let folder = Folder::open(working_copy)?;
    let sync = Sync {
        repo_url: format!("https://{repo}"),
        repository: repo.to_string(),
        branch: working_copy.branch().map(|branch| branch.to_string()),
        folder,
        callers,
        is_check,
    };
    let mut report = Report::default();
    let done = sync.registry(&mut report).await;
    refused(done, &mut report)?;
    let done = sync.trace(&mut report).await;
    refused(done, &mut report)?;
    let done = sync.map(&mut report).await;
    refused(done, &mut report)?;
    Ok(report)
}

/// A file that is refused, for example because it is a link, is one problem: the other files are synchronized.
fn refused(done: Result<(), Failure>, report: &mut Report) -> Result<(), Failure> {
    match done {
        Err(Failure::Error(error)) => {
            let refused = error
                .downcast_ref::<FileError>()
                .filter(|error| error.refusal().is_some());
            let sentence = refused.map(ToString::to_string);
            report.problems.push(sentence.ok_or(Failure::Error(error))?);
            Ok(())
        }
        done => done,
    }
}

/// Names the rows of the map whose files no intent owns on the server: they are not written again.
fn dropped_rows(text: &str, rows: &[Row]) -> Option<String> {
    let owned: HashSet<&str> = rows.iter().map(|row| row.path.as_str()).collect();
    let before = intent_map::read(text);
    let mut dropped = before.iter().filter(|row| !owned.contains(row.path.as_str()));
    let named: Vec<String> = dropped
        .by_ref()
        .take(MOST_DROPPED)
        .map(|row| format!("{} ({})", row.path, row.intent_id))
        .collect();
    let more = match dropped.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = named.join(", ");
    (!named.is_empty())
        .then(|| format!("{MAP}: no intent owns these files on the server, so their rows are dropped: {named}{more}"))
}

/// Most dropped rows that a note names.
const MOST_DROPPED: usize = 10;

/// The parts of one synchronization.
pub(super) struct Sync<'a> {
    pub repo_url: String,
    pub repository: String,
    pub branch: Option<String>,
    pub folder: Folder,
    pub callers: &'a Callers<'a>,
    pub is_check: bool,
}

impl Sync<'_> {
    async fn store(&self) -> Result<Vec<Intent>, ClientError> {
        let response = self.callers.client.intents(&self.repo_url, IntentsView::List).await?;
        Ok(response.intents.iter().map(intent).collect())
    }

    async fn registry(&self, report: &mut Report) -> Result<(), Failure> {
        let file = self.folder.read(REGISTRY)?;
        let base = self.folder.last_written(REGISTRY)?;
        let mut store = self.store().await?;
        let found = match registry::changes(base.as_deref(), file.as_deref(), &store) {
            Ok(found) => found,
            Err(refusal) => {
                report.problems.push(format!("{REGISTRY}: {refusal}"));
                return Ok(());
            }
        };
        if !found.problems.is_empty() {
            report.problems.extend(found.problems.iter().map(registry::sentence));
            return Ok(());
        }
        for id in &found.removed {
            report.notes.push(format!(
                "{id} was removed from the file, and stays: coord intent abandon ends it"
            ));
        }
        for (id, member) in &found.put_back {
            report
                .notes
                .push(format!("{id}: {member} is the server's alone, and is put back"));
        }
        let person = match found.changes.iter().any(|change| change.needs_person) && !self.is_check {
            false => None,
            true => match (self.callers.as_person)() {
                Ok(client) => Some(client),
                Err(error) => {
                    let ids: Vec<&str> = found
                        .changes
                        .iter()
                        .filter(|change| change.needs_person)
                        .map(|change| &*change.intent.id)
                        .collect();
                    report.problems.push(format!("{}: {error:#}", ids.join(", ")));
                    return Ok(());
                }
            },
        };
        for change in &found.changes {
            if !self.is_check {
                let client = person
                    .as_ref()
                    .filter(|_| change.needs_person)
                    .unwrap_or(self.callers.client);
                let stored = store.iter().find(|stored| stored.id == change.intent.id);
                let branch = self.branch.as_deref();
                if let Some(refusal) = taking::adopt(client, &self.repo_url, branch, stored, change).await? {
                    // The following changes stay in the file until this one is fixed.
                    report.problems.push(format!("{}: {refusal}", change.intent.id));
                    return Ok(());
                }
            }
            report.taken.push((change.intent.id.clone(), change.members.clone()));
        }
        if !self.is_check && !found.changes.is_empty() {
            store = self.store().await?;
        }
        match registry::written(file.as_deref(), &store) {
            Err(refusal) => report.problems.push(format!("{REGISTRY}: {refusal}")),
            Ok(text) => {
                let is_new = file.as_deref() != Some(text.as_bytes());
                // With --check, changes to be taken are still the file's.
                if is_new && (!self.is_check || found.changes.is_empty()) {
                    self.write(REGISTRY, file.as_deref(), &text, report)?;
                }
                if !self.is_check {
                    self.folder.keep(REGISTRY, &text)?;
                }
            }
        }
        Ok(())
    }

    async fn map(&self, report: &mut Report) -> Result<(), Failure> {
        let map = self.callers.client.intent_map(&self.repo_url, None).await?;
        let before = self.folder.read(MAP)?;
        let text = match before.as_deref().map(std::str::from_utf8) {
            None => "",
            Some(Ok(text)) => text,
            Some(Err(_)) => {
                report.problems.push(format!("{MAP}: it is not UTF-8"));
                return Ok(());
            }
        };
        let rows = rows(&map.files);
        let written = intent_map::write(text, &rows);
        report.notes.extend(dropped_rows(text, &rows));
        if before.is_none() || written != text {
            self.write(MAP, before.as_deref(), &written, report)?;
        }
        Ok(())
    }

    fn write(&self, name: &'static str, before: Option<&[u8]>, text: &str, report: &mut Report) -> Result<(), Failure> {
        if !self.is_check {
            self.folder.write(name, before, text)?;
        }
        report.written.push(name);
        Ok(())
    }
}
