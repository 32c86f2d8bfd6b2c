//! The name of a repository without a usable remote: made once, and kept in git's own folder, so that the repository is the same under
//! whatever name its folder has. The name is at first that of the folder.
//!
//! Beside it stands which folder that was. A copy (`cp -r`) brings the file along: there it names neither the place nor the mark of the
//! folder that it is in. A copy has a separate name, with digits of that mark, which every process derives alike until a server writes
//! it down.

use std::path::Path;

use coord_files::{FILE_MODE, FileError, Folder, PRIVATE_MODE, RootedPath};

/// In git's own folder.
const FILE: &str = "coord/repository";
/// Largest file, in bytes.
const MOST_BYTES: u64 = 16 * 1024;
/// Longest name, in bytes.
const MOST_NAME: usize = 100;
/// Longest part of a copy's name that is its folder's, in bytes.
const MOST_OF_FOLDER: usize = 80;

/// A name, and the folder that had it first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalName {
    pub(super) name: String,
    /// Git's folder when the name was made.
    pub(super) made_at: String,
}

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NameRecord {
    own: LocalName,
    /// Git's folder.
    at: String,
    /// The text that only this folder has, wherever it is moved on its file system.
    mark: String,
}

impl NameRecord {
    fn read(common_dir: &Path) -> Option<NameRecord> {
        let text = file(common_dir).read(MOST_BYTES).ok()??;
        let text = String::from_utf8(text).ok()?;
        let mut lines = text.lines();
        let mut value = |key: &str| Some(lines.next()?.strip_prefix(key)?.strip_prefix(' ')?.to_owned());
        let own = LocalName {
            name: value("name").filter(|name| is_valid(name))?,
            made_at: value("made-at")?,
        };
        Some(NameRecord {
            own,
            at: value("at")?,
            mark: value("mark")?,
        })
    }

    /// `None` where a line has no room for a path.
    fn text(&self) -> Option<String> {
        let NameRecord { own, at, mark } = self;
        let text = format!("name {}\nmade-at {}\nat {at}\nmark {mark}\n", own.name, own.made_at);
        (text.lines().count() == 4).then_some(text)
    }
}

/// The name of the repository in `common_dir`.
pub(super) fn of(common_dir: &Path) -> LocalName {
    let at = common_dir.display().to_string();
    let name = match NameRecord::read(common_dir) {
        Some(kept) if kept.at == at => return kept.own,
        None => folder_name(common_dir),
        Some(kept) => match mark(common_dir) {
            Some(mark) if mark == kept.mark => return kept.own,
            mark => {
                let digest = sha1_smol::Sha1::from(format!("{}\0{mark:?}", kept.own.name)).digest();
                let name = folder_name(common_dir);
                let name = &name[..name.len().min(MOST_OF_FOLDER)];
                format!("{name}-{}", &digest.to_string()[..8])
            }
        },
    };
    LocalName { name, made_at: at }
}

/// Writes down the name of the repository in `common_dir`, and where it is now.
pub(super) fn keep(common_dir: &Path) -> Result<(), FileError> {
    let Some(mark) = mark(common_dir) else {
        return Ok(());
    };
    let kept = NameRecord {
        own: of(common_dir),
        at: common_dir.display().to_string(),
        mark,
    };
    let Some(text) = kept
        .text()
        .filter(|_| NameRecord::read(common_dir).as_ref() != Some(&kept))
    else {
        return Ok(());
    };
    let file = file(common_dir);
    file.make_parents(PRIVATE_MODE)?;
    file.write(text.as_bytes(), FILE_MODE)
}

fn file(common_dir: &Path) -> RootedPath {
    RootedPath::new(common_dir, FILE)
}

fn mark(common_dir: &Path) -> Option<String> {
    Folder::open(common_dir).ok()?.mark().ok()
}

fn is_of_name(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9' | '.' | '_' | '-')
}

/// Whether `name` is one that [`folder_name`] or a copy can have: the repository's author may have written the file.
fn is_valid(name: &str) -> bool {
    name.len() <= MOST_NAME && name.chars().all(is_of_name) && name.trim_matches(['.', '-']) == name && !name.is_empty()
}

