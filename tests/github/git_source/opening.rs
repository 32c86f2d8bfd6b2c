use std::path::PathBuf;
use std::process::Command;

use coord_domain::RepoId;
use coord_git::{GitSource, OpenError, OpenedRepository};
use coord_sources::Source;
use tempfile::tempdir;

use crate::git_source::{branch, serve, sha};
use coord_test_support::git::Repo;

fn id(url: &str) -> RepoId {
    RepoId::parse(url).unwrap()
}

fn open_error(path: impl Into<PathBuf>) -> OpenError {
    GitSource::open(&[path.into()]).unwrap_err()
}

#[test]
fn a_plain_repository_is_described() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path().join("Core"), &[]);
    let head = repo.commit(&[("src/a.ts", "1")]);
    repo.git(&["remote", "add", "origin", "git@github.com:Dedalus/Core.git"]);
    let expected = OpenedRepository {
        repo: id("https://github.com/dedalus/core"),
        path: repo.path().canonicalize().unwrap(),
        git_folder: repo.path().join(".git").canonicalize().unwrap(),
        default_branch: Some(branch("main")),
        head: Some(sha(&head)),
        tip: Some(coord_sources::Tip {
            commit: sha(&head),
            reference: "refs/heads/main".to_owned(),
        }),
        headless: None,
        hint: None,
        detached: false,
        shallow: false,
        is_empty: false,
    };
    for path in ["Core", "Core/src", "Core/.git", "Core/src/../src"] {
        let (source, repo) = serve(&temp.path().join(path));
        assert_eq!(source.opened(), std::slice::from_ref(&expected), "{path}");
        assert_eq!(repo, expected.repo);
    }
}

#[test]
fn a_repository_without_a_remote_is_named_by_its_folder() {
    let temp = tempdir().unwrap();
    for (folder, options, name) in [
        ("Core", &[][..], "localhost/local/core"),
        ("bare.git", &["--bare"], "localhost/local/bare"),
    ] {
        let repo = Repo::init(temp.path().join(folder), options);
        let (_, id) = serve(repo.path());
        assert_eq!(id.as_str(), name);
    }
    let clone = temp.path().join("clone");
    Repo::at(temp.path()).git(&["clone", "--quiet", "Core", "clone"]);
    assert_eq!(serve(&clone).1.as_str(), "localhost/local/clone", "origin is a path");
}

#[test]
fn the_url_counts_as_configured_and_not_as_rewritten() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    repo.git(&["remote", "add", "origin", "https://github.com/a/b"]);
    repo.git(&["config", "url.https://mirror.example/.insteadOf", "https://github.com/"]);
    assert_eq!(serve(repo.path()).1, id("https://github.com/a/b"));
}

