//! Hashes of the contents of files: as git would commit them from the working copy, after clean filters, and as they
//! are in a commit. The same content has the same hash on every machine.
//!
//! Git itself converts the files: it adds them to a copy of the index and to a temporary object folder.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, FileTimes};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, bail, ensure};
use coord_git::WorkingCopy;
use coord_intents::ledger::ContentHash;
use tempfile::TempDir;

use crate::git::{self, Group, LIMIT};

/// The contents of `files`, which are paths of the repository, as git would commit them now. A path that is not a file
/// has [`ContentHash::Deleted`].
///
/// # Errors
/// When git or a filter fails.
pub fn of_working_copy(working_copy: &WorkingCopy, files: &[String]) -> anyhow::Result<BTreeMap<String, ContentHash>> {
    let root = working_copy.root();
    let existing: Vec<&str> = files
        .iter()
        .map(String::as_str)
        .filter(|file| is_committable(root, file))
        .collect();
    let index = TemporaryIndex::new(working_copy)?;
    let add = index.git(root, &["update-index", "-z", "--add", "--remove", "--stdin"])?;
    let names: String = existing.iter().map(|file| format!("{file}\0")).collect();
    run_with_input(add, names.as_bytes(), |_| Ok(()))?;
    let list = index.git(root, &["ls-files", "-z", "--stage"])?;
    let list = run_with_input(list, &[], read_all)?;
    let mut objects = parse_list(&list, 1);
    // The index still has removed files.
    let existing: HashSet<&str> = existing.into_iter().collect();
    objects.retain(|path, _| existing.contains(path));
    hashes(root, files, objects, Some(&index))
}

/// The contents of `files`, which are paths of the repository, in `revision`.
///
/// # Errors
/// When there is no such revision, or git fails.
pub fn of_revision(root: &Path, revision: &str, files: &[String]) -> anyhow::Result<BTreeMap<String, ContentHash>> {
    ensure!(!revision.starts_with('-'), "{revision:?} is not a revision");
    let tree = format!("{revision}^{{tree}}");
    let list = git::command(root, ["ls-tree", "-r", "-z", "--full-tree", &tree])?;
    let list = run_with_input(list, &[], read_all)?;
    hashes(root, files, parse_list(&list, 2), None)
}

/// Whether git would commit `file`: it is a file or a symbolic link, and none of its folders is a link.
fn is_committable(root: &Path, file: &str) -> bool {
    let path = root.join(file);
    let mut folders = path.ancestors().skip(1).take_while(|folder| *folder != root);
    folders.all(|folder| fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir()))
        && fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file() || metadata.is_symlink())
}

/// A copy of the index, and a folder for new objects.
struct TemporaryIndex {
    folder: TempDir,
    /// The repository's own objects.
    objects: PathBuf,
}

impl TemporaryIndex {
    fn new(working_copy: &WorkingCopy) -> anyhow::Result<TemporaryIndex> {
        let folder = tempfile::tempdir().context("no temporary folder can be created")?;
        fs::create_dir(folder.path().join("objects")).context("the temporary folder cannot be written")?;
        let (index, copy) = (working_copy.git_folder().join("index"), folder.path().join("index"));
        if let Ok(metadata) = fs::metadata(&index) {
            fs::copy(&index, &copy).context("git's index cannot be copied")?;
            // The copy needs the same time: git compares it with the times of files to find those that may have changed
            // in the same clock tick.
            let times = FileTimes::new().set_modified(metadata.modified().context("the time of git's index")?);
            let file = File::options().write(true).open(&copy);
            file.and_then(|file| file.set_times(times))
                .context("the time of git's index")?;
        }
        Ok(TemporaryIndex {
            folder,
            objects: working_copy.shared_folder().join("objects"),
        })
    }

    fn git(&self, root: &Path, args: &[&str]) -> anyhow::Result<Command> {
        let mut command = git::command(root, args)?;
        command.env("GIT_INDEX_FILE", self.folder.path().join("index"));
        self.with_objects(&mut command);
        Ok(command)
    }

    fn with_objects(&self, command: &mut Command) {
        command
            .env("GIT_OBJECT_DIRECTORY", self.folder.path().join("objects"))
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.objects);
    }
}

