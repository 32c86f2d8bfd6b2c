//! `--rev`: whose graph it is.

use tempfile::tempdir;

use crate::graph_command::running::{graph, refusal};
use coord_test_support::git::Repo;

#[test]
fn a_branch_a_tag_an_id_and_what_leads_to_one_name_a_commit() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let first = repo.commit(&[("a.ts", "import './b';"), ("b.ts", ""), ("c.ts", "")]);
    repo.git(&["tag", "light"]);
    repo.git(&["tag", "--annotate", "--message", "A release", "v1"]);
    repo.git(&["tag", "--annotate", "--message", "A tag of a tag", "nested", "v1"]);
    repo.git(&["branch", "old"]);
    let second = repo.commit(&[("a.ts", "import './c';")]);
    repo.git(&["update-ref", "refs/remotes/origin/main", &first]);
    for revision in [
        "old",
        "refs/heads/old",
        "light",
        "v1",
        "nested",
        "v1^{commit}",
        "HEAD~1",
        "HEAD^",
        "main~",
        "origin/main",
        &first,
        &first[..7],
        "@~",
    ] {
        assert_eq!(graph(repo.path(), &["--rev", revision]), "a.ts\tb.ts\n", "{revision}");
    }
    for revision in ["main", "HEAD", &second, &second[..10]] {
        assert_eq!(graph(repo.path(), &["--rev", revision]), "a.ts\tc.ts\n", "{revision}");
    }
    assert_eq!(graph(repo.path(), &[]), "a.ts\tc.ts\n");
    repo.git(&["checkout", "--quiet", "--detach", "old"]);
    assert_eq!(graph(repo.path(), &[]), "a.ts\tb.ts\n");
}

#[test]
fn an_unknown_commit_is_refused_with_its_name() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let head = repo.commit(&[("a.ts", "")]);
    let blob = repo.git(&["rev-parse", "HEAD:a.ts"]);
    repo.git(&["tag", "content", &blob]);
    for (revision, why) in [
        (blob.as_str(), "it is a blob"),
        ("content", "it is a blob"),
        ("HEAD:a.ts", "it is a blob"),
        ("HEAD^{tree}", "it is a tree"),
        ("nowhere", ""),
        ("HEAD~7", ""),
        ("0123456789", ""),
        ("main..main", ""),
        ("", ""),
        ("--stats", ""),
    ] {
        let option = format!("--rev={revision}");
        let message = refusal(repo.path(), &[&option]);
        assert!(message.contains(why), "{revision}: {message}");
        assert!(
            revision.is_empty() || message.contains(revision),
            "{revision}: {message}"
        );
        assert!(!message.contains("panicked"), "{message}");
    }
    assert_eq!(graph(repo.path(), &["--rev", &head]), "");
}
