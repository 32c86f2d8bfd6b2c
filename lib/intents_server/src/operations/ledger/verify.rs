//! Compares files with their records.

use coord_intents::intent::have_common_branch;
use coord_intents::ledger::ContentHash;
use coord_protocol::{FileContent, FileReport, FileVerdict, VerifyRequest, VerifyResponse};

use coord_auth::Caller;
use coord_domain::{Branch, FilePath, FilePaths};
use coord_intents_state::intents::{Owner, owners_of};
use coord_server::admission::admit_to_repository;
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::{agent_of, parse_optional, parse_repository, require};

/// Compares the files of `request` with their records. `agent` is the header `X-Coord-Agent`, if sent.
///
/// # Errors
/// When a field is missing or invalid, the caller is denied, or the store does not respond.
pub async fn verify(
    app: &App,
    request: &VerifyRequest,
    caller: Caller,
    agent: Option<&str>,
) -> Result<VerifyResponse, ApiError> {
    let (repo, caller) = parse_repository(&request.repo_url, caller)?;
    let branch = parse_optional("branch", request.branch.as_deref(), Branch::parse)?;
    let caller_agent = agent_of(request.agent_id.as_deref(), agent)?;
    let files = parse_files(require("files", &request.files)?)?;
    let paths: Vec<FilePath> = files.iter().map(|(path, _)| path.clone()).collect();
    let query = owners_of(&repo, &paths);
    let (_, rows) = admit_to_repository(app, &repo, branch.as_ref(), caller, caller_agent, query).await?;
    let files = files.into_iter().zip(rows);
    Ok(VerifyResponse {
        files: files
            .map(|((path, hash), owners)| report(&path, hash, &owners, branch.as_ref()))
            .collect(),
    })
}

fn parse_files(files: &[FileContent]) -> Result<Vec<(FilePath, ContentHash)>, ApiError> {
    let invalid = |problem: String| ApiError::invalid_field("files", problem);
    if !(1..=FilePaths::MAX).contains(&files.len()) {
        return Err(invalid(format!("must have 1 to {} files", FilePaths::MAX)));
    }
    let parse_file = |(index, file): (usize, &FileContent)| {
        let path = FilePath::parse(&file.file_path);
        let path = path.map_err(|problem| invalid(format!("[{index}].file_path {}", problem.0)))?;
        let hash = file.hash.parse().map_err(|_| {
            invalid(format!(
                "[{index}].hash must be sha256: and 64 lower-case digits, or DELETED"
            ))
        })?;
        Ok((path, hash))
    };
    files.iter().enumerate().map(parse_file).collect()
}

/// The verdict on a file with the content `hash`. The last of `owners` has the newest record.
fn report(path: &FilePath, hash: ContentHash, owners: &[Owner], branch: Option<&Branch>) -> FileReport {
    let branch = branch.map(Branch::as_str);
    let owners: Vec<&Owner> = owners
        .iter()
        .filter(|owner| have_common_branch(owner.branch.as_deref(), branch) && owner.hash.is_some())
        .collect();
    let hash = hash.to_string();
    let newest = owners.last();
    let recorded = newest.and_then(|owner| owner.hash.clone());
    let was_recorded = || {
        owners
            .iter()
            .any(|owner| owner.hash.as_ref() == Some(&hash) || owner.earlier.contains(&hash))
    };
    let verdict = match &recorded {
        None => FileVerdict::Unrecorded,
        Some(recorded) if *recorded == hash => FileVerdict::Intact,
        Some(_) if was_recorded() => FileVerdict::Reverted,
        Some(_) if hash == ContentHash::Deleted.to_string() => FileVerdict::Missing,
        Some(_) => FileVerdict::Changed,
    };
    let intent = newest.map(|owner| owner.intent.clone());
    FileReport {
        file_path: path.to_string(),
        verdict,
        intent_id: intent.filter(|intent| !intent.is_empty()),
        recorded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(json: &str) -> Owner {
        serde_json::from_str(json).unwrap()
    }

    fn hash(digit: char) -> String {
        format!("sha256:{}", digit.to_string().repeat(64))
    }

    #[test]
    fn a_file_is_compared_with_all_that_was_recorded_on_its_branch() {
        let (a, b, c, d) = (hash('a'), hash('b'), hash('c'), hash('d'));
        let owners = [
            owner(&format!(r#"{{ "intent": "one", "hash": "{a}", "earlier": ["{b}"] }}"#)),
            owner(&format!(
                r#"{{ "intent": "dev", "branch": "dev", "hash": "{c}", "earlier": ["DELETED"] }}"#
            )),
            owner(r#"{ "intent": "new", "branch": "main" }"#),
        ];
        let verdict = |hash: &str, branch: Option<&str>| {
            let branch = branch.map(|name| Branch::parse(name).unwrap());
            let path = FilePath::parse("a.ts").unwrap();
            let report = report(&path, hash.parse().unwrap(), &owners, branch.as_ref());
            (report.verdict, report.intent_id.unwrap_or_default())
        };
        let one = |verdict| (verdict, "one".to_owned());
        let dev = |verdict| (verdict, "dev".to_owned());
        assert_eq!(verdict(&a, Some("main")), one(FileVerdict::Intact));
        assert_eq!(verdict(&b, Some("main")), one(FileVerdict::Reverted));
        assert_eq!(verdict(&c, Some("main")), one(FileVerdict::Changed));
        assert_eq!(verdict("DELETED", Some("main")), one(FileVerdict::Missing));
        assert_eq!(verdict(&c, Some("dev")), dev(FileVerdict::Intact));
        assert_eq!(verdict(&a, Some("dev")), dev(FileVerdict::Reverted));
        assert_eq!(verdict("DELETED", Some("dev")), dev(FileVerdict::Reverted));
        assert_eq!(verdict(&c, None), dev(FileVerdict::Intact));
        assert_eq!(verdict(&d, None), dev(FileVerdict::Changed));
        let none = |owners: &[Owner], hash: &str| {
            let path = FilePath::parse("a.ts").unwrap();
            report(&path, hash.parse().unwrap(), owners, None)
        };
        assert_eq!(none(&[], &a).verdict, FileVerdict::Unrecorded);
        assert_eq!(none(&owners[2..], &a).verdict, FileVerdict::Unrecorded);
        let deleted = [owner(r#"{ "intent": "", "hash": "DELETED" }"#)];
        let report = none(&deleted, "DELETED");
        assert_eq!((report.verdict, report.intent_id), (FileVerdict::Intact, None));
        assert_eq!(none(&deleted, &a).verdict, FileVerdict::Changed);
    }
}