/// The object of each file by path, in a list of `ls-files --stage` or `ls-tree`. The object is the word with the index
/// `object_index`. Submodules are omitted.
fn parse_list(list: &[u8], object_index: usize) -> HashMap<&str, &str> {
    fn parse_entry(entry: &[u8], object_index: usize) -> Option<(&str, &str)> {
        let (columns, path) = std::str::from_utf8(entry).ok()?.split_once('\t')?;
        let is_submodule = columns.starts_with("160000");
        let object = columns.split(' ').nth(object_index)?;
        (!is_submodule).then_some((path, object))
    }
    let entries = list.split(|byte| *byte == 0);
    entries.filter_map(|entry| parse_entry(entry, object_index)).collect()
}

/// The hash of the object of each file.
fn hashes(
    root: &Path,
    files: &[String],
    objects: HashMap<&str, &str>,
    index: Option<&TemporaryIndex>,
) -> anyhow::Result<BTreeMap<String, ContentHash>> {
    let mut ids: Vec<&str> = files
        .iter()
        .filter_map(|file| objects.get(file.as_str()).copied())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let mut read = git::command(root, ["cat-file", "--batch"])?;
    if let Some(index) = index {
        index.with_objects(&mut read);
    }
    let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let by_id = match ids.is_empty() {
        true => HashMap::new(),
        false => run_with_input(read, input.as_bytes(), |output| {
            ids.iter()
                .map(|id| Ok(((*id).to_owned(), hash_blob(output)?)))
                .collect()
        })?,
    };
    let hash = |file: &String| -> anyhow::Result<(String, ContentHash)> {
        let hash = match objects.get(file.as_str()) {
            None => ContentHash::Deleted,
            Some(id) => *by_id.get(*id).context("git has omitted an object")?,
        };
        Ok((file.clone(), hash))
    };
    files.iter().map(hash).collect()
}

/// The hash of the next object that `cat-file --batch` prints: `ID TYPE BYTES`, the content and a newline.
fn hash_blob(output: &mut dyn BufRead) -> anyhow::Result<ContentHash> {
    let mut line = String::new();
    output.read_line(&mut line).context("git's answer cannot be read")?;
    let bytes = match line.trim_end().split(' ').collect::<Vec<_>>()[..] {
        [_, "blob", bytes] => bytes.parse().context("git's answer has no size")?,
        _ => bail!("git cannot read an object: {}", line.trim_end()),
    };
    let mut content = output.take(bytes);
    let hash = ContentHash::of_reader(&mut content)?;
    ensure!(content.limit() == 0, "git's answer ends too early");
    output.read_exact(&mut [0]).context("git's answer ends too early")?;
    Ok(hash)
}

fn read_all(output: &mut dyn BufRead) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    output.read_to_end(&mut bytes).context("git's answer cannot be read")?;
    Ok(bytes)
}

/// Runs `command` with `input`, and reads its output while it runs.
fn run_with_input<T>(
    mut command: Command,
    input: &[u8],
    read: impl FnOnce(&mut dyn BufRead) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("git cannot be run")?;
    let mut group = Group::of(child.id());
    let (mut stdin, stdout, mut stderr) = pipes(&mut child)?;
    // The watchdog waits until the sender is dropped.
    let (sender, receiver) = mpsc::channel::<()>();
    let process = child.id();
    thread::scope(|scope| {
        scope.spawn(move || {
            if receiver.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
                drop(Group::of(process));
            }
        });
        // Git may end before it has read the whole input. Then its status is a failure.
        scope.spawn(move || stdin.write_all(input));
        let message = scope.spawn(move || {
            let mut message = String::new();
            stderr.read_to_string(&mut message).map(|_| message)
        });
        let result = read(&mut BufReader::new(stdout));
        if result.is_err() {
            let _ = child.kill();
        }
        let status = child.wait().context("git cannot be waited for");
        drop(sender);
        let status = status?;
        group.disarm();
        let message = message.join().ok().and_then(Result::ok).unwrap_or_default();
        if !status.success() && result.is_ok() {
            bail!(git::failure(&message));
        }
        result
    })
}

fn pipes(child: &mut Child) -> anyhow::Result<(ChildStdin, ChildStdout, ChildStderr)> {
    let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
    let ((stdin, stdout), stderr) = pipes.context("git has no standard input or output")?;
    Ok((stdin, stdout, stderr))
}

