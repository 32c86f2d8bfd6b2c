//! Names of packages under the workspaces of each package manager.

use coord_graph::{Previous, Reason};

use super::import::{import, leads_to};
use super::repository::{cold, edges, everything, repository, snapshot_after, target};

// rule: languages#packages
#[test]
fn workspaces_are_found_by_name_whatever_manager_they_are_for() {
    let package = ("packages/p/package.json", r#"{"name": "@x/p", "main": "lib/m.js"}"#);
    let main = ("packages/p/lib/m.js", "");
    for root in [
        ("package.json", r#"{"workspaces": ["packages/*"]}"#),
        ("package.json", r#"{"workspaces": {"packages": ["./packages/**"]}}"#),
        ("pnpm-workspace.yaml", "packages:\n  - 'packages/*'\n"),
        ("pnpm-workspace.yaml", "\"packages\":\n  - 'packages/*'\n"),
        ("lerna.json", r#"{"packages": ["packages/*"]}"#),
        ("lerna.json", r#"{"version": "independent"}"#),
        (
            "rush.json",
            r#"{"projects": [{"packageName": "@x/p", "projectFolder": "packages/p"}]} // all"#,
        ),
        ("package.json", r#"{"dependencies": {"@x/p": "link:./packages/p"}}"#),
    ] {
        leads_to("@x/p", &[root, package, main], "packages/p/lib/m.js");
        leads_to("@x/p/lib/m", &[root, package, main], "packages/p/lib/m.js");
        assert_eq!(import("@x/p/no", &[root, package, main]), Err(Reason::NoEntry));
    }
    let negated = ("package.json", r#"{"workspaces": ["packages/*", "!packages/p"]}"#);
    assert_eq!(import("@x/p", &[negated, package, main]), Err(Reason::External));
}

const ROOT: &str = r#"{"name": "root", "main": "index.js", "workspaces": ["play/*"]}"#;

#[test]
fn the_root_of_a_workspace_is_linked_where_a_package_depends_on_it() {
    for (manager, version, is_linked) in [
        (("pnpm-workspace.yaml", "packages: [play/*]"), "workspace:*", true),
        (("pnpm-workspace.yaml", "packages: [., play/*]"), "workspace:^", true),
        (("yarn.lock", ""), "workspace:^1.0.0", true),
        (("yarn.lock", ""), "portal:../..", true),
        // npm links the members alone.
        (("package-lock.json", "{}"), "*", false),
        (("package-lock.json", "{}"), "^1.0.0", false),
    ] {
        let member = format!(r#"{{"name": "a", "dependencies": {{"root": "{version}"}}}}"#);
        let files = [
            manager,
            ("package.json", ROOT),
            ("index.js", ""),
            ("play/a/package.json", &member),
            ("play/a/main.js", "import 'root'"),
            ("play/b/main.js", "import 'root'"),
        ];
        let expected = if is_linked {
            Ok("index.js".to_owned())
        } else {
            Err(Reason::External)
        };
        assert_eq!(target(&files, "play/a/main.js"), expected, "{version} {}", manager.0);
        // Another package does not see it.
        assert_eq!(target(&files, "play/b/main.js"), Err(Reason::External), "{version}");
    }
}

#[test]
fn an_override_that_leads_into_the_repository_counts_for_every_package() {
    let [folder, alias] = ["link:./vendor/lib", "workspace:lib@*"];
    for (manifest, pnpm) in [
        (format!(r#"{{"resolutions": {{"lib": "{folder}"}}"#), String::new()),
        (
            r#"{"resolutions": {"**/lib": "portal:vendor/lib"}"#.to_owned(),
            String::new(),
        ),
        (format!(r#"{{"overrides": {{"lib": "{folder}"}}"#), String::new()),
        (
            r#"{"overrides": {"lib": {".": "file:vendor/lib"}}"#.to_owned(),
            String::new(),
        ),
        (
            format!(r#"{{"pnpm": {{"overrides": {{"lib@^1": "{folder}"}}}}"#),
            String::new(),
        ),
        ("{".to_owned(), format!("overrides:\n  lib: {folder}\n")),
        (
            "{".to_owned(),
            format!("packages: [vendor/*]\noverrides:\n  \"lib\": '{alias}'\n"),
        ),
    ] {
        let comma = if manifest == "{" { "" } else { "," };
        let root = format!(r#"{manifest}{comma} "workspaces": ["packages/*"]}}"#);
        let files = [
            ("package.json", root.as_str()),
            ("pnpm-workspace.yaml", &pnpm),
            ("packages/a/package.json", r#"{"dependencies": {"lib": "^1.0.0"}}"#),
            ("packages/a/a.js", "import 'lib'"),
            ("vendor/lib/package.json", r#"{"name": "lib", "main": "i.js"}"#),
            ("vendor/lib/i.js", ""),
        ];
        assert_eq!(
            target(&files, "packages/a/a.js"),
            Ok("vendor/lib/i.js".to_owned()),
            "{root} {pnpm}"
        );
    }
    // The root itself, in the place of a version from the registry.
    for version in ["link:.", "workspace:*"] {
        let root = format!(r#"{{"name": "root", "main": "index.js", "resolutions": {{"root": "{version}"}}}}"#);
        let files = [
            ("package.json", root.as_str()),
            ("pnpm-workspace.yaml", "packages: [play/*]"),
            ("index.js", ""),
            ("play/a/package.json", r#"{"dependencies": {"root": "latest"}}"#),
            ("play/a/main.js", "import 'root'"),
        ];
        assert_eq!(target(&files, "play/a/main.js"), Ok("index.js".to_owned()), "{version}");
    }
    // One below a certain package says nothing about others.
    let nested = [
        ("package.json", r#"{"resolutions": {"other/lib": "link:./vendor/lib"}}"#),
        ("vendor/lib/package.json", r#"{"name": "lib", "main": "i.js"}"#),
        ("vendor/lib/i.js", ""),
    ];
    assert_eq!(import("lib", &nested), Err(Reason::External));
}

#[test]
fn a_dependency_on_the_workspace_may_have_another_name_or_a_path() {
    let files = |version: &str| {
        let member = format!(r#"{{"name": "app", "devDependencies": {{"bar": "{version}"}}}}"#);
        repository(&[
            ("pnpm-workspace.yaml", "packages: [packages/*]"),
            (
                "packages/foo/package.json",
                r#"{"name": "@s/foo", "main": "src/index.ts"}"#,
            ),
            ("packages/foo/src/index.ts", ""),
            ("packages/app/package.json", &member),
            ("packages/app/a.ts", "import 'bar'"),
            ("packages/other/b.ts", "import 'bar'"),
        ])
    };
    for version in [
        "workspace:@s/foo@*",
        "workspace:@s/foo@^1.0.0",
        "workspace:../foo",
        "link:../foo",
        "file:../foo",
    ] {
        let found = edges(cold(&files(version)).graph());
        assert_eq!(found, ["packages/app/a.ts -> packages/foo/src/index.ts"], "{version}");
    }
    for version in [
        "workspace:@s/gone@*",
        "workspace:../gone",
        "npm:@s/foo@1",
        "workspace:*",
    ] {
        assert!(edges(cold(&files(version)).graph()).is_empty(), "{version}");
    }
}

#[test]
fn an_edited_dependency_or_workspace_changes_the_files_that_import_it() {
    let mut files = repository(&[
        ("package.json", ROOT),
        ("index.js", ""),
        (
            "play/a/package.json",
            r#"{"name": "a", "dependencies": {"root": "latest"}}"#,
        ),
        ("play/a/main.js", "import 'root'; import 'b'"),
        ("lib/b/package.json", r#"{"name": "b", "main": "b.js"}"#),
        ("lib/b/b.js", ""),
    ]);
    let mut snapshot = cold(&files);
    let linked = r#"{"name": "a", "dependencies": {"root": "workspace:*"}}"#;
    let overridden = ROOT.replace('}', r#", "overrides": {"b": "file:lib/b"}}"#);
    for (path, text, expected) in [
        ("play/a/package.json", linked, 1),
        ("package.json", &overridden, 2),
        ("package.json", ROOT, 1),
        ("lerna.json", r#"{"packages": ["lib/*"]}"#, 2),
        ("lerna.json", "{}", 1),
        ("rush.json", r#"{"projects": [{"projectFolder": "lib/b"}]}"#, 2),
        ("pnpm-workspace.yaml", "overrides:\n  root: link:./lib/b\n", 2),
        ("play/a/package.json", r#"{"name": "a"}"#, 1),
        ("pnpm-workspace.yaml", "", 1),
    ] {
        files.insert(path.to_owned(), text.to_owned());
        snapshot = snapshot_after(Previous::Snapshot(snapshot), &files).0;
        assert_eq!(snapshot.graph().edge_count(), expected, "{path}: {text}");
        assert_eq!(everything(&snapshot), everything(&cold(&files)), "{path}: {text}");
    }
}
