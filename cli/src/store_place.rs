//! Where the locks of a repository are kept, in a file in git's folder, if not in that folder itself. Commands of agents start no
//! server then: it would grant what is locked in the other store.

use std::fs;
use std::path::Path;

/// The file's name, in `coord/` of git's folder.
const FILE: &str = "store";

/// Longest place that is read, in bytes.
const MOST_BYTES: usize = 4_096;

/// Notes that the locks of the repository with this `folder` are kept by a `coord serve` with `options`.
pub fn note(folder: &Path, options: &str) {
    if let Err(error) = fs::write(folder.join(FILE), format!("{options}\n")) {
        tracing::warn!(%error, folder = %folder.display(), "commands of agents cannot read which store is in use");
    }
}

/// Notes that they are kept in `folder`.
pub fn forget(folder: &Path) {
    let _ = fs::remove_file(folder.join(FILE));
}

/// The options of the `coord serve` that keeps them elsewhere.
pub fn elsewhere(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join(FILE)).ok()?;
    let options = text.lines().next()?.trim();
    let is_shown = (1..=MOST_BYTES).contains(&options.len()) && !options.chars().any(char::is_control);
    is_shown.then(|| options.to_owned())
}

/// `url` without a login and a query, which may contain a password.
pub fn without_login(url: &str) -> String {
    let url = url.split_once('?').map_or(url, |(place, _)| place);
    match url.split_once("://") {
        Some((scheme, place)) => {
            let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
            format!("{scheme}://{place}")
        }
        None => url.to_owned(),
    }
}

/// `path` as a word of a command line.
pub fn for_shell(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@:".contains(c);
    match text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word() {
        for (path, word) in [
            ("/srv/a-b", "/srv/a-b"),
            ("/srv/a b", "'/srv/a b'"),
            ("/it's", r"'/it'\''s'"),
        ] {
            assert_eq!(for_shell(Path::new(path)), word);
        }
    }

    #[test]
    fn a_url_is_shown_without_its_password() {
        for (url, shown) in [
            ("redis://db:6379/2", "redis://db:6379/2"),
            ("rediss://user:p%40ss@db:6380", "rediss://db:6380"),
            ("redis://:p@ss@db", "redis://db"),
            ("unix:///run/redis.sock?db=1&pass=secret", "unix:///run/redis.sock"),
            ("db:6379", "db:6379"),
        ] {
            assert_eq!(without_login(url), shown);
        }
    }

    #[test]
    fn a_file_of_something_else_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(elsewhere(folder.path()), None);
        for (text, options) in [
            ("--redis redis://db", Some("--redis redis://db")),
            ("", None),
            ("a\u{1b}[1m", None),
        ] {
            note(folder.path(), text);
            assert_eq!(elsewhere(folder.path()).as_deref(), options, "{text:?}");
        }
        forget(folder.path());
        assert_eq!(elsewhere(folder.path()), None);
    }
}
