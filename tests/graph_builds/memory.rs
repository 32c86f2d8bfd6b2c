//! The memory of a build, whatever a repository contains.

use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use coord_graph::manifest_examples;
use coord_scan::Language;
use coord_test_support::git::Repo;
use coord_test_support::skipping::skip;
use coord_test_texts::shapes;

/// The memory goal for any repository that anyone may push.
pub const MAX_MIB: u64 = 300;

/// A repository whose objects are small, however much they name.
pub struct Hostile {
    pub repo: Repo,
    _folder: tempfile::TempDir,
}

impl Hostile {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Hostile {
            repo: Repo::init(folder.path(), &[]),
            _folder: folder,
        }
    }

    /// Runs git with `text` as its input; what it prints.
    pub fn git(&self, command: &str, text: &str) -> String {
        std::fs::write(self.repo.path().join("input"), text).unwrap();
        let alias = format!("alias.read=!git {command} <input");
        self.repo.git(&["-c", &alias, "read"])
    }

    /// The id of a file with `content`.
    pub fn blob(&self, content: &str) -> String {
        self.git("hash-object -w --stdin", content)
    }

    /// A tree of `count` entries of one kind and content.
    pub fn tree(&self, kind: &str, id: &str, count: usize, name: impl Fn(usize) -> String) -> String {
        let lines = (0..count).fold(String::new(), |mut lines, number| {
            writeln!(lines, "{kind} {id}\t{}", name(number)).unwrap();
            lines
        });
        self.git("mktree", &lines)
    }

    pub fn commit_of(&self, root: &str) -> String {
        self.repo.git(&["commit-tree", "-m", "All", root])
    }

    /// A commit of a tree with these entries, a line each.
    pub fn commit(&self, entries: &str) -> String {
        self.commit_of(&self.git("mktree", entries))
    }

    /// A commit of `folders` folders of `files` files each, all with `content`.
    fn commit_folders(
        &self,
        content: &str,
        folders: usize,
        files: usize,
        folder_name: &str,
        file_name: &str,
    ) -> String {
        let blob = self.blob(content);
        let folder = self.tree("100644 blob", &blob, files, |number| {
            format!("{file_name}{number:03}.ts")
        });
        let root = self.tree("040000 tree", &folder, folders, |number| {
            format!("{folder_name}{number:03}")
        });
        self.commit_of(&root)
    }

    /// The entries of a module with a Go package of `count` files that as many files import.
    pub fn go_packages(&self, count: usize) -> String {
        let package = self.blob("package lib\n");
        let importer = self.blob("package main\n\nimport _ \"example.com/m/lib\"\n");
        let module = self.blob("module example.com/m\n\ngo 1.22\n");
        let package = self.tree("100644 blob", &package, count, |number| format!("f{number}.go"));
        let importers = self.tree("100644 blob", &importer, count, |number| format!("m{number}.go"));
        format!("100644 blob {module}\tgo.mod\n040000 tree {package}\tlib\n040000 tree {importers}\tcmd\n")
    }
}

/// A commit of 24 files of 4 MiB each that differ, and repeat `,b` between `before` and `after`.
fn leaves(hostile: &Hostile, extension: &str, before: &str, after: &str) -> String {
    let repeated = ",b".repeat((2 << 20) - 4_096);
    let file = |number| {
        let text = format!("{before}{number}{repeated}{after}");
        (format!("f{number:02}.{extension}"), text)
    };
    texts(hostile, (0..24).map(file))
}

/// A commit of `files`, each with a text.
fn texts(hostile: &Hostile, files: impl Iterator<Item = (String, String)>) -> String {
    let entries: String = files
        .map(|(name, text)| format!("100644 blob {}\t{name}\n", hostile.blob(&text)))
        .collect();
    hostile.commit(&entries)
}

/// The most memory in MiB that the process has had, while it runs and where the system tells.
pub fn high_mark(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = mark.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}

