//! Fields of requests: parsed into types of the domain, or an error that names the field.

use crate::error::ApiError;
use coord_domain::{AgentId, FilePaths, Invalid, plain_text};

/// `value`, or the error that `field` is missing.
pub fn require<'a, T>(field: &'static str, value: &'a Option<T>) -> Result<&'a T, ApiError> {
    value.as_ref().ok_or(ApiError::InvalidField {
        field,
        problem: "is required".to_owned(),
    })
}

/// The error of a value in `field`.
pub fn in_field(field: &'static str) -> impl Fn(Invalid) -> ApiError {
    move |invalid| ApiError::InvalidField {
        field,
        problem: invalid.0,
    }
}

/// A path with a symbol in the file, as it was sent, and the path.
pub(super) type Symbol<'a> = (&'a str, &'a str);

/// The parsed files, and the symbols in place of which their files are taken; `*` is valid only where it may stand for all files
/// that the caller holds.
pub(super) fn files_of(sent: &[String], takes_everything: bool) -> Result<(FilePaths, Vec<Symbol<'_>>), ApiError> {
    if !sent.iter().any(|path| path == FilePaths::EVERYTHING) {
        let symbols: Vec<Symbol<'_>> = sent
            .iter()
            .filter_map(|sent| Some((sent.as_str(), file_of_symbol(sent)?)))
            .collect();
        let paths = sent.iter().map(|sent| file_of_symbol(sent).unwrap_or(sent));
        return Ok((FilePaths::parse(paths).map_err(in_field("file_paths"))?, symbols));
    }
    if takes_everything && sent.len() == 1 {
        return Ok((FilePaths::everything(), Vec::new()));
    }
    Err(ApiError::InvalidField {
        field: "file_paths",
        problem: "has '*', which means all files that you hold: send it alone, with status OPEN and \"abandon\": \
                  true; otherwise name the files (a file named '*' is './*')"
            .to_owned(),
    })
}

/// The file of a symbol: of `src/auth.ts:login`, `src/auth.ts#login` or `src/auth.rs::login`. None for a path without one.
fn file_of_symbol(path: &str) -> Option<&str> {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    let end = name + path[name..].find([':', '#'])?;
    let (file, symbol) = (&path[..end], path[end..].trim_start_matches([':', '#']));
    let (stem, extension) = file[name..].rsplit_once('.')?;
    let has_extension =
        !stem.is_empty() && !extension.is_empty() && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (has_extension && !symbol.is_empty()).then_some(file)
}

/// The caller's agent: from the field `agent_id`, or else from the header `X-Coord-Agent`.
pub fn agent_of(sent: Option<&str>, header: Option<&str>) -> Result<Option<AgentId>, ApiError> {
    let agent_id = |text: Option<&str>, field| {
        let parsed = text.map(|text| AgentId::parse(text).map_err(in_field(field)));
        parsed.transpose()
    };
    let by_header = agent_id(header, "X-Coord-Agent")?;
    Ok(agent_id(sent, "agent_id")?.or(by_header))
}

/// `id`, if it is one of an intent.
pub fn id_in<'a>(field: &'static str, id: &'a str) -> Result<&'a str, ApiError> {
    let is_valid = id.len() <= 64
        && id.starts_with(|first: char| first.is_ascii_alphanumeric())
        && id
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || matches!(one, '.' | '_' | '-'));
    if is_valid {
        return Ok(id);
    }
    Err(ApiError::InvalidField {
        field,
        problem: "must have 1 to 64 letters, digits, '.', '_' or '-', the first a letter or a digit".to_owned(),
    })
}

/// One line of text, which is not empty.
pub fn line(field: &'static str, text: &str, most_chars: usize) -> Result<String, ApiError> {
    let problem = if text.is_empty() {
        "has an empty text".to_owned()
    } else if text.chars().count() > most_chars {
        format!("has a text of more than {most_chars} characters")
    } else if plain_text(text) != text {
        "has a text that is not one line without invisible characters and without blanks at its ends".to_owned()
    } else {
        return Ok(text.to_owned());
    };
    Err(ApiError::InvalidField { field, problem })
}

/// A number of seconds between `least` and `most`.
pub fn seconds(
    field: &'static str,
    sent: Option<u32>,
    bounds: std::ops::RangeInclusive<u32>,
    default: u32,
) -> Result<u32, ApiError> {
    match sent {
        None => Ok(default),
        Some(seconds) if bounds.contains(&seconds) => Ok(seconds),
        Some(_) => Err(ApiError::InvalidField {
            field,
            problem: format!("must be {} to {}", bounds.start(), bounds.end()),
        }),
    }
}
