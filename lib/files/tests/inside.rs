//! Refusals and effects of files below a folder.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use coord_files::{EntryKind, FILE_MODE, FOLDER_MODE, FileError, Refusal, RootedPath, regular};
use tempfile::TempDir;

/// A folder `rooted_path` with a file `a/file`, beside a folder `outside` with a file `secret`.
struct Folders(TempDir);

impl Folders {
    fn new() -> Folders {
        let folders = Folders(tempfile::tempdir().unwrap());
        fs::create_dir_all(folders.inside().join("a")).unwrap();
        fs::create_dir(folders.outside()).unwrap();
        fs::write(folders.inside().join("a/file"), "own").unwrap();
        fs::write(folders.outside().join("secret"), "secret").unwrap();
        folders
    }

    fn inside(&self) -> std::path::PathBuf {
        self.0.path().join("inside")
    }

    fn outside(&self) -> std::path::PathBuf {
        self.0.path().join("outside")
    }

    fn file(&self, path: &str) -> RootedPath {
        RootedPath::new(self.inside(), path)
    }
}

fn refusal<T>(result: Result<T, FileError>) -> Option<Refusal> {
    result.err().and_then(|error| error.refusal())
}

fn make_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[test]
fn a_regular_file_is_read_written_and_removed() {
    let folders = Folders::new();
    let file = folders.file("a/file");
    assert_eq!(file.read(3).unwrap().as_deref(), Some(&b"own"[..]));
    file.write(b"new", FILE_MODE).unwrap();
    assert_eq!(fs::read(folders.inside().join("a/file")).unwrap(), b"new");
    assert!(file.remove().unwrap() && !file.remove().unwrap());
    assert_eq!(file.read(3).unwrap(), None);
    let deep = folders.file("b/c/file");
    assert_eq!(deep.create_parents(FOLDER_MODE).unwrap().len(), 2);
    deep.write(b"deep", FILE_MODE).unwrap();
    assert_eq!(fs::read(folders.inside().join("b/c/file")).unwrap(), b"deep");
    let left: Vec<_> = fs::read_dir(folders.inside().join("b/c")).unwrap().collect();
    assert_eq!(left.len(), 1, "a temporary file was left");
}

#[test]
fn a_link_is_neither_read_nor_written_nor_appended_to() {
    let folders = Folders::new();
    let secret = folders.outside().join("secret");
    for (name, target) in [
        ("link", secret.clone()),
        ("dangling", folders.outside().join("missing")),
    ] {
        symlink(target, folders.inside().join(name)).unwrap();
        let file = folders.file(name);
        let refused = Some(Refusal::NotAFile(EntryKind::Link));
        assert_eq!(refusal(file.read(100)), refused, "{name}");
        assert_eq!(refusal(file.write(b"x", FILE_MODE)), refused, "{name}");
        assert_eq!(refusal(file.append(FILE_MODE)), refused, "{name}");
    }
    assert_eq!(fs::read(&secret).unwrap(), b"secret");
    assert_eq!(fs::read_dir(folders.outside()).unwrap().count(), 1);
    assert!(folders.file("link").remove().unwrap());
    assert!(secret.exists(), "the link was removed, and not its target");
}

#[test]
fn a_folder_link_on_the_way_is_refused() {
    let folders = Folders::new();
    symlink(folders.outside(), folders.inside().join("way")).unwrap();
    let refused = Some(Refusal::NotAFolder(EntryKind::Link));
    let file = folders.file("way/secret");
    assert_eq!(refusal(file.read(100)), refused);
    assert_eq!(refusal(file.write(b"x", FILE_MODE)), refused);
    assert_eq!(refusal(file.remove()), refused);
    assert_eq!(refusal(file.about()), refused);
    assert_eq!(
        refusal(folders.file("way/new/file").create_parents(FOLDER_MODE)),
        refused
    );
    assert_eq!(refusal(folders.file("way").list(10)), refused);
    assert_eq!(fs::read(folders.outside().join("secret")).unwrap(), b"secret");
    assert_eq!(fs::read_dir(folders.outside()).unwrap().count(), 1);
}

#[test]
fn a_root_that_is_a_link_is_the_users_own_choice() {
    let folders = Folders::new();
    let link = folders.0.path().join("link");
    symlink(folders.inside(), &link).unwrap();
    let read = RootedPath::new(&link, "a/file").read(3).unwrap();
    assert_eq!(read.as_deref(), Some(&b"own"[..]));
}

