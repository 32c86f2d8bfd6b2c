//! `--rev`: whose graph it is.

use crate::graph_command::running::{graph, refusal, repository};

#[test]
fn a_branch_a_tag_an_id_and_what_leads_to_one_name_a_commit() {
    let (_temp, repo) = repository(&[("a.ts", "import './b';"), ("b.ts", ""), ("c.ts", "")]);
    let first = repo.git(&["rev-parse", "HEAD"]);
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
    let (_temp, repo) = repository(&[("a.ts", "")]);
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
        let message = refusal(repo.path(), &[&format!("--rev={revision}")]);
        for part in [why, revision] {
            assert!(message.contains(part), "{revision}: {message}");
        }
        assert!(!message.contains("panicked"), "{message}");
    }
    let head = repo.git(&["rev-parse", "HEAD"]);
    assert_eq!(graph(repo.path(), &["--rev", &head]), "");
}