/// The name of the folder: `core` for `/srv/Core/.git`, `/srv/core.git` and `/srv/core/.bare`.
fn folder_name(common_dir: &Path) -> String {
    let names = common_dir.ancestors().filter_map(Path::file_name);
    let folder = names
        .map(|name| name.to_string_lossy())
        .find(|name| !name.starts_with('.'))
        .unwrap_or_default();
    let valid: String = folder
        .to_ascii_lowercase()
        .chars()
        .map(|character| if is_of_name(character) { character } else { '-' })
        .collect();
    let name = valid.trim_end_matches(".git").trim_matches(['.', '-']);
    let name = name[..name.len().min(MOST_NAME)].trim_end_matches(['.', '-']);
    if name.is_empty() {
        "repository".to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_folder_gives_a_valid_name() {
        let long = format!("/w/{}-x/.git", "a".repeat(MOST_NAME - 1));
        for (common_dir, name) in [
            ("/w/Core/.git", "core"),
            ("/srv/core.git", "core"),
            ("/w/core/.bare", "core"),
            ("/w/super/.git/modules/sub", "sub"),
            ("/w/My Project (2)/.git", "my-project--2"),
            ("/w/größe/.git", "gr--e"),
            ("/w/..../.git", "w"),
            ("/.git", "repository"),
            ("/w/---/.git", "repository"),
            (&long, &"a".repeat(MOST_NAME - 1)),
        ] {
            assert_eq!(folder_name(Path::new(common_dir)), name, "{common_dir}");
            assert!(is_valid(name), "{name}");
        }
    }

    /// A folder that git would have, and the names of the repositories in it.
    struct StateFolder(tempfile::TempDir);

    impl StateFolder {
        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name).join(".git")
        }

        fn name(&self, name: &str) -> String {
            of(&self.path(name)).name
        }

        fn rename(&self, from: &str, to: &str) {
            fs::rename(self.0.path().join(from), self.0.path().join(to)).unwrap();
        }

        fn copy(&self, from: &str, to: &str) {
            fs::create_dir_all(self.path(to).join("coord")).unwrap();
            fs::copy(self.path(from).join(FILE), self.path(to).join(FILE)).unwrap();
        }
    }

    fn shelf() -> StateFolder {
        let shelf = StateFolder(tempfile::tempdir().unwrap());
        fs::create_dir_all(shelf.path("shop")).unwrap();
        shelf
    }

    #[test]
    fn a_renamed_folder_keeps_its_name_and_a_copy_has_its_own() {
        let shelf = shelf();
        assert_eq!(shelf.name("shop"), "shop");
        keep(&shelf.path("shop")).unwrap();
        let first = of(&shelf.path("shop"));
        shelf.rename("shop", "store");
        assert_eq!(of(&shelf.path("store")), first);
        keep(&shelf.path("store")).unwrap();
        shelf.rename("store", "market");
        assert_eq!(of(&shelf.path("market")), first);
        keep(&shelf.path("market")).unwrap();

        shelf.copy("market", "copy");
        let copy = shelf.name("copy");
        assert!(copy.starts_with("copy-"), "{copy}");
        keep(&shelf.path("copy")).unwrap();
        assert_eq!(shelf.name("copy"), copy, "it is the same once it is written down");
        shelf.rename("copy", "other");
        assert_eq!(shelf.name("other"), copy);
        assert_eq!(of(&shelf.path("market")), first);
        // A folder of the original's name.
        shelf.copy("market", "shop");
        assert!(shelf.name("shop").starts_with("shop-"), "{}", shelf.name("shop"));
        assert_ne!(shelf.name("shop"), copy);
    }

    #[test]
    fn a_file_that_returns_to_its_place_is_the_same() {
        let shelf = shelf();
        keep(&shelf.path("shop")).unwrap();
        shelf.rename("shop", "backup");
        shelf.copy("backup", "shop");
        assert_eq!(shelf.name("shop"), "shop");
    }

    #[test]
    fn a_damaged_or_hostile_file_counts_as_none() {
        let shelf = shelf();
        let file = shelf.path("shop").join(FILE);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let at = shelf.path("shop").display().to_string();
        let long = "a".repeat(MOST_NAME + 1);
        for name in ["", "a/b", "..", "Ünsafe", "a b", "-a", &long] {
            fs::write(&file, format!("name {name}\nmade-at {at}\nat {at}\nmark 1\n")).unwrap();
            assert_eq!(shelf.name("shop"), "shop", "{name:?}");
        }
        for text in ["", "name x\n", "name x\nat y\n", "\u{0}", &"name x\n".repeat(10_000)] {
            fs::write(&file, text).unwrap();
            assert_eq!(shelf.name("shop"), "shop", "{text:?}");
        }
        keep(&shelf.path("shop")).unwrap();
        assert!(fs::read_to_string(&file).unwrap().starts_with("name shop\n"));
    }
}
