//! Repositories that are small to push, in which manifests, links and folders multiply the work and the memory of each import.

use coord_graph::{Blob, Bound, EntryKind, Limits, Previous, Snapshot, TreeEntry, Update};

use crate::check::peak_of;

/// The most memory that a build of any of them may take.
const MAX_BYTES: usize = 200 << 20;

/// A repository: its texts, and its files by path, each with the number of its text.
#[derive(Default)]
pub struct Repository {
    texts: Vec<String>,
    files: Vec<(String, EntryKind, usize)>,
}

impl Repository {
    fn text(&mut self, text: String) -> usize {
        self.texts.push(text);
        self.texts.len() - 1
    }

    fn file(mut self, path: &str, text: impl Into<String>) -> Self {
        let text = self.text(text.into());
        self.files.push((path.to_owned(), EntryKind::File, text));
        self
    }

    /// `count` files or links of one text.
    fn many(mut self, kind: EntryKind, count: usize, text: &str, path: impl Fn(usize) -> String) -> Self {
        let text = self.text(text.to_owned());
        self.files.extend((0..count).map(|number| (path(number), kind, text)));
        self
    }

    /// `count` files of one text; `%` in the path is the number.
    fn files(self, count: usize, path: &str, text: &str) -> Self {
        self.many(EntryKind::File, count, text, |number| numbered(path, number))
    }

    /// `count` links to one target; `%` in the path is the number.
    fn links(self, count: usize, path: &str, target: &str) -> Self {
        self.many(EntryKind::Symlink, count, target, |number| numbered(path, number))
    }

    fn build(&self) -> Snapshot {
        let entry = |(path, kind, text): &(String, EntryKind, usize)| TreeEntry {
            path: path.clone(),
            blob: format!("{text:040x}"),
            kind: *kind,
        };
        let tree = self.files.iter().map(entry).collect();
        let update = Update::begin(Previous::Nothing, tree, Limits::default());
        loop {
            let wanted = update.wanted();
            if wanted.is_empty() {
                return update.finish();
            }
            for one in wanted {
                let text = usize::from_str_radix(&one.blob, 16).unwrap();
                update.supply(one.file, Blob::Content(self.texts[text].as_bytes()));
            }
        }
    }
}

fn numbered(text: &str, number: usize) -> String {
    text.replace('%', &number.to_string())
}

/// `count` lines; `%` is the number of each.
fn lines(count: usize, line: &str) -> String {
    (0..count).map(|number| numbered(line, number)).collect()
}

fn around(before: &str, lines: &str, after: &str) -> String {
    [before, lines, after].concat()
}

/// As many imports as a file may have.
fn imports(name: &str) -> String {
    lines(20_000, &format!("import'{name}';"))
}

