//! The tip of a branch, read on every call, because other processes move it.
//!
//! This module reads the files instead of `gix-ref`, for two reasons. First, `gix-ref` reads `packed-refs` before the
//! loose file. So after a `git pack-refs` between the two reads, a branch looks old or gone for a moment. Second,
//! `gix-ref` detects a changed `packed-refs` only by its modification time, which two writes within one tick of the
//! file system's clock share. Here the loose file is read first, as in git, and the inode and the size count too.
//!
//! The metadata of a loose file is read on every call, and its content if the metadata has changed. A file that changed
//! shortly before it was read is always read again, because its next version could have the same metadata.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::refs::packed::Buffer;
use parking_lot::Mutex;
use quick_cache::sync::Cache;

use super::external_git::run_git;

/// Maximum length of a chain of symbolic references, as in git.
const MAX_DEPTH: usize = 5;
/// Maximum depth to which folders of references are searched.
pub(super) const MAX_FOLDERS: usize = 32;
/// A loose reference is one line; a longer file is damaged.
const MAX_LOOSE_BYTES: u64 = 4096;
/// The list of the tables of a repository in the reftable format; each change replaces it.
const TABLES: &str = "reftable/tables.list";
/// Maximum size of `packed-refs` in bytes: some four million references.
const MAX_PACKED_BYTES: u64 = 256 << 20;

/// More than one tick of the clock of any file system: FAT's has two seconds.
const CLOCK_TICK: Duration = Duration::from_secs(3);
/// Maximum number of loose references in memory.
const MAX_LOOSE: usize = 1024;

/// The references of one repository.
#[derive(Debug)]
pub(super) struct References {
    common_dir: PathBuf,
    hash: gix::hash::Kind,
    /// Whether they are in the reftable format, which only git reads.
    is_reftable: bool,
    packed: Mutex<Option<PackedReferences>>,
    /// The contents of loose files, by name of the reference.
    loose: Cache<String, (Stamp, Target)>,
}

struct PackedReferences {
    stamp: Stamp,
    buffer: Arc<Buffer>,
    /// The symbolic references of a repository with reftables, which have no files.
    symbolic: HashMap<String, String>,
}

impl std::fmt::Debug for PackedReferences {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Packed")
            .field("stamp", &self.stamp)
            .finish_non_exhaustive()
    }
}

/// Distinguishes versions of a file such as `packed-refs`. Git replaces such a file, and never changes it in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    #[cfg(unix)]
    inode: u64,
    /// The time of the last change of the inode: seconds and nanoseconds. No program can set it.
    #[cfg(unix)]
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of the file at `path`.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|metadata| Stamp::of(&metadata))
    }

    fn of(metadata: &Metadata) -> Self {
        Stamp {
            modified: metadata.modified().ok(),
            size: metadata.len(),
            #[cfg(unix)]
            inode: std::os::unix::fs::MetadataExt::ino(metadata),
            #[cfg(unix)]
            changed: {
                use std::os::unix::fs::MetadataExt;
                (metadata.ctime(), metadata.ctime_nsec())
            },
        }
    }

    /// Whether every later version will have another stamp, because the file was last changed long before `now`.
    fn is_settled(&self, now: SystemTime) -> bool {
        #[cfg(unix)]
        let changed = u64::try_from(self.changed.0)
            .ok()
            .map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds + 1));
        #[cfg(not(unix))]
        let changed = self.modified;
        changed.is_some_and(|changed| now.duration_since(changed).is_ok_and(|age| age > CLOCK_TICK))
    }
}

#[derive(Clone, Debug)]
enum Target {
    Id(ObjectId),
    Symbolic(String),
}

impl References {
    pub(super) fn new(common_dir: PathBuf, hash: gix::hash::Kind) -> Self {
        References {
            is_reftable: is_reftable(&common_dir),
            common_dir,
            hash,
            packed: Mutex::new(None),
            loose: Cache::new(MAX_LOOSE),
        }
    }

    /// The object that `name`, a full and valid name such as `refs/heads/main`, leads to. `None` if there is no such
    /// reference.
    pub(super) fn resolve(&self, name: &str) -> io::Result<Option<ObjectId>> {
        let mut name = name.to_owned();
        for _ in 0..=MAX_DEPTH {
            match self.read(&name)? {
                None => return Ok(None),
                Some(Target::Id(id)) => return Ok(Some(id)),
                Some(Target::Symbolic(next)) => name = next,
            }
        }
        Err(damaged(&name, "it is part of a cycle of symbolic references"))
    }

