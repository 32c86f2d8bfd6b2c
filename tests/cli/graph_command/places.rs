//! `--repo`: where the repository is.

use std::fs;

use coord_test_support::git::Repo;
use tempfile::{TempDir, tempdir};

use crate::graph_command::running::{graph, refusal, repository};

const EDGE: &str = "src/a.ts\tsrc/b.ts\n";

fn project() -> (TempDir, Repo) {
    repository(&[("src/a.ts", "import './b';"), ("src/b.ts", "")])
}

#[test]
fn a_folder_inside_a_git_folder_and_a_path_from_elsewhere_lead_to_it() {
    let (temp, repo) = project();
    assert_eq!(graph(repo.path(), &[]), EDGE);
    assert_eq!(graph(&repo.path().join("src"), &[]), EDGE);
    for place in ["repo", "repo/src", "repo/.git", "./repo/src/.."] {
        assert_eq!(graph(temp.path(), &["--repo", place]), EDGE, "{place}");
    }
}

#[test]
fn a_bare_repository_has_a_graph() {
    let (temp, repo) = project();
    repo.git(&["clone", "--quiet", "--bare", ".", "../bare.git"]);
    assert_eq!(graph(temp.path(), &["--repo", "bare.git"]), EDGE);
    assert_eq!(graph(&temp.path().join("bare.git"), &[]), EDGE);
}

#[test]
fn a_linked_worktree_has_the_graph_of_what_is_checked_out_in_it() {
    let (temp, repo) = project();
    repo.git(&["worktree", "add", "--quiet", "-b", "side", "../linked"]);
    let linked = Repo::at(temp.path().join("linked"));
    linked.commit(&[("src/b.ts", "import './a';")]);
    assert_eq!(graph(linked.path(), &[]), format!("{EDGE}src/b.ts\tsrc/a.ts\n"));
    assert_eq!(graph(repo.path(), &[]), EDGE);
    assert_eq!(graph(repo.path(), &["--rev", "side"]), graph(linked.path(), &[]));
    assert_eq!(graph(linked.path(), &["--rev", "HEAD~1"]), EDGE);
}

#[test]
fn a_shallow_clone_has_a_graph() {
    let (temp, repo) = project();
    repo.commit(&[("other.ts", "import './src/a';")]);
    let url = format!("file://{}", repo.path().display());
    repo.git(&["clone", "--quiet", "--depth", "1", &url, "../shallow"]);
    let printed = graph(&temp.path().join("shallow"), &[]);
    assert_eq!(printed, format!("other.ts\tsrc/a.ts\n{EDGE}"));
}

#[test]
fn a_repository_without_a_commit_is_refused() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path().join("repo"), &[]);
    for (arguments, why) in [(&[][..], "has no commit yet"), (&["--rev", "main"], "main")] {
        let message = refusal(repo.path(), arguments);
        assert!(message.contains(why), "{message}");
    }
}

#[test]
fn a_commit_without_files_has_an_empty_graph() {
    let (_temp, repo) = repository(&[]);
    assert_eq!(graph(repo.path(), &[]), "");
}

#[test]
fn a_place_without_a_repository_is_refused_with_what_to_do() {
    let temp = tempdir().unwrap();
    fs::create_dir(temp.path().join("empty")).unwrap();
    fs::write(temp.path().join("file"), "").unwrap();
    for (place, why) in [
        ("empty", "there is no git repository in"),
        ("file", "is a file; name the folder of a git repository"),
        ("nowhere", "does not exist"),
    ] {
        let message = refusal(temp.path(), &["--repo", place]);
        assert!(message.contains(why) && message.contains(place), "{place}: {message}");
    }
}
