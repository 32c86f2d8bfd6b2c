//! Parses fields of requests into types of the domain, or returns an error that names the field.

use std::ops::RangeInclusive;

use crate::error::ApiError;
use coord_auth::{Caller, CallerIdentity};
use coord_domain::{AgentId, FilePaths, Invalid, RepoId, plain_text};
use coord_protocol::is_valid_intent_id;

/// `value`, or the error that `field` is missing.
pub fn require<'a, T>(field: &'static str, value: &'a Option<T>) -> Result<&'a T, ApiError> {
    value
        .as_ref()
        .ok_or_else(|| ApiError::invalid_field(field, "is required"))
}

/// Converts the error of a value in `field`.
pub fn in_field(field: &'static str) -> impl Fn(Invalid) -> ApiError {
    move |invalid| ApiError::invalid_field(field, invalid.0)
}

/// Parses the text in `field`, or returns the error that it is missing.
pub fn parse_required<T>(
    field: &'static str,
    text: &Option<String>,
    parse: impl FnOnce(&str) -> Result<T, Invalid>,
) -> Result<T, ApiError> {
    parse(require(field, text)?).map_err(in_field(field))
}

/// Parses the text in `field`, if the caller sent one.
pub fn parse_optional<T>(
    field: &'static str,
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, Invalid>,
) -> Result<Option<T>, ApiError> {
    text.map(parse).transpose().map_err(in_field(field))
}

/// The repository in the field `repo_url`, and the caller in it.
pub fn parse_repository(repo_url: &Option<String>, caller: Caller) -> Result<(RepoId, CallerIdentity), ApiError> {
    let repo = parse_required("repo_url", repo_url, RepoId::parse)?;
    let caller = caller.in_repository(&repo)?;
    Ok((repo, caller))
}

/// A path with a symbol in the file, and the path of the file.
pub(super) type Symbol<'a> = (&'a str, &'a str);

/// Parses the files of a request. Also returns the symbols that the caller named instead of files. `*` is valid only if
/// it may stand for all files that the caller holds.
pub(super) fn parse_files(names: &[String], takes_everything: bool) -> Result<(FilePaths, Vec<Symbol<'_>>), ApiError> {
    if !names.iter().any(|name| name == FilePaths::EVERYTHING) {
        let symbols: Vec<Symbol<'_>> = names
            .iter()
            .filter_map(|name| Some((name.as_str(), file_of_symbol(name)?)))
            .collect();
        let paths = names.iter().map(|name| file_of_symbol(name).unwrap_or(name));
        return Ok((FilePaths::parse(paths).map_err(in_field("file_paths"))?, symbols));
    }
    if takes_everything && names.len() == 1 {
        return Ok((FilePaths::everything(), Vec::new()));
    }
    Err(ApiError::invalid_field(
        "file_paths",
        "has '*', which means all files that you hold: send it alone, with status OPEN and \"abandon\": true; \
         otherwise name the files (a file named '*' is './*')",
    ))
}

/// The file of a symbol: of `src/auth.ts:login`, `src/auth.ts#login` or `src/auth.rs::login`; `None` without a symbol.
fn file_of_symbol(path: &str) -> Option<&str> {
    let name_start = path.rfind('/').map_or(0, |slash| slash + 1);
    let file_end = name_start + path[name_start..].find([':', '#'])?;
    let (file, symbol) = (&path[..file_end], path[file_end..].trim_start_matches([':', '#']));
    let (stem, extension) = file[name_start..].rsplit_once('.')?;
    let has_extension =
        !stem.is_empty() && !extension.is_empty() && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (has_extension && !symbol.is_empty()).then_some(file)
}

/// The caller's agent: from the field `agent_id`, or else from the header `X-Coord-Agent`.
pub fn agent_of(field: Option<&str>, header: Option<&str>) -> Result<Option<AgentId>, ApiError> {
    let from_header = parse_optional("X-Coord-Agent", header, AgentId::parse)?;
    Ok(parse_optional("agent_id", field, AgentId::parse)?.or(from_header))
}

/// `id`, if it is a valid id of an intent.
pub fn id_in<'a>(field: &'static str, id: &'a str) -> Result<&'a str, ApiError> {
    if is_valid_intent_id(id) {
        return Ok(id);
    }
    let problem = "must have 1 to 64 letters, digits, '.', '_' or '-', the first a letter or a digit";
    Err(ApiError::invalid_field(field, problem))
}

/// `text`, if it is one line that is neither empty nor too long.
pub fn line(field: &'static str, text: &str, max_chars: usize) -> Result<String, ApiError> {
    let problem = if text.is_empty() {
        "has an empty text".to_owned()
    } else if text.chars().count() > max_chars {
        format!("has a text of more than {max_chars} characters")
    } else if plain_text(text) != text {
        "has a text that is not one line without invisible characters and without blanks at its ends".to_owned()
    } else {
        return Ok(text.to_owned());
    };
    Err(ApiError::InvalidField { field, problem })
}

/// The number in the text of a query, from 1 to `max`.
pub fn parse_count(field: &'static str, text: &str, max: usize) -> Result<usize, ApiError> {
    let count = text.parse().ok().filter(|count| (1..=max).contains(count));
    count.ok_or_else(|| ApiError::invalid_field(field, format!("must be a whole number from 1 to {max}")))
}

/// `value`, if it is a number of seconds within `bounds`; `default` if the caller sent none.
pub fn seconds(
    field: &'static str,
    value: Option<u32>,
    bounds: RangeInclusive<u32>,
    default: u32,
) -> Result<u32, ApiError> {
    match value {
        None => Ok(default),
        Some(seconds) if bounds.contains(&seconds) => Ok(seconds),
        Some(_) => Err(ApiError::invalid_field(
            field,
            format!("must be {} to {}", bounds.start(), bounds.end()),
        )),
    }
}
