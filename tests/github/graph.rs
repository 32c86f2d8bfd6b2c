use std::sync::Arc;

use coord_builds::build::build;
use coord_domain::{CommitSha, RepoId};
use coord_git::GitSource;
use coord_graph::{Limits, Previous, Snapshot};
use coord_sources::Source;

use crate::{commit_all, id, sha, source};
use coord_test_support::git::Repo;
use coord_test_support::github::{Fake, Fault};

async fn snapshot(source: &dyn Source, repo: &RepoId, head: &CommitSha, previous: Previous) -> Arc<Snapshot> {
    let limits = Limits {
        max_file_bytes: 100_000,
        ..Limits::default()
    };
    let built = build(source, repo, head, previous, limits, Arc::new(|_| ())).await;
    Arc::new(built.unwrap())
}

/// Everything that a graph says.
fn contents(snapshot: &Arc<Snapshot>) -> Vec<String> {
    let mut lines: Vec<String> = snapshot
        .records()
        .map(|(path, record)| format!("{path} {record:?} {:?}", snapshot.explain(path)))
        .collect();
    let graph = snapshot.graph();
    lines.extend(graph.nodes().map(|node| format!("{node:?}")));
    lines.extend(graph.edges().map(|edge| format!("{edge:?}")));
    lines
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_graph_is_that_of_the_local_source() {
    let temp = tempfile::tempdir().unwrap();
    let library = Repo::init(temp.path().join("library"), &[]);
    library.commit(&[("l", "1")]);
    let repo = Repo::init(temp.path().join("repo"), &[]);
    let scripts = (0..200).map(|number| {
        let package = number % 9;
        let text = format!("import './f{}';\nimport 'p{package}';\n", (number + 9) % 200);
        (format!("packages/p{package}/src/f{number}.ts"), text)
    });
    let manifests = (0..9).map(|number| {
        let text = format!(r#"{{"name": "p{number}", "main": "src/f{number}.ts"}}"#);
        (format!("packages/p{number}/package.json"), text)
    });
    commit_all(&repo, scripts.chain(manifests));
    let huge = format!("import './a';\n{}", "// x\n".repeat(40_000));
    repo.commit(&[
        ("package.json", r#"{"workspaces": ["packages/*"]}"#),
        ("tsconfig.json", r#"{"extends": "./base.json"}"#),
        ("base.json", r#"{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}"#),
        (".gitattributes", "ignored/* export-ignore\nsrc/subst.ts export-subst\n"),
        ("ignored/a.ts", "import '../src/a';\n"),
        ("src/subst.ts", "import './a'; // $Format:%H$\n"),
        ("src/a.ts", "import '@/b';\nimport '../link';\nimport '../ignored/a';\n"),
        ("src/b.ts", "import '../lfs';\nimport '../vendor/library/l';\n"),
        ("src/huge.ts", huge.as_str()),
        (
            "lfs.ts",
            "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        ),
        ("py/app.py", "from . import models\nimport py.models\n"),
        ("py/models.py", ""),
        ("py/__init__.py", ""),
    ]);
    std::fs::write(repo.path().join("src/binary.ts"), b"import './a'\0").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("src/a.ts", repo.path().join("link.ts")).unwrap();
    let library = library.path().to_str().unwrap();
    repo.git(&["submodule", "--quiet", "add", library, "vendor/library"]);
    let head = sha(&repo.commit(&[]));

    let local = GitSource::open(&[repo.path().to_owned()]).unwrap();
    let local_id = local.repositories().remove(0);
    let fake = Fake::serve(repo.path()).await;
    let github = source(&fake);
    let expected = snapshot(&local, &local_id, &head, Previous::Nothing).await;
    let got = snapshot(&github, &id(), &head, Previous::Nothing).await;
    assert_eq!(contents(&got), contents(&expected));
    assert!(got.graph().edge_count() > 300);
    // The tree, the archive, the two that it does not have as git has them, and the config that another one names.
    let seen = fake.seen();
    let downloads = seen.iter().filter(|seen| seen.is_download).count();
    assert_eq!((seen.len() - downloads, downloads), (5, 1));

    // A change costs its tree and its blobs; one that came by force as well.
    for options in [
        &["commit", "--quiet", "--allow-empty", "--message", "x"][..],
        &["reset", "--quiet", "--hard", "HEAD~1"],
    ] {
        repo.git(options);
        let next = sha(&repo.commit(&[("src/b.ts", "import './a';\n"), ("src/c.ts", "import './b';\n")]));
        let updated = snapshot(&github, &id(), &next, Previous::Snapshot(Arc::clone(&got))).await;
        assert_eq!(fake.seen().len(), 3, "{options:?}");
        assert_eq!(
            contents(&updated),
            contents(&snapshot(&local, &local_id, &next, Previous::Nothing).await)
        );
    }

    // The same when the archive breaks off and the tree comes in pieces.
    fake.behave(|behavior| behavior.most_tree_entries = Some(20));
    fake.fail("legacy.tar.gz", 1, Fault::Cut);
    let fresh = source(&fake);
    assert_eq!(
        contents(&snapshot(&fresh, &id(), &head, Previous::Nothing).await),
        contents(&expected)
    );
}