#[test]
fn pipes_sockets_and_folders_are_refused_at_once() {
    let folders = Folders::new();
    make_pipe(&folders.inside().join("pipe"));
    let _socket = UnixListener::bind(folders.inside().join("socket")).unwrap();
    for (name, kind) in [
        ("pipe", EntryKind::Pipe),
        ("socket", EntryKind::Socket),
        ("a", EntryKind::Folder),
    ] {
        let file = folders.file(name);
        let refused = Some(Refusal::NotAFile(kind));
        assert_eq!(refusal(file.read(100)), refused, "{name}");
        assert_eq!(refusal(file.write(b"x", FILE_MODE)), refused, "{name}");
        assert_eq!(refusal(file.append(FILE_MODE)), refused, "{name}");
        assert!(regular(&folders.inside().join(name), 100).is_err(), "{name}");
    }
}

#[test]
fn a_file_with_more_bytes_than_its_limit_is_refused_and_one_with_as_many_is_read() {
    let folders = Folders::new();
    let path = folders.inside().join("large");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(
        refusal(folders.file("large").read(1 << 20)),
        Some(Refusal::TooLarge(1 << 20))
    );
    assert_eq!(refusal(regular(&path, 1 << 20)), Some(Refusal::TooLarge(1 << 20)));
    assert_eq!(refusal(folders.file("a/file").read(2)), Some(Refusal::TooLarge(2)));
    assert!(folders.file("a/file").read(3).unwrap().is_some());
    let sentence = folders.file("large").read(1 << 20).unwrap_err().to_string();
    assert!(
        sentence.ends_with("large is larger than 1 MiB, the limit for this file: make it smaller"),
        "{sentence}"
    );
}

#[test]
fn a_file_with_a_second_name_is_not_appended_to_and_is_replaced_alone() {
    let folders = Folders::new();
    let secret = folders.outside().join("secret");
    fs::hard_link(&secret, folders.inside().join("twin")).unwrap();
    assert_eq!(refusal(folders.file("twin").append(FILE_MODE)), Some(Refusal::HardLink));
    folders.file("twin").write(b"own", FILE_MODE).unwrap();
    assert_eq!(fs::read(&secret).unwrap(), b"secret");
    assert_eq!(fs::read(folders.inside().join("twin")).unwrap(), b"own");
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let folders = Folders::new();
    let absolute = folders.outside().join("secret");
    for path in [
        "../outside/secret",
        "a/../../outside/secret",
        absolute.to_str().unwrap(),
    ] {
        assert_eq!(refusal(folders.file(path).read(100)), Some(Refusal::Outside), "{path}");
        assert_eq!(
            refusal(folders.file(path).write(b"x", FILE_MODE)),
            Some(Refusal::Outside),
            "{path}"
        );
    }
    assert_eq!(fs::read(absolute).unwrap(), b"secret");
}

#[test]
fn a_link_names_a_target_only_below_the_root_and_outside_of_gits_folder() {
    let folders = Folders::new();
    let target = |name: &str, text: &str| {
        symlink(text, folders.inside().join(name)).unwrap();
        folders.file(name).target()
    };
    assert_eq!(target("own", "a/file").unwrap(), Some(folders.file("a/file")));
    assert_eq!(target("a/up", "../a/./file").unwrap(), Some(folders.file("a/file")));
    for (name, text) in [
        ("out", "../outside/secret"),
        ("absolute", "/etc/hostname"),
        ("git", ".git/config"),
        ("Git", ".GIT/config"),
        ("self", "."),
    ] {
        assert_eq!(
            refusal(target(name, text)),
            Some(Refusal::NotAFile(EntryKind::Link)),
            "{text}"
        );
    }
    assert_eq!(folders.file("a/file").target().unwrap(), None);
}

#[test]
fn a_folder_that_becomes_a_link_meanwhile_leads_nowhere_else() {
    let folders = Folders::new();
    let (own, kept) = (folders.inside().join("a"), folders.inside().join("kept"));
    fs::write(folders.outside().join("file"), "secret").unwrap();
    let is_done = AtomicBool::new(false);
    let mut is_read = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                fs::rename(&own, &kept).unwrap();
                symlink(folders.outside(), &own).unwrap();
                fs::remove_file(&own).unwrap();
                fs::rename(&kept, &own).unwrap();
            }
        });
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut rounds = 0;
        // On a busy machine the two meet seldom.
        while rounds < 2_000 || (is_read == 0 && Instant::now() < deadline) {
            rounds += 1;
            let file = folders.file("a/file");
            if let Ok(Some(content)) = file.read(100) {
                assert_eq!(content, b"own");
                is_read += 1;
            }
            let _ = file.write(b"own", FILE_MODE);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(is_read > 0, "the folder was never there");
    assert_eq!(fs::read(folders.outside().join("file")).unwrap(), b"secret");
    assert_eq!(fs::read_dir(folders.outside()).unwrap().count(), 2);
}
