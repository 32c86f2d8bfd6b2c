//! Repositories that are small to push, in which manifests, links and folders multiply the work and the memory of each import.

use coord_graph::{Blob, Bound, EntryKind, Limits, Previous, Snapshot, TreeEntry, Update};

use crate::check::peak_of;

/// The most memory that a build of any of them may take.
const MOST_BYTES: usize = 200 << 20;

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

    fn file(mut self, path: &str, text: String) -> Self {
        let text = self.text(text);
        self.files.push((path.to_owned(), EntryKind::File, text));
        self
    }

    /// `count` files or links of one text.
    fn many(mut self, kind: EntryKind, count: usize, text: &str, path: impl Fn(usize) -> String) -> Self {
        let text = self.text(text.to_owned());
        self.files.extend((0..count).map(|number| (path(number), kind, text)));
        self
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

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// As many imports as a file may have.
fn imports(of: impl Fn(usize) -> String) -> String {
    lines(20_000, |number| format!("import'{}';", of(number)))
}

/// Each with the bound that its build has to name.
pub fn all() -> Vec<(&'static str, Bound, Repository)> {
    let named = |number: usize| format!("p{number}x");
    let new = Repository::default;
    vec![
        (
            "patterns of paths",
            Bound::FileLookups,
            new()
                .file(
                    "tsconfig.json",
                    format!(
                        "{{\"compilerOptions\":{{\"paths\":{{{}\"z\":[]}}}}}}",
                        lines(50_000, |number| format!("\"q{number}*\":[\"a\"],"))
                    ),
                )
                .many(EntryKind::File, 4, &imports(named), |number| format!("a{number}.ts")),
        ),
        (
            "targets of a pattern",
            Bound::FileLookups,
            new()
                .file(
                    "tsconfig.json",
                    format!(
                        "{{\"compilerOptions\":{{\"paths\":{{\"*\":[{}\"*\"]}}}}}}",
                        "\"a/*\",".repeat(100_000)
                    ),
                )
                .many(EntryKind::File, 2, &imports(named), |number| format!("a{number}.ts")),
        ),
        (
            "root folders",
            Bound::FileLookups,
            new()
                .file(
                    "tsconfig.json",
                    format!(
                        "{{\"compilerOptions\":{{\"rootDirs\":[{}\".\"]}}}}",
                        lines(50_000, |number| format!("\"d{number}\","))
                    ),
                )
                .file("a.ts", imports(|number| format!("./p{number}"))),
        ),
        (
            "keys of exports",
            Bound::FileLookups,
            new()
                .file(
                    "package.json",
                    format!(
                        "{{\"name\":\"a\",\"exports\":{{{}\".\":\"./a\"}}}}",
                        lines(60_000, |number| format!("\"./{number}*\":\"./a\","))
                    ),
                )
                .file("a.ts", imports(|number| format!("a/q{number}"))),
        ),
        (
            "excluded files of a config that others extend",
            Bound::Manifests,
            new()
                .file(
                    "base.json",
                    format!("{{\"exclude\":[{}\"a\"]}}", "\"b\",".repeat(200_000)),
                )
                .many(EntryKind::File, 10_000, "{\"extends\":\"../base.json\"}", |number| {
                    format!("d{number}/tsconfig.json")
                }),
        ),
        (
            "a package in many folders",
            Bound::Links,
            new()
                .file(
                    "p/package.json",
                    format!("{{\"name\":\"a\",\"exports\":[{}1]}}", "1,".repeat(400_000)),
                )
                .many(EntryKind::Symlink, 60_000, "p", |number| format!("l{number}")),
        ),
        (
            "links to a folder",
            Bound::Links,
            new()
                .many(EntryKind::File, 20_000, "", |number| format!("d/f{number}.ts"))
                .many(EntryKind::Symlink, 20_000, "d", |number| format!("l{number}")),
        ),
        (
            "roots of Python",
            Bound::FileLookups,
            new()
                .many(EntryKind::File, 5_000, "", |number| {
                    format!("r/x{number}/a/__init__.py")
                })
                .file("r/z.py", lines(20_000, |number| format!("import a.b{number}\n"))),
        ),
        (
            "patterns that match many files",
            Bound::FileLookups,
            new()
                .many(EntryKind::File, 100_000, "", |number| format!("d/f{number}.css"))
                .file(
                    "a.ts",
                    lines(5_000, |number| format!("import.meta.glob('./d/*{number}*');")),
                )
                .many(
                    EntryKind::File,
                    100,
                    "import.meta.glob(['./**', '!./**/*9*'])",
                    |number| format!("g{number}.ts"),
                ),
        ),
        (
            "layers of many projects",
            Bound::Manifests,
            (0..256).fold(
                new().many(
                    EntryKind::File,
                    3_000,
                    &format!(
                        "export default {{ extends: [{}] }}",
                        lines(256, |number| format!("'../n{number}',"))
                    ),
                    |number| format!("p{number}/nuxt.config.ts"),
                ),
                |all, number| {
                    all.file(
                        &format!("n{number}/nuxt.config.ts"),
                        format!("export default {{ $meta: {{ name: 'n{number}' }} }}"),
                    )
                },
            ),
        ),
        (
            "configs that name the next one",
            Bound::Manifests,
            (0..1_000).fold(
                new().file("tsconfig.json", "{\"extends\":\"./c0.json\"}".to_owned()),
                |all, number| {
                    let next = format!("{{\"extends\":\"./c{}.json\"}}", number + 1);
                    all.file(&format!("c{number}.json"), next)
                },
            ),
        ),
        (
            "dependencies on a package of the workspace",
            Bound::Manifests,
            new()
                .file("p/b/package.json", "{\"name\":\"b\"}".to_owned())
                .file("package.json", "{\"workspaces\":[\"p/*\"]}".to_owned())
                .many(
                    EntryKind::File,
                    60,
                    &format!(
                        "{{\"dependencies\":{{{}\"z\":\"1\"}}}}",
                        lines(30_000, |number| format!("\"d{number}\":\"workspace:b@*\","))
                    ),
                    |number| format!("p/{number}/package.json"),
                ),
        ),
        (
            "import maps in each other",
            Bound::FileLookups,
            (0..400)
                .fold(new(), |all, number| {
                    let map = format!("{{\"imports\":{{\"x{number}/\":\"./x/\"}}}}");
                    all.file(&format!("{}deno.json", "d/".repeat(number)), map)
                })
                .file(
                    &format!("{}a.ts", "d/".repeat(400)),
                    imports(|number| format!("x0/{number}")),
                ),
        ),
        (
            "replaced modules in a deep folder",
            Bound::Manifests,
            new().many(
                EntryKind::File,
                30,
                &format!(
                    "module m\n{}",
                    lines(40_000, |number| format!("replace a/{number} => ./\n"))
                ),
                |number| format!("{number}/{}/go.mod", "deep/".repeat(700)),
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
        .many(EntryKind::File, 1_000, imports, |number| {
            format!("src/deep/m{number}.py")
        })
        .file("src/z.py", lines(20_000, |number| format!("import a.b{number}\n")))
}

/// Targets of `exports` that repeat the text for which they stand.
pub fn stars() -> Repository {
    Repository::default()
        .file(
            "package.json",
            format!(
                "{{\"name\":\"a\",\"exports\":{{\"./*\":\"{}\"}}}}",
                "*".repeat(1_000_000)
            ),
        )
        .file("a.ts", format!("import'a/{}'", "b".repeat(4_000)))
}

/// Builds `repository`, and says which bounds that met.
pub fn check(name: &str, repository: &Repository) -> Vec<Bound> {
    let (snapshot, peak) = peak_of(|| repository.build());
    assert!(peak <= MOST_BYTES, "{name} took {} MiB", peak >> 20);
    for met in snapshot.graph().bounds() {
        assert!(met.files > 0 && met.first.len() == met.files.min(5), "{name}: {met:?}");
    }
    snapshot.graph().bounds().iter().map(|met| met.bound).collect()
}