#[cfg(test)]
mod tests {
    use coord_test_support::git::Repo;

    use super::*;

    fn hash(content: &str) -> ContentHash {
        ContentHash::of(content.as_bytes())
    }

    fn repository() -> (TempDir, Repo, WorkingCopy) {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path().join("repo"), &[]);
        repo.commit(&[("a.txt", "one\n"), (".gitattributes", "*.txt text\n*.up filter=down\n")]);
        let working_copy = WorkingCopy::containing(repo.path()).unwrap();
        (folder, repo, working_copy)
    }

    fn of(working_copy: &WorkingCopy, file: &str) -> ContentHash {
        of_working_copy(working_copy, &[file.to_owned()]).unwrap()[file]
    }

    #[test]
    fn a_file_has_the_hash_of_what_git_would_commit() {
        let (_folder, repo, working_copy) = repository();
        let write = |name: &str, content: &str| fs::write(repo.path().join(name), content).unwrap();
        assert_eq!(of(&working_copy, "a.txt"), hash("one\n"));
        write("a.txt", "two\r\n");
        write("empty", "");
        write("with\nnewline", "x");
        fs::create_dir(repo.path().join("folder")).unwrap();
        let files = ["a.txt", "empty", "with\nnewline", "folder", "gone"].map(str::to_owned);
        let hashes = of_working_copy(&working_copy, &files).unwrap();
        let expected = ["two\n", "", "x"].map(hash);
        assert_eq!(files[..3].iter().map(|file| hashes[file]).collect::<Vec<_>>(), expected);
        assert_eq!([hashes["folder"], hashes["gone"]], [ContentHash::Deleted; 2]);
        fs::remove_file(repo.path().join("a.txt")).unwrap();
        assert_eq!(of(&working_copy, "a.txt"), ContentHash::Deleted);
        let hashes = of_working_copy(&working_copy, &files).unwrap();
        assert_eq!(
            repo.git(&["diff", "--cached", "--name-only"]),
            "",
            "the index stays as it is"
        );
        repo.git(&["add", "--all"]);
        repo.git(&["commit", "--quiet", "--message", "Add"]);
        let committed = of_revision(repo.path(), "HEAD", &files).unwrap();
        assert_eq!(committed, hashes, "the commit has the same");
        let before = of_revision(repo.path(), "HEAD~1", &files[..1]).unwrap();
        assert_eq!(before["a.txt"], hash("one\n"));
        assert!(of_revision(repo.path(), "nothing", &files).is_err());
        assert!(of_revision(repo.path(), "--help", &files).is_err());
    }

    #[test]
    fn a_filter_of_the_repositorys_own_does_not_run() {
        let (_folder, repo, working_copy) = repository();
        repo.git(&["config", "filter.down.clean", "touch ../ran; tr A-Z a-z"]);
        fs::write(repo.path().join("b.up"), "LOUD").unwrap();
        assert_eq!(of(&working_copy, "a.txt"), hash("one\n"));
        let error = of_working_copy(&working_copy, &["b.up".to_owned()])
            .unwrap_err()
            .to_string();
        assert!(error.contains("git config --global"), "{error}");
        assert!(!repo.path().join("../ran").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_has_the_hash_of_its_target_and_hides_what_is_behind_it() {
        let (_folder, repo, working_copy) = repository();
        std::os::unix::fs::symlink("a.txt", repo.path().join("link")).unwrap();
        fs::create_dir(repo.path().join("real")).unwrap();
        fs::write(repo.path().join("real/file"), "x").unwrap();
        std::os::unix::fs::symlink("real", repo.path().join("other")).unwrap();
        assert_eq!(of(&working_copy, "link"), hash("a.txt"));
        assert_eq!(of(&working_copy, "real/file"), hash("x"));
        assert_eq!(of(&working_copy, "other/file"), ContentHash::Deleted);
    }

    #[test]
    fn a_change_within_the_grain_of_the_clock_is_seen() {
        let (_folder, repo, working_copy) = repository();
        for round in 0..20 {
            let content = format!("{round:03}\n");
            fs::write(repo.path().join("a.txt"), &content).unwrap();
            assert_eq!(of(&working_copy, "a.txt"), hash(&content));
        }
    }
}
