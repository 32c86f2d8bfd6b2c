//! Calls that import all files that match: `import.meta.glob()` and `require.context()`.

use coord_graph::Previous;

use super::repository::{Repository, cold, edges_of, everything, repository, snapshot_after};

/// The files that `text` in `src/a.ts` imports, of `files`.
fn targets(text: &str, files: &[&str]) -> Vec<String> {
    let config = r#"{"compilerOptions": {"paths": {"@/*": ["./lib/*"]}}}"#;
    let mut all = vec![("src/a.ts", text), ("tsconfig.json", config)];
    all.extend(files.iter().map(|path| (*path, "")));
    let edges = edges_of(&all).into_iter();
    edges
        .map(|edge| edge.trim_start_matches("src/a.ts -> ").to_owned())
        .collect()
}

const FILES: &[&str] = &[
    "package.json",
    "lib/l.ts",
    "src/.hidden.ts",
    "src/b.ts",
    "src/b.vue",
    "src/d/b.ts",
    "src/d/b.test.ts",
    "src/d/e/f.js",
    "src/d/node_modules/n/n.ts",
    "src/dd/x.ts",
];

// rule: languages#globs
#[test]
fn a_glob_imports_every_file_that_matches() {
    for (text, expected) in [
        ("import.meta.glob('./*.ts')", vec!["src/b.ts"]),
        (
            "import.meta.glob('./d/**')",
            vec!["src/d/b.test.ts", "src/d/b.ts", "src/d/e/f.js"],
        ),
        (
            "import.meta.glob('./**/b.{ts,vue}')",
            vec!["src/b.ts", "src/b.vue", "src/d/b.ts"],
        ),
        (
            "import.meta.glob(['./d/*.ts', '!**/*.test.ts', './*.vue'])",
            vec!["src/b.vue", "src/d/b.ts"],
        ),
        (
            "import.meta.glob<Module>(`./d/?.ts`, { eager: true })",
            vec!["src/d/b.ts"],
        ),
        (
            "import.meta.glob('./*.ts', { import: 'base', base: './d' })",
            vec!["src/d/b.test.ts", "src/d/b.ts"],
        ),
        (
            "import.meta.glob(['../*.ts', '!./b.ts'], { base: './d/e', })",
            vec!["src/d/b.test.ts", "src/d/b.ts"],
        ),
        ("import.meta.glob('/src/dd/*')", vec!["src/dd/x.ts"]),
        ("import.meta.glob('@/*.ts')", vec!["lib/l.ts"]),
        ("import.meta.glob('./.*.ts')", vec!["src/.hidden.ts"]),
        ("import.meta.glob('./b.ts')", vec!["src/b.ts"]),
        ("import.meta.glob(['./*.ts', other])", vec![]),
        ("import.meta.glob(`./${a}.ts`)", vec![]),
        (
            "import.meta.glob('./!(b).ts'); import.meta.glob('./[b].ts'); import.meta.glob('x/*.ts')",
            vec![],
        ),
        ("import.meta.glob(['./*.ts', '!./[b].ts'])", vec![]),
        ("import.meta.globs('./*.ts'); meta.glob('./*.ts'); '*'", vec![]),
        (
            "require.context('./d')",
            vec!["src/d/b.test.ts", "src/d/b.ts", "src/d/e/f.js"],
        ),
        (
            "require.context('./d/', false, /\\.(ts|js)$/)",
            vec!["src/d/b.test.ts", "src/d/b.ts"],
        ),
        (
            "require.context('.', true, /^\\.\\/.*\\.vue$/, 'lazy')",
            vec!["src/b.vue"],
        ),
        (
            "require.context('..', true, /\\/b\\.ts$/)",
            vec!["src/b.ts", "src/d/b.ts"],
        ),
        ("require.context('@', true)", vec!["lib/l.ts"]),
        ("require.context('@/', true)", vec!["lib/l.ts"]),
        (
            "require.context('./d', deep); require.context('./d', true, /[b]/); require.context(d)",
            vec![],
        ),
    ] {
        assert_eq!(targets(text, FILES), expected, "{text}");
    }
}

#[test]
fn a_glob_of_a_package_begins_at_its_folder() {
    let files = [
        ("p/package.json", "{}"),
        (
            "p/src/a.vue",
            "<script>const all = import.meta.glob('/src/**/*.ts')</script>",
        ),
        ("p/src/b/c.ts", ""),
        ("src/d.ts", ""),
    ];
    assert_eq!(edges_of(&files), ["p/src/a.vue -> p/src/b/c.ts"]);
}

#[test]
fn a_glob_knows_the_root_and_the_aliases_of_vite() {
    let config = "export default { root: 'client', resolve: { alias: { '@': path.resolve(__dirname, 'lib') } } }";
    let text = "import.meta.glob(['/b/*.ts', '!**/not.ts']); import.meta.glob('@/*.ts')";
    let files = [
        ("p/vite.config.ts", config),
        ("p/package.json", "{}"),
        ("p/client/a.ts", text),
        ("p/client/b/c.ts", ""),
        ("p/client/b/not.ts", ""),
        ("p/b/d.ts", ""),
        ("p/lib/e.ts", ""),
    ];
    assert_eq!(
        edges_of(&files),
        ["p/client/a.ts -> p/client/b/c.ts", "p/client/a.ts -> p/lib/e.ts"]
    );
    // The root of the whole repository is none of the package's.
    let files = [
        ("vite.config.ts", "export default {}"),
        ("p/package.json", "{}"),
        ("p/a.ts", "import.meta.glob('/b/*.ts')"),
        ("p/b/c.ts", ""),
        ("b/d.ts", ""),
    ];
    assert_eq!(edges_of(&files), ["p/a.ts -> p/b/c.ts"]);
}

#[test]
fn a_glob_follows_tracked_links() {
    let files = [
        ("a.ts", "import.meta.glob('./shared/*.ts'); import.meta.glob('./l/*')"),
        ("shared", "LINK lib"),
        ("lib/x.ts", ""),
        ("l/one.ts", "LINK ../lib/x.ts"),
        ("l/folder", "LINK ../lib"),
        ("l/gone", "LINK ../gone"),
    ];
    assert_eq!(edges_of(&files), ["a.ts -> lib/x.ts"]);
}

#[test]
fn files_that_come_and_go_change_the_edges_of_a_glob() {
    let mut files: Repository = repository(&[
        ("src/a.ts", "import.meta.glob(['./d/**/*.ts', '!./d/no/**'])"),
        ("src/d/b.ts", ""),
        ("other.ts", ""),
    ]);
    let mut snapshot = cold(&files);
    let steps: [(&[&str], &[&str], usize); 6] = [
        (&["src/d/new/c.ts"], &[], 2),
        (&["src/d/no/c.ts", "src/x.ts"], &[], 2),
        (&[], &["src/d/b.ts"], 1),
        (&["src/d/b.ts", "src/d/e.ts"], &["src/d/new/c.ts"], 2),
        (&[], &["src/d/b.ts", "src/d/e.ts", "src/d/no/c.ts"], 0),
        (&["src/d/z.ts"], &["other.ts"], 1),
    ];
    for (come, gone, expected) in steps {
        for path in come {
            files.insert((*path).to_owned(), String::new());
        }
        for path in gone {
            files.remove(*path);
        }
        snapshot = snapshot_after(Previous::Snapshot(snapshot), &files).0;
        assert_eq!(snapshot.graph().edge_count(), expected, "{come:?} {gone:?}");
        assert_eq!(everything(&snapshot), everything(&cold(&files)), "{come:?} {gone:?}");
    }
}