#[tokio::test]
async fn worktrees_of_one_repository_are_one_with_a_branch_each() {
    let temp = tempdir().unwrap();
    let main = Repo::init(temp.path().join("main"), &[]);
    let first = main.commit(&[("a", "1")]);
    main.git(&["worktree", "add", "--quiet", "-b", "feature", "../side"]);
    let side = Repo::at(temp.path().join("side"));
    let second = side.commit(&[("a", "2")]);

    let paths = ["main", "side", "side"].map(|name| temp.path().join(name));
    let source = GitSource::open(&paths).unwrap();
    let [repo] = source.repositories().try_into().unwrap();
    assert_eq!(repo.as_str(), "localhost/local/main");
    let seen: Vec<_> = source
        .opened()
        .into_iter()
        .map(|opened| (opened.path, opened.default_branch, opened.head))
        .collect();
    assert_eq!(
        seen,
        [
            (
                paths[0].canonicalize().unwrap(),
                Some(branch("main")),
                Some(sha(&first))
            ),
            (
                paths[1].canonicalize().unwrap(),
                Some(branch("feature")),
                Some(sha(&second))
            ),
        ]
    );
    assert_eq!(
        serve(side.path()).1,
        repo,
        "the id does not depend on which worktree is named"
    );

    // OpenedRepository by a worktree, the repository outlives it.
    let (source, repo) = serve(side.path());
    main.git(&["worktree", "remove", "--force", "../side"]);
    assert_eq!(source.head(&repo, &branch("feature")).await.unwrap(), sha(&second));
    assert_eq!(source.tree(&repo, &sha(&second)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_bare_repository_with_worktrees_beside_it_is_found_by_its_pointer() {
    let temp = tempdir().unwrap();
    let seed = Repo::init(temp.path().join("seed"), &[]);
    let head = seed.commit(&[("a", "1")]);
    Repo::at(temp.path()).git(&["clone", "--quiet", "--bare", "seed", "project/.bare"]);
    let project = Repo::at(temp.path().join("project"));
    std::fs::write(project.path().join(".git"), "gitdir: ./.bare\n").unwrap();
    project.git(&["worktree", "add", "--quiet", "-b", "feature", "feature"]);
    for path in ["project", "project/feature", "project/.bare"] {
        let (source, repo) = serve(&temp.path().join(path));
        assert_eq!(repo.as_str(), "localhost/local/project", "{path}");
        assert_eq!(source.head(&repo, &branch("main")).await.unwrap(), sha(&head), "{path}");
    }
}

#[test]
fn a_detached_head_is_reported_with_a_default_branch() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &["--initial-branch=trunk"]);
    let first = repo.commit(&[("a", "1")]);
    repo.commit(&[("a", "2")]);
    repo.git(&["checkout", "--quiet", "--detach", &first]);
    let [opened] = serve(repo.path()).0.opened().try_into().unwrap();
    assert!(opened.detached && !opened.is_empty);
    assert_eq!(opened.head, Some(sha(&first)));
    assert_eq!(opened.default_branch, Some(branch("trunk")), "the only branch");
    repo.git(&["branch", "other"]);
    assert_eq!(serve(repo.path()).0.opened()[0].default_branch, None, "one of two");
    repo.git(&["branch", "master"]);
    assert_eq!(serve(repo.path()).0.opened()[0].default_branch, Some(branch("master")));
}

#[test]
fn an_empty_repository_is_served() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let [opened] = serve(repo.path()).0.opened().try_into().unwrap();
    assert!(opened.is_empty && !opened.detached);
    assert_eq!((opened.default_branch, opened.head), (Some(branch("main")), None));
}

#[test]
fn a_path_that_cannot_be_served_is_refused_with_a_sentence() {
    let temp = tempdir().unwrap();
    let missing = temp.path().join("missing");
    assert_eq!(
        open_error(&missing).to_string(),
        format!("{} does not exist", missing.display())
    );

    let file = temp.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(matches!(open_error(&file), OpenError::NotAFolder { .. }));

    let folder = temp.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let error = open_error(&folder);
    assert!(
        matches!(&error, OpenError::NoRepository { path } if *path == folder.canonicalize().unwrap()),
        "{error:?}"
    );
    assert!(error.to_string().contains("git init"), "{error}");

    let broken = Repo::init(temp.path().join("broken"), &[]);
    std::fs::write(broken.path().join(".git/config"), "[core\n").unwrap();
    let error = open_error(broken.path());
    assert!(matches!(error, OpenError::Unreadable { .. }), "{error:?}");
    assert!(
        !error.to_string().contains('\n') && error.to_string().contains("configuration"),
        "{error}"
    );
}

#[test]
fn references_in_the_reftable_format_are_refused_by_name() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    repo.git(&["config", "core.repositoryFormatVersion", "1"]);
    repo.git(&["config", "extensions.refStorage", "reftable"]);
    let error = open_error(repo.path());
    assert!(matches!(error, OpenError::Unsupported { .. }), "{error:?}");
    assert!(error.to_string().contains("git refs migrate"), "{error}");
}