    /// The name that the symbolic reference `name` leads to.
    pub(super) fn symbolic_target(&self, name: &str) -> io::Result<Option<String>> {
        Ok(match self.read(name)? {
            Some(Target::Symbolic(target)) => Some(target),
            Some(Target::Id(_)) | None => None,
        })
    }

    /// When the loose file of `name` was written; `None` for a packed reference.
    pub(super) fn written_at(&self, name: &str) -> Option<SystemTime> {
        fs::metadata(self.common_dir.join(name))
            .and_then(|file| file.modified())
            .ok()
    }

    /// Whether `folder`, such as `refs/remotes/origin/`, has any reference; a dangling one counts.
    pub(super) fn has_any(&self, folder: &str) -> io::Result<bool> {
        let mut folders = vec![(self.common_dir.join(folder), 0)];
        while let Some((folder, depth)) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
                match entry.file_type() {
                    // Packing leaves empty folders behind.
                    Ok(kind) if kind.is_dir() && depth < MAX_FOLDERS => folders.push((entry.path(), depth + 1)),
                    Ok(kind) if kind.is_file() && entry.path().extension().is_none_or(|end| end != "lock") => {
                        return Ok(true);
                    }
                    _ => {}
                }
            }
        }
        let Some(packed) = self.read_packed()? else {
            return Ok(false);
        };
        let mut references = packed.iter_prefixed(folder.into()).map_err(io::Error::other)?;
        Ok(references.any(|reference| reference.is_ok()))
    }

    fn read(&self, name: &str) -> io::Result<Option<Target>> {
        if !self.is_reftable
            && let Some(target) = self.read_loose(name)?
        {
            return Ok(Some(target));
        }
        if let Some(target) = self.reftable_symbolic_target(name)? {
            return Ok(Some(Target::Symbolic(target)));
        }
        let Some(packed) = self.read_packed()? else {
            return Ok(None);
        };
        let reference = packed.try_find(name).map_err(io::Error::other)?;
        Ok(reference.map(|reference| Target::Id(reference.target())))
    }

    fn read_loose(&self, name: &str) -> io::Result<Option<Target>> {
        let path = self.common_dir.join(name);
        let Some(metadata) = if_exists(fs::metadata(&path))?.filter(Metadata::is_file) else {
            return Ok(None);
        };
        if let Some((cached_stamp, target)) = self.loose.get(name)
            && cached_stamp == Stamp::of(&metadata)
        {
            return Ok(Some(target));
        }
        let now = SystemTime::now();
        let Some((stamp, content)) = if_exists(read_loose_file(&path))? else {
            return Ok(None);
        };
        let target = self.parse_loose(name, &content)?;
        if stamp.is_settled(now) {
            self.loose.insert(name.to_owned(), (stamp, target.clone()));
        }
        Ok(Some(target))
    }

    /// The target in `content`, the content of the loose file of `name`.
    fn parse_loose(&self, name: &str, content: &[u8]) -> io::Result<Target> {
        let content = content.trim_end();
        if let Some(target) = content.strip_prefix(b"ref:") {
            let target = target.trim_start();
            let is_valid = target.starts_with(b"refs/") && gix::validate::reference::name(target.as_bstr()).is_ok();
            return match target.to_str() {
                Ok(target) if is_valid => Ok(Target::Symbolic(target.to_owned())),
                _ => Err(damaged(name, "it leads to no valid name")),
            };
        }
        let digits = content.get(..self.hash.len_in_hex()).unwrap_or_default();
        let id = ObjectId::from_hex(digits).map_err(|_| damaged(name, "it holds no commit id"))?;
        Ok(Target::Id(id))
    }

    /// The target of the symbolic reference `name` in a repository with reftables.
    fn reftable_symbolic_target(&self, name: &str) -> io::Result<Option<String>> {
        if !self.is_reftable {
            return Ok(None);
        }
        self.read_packed()?;
        let packed = self.packed.lock();
        Ok(packed.as_ref().and_then(|packed| packed.symbolic.get(name).cloned()))
    }

    /// All references as git lists them, in the format of `packed-refs`, and the targets of symbolic references.
    fn list_with_git(&self) -> io::Result<(Vec<u8>, HashMap<String, String>)> {
        let format = "--format=%(objectname) %(refname) %(symref)";
        let list = run_git(&self.common_dir, &["for-each-ref", format]);
        let list = list.ok_or_else(|| io::Error::other("git does not list the references"))?;
        let mut content = b"# pack-refs with: sorted \n".to_vec();
        let mut symbolic = HashMap::new();
        for line in list.lines() {
            let mut words = line.split(' ');
            match (
                words.next(),
                words.next(),
                words.next().filter(|target| !target.is_empty()),
            ) {
                (_, Some(name), Some(target)) => {
                    symbolic.insert(name.to_owned(), target.to_owned());
                }
                (Some(id), Some(name), None) => content.extend_from_slice(format!("{id} {name}\n").as_bytes()),
                _ => return Err(damaged("reftable", "git lists a reference without a name")),
            }
        }
        Ok((content, symbolic))
    }

    /// The packed references, read again if the file has been replaced. With reftables, all of them.
    pub(super) fn read_packed(&self) -> io::Result<Option<Arc<Buffer>>> {
        let path = self
            .common_dir
            .join(if self.is_reftable { TABLES } else { "packed-refs" });
        let mut cached = self.packed.lock();
        let Some(metadata) = if_exists(fs::metadata(&path))? else {
            *cached = None;
            return Ok(None);
        };
        if metadata.len() > MAX_PACKED_BYTES {
            return Err(damaged("packed-refs", "it is too large"));
        }
        if let Some(packed) = cached.as_ref()
            && packed.stamp == Stamp::of(&metadata)
        {
            return Ok(Some(Arc::clone(&packed.buffer)));
        }
        let Some(file) = if_exists(open(&path))? else {
            return Ok(None);
        };
        // Stamp and content come from one open file, so that they belong together whatever happens to the path.
        let stamp = Stamp::of(&file.metadata()?);
        let (content, symbolic) = if self.is_reftable {
            // The stamp is that of the list of tables before git reads it, so that a later change is noticed.
            self.list_with_git()?
        } else {
            let mut content = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or_default());
            file.take(MAX_PACKED_BYTES).read_to_end(&mut content)?;
            (content, HashMap::new())
        };
        let buffer = Arc::new(Buffer::from_bytes(&content, self.hash).map_err(io::Error::other)?);
        *cached = Some(PackedReferences {
            stamp,
            buffer: Arc::clone(&buffer),
            symbolic,
        });
        Ok(Some(buffer))
    }
}

