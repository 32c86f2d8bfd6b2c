//! Paths that differ only in case, so that a request for `src/Auth.ts` gets a hint at `src/auth.ts`.
//!
//! In addition to neighbors, the adjacency hash has fields with the spellings of all files: [`FIELDS`] of them. The
//! name of such a field is a newline, with which no path begins, and three hex digits. The SHA-1 of a file's folded
//! path begins with the digits of its field. The file's line in the field has eight further digits, then the components
//! of the path from the first one that is not folded. Most files have folded paths, and a line of nine bytes. A script
//! looks up one field for each requested path: see `modules/spelling.lua`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

use crate::tree::{TreeEntry, pair_by_path};

/// The number of fields. A repository with 800,000 files has some 200 in each.
const FIELDS: usize = 1 << 12;

/// Largest value of a field. A larger value is left out, so requests get no hint at its files. Only a hostile
/// repository has one.
const MAX_FIELD_BYTES: usize = 16 * 1024;

/// `path` in lower case, with composed characters: equal for all spellings that a file system may treat as the same.
fn fold_path(path: &str) -> Cow<'_, str> {
    if path.is_ascii() {
        if path.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Cow::Owned(path.to_ascii_lowercase());
        }
        return Cow::Borrowed(path);
    }
    // Character by character, because `str::to_lowercase` lowers a sigma differently at the end of a word.
    Cow::Owned(path.chars().flat_map(char::to_lowercase).nfc().collect())
}

/// The components of `path` from the first one that is not folded, empty if all are folded.
fn tail<'a>(path: &'a str, folded: &str) -> &'a str {
    let mut start = 0;
    for (component, other) in path.split('/').zip(folded.split('/')) {
        if component != other {
            return path.get(start..).unwrap_or_default();
        }
        start += component.len() + 1;
    }
    ""
}

/// The spelling of a path with the same folded form as `path`, given the tail in its line.
pub fn spelled(path: &str, tail: &str) -> String {
    let folded = fold_path(path);
    if tail.is_empty() {
        return folded.into_owned();
    }
    let components: Vec<&str> = folded.split('/').collect();
    let head = components.len().saturating_sub(tail.split('/').count());
    let mut path = String::with_capacity(folded.len() + tail.len());
    for component in &components[..head] {
        path.push_str(component);
        path.push('/');
    }
    path + tail
}

/// The number of the field, and the key of the line, of a folded path.
fn field_and_key(folded: &str) -> (usize, u32) {
    let digest = sha1_smol::Sha1::from(folded).digest().bytes();
    let [first, second, third, fourth, fifth, sixth, ..] = digest;
    let bits = u64::from_be_bytes([0, 0, first, second, third, fourth, fifth, sixth]) >> 4;
    ((bits >> 32) as usize, bits as u32)
}

fn field_name(number: usize) -> String {
    format!("\n{number:03x}")
}

/// The 15 characters by which a script looks up other spellings of `path`: field, key of the line, and length of the
/// tail, all in hex digits.
pub fn lookup(path: &str) -> String {
    let folded = fold_path(path);
    let (field, key) = field_and_key(&folded);
    format!("{field:03x}{key:08x}{:04x}", tail(path, &folded).len())
}

/// The fields with their values, of all files or only the fields `numbers`.
fn fields_of(files: &[TreeEntry], numbers: Option<&BTreeSet<usize>>) -> Vec<(String, String)> {
    let mut values = vec![String::new(); FIELDS];
    for file in files {
        let folded = fold_path(&file.path);
        let (field, key) = field_and_key(&folded);
        if numbers.is_some_and(|numbers| !numbers.contains(&field)) {
            continue;
        }
        let value = &mut values[field];
        if value.is_empty() {
            value.push('\n');
        }
        if value.len() <= MAX_FIELD_BYTES {
            value.push_str(&format!("{key:08x}{}\n", tail(&file.path, &folded)));
        }
    }
    let fields = values.into_iter().enumerate();
    fields
        .filter(|(_, value)| !value.is_empty() && value.len() <= MAX_FIELD_BYTES)
        .map(|(number, value)| (field_name(number), value))
        .collect()
}

/// The fields with their values.
pub(super) fn fields(files: &[TreeEntry]) -> Vec<(String, String)> {
    fields_of(files, None)
}

