//! One sync.

use std::collections::HashSet;

use coord_agent::intents::intent;
use coord_agent::workplace::Failure;
use coord_domain::RepoId;
use coord_files::FileError;
use coord_git::WorkingCopy;
use coord_intents::intent::Intent;
use coord_intents::intent_map::{self, Row};
use coord_protocol::sentence::list_first;
use coord_protocol::{Client, ClientError, IntentsView};

use super::folder::{Folder, MAP, REGISTRY};
use super::report::Report;
use super::{changes, registry};

/// The number of dropped rows that a note names.
const MAX_NAMED_ROWS: usize = 10;

/// The clients of the server.
pub struct Callers<'a> {
    /// A client for all requests that do not take a person.
    pub client: &'a Client,
    /// Returns a client for a person's acts, once a person agrees.
    pub as_person: &'a dyn Fn() -> anyhow::Result<Client>,
}

/// Makes the files of `working_copy` and the store of `repo` equal. With `is_check`, only reports the changes.
///
/// # Errors
/// When the server returns an error or no response, or a file cannot be read or written.
pub async fn sync_once(
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
    let result = sync.sync_registry(&mut report).await;
    report_refused_file(result, &mut report)?;
    let result = sync.append_trace(&mut report).await;
    report_refused_file(result, &mut report)?;
    let result = sync.write_map(&mut report).await;
    report_refused_file(result, &mut report)?;
    Ok(report)
}

/// Turns a refused file, such as a link, into a problem of `report`, so that the sync continues with the other files.
fn report_refused_file(result: Result<(), Failure>, report: &mut Report) -> Result<(), Failure> {
    match result {
        Err(Failure::Error(error)) => {
            let refused = error
                .downcast_ref::<FileError>()
                .filter(|error| error.refusal().is_some());
            let sentence = refused.map(ToString::to_string);
            report.problems.push(sentence.ok_or(Failure::Error(error))?);
            Ok(())
        }
        result => result,
    }
}

/// A note about the rows of the map in `text` that `rows` lacks, because no intent owns their files on the server.
fn dropped_rows(text: &str, rows: &[Row]) -> Option<String> {
    let owned: HashSet<&str> = rows.iter().map(|row| row.path.as_str()).collect();
    let before = intent_map::read(text);
    let dropped = before.iter().filter(|row| !owned.contains(row.path.as_str()));
    let names: Vec<String> = dropped.map(|row| format!("{} ({})", row.path, row.intent_id)).collect();
    let list = list_first(&names, MAX_NAMED_ROWS);
    (!names.is_empty())
        .then(|| format!("{MAP}: no intent owns these files on the server, so their rows are dropped: {list}"))
}

/// The parameters of one sync.
pub(super) struct Sync<'a> {
    pub repo_url: String,
    pub repository: String,
    pub branch: Option<String>,
    pub folder: Folder,
    pub callers: &'a Callers<'a>,
    pub is_check: bool,
}

impl Sync<'_> {
    async fn read_store(&self) -> Result<Vec<Intent>, ClientError> {
        let response = self.callers.client.intents(&self.repo_url, IntentsView::List).await?;
        Ok(response.intents.iter().map(intent).collect())
    }

    async fn sync_registry(&self, report: &mut Report) -> Result<(), Failure> {
        let file = self.folder.read(REGISTRY)?;
        let base = self.folder.read_last_written(REGISTRY)?;
        let mut store = self.read_store().await?;
        let import = match registry::find_changes(base.as_deref(), file.as_deref(), &store) {
            Ok(import) => import,
            Err(refusal) => {
                report.problems.push(format!("{REGISTRY}: {refusal}"));
                return Ok(());
            }
        };
        if !import.problems.is_empty() {
            report.problems.extend(import.problems.iter().map(registry::sentence));
            return Ok(());
        }
        for id in &import.removed {
            report.notes.push(format!(
                "{id} was removed from the file, and stays: coord intent abandon ends it"
            ));
        }
        for (id, member) in &import.put_back {
            report.notes.push(format!(
                "{id}: only the server may change {member}; its value is restored"
            ));
        }
        let person = match import.changes.iter().any(|change| change.needs_person) && !self.is_check {
            false => None,
            true => match (self.callers.as_person)() {
                Ok(client) => Some(client),
                Err(error) => {
                    let ids: Vec<&str> = import
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
        for change in &import.changes {
            if !self.is_check {
                let client = person
                    .as_ref()
                    .filter(|_| change.needs_person)
                    .unwrap_or(self.callers.client);
                let stored = store.iter().find(|stored| stored.id == change.intent.id);
                let branch = self.branch.as_deref();
                if let Some(refusal) = changes::apply(client, &self.repo_url, branch, stored, change).await? {
                    // The following changes stay in the file until the user has fixed this one.
                    report.problems.push(format!("{}: {refusal}", change.intent.id));
                    return Ok(());
                }
            }
            report.taken.push((change.intent.id.clone(), change.members.clone()));
        }
        if !self.is_check && !import.changes.is_empty() {
            store = self.read_store().await?;
        }
        match registry::new_text(file.as_deref(), &store) {
            Err(refusal) => report.problems.push(format!("{REGISTRY}: {refusal}")),
            Ok(text) => {
                let is_new = file.as_deref() != Some(text.as_bytes());
                // With --check, only the file has the changes, so the text would lack them.
                if is_new && (!self.is_check || import.changes.is_empty()) {
                    self.write(REGISTRY, file.as_deref(), &text, report)?;
                }
                if !self.is_check {
                    self.folder.store_last_written(REGISTRY, &text)?;
                }
            }
        }
        Ok(())
    }

    async fn write_map(&self, report: &mut Report) -> Result<(), Failure> {
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
        let rows = intent_map::rows(&map.files);
        let new_text = intent_map::write(text, &rows);
        report.notes.extend(dropped_rows(text, &rows));
        if before.is_none() || new_text != text {
            self.write(MAP, before.as_deref(), &new_text, report)?;
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
