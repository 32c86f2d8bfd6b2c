//! The name of a repository without a usable remote. It is created once, from the name of the folder, and stored in
//! git's own folder. So the repository stays the same if its folder is renamed.
//!
//! The file also names the folder that it is for. A copy of the repository (`cp -r`) contains a copy of the file, which
//! names neither the path nor the mark of the new folder. So a copy gets a separate name, with digits from that mark.
//! Every process derives the same name until a server writes it down.

use std::path::Path;

use coord_files::{FILE_MODE, FileError, Folder, PRIVATE_MODE, RootedPath};

/// The file, in git's own folder.
const FILE: &str = "coord/repository";
/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 16 * 1024;
/// Maximum length of a name in bytes.
const MAX_NAME: usize = 100;
/// Maximum length of the folder's part in the name of a copy, in bytes.
const MAX_FOLDER_PART: usize = 80;

/// A name, and the folder that had it first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalName {
    pub(super) name: String,
    /// Git's folder when the name was created.
    pub(super) made_at: String,
}

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NameRecord {
    local_name: LocalName,
    /// Git's folder.
    common_dir: String,
    /// A text that only this folder has, even if it is moved on its file system.
    mark: String,
}

impl NameRecord {
    fn read(common_dir: &Path) -> Option<NameRecord> {
        let text = file(common_dir).read(MAX_BYTES).ok()??;
        let text = String::from_utf8(text).ok()?;
        let mut lines = text.lines();
        let mut value = |key: &str| Some(lines.next()?.strip_prefix(key)?.strip_prefix(' ')?.to_owned());
        let local_name = LocalName {
            name: value("name").filter(|name| is_valid(name))?,
            made_at: value("made-at")?,
        };
        Some(NameRecord {
            local_name,
            common_dir: value("at")?,
            mark: value("mark")?,
        })
    }

    /// The content of the file. `None` if a path has a line break, so that it does not fit in a line.
    fn text(&self) -> Option<String> {
        let NameRecord {
            local_name: LocalName { name, made_at },
            common_dir,
            mark,
        } = self;
        let text = format!("name {name}\nmade-at {made_at}\nat {common_dir}\nmark {mark}\n");
        (text.lines().count() == 4).then_some(text)
    }
}

/// The name of the repository in `common_dir`.
pub(super) fn of(common_dir: &Path) -> LocalName {
    let made_at = common_dir.display().to_string();
    let name = match NameRecord::read(common_dir) {
        Some(record) if record.common_dir == made_at => return record.local_name,
        None => folder_name(common_dir),
        Some(record) => match mark(common_dir) {
            Some(mark) if mark == record.mark => return record.local_name,
            mark => {
                let digest = sha1_smol::Sha1::from(format!("{}\0{mark:?}", record.local_name.name)).digest();
                let name = folder_name(common_dir);
                let name = &name[..name.len().min(MAX_FOLDER_PART)];
                format!("{name}-{}", &digest.to_string()[..8])
            }
        },
    };
    LocalName { name, made_at }
}

/// Writes down the name of the repository in `common_dir`, and where the repository is now.
pub(super) fn keep(common_dir: &Path) -> Result<(), FileError> {
    let Some(mark) = mark(common_dir) else {
        return Ok(());
    };
    let record = NameRecord {
        local_name: of(common_dir),
        common_dir: common_dir.display().to_string(),
        mark,
    };
    let Some(text) = record
        .text()
        .filter(|_| NameRecord::read(common_dir).as_ref() != Some(&record))
    else {
        return Ok(());
    };
    let file = file(common_dir);
    file.create_parents(PRIVATE_MODE)?;
    file.write(text.as_bytes(), FILE_MODE)
}

fn file(common_dir: &Path) -> RootedPath {
    RootedPath::new(common_dir, FILE)
}

fn mark(common_dir: &Path) -> Option<String> {
    Folder::open(common_dir).ok()?.mark().ok()
}

fn is_allowed(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9' | '.' | '_' | '-')
}

/// Whether [`folder_name`] or a copy can have `name`. The repository's author may have written the file.
fn is_valid(name: &str) -> bool {
    name.len() <= MAX_NAME && name.chars().all(is_allowed) && name.trim_matches(['.', '-']) == name && !name.is_empty()
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
        .map(|character| if is_allowed(character) { character } else { '-' })
        .collect();
    let name = valid.trim_end_matches(".git").trim_matches(['.', '-']);
    let name = name[..name.len().min(MAX_NAME)].trim_end_matches(['.', '-']);
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
        let long = format!("/w/{}-x/.git", "a".repeat(MAX_NAME - 1));
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
            (&long, &"a".repeat(MAX_NAME - 1)),
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
        let long = "a".repeat(MAX_NAME + 1);
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
