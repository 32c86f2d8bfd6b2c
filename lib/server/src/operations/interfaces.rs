//! Interfaces compared when files are released: those that a writer was to keep, and those of changes that are not merged yet.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use coord_interfaces::{
    InterfaceChanges, InterfaceComparison, InterfaceResult, InterfaceUnknown, MAX_INTERFACE_BYTES, interface,
};
use coord_protocol::PostResponse;
use coord_scan::Language;

use super::sentences::{list_paths, unchanged_files};
use super::work_request::WorkRequest;
use crate::admission::Admission;
use crate::app::App;
use crate::error::ApiError;
use coord_domain::{CommitSha, FilePath, LockEntry, RepoId, plain_text};
use coord_sources::{Blob, BlobSink, Source, SourceError};
use coord_state::admission::Lookup;
use coord_state::locks::{BrokenInterfacePromise, PendingAct, Released, WrittenInterface, settle_pending};

/// Most files of one release whose interfaces are compared.
const MOST_FILES: usize = 32;

/// Blobs that count as one question to an expensive source. More would let a person use up the hourly limit of GitHub, and
/// fewer would not suffice for a release of [`MOST_FILES`].
const BLOBS_OF_A_QUESTION: usize = 4;

/// Compares the interfaces of released files. Where one has changed that was to be kept, `response`, an event and the holders of neighbors
/// say so; where one differs on a work branch, it is kept with the pending change, for those who edit importers. A failed read is a
/// warning: the release has been made.
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
    let of = |is_wanted: fn(&WrittenInterface) -> bool| {
        let files = released.interfaces.iter().filter(|one| is_wanted(one));
        files.map(|one| one.written.path.as_str()).collect::<Vec<&str>>()
    };
    let (to_be_kept, pending) = (of(|one| one.is_to_be_kept), of(|one| one.is_pending));
    let compared = match &app.source {
        Some(source) => compare(&**source, admission, &request.repo, new_head, &released.interfaces).await,
        None => Err(SourceError::Unreachable("there is no source".to_owned()).into()),
    };
    let compared = match compared {
        Ok((compared, unchanged)) => {
            response.warnings.extend(unchanged_files(&unchanged));
            compared
        }
        Err(error) => {
            tracing::debug!(%error, repo = %request.repo, "interfaces could not be compared");
            if to_be_kept.is_empty() {
                return;
            }
            let why = match error {
                ApiError::RateLimited { .. } => "your requests have asked GitHub too much in this minute",
                _ => "the repository cannot be read now",
            };
            response.warnings.push(format!(
                "INTERFACE_CHANGED: It is not known whether the interface of {} was kept: {why}.",
                list_paths(&to_be_kept)
            ));
            return;
        }
    };
    note_pending(app, request, new_head, &pending, &compared).await;
    let (mut broken, mut sentences) = (Vec::new(), Vec::new());
    for (path, comparison) in compared {
        if !to_be_kept.contains(&path.as_str()) {
            continue;
        }
        let (names, difference) = match &comparison {
            InterfaceComparison::Same => continue,
            // A file that cannot be imported has no neighbors either.
            InterfaceComparison::Unknown(InterfaceUnknown::Language) => continue,
            InterfaceComparison::Changed(changes) => (names_of(changes), plain_text(&changes.to_string())),
            InterfaceComparison::Unknown(reason) => (
                Vec::new(),
                format!("it cannot be compared ({}), and so counts as changed", reason.name()),
            ),
        };
        sentences.push((path.clone(), difference));
        broken.push(BrokenInterfacePromise { path, names });
    }
    if broken.is_empty() {
        return;
    }
    let notice = match admission.announce_interface_changes(&broken).await {
        Ok(0) => "no neighbor is locked".to_owned(),
        Ok(1) => "the holder of a neighbor is notified".to_owned(),
        Ok(count) => format!("the holders of {count} locks on neighbors are notified"),
        Err(error) => {
            tracing::debug!(%error, repo = %request.repo, "a changed interface could not be announced");
            "no holder could be notified".to_owned()
        }
    };
    for (path, difference) in sentences {
        response.warnings.push(format!(
            "INTERFACE_CHANGED: You promised to keep the interface of '{path}': {difference}; {notice}."
        ));
    }
}

/// Keeps the interface differences of `pending` files with the changes that are not merged yet.
async fn note_pending(
    app: &App,
    request: &WorkRequest,
    new_head: &CommitSha,
    pending: &[&str],
    compared: &[(String, InterfaceComparison)],
) {
    let changed: BTreeMap<String, String> = compared
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
    let noted = settle_pending(
        &*app.store,
        &request.repo,
        Some(&request.branch),
        work_branch.as_str(),
        act,
    );
    if let Err(error) = noted.await {
        tracing::debug!(%error, repo = %request.repo, "an interface that differs on a work branch could not be noted");
    }
}