/// The fields that differ between two sorted lists of files: those to set with their values, and those to delete.
pub(super) fn changes(files: &[TreeEntry], older: &[TreeEntry]) -> (Vec<(String, String)>, Vec<String>) {
    let mut touched = BTreeSet::new();
    for pair in pair_by_path(files, older) {
        let file = match pair {
            (Some(added), None) => &files[added as usize],
            (None, Some(removed)) => &older[removed as usize],
            _ => continue,
        };
        touched.insert(field_and_key(&fold_path(&file.path)).0);
    }
    if touched.is_empty() {
        return Default::default();
    }
    let changed = fields_of(files, Some(&touched));
    let mut deleted: BTreeSet<String> = touched.into_iter().map(field_name).collect();
    for (field, _) in &changed {
        deleted.remove(field);
    }
    (changed, deleted.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::EntryKind;

    fn files(paths: &[&str]) -> Vec<TreeEntry> {
        let mut paths = paths.to_vec();
        paths.sort_unstable();
        let entry = |path: &&str| TreeEntry {
            path: (*path).to_owned(),
            blob: "0".repeat(40),
            kind: EntryKind::File,
        };
        paths.iter().map(entry).collect()
    }

    #[test]
    fn spellings_of_one_path_share_a_fold_and_keep_distinct_tails() {
        for (path, fold, rest) in [
            ("src/auth.ts", "src/auth.ts", ""),
            ("src/Auth.ts", "src/auth.ts", "Auth.ts"),
            ("SRC/auth.ts", "src/auth.ts", "SRC/auth.ts"),
            ("src/A/b.ts", "src/a/b.ts", "A/b.ts"),
            ("GRÖSSE/ΟΔΟΣ.ts", "grösse/οδοσ.ts", "GRÖSSE/ΟΔΟΣ.ts"),
            ("gr\u{d6}\u{df}e", "gr\u{f6}\u{df}e", "gr\u{d6}\u{df}e"),
            ("\u{130}/x", "i\u{307}/x", "\u{130}/x"),
            ("\u{212a}", "k", "\u{212a}"),
        ] {
            assert_eq!(fold_path(path), fold);
            assert_eq!(tail(path, fold), rest);
            assert_eq!(spelled(fold, rest), path);
            assert_eq!(spelled(path, rest), path);
            assert_eq!(lookup(path)[..11], lookup(fold)[..11]);
            assert_eq!(lookup(path)[11..], format!("{:04x}", rest.len()));
        }
        assert_ne!(lookup("src/auth.ts")[..11], lookup("src/autj.ts")[..11]);
        assert_eq!(lookup(&"A".repeat(4096)).len(), 15);
    }

    #[test]
    fn each_file_is_in_the_field_that_is_looked_up() {
        let paths = ["README.md", "src/Auth.ts", "src/auth.ts", "a/B/c"];
        let fields = fields(&files(&paths));
        for path in paths {
            let key = lookup(path);
            let rest = &path[path.len() - usize::from_str_radix(&key[11..], 16).unwrap()..];
            let (_, value) = fields
                .iter()
                .find(|(field, _)| field[1..] == key[..3])
                .expect("there is its field");
            assert!(value.contains(&format!("\n{}{rest}\n", &key[3..11])), "{value:?}");
        }
    }

    #[test]
    fn files_that_come_and_go_change_their_own_fields_alone() {
        let older = files(&["README.md", "src/auth.ts", "z"]);
        assert_eq!(changes(&older, &older), (Vec::new(), Vec::new()));
        for (newer, touched) in [
            (files(&["README.md", "src/Auth.ts", "z"]), 1),
            (files(&["README.md", "src/Auth.ts", "src/auth.ts", "z"]), 1),
            (files(&["z"]), 2),
            (files(&[]), 3),
        ] {
            let mut stored: std::collections::BTreeMap<_, _> = fields(&older).into_iter().collect();
            let (changed, deleted) = changes(&newer, &older);
            assert_eq!(changed.len() + deleted.len(), touched, "{changed:?} {deleted:?}");
            for field in deleted {
                assert!(stored.remove(&field).is_some());
            }
            stored.extend(changed);
            assert_eq!(stored.into_iter().collect::<Vec<_>>(), fields(&newer));
        }
    }

    #[test]
    fn a_field_that_is_filled_on_purpose_is_left_out() {
        let paths: Vec<String> = (0..4096_u32)
            .map(|bits| {
                // Every pattern of case in twelve letters: one folded path.
                let letter = |at: u32| if bits >> at & 1 == 1 { 'A' } else { 'a' };
                (0..12).map(letter).collect()
            })
            .collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        assert!(fields(&files(&paths)).is_empty());
        assert_eq!(fields(&files(&paths[..600])).len(), 1);
    }
}
