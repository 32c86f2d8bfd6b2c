//! Compares interfaces when files are released: interfaces that a writer promised to keep, and interfaces of changes
//! that are not merged yet.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use coord_interfaces::{
    InterfaceChanges, InterfaceComparison, InterfaceResult, InterfaceUnknown, MAX_INTERFACE_BYTES, interface,
};
use coord_protocol::PostResponse;
use coord_scan::Language;

use super::sentences::{list_paths, unchanged_warning};
use super::work_request::WorkRequest;
use crate::admission::Admission;
use crate::app::App;
use crate::error::ApiError;
use coord_domain::{CommitSha, FilePath, LockEntry, RepoId, plain_text};
use coord_runtime::mutex::lock;
use coord_sources::{Blob, BlobSink, Source, SourceError};
use coord_state::admission::Lookup;
use coord_state::locks::{BrokenInterfacePromise, PendingAct, Released, WrittenInterface, settle_pending};

/// Maximum number of files of one release whose interfaces are compared.
const MAX_FILES: usize = 32;

/// Blobs that count as one lookup at an expensive source. With more, a person could use up the hourly limit of GitHub;
/// with fewer, a release of [`MAX_FILES`] would exceed the caller's limit.
const BLOBS_PER_LOOKUP: usize = 4;

/// Compares the interfaces of released files. If an interface changed despite a promise, `response`, an event and
/// notices to the holders of neighbors say so. If an interface differs on a work branch, the difference is stored with
/// the pending change, for agents that edit importers. A failed read is only a warning, because the files are already
/// released.
pub(super) async fn compare_interfaces(
    app: &App,
    request: &WorkRequest,
    admission: &Admission<'_>,
    new_head: Option<&CommitSha>,
    released: &Released,
    response: &mut PostResponse,
) {
    let (Some(new_head), [_, ..]) = (new_head, released.interfaces.as_slice()) else {
        return;
    };
    let paths_of = |is_selected: fn(&WrittenInterface) -> bool| {
        let files = released.interfaces.iter().filter(|file| is_selected(file));
        files.map(|file| file.written.path.as_str()).collect::<Vec<&str>>()
    };
    let promised = paths_of(|file| file.is_promised);
    let pending = paths_of(|file| file.is_pending);
    let result = match &app.source {
        Some(source) => compare(&**source, admission, &request.repo, new_head, &released.interfaces).await,
        None => Err(SourceError::Unreachable("there is no source".to_owned()).into()),
    };
    let comparisons = match result {
        Ok((comparisons, unchanged)) => {
            response.warnings.extend(unchanged_warning(&unchanged));
            comparisons
        }
        Err(error) => {
            tracing::debug!(%error, repo = %request.repo, "interfaces could not be compared");
            if promised.is_empty() {
                return;
            }
            let why = match error {
                ApiError::RateLimited { .. } => "your requests have asked GitHub too often in this minute",
                _ => "the repository cannot be read now",
            };
            response.warnings.push(format!(
                "INTERFACE_CHANGED: It is not known whether the interface of {} was kept: {why}.",
                list_paths(&promised)
            ));
            return;
        }
    };
    store_pending_differences(app, request, new_head, &pending, &comparisons).await;
    let (mut broken, mut differences) = (Vec::new(), Vec::new());
    for (path, comparison) in comparisons {
        if !promised.contains(&path.as_str()) {
            continue;
        }
        let Some((names, difference)) = describe_difference(&comparison) else {
            continue;
        };
        differences.push((path.clone(), difference));
        broken.push(BrokenInterfacePromise { path, names });
    }
    if broken.is_empty() {
        return;
    }
    let notice = announce(admission, &request.repo, &broken).await;
    for (path, difference) in differences {
        response.warnings.push(format!(
            "INTERFACE_CHANGED: You promised to keep the interface of '{path}': {difference}; {notice}."
        ));
    }
}

/// The changed names and the difference in words. `None` if neighbors cannot be affected.
fn describe_difference(comparison: &InterfaceComparison) -> Option<(Vec<String>, String)> {
    match comparison {
        InterfaceComparison::Same => None,
        // A file that cannot be imported has no neighbors either.
        InterfaceComparison::Unknown(InterfaceUnknown::Language) => None,
        InterfaceComparison::Changed(changes) => Some((changed_names(changes), plain_text(&changes.to_string()))),
        InterfaceComparison::Unknown(reason) => Some((
            Vec::new(),
            format!("it cannot be compared ({}), and so counts as changed", reason.name()),
        )),
    }
}