/// Compares each of `files` between the head at its claim and `new_head`, first those that were to be kept. Questions to an expensive source are counted: one
/// for each tree, and one for some blobs. Returns the files that are the same in both, too.
async fn compare(
    source: &dyn Source,
    admission: &Admission<'_>,
    repo: &RepoId,
    new_head: &CommitSha,
    files: &[WrittenInterface],
) -> Result<(Vec<(String, InterfaceComparison)>, Vec<String>), ApiError> {
    let (first, then): (Vec<_>, Vec<_>) = files.iter().partition(|one| one.is_to_be_kept);
    let files: Vec<_> = first.into_iter().chain(then).map(|one| &one.written).collect();
    let (checked, left_out) = files.split_at(files.len().min(MOST_FILES));
    let mut compared: Vec<(String, InterfaceComparison)> = left_out
        .iter()
        .map(|one| {
            let comparison = InterfaceComparison::Unknown(InterfaceUnknown::TooLarge);
            (one.path.clone(), comparison)
        })
        .collect();
    let mut by_head: BTreeMap<&CommitSha, Vec<FilePath>> = BTreeMap::new();
    for one in checked {
        match FilePath::parse(&one.path) {
            Ok(path) => by_head.entry(&one.claim_head).or_default().push(path),
            // A name that an earlier version kept, and that is refused now.
            Err(_) => {
                let comparison = InterfaceComparison::Unknown(InterfaceUnknown::Unreadable);
                compared.push((one.path.clone(), comparison));
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
    let read_of = |blobs: &[Option<String>]| {
        let readable = paths.iter().zip(blobs);
        readable
            .filter(|(path, blob)| blob.is_some() && Language::of_path(path.as_str()).is_some())
            .count()
    };
    let wanted = (read_of(&before) + read_of(&after)).div_ceil(BLOBS_OF_A_QUESTION);
    if wanted > 0 {
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        admission.count_lookups(Lookup::Commits, wanted).await?;
    }
    let before = interfaces(source, repo, &paths, before).await?;
    let after = interfaces(source, repo, &paths, after).await?;
    compared.extend(
        paths
            .iter()
            .zip(before.into_iter().zip(after))
            .map(|(path, (before, after))| {
                let gone = || interface(Language::of_path(path.as_str()).unwrap_or(Language::JavaScript), b"");
                let comparison = match before {
                    None => InterfaceComparison::Same,
                    Some(before) => InterfaceComparison::between(&before, &after.unwrap_or_else(gone)),
                };
                (path.to_string(), comparison)
            }),
    );
    Ok((compared, unchanged))
}

/// The interfaces of `paths`, whose content are `blobs`; `None` where there is no file.
async fn interfaces(
    source: &dyn Source,
    repo: &RepoId,
    paths: &[FilePath],
    blobs: Vec<Option<String>>,
) -> Result<Vec<Option<InterfaceResult>>, SourceError> {
    let languages: Vec<Option<Language>> = paths.iter().map(|path| Language::of_path(path.as_str())).collect();
    let mut read: Vec<Option<InterfaceResult>> = blobs
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
    let wanted: Vec<(usize, Language, String)> = blobs
        .into_iter()
        .zip(languages)
        .enumerate()
        .filter_map(|(at, (blob, language))| Some((at, language?, blob?)))
        .collect();
    let ids = wanted.iter().map(|(_, _, blob)| blob.clone()).collect();
    let found = Arc::new(Mutex::new(Vec::new()));
    let sink: BlobSink = {
        let found = Arc::clone(&found);
        Arc::new(move |index, blob: Blob<'_>| {
            let Some((at, language, _)) = wanted.get(index) else {
                return;
            };
            let interface = match blob {
                Blob::Content(content) => interface(*language, content),
                Blob::TooLarge(_) => Err(InterfaceUnknown::TooLarge),
                Blob::Unreadable => Err(InterfaceUnknown::Unreadable),
            };
            found
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((*at, interface));
        })
    };
    source.read_blobs(repo, ids, MAX_INTERFACE_BYTES as u64, sink).await?;
    let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    for (at, interface) in found {
        read[at] = Some(interface);
    }
    Ok(read)
}

/// The names, which others read: a repository may have any characters in them.
fn names_of(changes: &InterfaceChanges) -> Vec<String> {
    let all = changes.changed.iter().chain(&changes.gone).chain(&changes.new);
    all.map(|name| plain_text(name)).collect()
}

/// The notices about neighbors for holders of `entries`.
pub(super) fn notices_of(entries: &[LockEntry]) -> Vec<String> {
    let notice = entries
        .iter()
        .filter_map(|entry| Some((entry.file_path.as_str(), entry.notices.as_deref()?)));
    notice.flat_map(|(file, text)| notices(file, text)).collect()
}

/// The same of one file, in the form of `locks/modules/notices.lua`.
pub(super) fn notices(file: &str, text: &str) -> Vec<String> {
    let sentence = |line: &str| {
        let mut fields = line.split('\t');
        let (neighbor, user, names) = (fields.next()?, fields.next()?, fields.next()?);
        let names = if names.is_empty() {
            String::new()
        } else {
            format!(": {names}")
        };
        Some(format!(
            "INTERFACE_CHANGED: User '{user}' changed the interface of '{neighbor}', a neighbor of '{file}', which was to be kept{names}."
        ))
    };
    text.lines().filter_map(sentence).collect()
}