/// The most memory in MiB that `coord graph` of `commit` had; none where the system does not tell.
fn peak(hostile: &Hostile, commit: &str) -> Option<u64> {
    let mut graph = Command::new(env!("CARGO_BIN_EXE_coord"))
        .args(["graph", "--format", "tsv", "--rev", commit, "--repo"])
        .arg(hostile.repo.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut most = None;
    loop {
        // The mark only rises, so that the last one is the highest.
        most = high_mark(graph.id()).or(most);
        if let Some(ended) = graph.try_wait().unwrap() {
            assert!(ended.success(), "{ended}");
            return most;
        }
        // time: between two samples of the memory.
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
#[ignore = "takes a minute alone: cargo test -p coord-cli --test graph_builds -- --ignored"]
fn no_repository_makes_a_build_take_300_mib_of_memory() {
    let hostile = Hostile::new();
    let imports: String = (0..20_000).map(|number| format!("import './f{number}'\n")).collect();
    let commits = [
        // As many files as a tree may have, with nearly as many bytes of paths.
        (
            "paths",
            hostile.commit_folders("export const one = 1;\n", 749, 1000, &"folder".repeat(11), "component-"),
        ),
        // As many imports as a file may have, in each file of a blob that is stored once.
        ("imports", hostile.commit_folders(&imports, 20, 1000, "d", "f")),
        // A few bytes of text for each import, and each import much longer than them.
        (
            "leaves of Rust",
            leaves(&hostile, "rs", &format!("use {}{{b", "a::".repeat(160)), "};"),
        ),
        (
            "names of Python",
            leaves(&hostile, "py", &format!("from {} import b", "a".repeat(4_000)), "\n"),
        ),
        // More edges than a graph may have, of a few objects.
        ("edges", hostile.commit(&hostile.go_packages(1_800))),
        // Folders in folders, each with a file.
        ("deep folders", deep(&hostile, 1_500)),
    ];
    all_take_less(&hostile, commits);
}

/// A commit of `depth` folders in each other, each with files that import from all above.
fn deep(hostile: &Hostile, depth: usize) -> String {
    let script: String = (0..200).map(|number| format!("import 'package-{number}'\n")).collect();
    let (script, python) = (hostile.blob(&script), hostile.blob("import a.b.c\nfrom .. import d\n"));
    let files = format!("100644 blob {script}\ta.ts\n100644 blob {python}\ta.py\n100644 blob {python}\t__init__.py\n");
    let modules = hostile.git("mktree", &format!("100644 blob {script}\tpackage.ts\n"));
    let mut tree = hostile.git("mktree", &files);
    for _ in 0..depth {
        let more = format!("{files}040000 tree {modules}\tnode_modules\n040000 tree {tree}\td\n");
        tree = hostile.git("mktree", &more);
    }
    hostile.commit_of(&tree)
}

/// Texts of all shapes that the tests of scanners know, in files as large as are scanned.
#[test]
#[ignore = "takes minutes alone: cargo test -p coord-cli --test graph_builds -- --ignored"]
fn no_text_of_any_language_makes_a_build_take_300_mib_of_memory() {
    const BYTES: usize = (4 << 20) - 4_096;
    let hostile = Hostile::new();
    let commits = EXTENSIONS.map(|extension| {
        let language = Language::of_path(&format!("a.{extension}")).expect("a language");
        let shapes = shapes::of(language).enumerate();
        let files = shapes.flat_map(|(shape, (_, text))| {
            let text = text(BYTES);
            [1, 2].map(|copy| (format!("f{shape:02}{copy}.{extension}"), format!("{text}\n{copy}")))
        });
        (extension, texts(&hostile, files))
    });
    assert_eq!(EXTENSIONS.len(), Language::all().count());
    all_take_less(&hostile, commits);
    // The maximum number of manifests of each kind, below separate folders.
    let importer = hostile.blob("import 'a'; import '#a'; import '@/a'; import 'a/b'; import './b'; import 'src/b'");
    let commits = manifest_examples().map(|name| {
        let folders = shapes::of_manifests().fold(String::new(), |mut lines, (shape, text)| {
            let manifest = hostile.blob(&text((1 << 20) - 4_096));
            let files = format!("100644 blob {importer}\ta.ts\n100644 blob {manifest}\t{name}\n");
            writeln!(lines, "040000 tree {}\t{shape}", hostile.git("mktree", &files)).unwrap();
            lines
        });
        (name, hostile.commit(&folders))
    });
    all_take_less(&hostile, commits.collect::<Vec<_>>());
}

/// A file name of each language ends in one of these.
const EXTENSIONS: [&str; 9] = ["js", "ts", "tsx", "vue", "svelte", "astro", "py", "rs", "go"];

fn all_take_less<'a>(hostile: &Hostile, commits: impl IntoIterator<Item = (&'a str, String)>) {
    for (label, commit) in commits {
        let start = std::time::Instant::now();
        let Some(most) = peak(hostile, &commit) else {
            return skip("the system does not tell the memory of a process");
        };
        println!("{label}: {most} MiB, {:?}", start.elapsed());
        assert!((10..MAX_MIB).contains(&most), "{label}: {most} MiB");
    }
}