/// Each with the bound that its build has to name.
pub fn all() -> Vec<(&'static str, Bound, Repository)> {
    let new = Repository::default;
    let paths = r#"{"compilerOptions":{"paths":{"#;
    let targets = around(r#""*":["#, &lines(100_000, r#""a/*","#), "");
    let excluded = r#""b","#.repeat(200_000);
    let dependencies = lines(30_000, r#""d%":"workspace:b@*","#);
    vec![
        (
            "patterns of paths",
            Bound::FileLookups,
            new()
                .file(
                    "tsconfig.json",
                    around(paths, &lines(50_000, r#""q%*":["a"],"#), r#""z":[]}}}"#),
                )
                .files(4, "a%.ts", &imports("p%x")),
        ),
        (
            "targets of a pattern",
            Bound::FileLookups,
            new()
                .file("tsconfig.json", around(paths, &targets, r#""*"]}}}"#))
                .files(2, "a%.ts", &imports("p%x")),
        ),
        (
            "root folders",
            Bound::FileLookups,
            new()
                .file(
                    "tsconfig.json",
                    around(
                        r#"{"compilerOptions":{"rootDirs":["#,
                        &lines(50_000, r#""d%","#),
                        r#""."]}}"#,
                    ),
                )
                .file("a.ts", imports("./p%")),
        ),
        (
            "keys of exports",
            Bound::FileLookups,
            new()
                .file(
                    "package.json",
                    around(
                        r#"{"name":"a","exports":{"#,
                        &lines(60_000, r#""./%*":"./a","#),
                        r#"".":"./a"}}"#,
                    ),
                )
                .file("a.ts", imports("a/q%")),
        ),
        (
            "excluded files of a config that others extend",
            Bound::Manifests,
            new()
                .file("base.json", around(r#"{"exclude":["#, &excluded, r#""a"]}"#))
                .files(10_000, "d%/tsconfig.json", r#"{"extends":"../base.json"}"#),
        ),
        (
            "a package in many folders",
            Bound::Links,
            new()
                .file(
                    "p/package.json",
                    around(r#"{"name":"a","exports":["#, &"1,".repeat(400_000), "1]}"),
                )
                .links(60_000, "l%", "p"),
        ),
        (
            "links to a folder",
            Bound::Links,
            new().files(20_000, "d/f%.ts", "").links(20_000, "l%", "d"),
        ),
        (
            "roots of Python",
            Bound::FileLookups,
            new()
                .files(5_000, "r/x%/a/__init__.py", "")
                .file("r/z.py", lines(20_000, "import a.b%\n")),
        ),
        (
            "patterns that match many files",
            Bound::FileLookups,
            new()
                .files(100_000, "d/f%.css", "")
                .file("a.ts", lines(5_000, "import.meta.glob('./d/*%*');"))
                .files(100, "g%.ts", "import.meta.glob(['./**', '!./**/*9*'])"),
        ),
        (
            "layers of many projects",
            Bound::Manifests,
            (0..256).fold(
                new().files(
                    3_000,
                    "p%/nuxt.config.ts",
                    &around("export default { extends: [", &lines(256, "'../n%',"), "] }"),
                ),
                |all, number| {
                    let layer = numbered("export default { $meta: { name: 'n%' } }", number);
                    all.file(&format!("n{number}/nuxt.config.ts"), layer)
                },
            ),
        ),
        (
            "configs that name the next one",
            Bound::Manifests,
            (0..1_000).fold(
                new().file("tsconfig.json", r#"{"extends":"./c0.json"}"#),
                |all, number| {
                    let next = numbered(r#"{"extends":"./c%.json"}"#, number + 1);
                    all.file(&format!("c{number}.json"), next)
                },
            ),
        ),
        (
            "dependencies on a package of the workspace",
            Bound::Manifests,
            new()
                .file("p/b/package.json", r#"{"name":"b"}"#)
                .file("package.json", r#"{"workspaces":["p/*"]}"#)
                .files(
                    60,
                    "p/%/package.json",
                    &around(r#"{"dependencies":{"#, &dependencies, r#""z":"1"}}"#),
                ),
        ),
        (
            "import maps in each other",
            Bound::FileLookups,
            (0..400)
                .fold(new(), |all, number| {
                    let map = numbered(r#"{"imports":{"x%/":"./x/"}}"#, number);
                    all.file(&format!("{}deno.json", "d/".repeat(number)), map)
                })
                .file(&format!("{}a.ts", "d/".repeat(400)), imports("x0/%")),
        ),
        (
            "replaced modules in a deep folder",
            Bound::Manifests,
            new().files(
                30,
                &format!("%/{}/go.mod", "deep/".repeat(700)),
                &around("module m\n", &lines(40_000, "replace a/% => ./\n"), ""),
            ),
        ),
    ]
}

/// Namespaces of Python in many roots. Their files are looked for within the bounds of the repository.
pub fn namespaces() -> Repository {
    let imports = "import deep.deep.x, a.b, deep.a\nfrom deep import x\n";
    Repository::default()
        .many(EntryKind::File, 40_000, "", |number| {
            format!("src/{}x{number}/a/__init__.py", "deep/".repeat(number % 14))
        })
        .files(1_000, "src/deep/m%.py", imports)
        .file("src/z.py", lines(20_000, "import a.b%\n"))
}

/// Targets of `exports` that repeat the text for which they stand.
pub fn stars() -> Repository {
    let exports = around(r#"{"name":"a","exports":{"./*":""#, &"*".repeat(1_000_000), r#""}}"#);
    Repository::default()
        .file("package.json", exports)
        .file("a.ts", around("import'a/", &"b".repeat(4_000), "'"))
}

/// Builds `repository`, and says which bounds that met.
pub fn check(name: &str, repository: &Repository) -> Vec<Bound> {
    let (snapshot, peak) = peak_of(|| repository.build());
    assert!(peak <= MAX_BYTES, "{name} took {} MiB", peak >> 20);
    for met in snapshot.graph().bounds() {
        assert!(met.files > 0 && met.first.len() == met.files.min(5), "{name}: {met:?}");
    }
    snapshot.graph().bounds().iter().map(|met| met.bound).collect()
}
