//! A repository with a checkout, whose graph is made of the files and of the objects.

use std::fs::{self, File};
use std::thread;
use std::time::{Duration, SystemTime};

use coord_test_support::git::Repo;
use tempfile::{TempDir, tempdir};

use crate::graph_command::running::graph;

/// More than the 256 blobs from which on a checkout is looked at whatever else is in it.
pub const FILES: usize = 300;

/// Few, but all that there are.
pub const FEW_FILES: usize = 9;

const JSON: &[&str] = &["--format", "json", "--kinds", "all"];

/// A repository with a commit that is checked out and that git's index knows for sure to be unchanged.
pub struct World {
    pub temp: TempDir,
    pub repo: Repo,
    files: usize,
}

pub fn name(number: usize) -> String {
    format!("src/d{}/deep/f{number}.ts", number % 10)
}

/// A file that imports the file `target`.
pub fn content(target: usize) -> String {
    format!("import {{ a }} from \"../../d{}/deep/f{target}\";\n", target % 10)
}

impl World {
    /// With `extra` files (path and content) beside those that import each other in a row.
    pub fn new(extra: &[(&str, &str)]) -> World {
        World::with(extra, |_| {})
    }

    /// `prepare` may configure the repository before anything is added.
    pub fn with(extra: &[(&str, &str)], prepare: impl FnOnce(&Repo)) -> World {
        World::of(FILES, extra, prepare)
    }

    pub fn of(files: usize, extra: &[(&str, &str)], prepare: impl FnOnce(&Repo)) -> World {
        let temp = tempdir().unwrap();
        let repo = Repo::init(temp.path().join("repo"), &[]);
        prepare(&repo);
        let world = World { temp, repo, files };
        for number in 0..files {
            world.write(&name(number), &content((number + 1) % files));
        }
        for (path, text) in extra {
            world.write(path, text);
        }
        world.age();
        world.commit();
        world
    }

    pub fn path(&self, file: &str) -> std::path::PathBuf {
        self.repo.path().join(file)
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn set_modified(&self, file: &str, time: SystemTime) {
        let file = File::options().write(true).open(self.path(file)).unwrap();
        file.set_modified(time).unwrap();
    }

    /// Asserts that the graph of HEAD has an edge between these files.
    pub fn assert_imports(&self, importer: usize, imported: usize, case: &str) {
        let expected = format!("{}\t{}", name(importer), name(imported));
        let printed = graph(self.repo.path(), &[]);
        assert!(printed.lines().any(|line| line == expected), "{case}: no {expected}");
    }

    /// Lets the clock of the file system tick, so that git does not take the files for ones that may just be changing.
    pub fn age(&self) {
        // time: the clock of the file system ticks.
        thread::sleep(Duration::from_millis(30));
    }

    pub fn commit(&self) -> String {
        self.repo.commit(&[])
    }

    /// The graphs of HEAD: by way of the checkout, and by way of a clone that has none.
    pub fn both(&self) -> (String, String) {
        let bare = self.temp.path().join("bare");
        let _ = fs::remove_dir_all(&bare);
        let head = self.repo.git(&["rev-parse", "HEAD"]);
        self.repo
            .git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
        let arguments: Vec<&str> = JSON.iter().copied().chain(["--rev", &head]).collect();
        (graph(self.repo.path(), &arguments), graph(&bare, &arguments))
    }

    pub fn assert_same(&self) {
        let (checkout, bare) = self.both();
        let edges = bare.matches("\"target\"").count();
        assert!(edges > self.files / 2, "only {edges} edges: {bare}");
        for (line, (ours, theirs)) in checkout.lines().zip(bare.lines()).enumerate() {
            assert_eq!(ours, theirs, "line {line} differs between the checkout and the objects");
        }
        assert_eq!(checkout, bare);
    }

    /// Takes the object of a tracked file away.
    pub fn forget_object(&self, file: &str) {
        let blob = self.repo.git(&["rev-parse", &format!("HEAD:{file}")]);
        fs::remove_file(self.path(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    }

    /// Whether a file that nobody touched is read from the checkout: without its object, its import is still known.
    pub fn is_read_from_checkout(&self) -> bool {
        let number = self.files / 2;
        self.forget_object(&name(number));
        let edge = format!("{}\t{}", name(number), name(number + 1));
        graph(self.repo.path(), &[]).lines().any(|line| line == edge)
    }
}