/// Announces the changed interfaces to the holders of neighbors. Returns a clause about the result.
async fn announce(admission: &Admission<'_>, repo: &RepoId, broken: &[BrokenInterfacePromise]) -> String {
    match admission.announce_interface_changes(broken).await {
        Ok(0) => "no neighbor is locked".to_owned(),
        Ok(1) => "the holder of a neighbor is notified".to_owned(),
        Ok(count) => format!("the holders of {count} locks on neighbors are notified"),
        Err(error) => {
            tracing::debug!(%error, %repo, "a changed interface could not be announced");
            "no holder could be notified".to_owned()
        }
    }
}

/// Stores the interface differences of `pending` files with the changes that are not merged yet.
async fn store_pending_differences(
    app: &App,
    request: &WorkRequest,
    new_head: &CommitSha,
    pending: &[&str],
    comparisons: &[(String, InterfaceComparison)],
) {
    let changed: BTreeMap<String, String> = comparisons
        .iter()
        .filter(|(path, _)| pending.contains(&path.as_str()))
        .filter_map(|(path, comparison)| match comparison {
            InterfaceComparison::Changed(changes) => Some((path.clone(), plain_text(&changes.to_string()))),
            InterfaceComparison::Same | InterfaceComparison::Unknown(_) => None,
        })
        .collect();
    let (Some(work_branch), false) = (&request.work_branch, changed.is_empty()) else {
        return;
    };
    let act = PendingAct::Interfaces {
        commit: new_head.as_str(),
        changed: &changed,
    };
    let storing = settle_pending(
        &*app.store,
        &request.repo,
        Some(&request.branch),
        work_branch.as_str(),
        act,
    );
    if let Err(error) = storing.await {
        tracing::debug!(%error, repo = %request.repo, "an interface that differs on a work branch could not be stored");
    }
}

/// Compares each of `files` between the head at its claim and `new_head`, promised interfaces first. Lookups at an
/// expensive source are counted: one for each tree, and one for a few blobs. Also returns the files that are the same
/// in both commits.
async fn compare(
    source: &dyn Source,
    admission: &Admission<'_>,
    repo: &RepoId,
    new_head: &CommitSha,
    files: &[WrittenInterface],
) -> Result<(Vec<(String, InterfaceComparison)>, Vec<String>), ApiError> {
    let (promised, others): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.is_promised);
    let files: Vec<_> = promised.into_iter().chain(others).map(|file| &file.written).collect();
    let (checked, left_out) = files.split_at(files.len().min(MAX_FILES));
    let mut comparisons: Vec<(String, InterfaceComparison)> = left_out
        .iter()
        .map(|file| {
            let comparison = InterfaceComparison::Unknown(InterfaceUnknown::TooLarge);
            (file.path.clone(), comparison)
        })
        .collect();
    let mut by_head: BTreeMap<&CommitSha, Vec<FilePath>> = BTreeMap::new();
    for file in checked {
        match FilePath::parse(&file.path) {
            Ok(path) => by_head.entry(&file.claim_head).or_default().push(path),
            // A path that an earlier version stored, and that is invalid now.
            Err(_) => {
                let comparison = InterfaceComparison::Unknown(InterfaceUnknown::Unreadable);
                comparisons.push((file.path.clone(), comparison));
            }
        }
    }
    let trees = u32::try_from(by_head.len() + 1).unwrap_or(u32::MAX);
    admission.count_lookups(Lookup::Commits, trees).await?;
    let paths: Vec<FilePath> = by_head.values().flatten().cloned().collect();
    let after = source.blobs_at(repo, new_head, &paths).await?;
    let mut before = Vec::with_capacity(paths.len());
    for (claim_head, paths) in by_head {
        before.extend(source.blobs_at(repo, claim_head, &paths).await?);
    }
    let unchanged = paths.iter().zip(before.iter().zip(&after));
    let unchanged = unchanged.filter(|(_, (before, after))| before == after);
    let unchanged = unchanged.map(|(path, _)| path.to_string()).collect();
    // The same blob has the same interface, and a new file breaks nothing.
    let is_compared = |before: &Option<String>, after: &Option<String>| before.is_some() && before != after;
    let (paths, (before, after)): (Vec<FilePath>, (Vec<_>, Vec<_>)) = paths
        .into_iter()
        .zip(before.into_iter().zip(after))
        .filter(|(_, (before, after))| is_compared(before, after))
        .unzip();
    let count_readable = |blobs: &[Option<String>]| {
        let files = paths.iter().zip(blobs);
        files
            .filter(|(path, blob)| blob.is_some() && Language::of_path(path.as_str()).is_some())
            .count()
    };
    let lookups = (count_readable(&before) + count_readable(&after)).div_ceil(BLOBS_PER_LOOKUP);
    if lookups > 0 {
        let lookups = u32::try_from(lookups).unwrap_or(u32::MAX);
        admission.count_lookups(Lookup::Commits, lookups).await?;
    }
    let before = read_interfaces(source, repo, &paths, before).await?;
    let after = read_interfaces(source, repo, &paths, after).await?;
    comparisons.extend(
        paths
            .iter()
            .zip(before.into_iter().zip(after))
            .map(|(path, (before, after))| {
                let empty = || interface(Language::of_path(path.as_str()).unwrap_or(Language::JavaScript), b"");
                let comparison = match before {
                    None => InterfaceComparison::Same,
                    Some(before) => InterfaceComparison::between(&before, &after.unwrap_or_else(empty)),
                };
                (path.to_string(), comparison)
            }),
    );
    Ok((comparisons, unchanged))
}

