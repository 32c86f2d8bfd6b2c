//! How much a tree may name.

use std::fmt::Write;

use coord_sources::Source;
use tempfile::tempdir;

use crate::git_source::{serve, sha};
use coord_test_support::git::Repo;

/// The id of the tree with these lines, as `git ls-tree` prints them.
fn tree(repo: &Repo, lines: &str) -> String {
    std::fs::write(repo.path().join("lines"), lines).unwrap();
    repo.git(&["-c", "alias.tree=!git mktree <lines", "tree"])
}

/// A commit of 749 folders, whose names begin with `name`, with a thousand files each, and `files` beside them; all of one content.
fn commit(repo: &Repo, name: &str, files: usize) -> String {
    let blob = repo.git(&["rev-parse", "HEAD:a"]);
    let list = |count: usize| {
        (0..count).fold(String::new(), |mut lines, number| {
            writeln!(lines, "100644 blob {blob}\tf{number:03}").unwrap();
            lines
        })
    };
    let folder = tree(repo, &list(1000));
    let mut root = list(files);
    for number in 0..749 {
        writeln!(root, "040000 tree {folder}\t{name}{number:03}").unwrap();
    }
    let root = tree(repo, &root);
    repo.git(&["commit-tree", "-m", "Many", &root])
}

#[tokio::test]
async fn a_tree_of_more_than_750_000_files_and_folders_or_64_mib_of_paths_is_refused() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    repo.commit(&[("a", "")]);
    let most = commit(&repo, "d", 251);
    let more = commit(&repo, "d", 252);
    let longer = commit(&repo, &"d".repeat(90), 251);
    let (source, id) = serve(repo.path());
    assert_eq!(source.tree(&id, &sha(&most)).await.unwrap().len(), 749_251);
    let refused = source.tree(&id, &sha(&more)).await.unwrap_err().to_string();
    assert!(refused.contains("more than 750000 entries"), "{refused}");
    let refused = source.tree(&id, &sha(&longer)).await.unwrap_err().to_string();
    assert!(refused.contains("or 67108864 bytes of paths"), "{refused}");
}