#[test]
fn two_repositories_of_one_name_are_refused_and_both_named() {
    let temp = tempdir().unwrap();
    let one = Repo::init(temp.path().join("one/core"), &[]);
    let two = Repo::init(temp.path().join("two/core"), &[]);
    let paths = [one.path().to_owned(), two.path().to_owned()];
    let error = GitSource::open(&paths).unwrap_err().to_string();
    for part in ["one/core", "two/core", "localhost/local/core"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    two.git(&["remote", "add", "origin", "https://github.com/a/core"]);
    assert_eq!(GitSource::open(&paths).unwrap().repositories().len(), 2);
}

/// Where the tests below that need another environment find their repository.
const CHILD: &str = "COORD_TEST_GIT_SOURCE_PATH";

/// Runs an ignored test of this binary in a separate process.
fn in_child(test: &str, repository: &Repo, environment: &[(&str, &std::ffi::OsStr)]) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .env(CHILD, repository.path())
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && printed.contains("1 passed"),
        "{printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_given_path_wins_over_the_environment_of_a_hook() {
    let temp = tempdir().unwrap();
    let given = Repo::init(temp.path().join("given"), &[]);
    given.commit(&[("a", "given")]);
    let other = Repo::init(temp.path().join("other"), &[]);
    other.commit(&[("a", "other")]);
    other.commit(&[("a", "other again")]);
    let git_dir = other.path().join(".git");
    let objects = git_dir.join("objects");
    let nothing = temp.path().join("nothing");
    in_child(
        "git_source::opening::a_repository_is_opened_in_a_hook",
        &given,
        &[
            ("GIT_DIR", git_dir.as_os_str()),
            ("GIT_COMMON_DIR", git_dir.as_os_str()),
            ("GIT_WORK_TREE", other.path().as_os_str()),
            ("GIT_OBJECT_DIRECTORY", objects.as_os_str()),
            ("GIT_INDEX_FILE", nothing.as_os_str()),
            ("GIT_SHALLOW_FILE", nothing.as_os_str()),
            ("GIT_NAMESPACE", "elsewhere".as_ref()),
            ("GIT_CEILING_DIRECTORIES", temp.path().as_os_str()),
            ("GIT_CONFIG_COUNT", "1".as_ref()),
            ("GIT_CONFIG_KEY_0", "core.worktree".as_ref()),
            ("GIT_CONFIG_VALUE_0", nothing.as_os_str()),
        ],
    );
}

#[tokio::test]
#[ignore = "run by the test above, in another environment"]
async fn a_repository_is_opened_in_a_hook() {
    let Some(path) = std::env::var_os(CHILD).map(PathBuf::from) else {
        return;
    };
    let head = Repo::at(&path).git(&["rev-parse", "HEAD"]);
    let (source, repo) = serve(&path);
    let opened = &source.opened()[0];
    assert_eq!(repo.as_str(), "localhost/local/given");
    assert_eq!(
        (&opened.path, &opened.head),
        (&path.canonicalize().unwrap(), &Some(sha(&head)))
    );
    assert_eq!(source.head(&repo, &branch("main")).await.unwrap(), sha(&head));
    let commits = source.recent_commits(&repo, &sha(&head), 10).await.unwrap();
    assert_eq!(commits, [sha(&head)]);
    assert_eq!(source.tree(&repo, &sha(&head)).await.unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_repository_of_another_user_is_refused_unless_git_trusts_it() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path().join("theirs"), &[]);
    repo.commit(&[("a", "1")]);
    for path in [repo.path().to_owned(), repo.path().join(".git")] {
        if std::os::unix::fs::chown(&path, Some(12345), None).is_err() {
            return coord_test_support::skipping::skip("only root can give a repository to another user");
        }
    }
    let home = temp.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let environment = [("HOME", home.as_os_str()), ("XDG_CONFIG_HOME", home.as_os_str())];
    in_child("git_source::opening::a_repository_is_unsafe", &repo, &environment);
    let trusted = format!(
        "[safe]\n\tdirectory = {}\n",
        repo.path().canonicalize().unwrap().display()
    );
    std::fs::write(home.join(".gitconfig"), trusted).unwrap();
    in_child("git_source::opening::a_repository_is_safe", &repo, &environment);
}

#[test]
#[ignore = "run by the test above, in another environment"]
fn a_repository_is_unsafe() {
    if let Some(path) = std::env::var_os(CHILD) {
        let error = open_error(path);
        assert!(matches!(error, OpenError::Unsafe { .. }), "{error:?}");
        assert!(error.to_string().contains("safe.directory"), "{error}");
        let once = GitSource::open_once(&PathBuf::from(std::env::var_os(CHILD).unwrap())).unwrap_err();
        assert_eq!(once.to_string(), error.to_string());
    }
}

#[test]
#[ignore = "run by the test above, in another environment"]
fn a_repository_is_safe() {
    if let Some(path) = std::env::var_os(CHILD) {
        assert!(!serve(&PathBuf::from(path)).0.opened()[0].is_empty);
    }
}