/// Reads the interfaces of `paths`, whose contents are `blobs`; `None` if there is no file.
async fn read_interfaces(
    source: &dyn Source,
    repo: &RepoId,
    paths: &[FilePath],
    blobs: Vec<Option<String>>,
) -> Result<Vec<Option<InterfaceResult>>, SourceError> {
    let languages: Vec<Option<Language>> = paths.iter().map(|path| Language::of_path(path.as_str())).collect();
    let mut results: Vec<Option<InterfaceResult>> = blobs
        .iter()
        .zip(&languages)
        .map(|(blob, language)| {
            blob.as_ref().map(|_| {
                Err(match language {
                    Some(_) => InterfaceUnknown::Unreadable,
                    None => InterfaceUnknown::Language,
                })
            })
        })
        .collect();
    let readable: Vec<(usize, Language, String)> = blobs
        .into_iter()
        .zip(languages)
        .enumerate()
        .filter_map(|(index, (blob, language))| Some((index, language?, blob?)))
        .collect();
    let ids = readable.iter().map(|(_, _, blob)| blob.clone()).collect();
    let interfaces = Arc::new(Mutex::new(Vec::new()));
    let sink: BlobSink = {
        let interfaces = Arc::clone(&interfaces);
        Arc::new(move |number, blob: Blob<'_>| {
            let Some((index, language, _)) = readable.get(number) else {
                return;
            };
            let interface = match blob {
                Blob::Content(content) => interface(*language, content),
                Blob::TooLarge(_) => Err(InterfaceUnknown::TooLarge),
                Blob::Unreadable => Err(InterfaceUnknown::Unreadable),
            };
            lock(&interfaces).push((*index, interface));
        })
    };
    source.read_blobs(repo, ids, MAX_INTERFACE_BYTES as u64, sink).await?;
    let interfaces = std::mem::take(&mut *lock(&interfaces));
    for (index, interface) in interfaces {
        results[index] = Some(interface);
    }
    Ok(results)
}

/// The names, for others to read: a repository can have any characters in them.
fn changed_names(changes: &InterfaceChanges) -> Vec<String> {
    let names = changes.changed.iter().chain(&changes.gone).chain(&changes.new);
    names.map(|name| plain_text(name)).collect()
}

/// The notices about neighbors of the files of `entries`.
pub(super) fn interface_notices(entries: &[LockEntry]) -> Vec<String> {
    let stored_notices = entries
        .iter()
        .filter_map(|entry| Some((entry.file_path.as_str(), entry.notices.as_deref()?)));
    stored_notices
        .flat_map(|(file, text)| parse_notices(file, text))
        .collect()
}

/// The notices about neighbors of `file` in `text`, which has the form of `locks/modules/notices.lua`.
pub(super) fn parse_notices(file: &str, text: &str) -> Vec<String> {
    let sentence = |line: &str| {
        let mut fields = line.split('\t');
        let (neighbor, user, names) = (fields.next()?, fields.next()?, fields.next()?);
        let names = if names.is_empty() {
            String::new()
        } else {
            format!(": {names}")
        };
        Some(format!(
            "INTERFACE_CHANGED: User '{user}' changed the interface of '{neighbor}', a neighbor of '{file}', which was \
             to be kept{names}."
        ))
    };
    text.lines().filter_map(sentence).collect()
}