/// Whether the repository in `common_dir` keeps its references in the reftable format.
pub(super) fn is_reftable(common_dir: &Path) -> bool {
    common_dir.join(TABLES).is_file()
}

/// Opens a regular file. Does not wait for the writer of a named pipe, which may have come with an archive.
fn open(path: &Path) -> io::Result<File> {
    coord_files::open_regular(path)?.ok_or_else(|| ErrorKind::NotFound.into())
}

/// The stamp and the content of a loose file, both from one open file.
fn read_loose_file(path: &Path) -> io::Result<(Stamp, Vec<u8>)> {
    let file = open(path)?;
    let stamp = Stamp::of(&file.metadata()?);
    let mut content = Vec::with_capacity(128);
    file.take(MAX_LOOSE_BYTES).read_to_end(&mut content)?;
    Ok((stamp, content))
}

/// `None` if the file does not exist. A name below a file (`feature/login` if `feature` is a branch) does not exist
/// either.
fn if_exists<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        result => result.map(Some),
    }
}

fn damaged(name: &str, why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("{name} is damaged: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_remembered_once_its_next_version_cannot_look_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let references = References::new(folder.path().to_owned(), gix::hash::Kind::Sha1);
        let commits = ["1", "2"].map(|digit| ObjectId::from_hex(digit.repeat(40).as_bytes()).unwrap());
        let file = folder.path().join("main");
        for commit in commits {
            fs::write(&file, format!("{commit}\n")).unwrap();
            assert_eq!(references.resolve("main").unwrap(), Some(commit));
            assert!(references.loose.is_empty(), "it has just been written");
        }
        let stamp = Stamp::at(&file).unwrap();
        let now = SystemTime::now();
        assert!(!stamp.is_settled(now) && !stamp.is_settled(now - 2 * CLOCK_TICK));
        assert!(stamp.is_settled(now + 2 * CLOCK_TICK));

        // As if it had been read later.
        references
            .loose
            .insert("main".to_owned(), (stamp, Target::Id(commits[0])));
        assert_eq!(
            references.resolve("main").unwrap(),
            Some(commits[0]),
            "it is not read again"
        );
        let next = folder.path().join("main.lock");
        fs::write(&next, format!("{}\n", commits[1])).unwrap();
        fs::rename(&next, &file).unwrap();
        assert_eq!(references.resolve("main").unwrap(), Some(commits[1]));
        fs::remove_file(&file).unwrap();
        assert_eq!(references.resolve("main").unwrap(), None);
    }
}
