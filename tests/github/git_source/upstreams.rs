//! Which reference the head of a branch is.

use std::path::{Path, PathBuf};

use coord_domain::RepoId;
use coord_git::GitSource;
use coord_sources::{Source, SourceError};
use tempfile::{TempDir, tempdir};

use crate::git_source::{branch, serve, sha};
use coord_test_support::git::Repo;

/// A bare repository that others push to, and a clone of it with one commit on `main`, pushed.
struct Team {
    folder: TempDir,
    clone: Repo,
    first: String,
}

impl Team {
    fn new() -> Team {
        let folder = tempdir().unwrap();
        Repo::init(folder.path().join("hub.git"), &["--bare"]);
        Repo::at(folder.path()).git(&["clone", "--quiet", "hub.git", "clone"]);
        let clone = Repo::at(folder.path().join("clone"));
        clone.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
        let first = clone.commit(&[("a", "1")]);
        clone.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
        Team { folder, clone, first }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A teammate pushes a commit to `branch`.
    fn push_elsewhere(&self, branch: &str, text: &str) -> String {
        let path = self.path("other");
        if !path.exists() {
            Repo::at(self.folder.path()).git(&["clone", "--quiet", "hub.git", "other"]);
        }
        let other = Repo::at(path);
        other.git(&["checkout", "--quiet", "-B", branch]);
        let commit = other.commit(&[("b", text)]);
        other.git(&["push", "--quiet", "origin", branch]);
        commit
    }
}

/// Commit and reference of the head of `name`.
async fn head(source: &GitSource, repo: &RepoId, name: &str) -> (String, String) {
    let tip = source.tip(repo, &branch(name)).await.unwrap();
    assert_eq!(source.head(repo, &branch(name)).await.unwrap(), tip.commit);
    (tip.commit.as_str().to_owned(), tip.reference)
}

/// Returns the hint about `name`, which has no head.
async fn hint(source: &GitSource, repo: &RepoId, name: &str) -> String {
    match source.head(repo, &branch(name)).await {
        Err(SourceError::UnknownBranch { hint, .. }) => hint.unwrap_or_default(),
        other => panic!("{name}: {other:?}"),
    }
}

/// Runs the command of git that `said` names, word for word.
fn obey(clone: &Repo, hint_text: &str) {
    let (_, command) = hint_text.split_once("git config ").unwrap();
    let words: Vec<&str> = command.split(' ').take(2).collect();
    clone.git(&["config", words[0], words[1]]);
}

fn at(commit: &str, reference: &str) -> (String, String) {
    (commit.to_owned(), reference.to_owned())
}

#[tokio::test]
async fn the_head_of_a_clone_is_what_was_fetched_and_not_its_own_branch() {
    let team = Team::new();
    let (source, id) = serve(team.clone.path());
    let origin = "refs/remotes/origin/main";
    assert_eq!(head(&source, &id, "main").await, at(&team.first, origin));

    team.clone.commit(&[("a", "nobody has this")]);
    assert_eq!(
        head(&source, &id, "main").await,
        at(&team.first, origin),
        "a commit that was not pushed"
    );
    team.clone.git(&["reset", "--quiet", "--hard", &team.first]);

    let pushed = team.push_elsewhere("main", "1");
    assert_eq!(
        head(&source, &id, "main").await,
        at(&team.first, origin),
        "not fetched yet"
    );
    team.clone.git(&["fetch", "--quiet"]);
    assert_eq!(
        head(&source, &id, "main").await,
        at(&pushed, origin),
        "fetched, and not merged"
    );

    team.clone.git(&["pull", "--quiet", "--rebase"]);
    let own = team.clone.commit(&[("a", "2")]);
    team.clone.git(&["push", "--quiet"]);
    assert_eq!(head(&source, &id, "main").await, at(&own, origin), "pushed from here");
    team.clone.git(&["pack-refs", "--all", "--prune"]);
    assert_eq!(head(&source, &id, "main").await, at(&own, origin), "packed");
}

#[tokio::test]
async fn a_branch_that_was_not_pushed_has_no_head_and_a_hint_with_git_push() {
    let team = Team::new();
    let (source, id) = serve(team.clone.path());
    team.clone.git(&["checkout", "--quiet", "-b", "feature"]);
    let commit = team.clone.commit(&[("f", "1")]);
    let text = hint(&source, &id, "feature").await;
    assert!(
        text.contains("git push -u origin feature") && text.contains("origin did not"),
        "{text}"
    );
    team.clone
        .git(&["push", "--quiet", "--set-upstream", "origin", "feature"]);
    assert_eq!(
        head(&source, &id, "feature").await,
        at(&commit, "refs/remotes/origin/feature")
    );

    team.clone.git(&["push", "--quiet", "origin", "--delete", "feature"]);
    let text = hint(&source, &id, "feature").await;
    assert!(
        text.contains("git push"),
        "deleted on the remote, and still here: {text}"
    );
    let text = hint(&source, &id, "nowhere").await;
    assert_eq!(text, "origin had no such branch at the last fetch of the served clone");
}

#[tokio::test]
async fn a_remote_branch_without_a_local_one_has_a_head() {
    let team = Team::new();
    let (source, id) = serve(team.clone.path());
    let commit = team.push_elsewhere("topic/x", "1");
    hint(&source, &id, "topic/x").await;
    team.clone.git(&["fetch", "--quiet"]);
    assert_eq!(
        head(&source, &id, "topic/x").await,
        at(&commit, "refs/remotes/origin/topic/x")
    );
    let Err(SourceError::UnknownBranch { suggestions, .. }) = source.head(&id, &branch("topic/y")).await else {
        panic!("topic/y exists");
    };
    assert_eq!(suggestions[0], "topic/x", "suggestions are those that have a head");
}

#[tokio::test]
async fn the_last_branch_that_is_deleted_at_the_remote_does_not_bring_the_own_one_back() {
    let team = Team::new();
    let (source, id) = serve(team.clone.path());
    team.clone.commit(&[("a", "not pushed")]);
    head(&source, &id, "main").await;
    team.clone.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
    team.clone
        .git(&["update-ref", "--no-deref", "-d", "refs/remotes/origin/HEAD"]);
    hint(&source, &id, "main").await;
}

#[tokio::test]
async fn the_remote_of_the_upstream_goes_before_origin_but_what_it_calls_the_branch_does_not_count() {
    let team = Team::new();
    let fork = Repo::init(team.path("fork.git"), &["--bare"]);
    let clone = &team.clone;
    clone.git(&["remote", "add", "fork", "../fork.git"]);
    let second = clone.commit(&[("a", "2")]);
    clone.git(&["push", "--quiet", "fork", "main"]);
    let (source, id) = serve(clone.path());
    assert_eq!(
        head(&source, &id, "main").await,
        at(&team.first, "refs/remotes/origin/main")
    );
    clone.git(&["branch", "--quiet", "--set-upstream-to=fork/main", "main"]);
    assert_eq!(
        head(&source, &id, "main").await,
        at(&second, "refs/remotes/fork/main"),
        "configured while it runs"
    );
    clone.git(&["update-ref", "-d", "refs/remotes/fork/main"]);
    let text = hint(&source, &id, "main").await;
    assert!(
        text.contains("origin has it") && text.contains("git config branch.main.remote origin"),
        "{text}"
    );
    let Err(SourceError::UnknownBranch { suggestions, .. }) = source.head(&id, &branch("main")).await else {
        panic!("it has no head");
    };
    assert!(!suggestions.contains(&"origin/main".to_owned()), "{suggestions:?}");
    clone.git(&["branch", "--quiet", "--unset-upstream", "main"]);
    assert_eq!(
        head(&source, &id, "main").await,
        at(&team.first, "refs/remotes/origin/main")
    );

    // Made from origin/main, as `git checkout -b feature origin/main` does.
    clone.git(&["branch", "--quiet", "--track", "feature", "origin/main"]);
    assert!(hint(&source, &id, "feature").await.contains("git push -u"));
    clone.git(&["push", "--quiet", "origin", "feature"]);
    assert_eq!(
        head(&source, &id, "feature").await,
        at(&team.first, "refs/remotes/origin/feature")
    );
    drop(fork);
}

#[tokio::test]
async fn of_several_remotes_without_an_origin_the_one_that_has_the_branch_counts() {
    let team = Team::new();
    Repo::init(team.path("fork.git"), &["--bare"]);
    let clone = &team.clone;
    clone.git(&["remote", "rename", "origin", "hub"]);
    clone.git(&["branch", "--unset-upstream", "main"]);
    let (source, id) = serve(clone.path());
    assert_eq!(
        head(&source, &id, "main").await,
        at(&team.first, "refs/remotes/hub/main"),
        "the only remote"
    );
    clone.git(&["remote", "add", "fork", "../fork.git"]);
    clone.git(&["push", "--quiet", "fork", "main:topic"]);
    assert_eq!(
        head(&source, &id, "main").await,
        at(&team.first, "refs/remotes/hub/main")
    );
    assert_eq!(
        head(&source, &id, "topic").await,
        at(&team.first, "refs/remotes/fork/topic")
    );
    clone.git(&["push", "--quiet", "fork", "main"]);
    let text = hint(&source, &id, "main").await;
    assert!(
        text.contains("hub and fork have it") && text.contains("git config branch.main.remote hub"),
        "{text}"
    );
    assert_eq!(source.opened()[0].headless, None, "it had a head");
    let opened = serve(clone.path()).0.opened().remove(0);
    assert_eq!(opened.headless, Some(branch("main")));
    assert_eq!(opened.hint.as_deref(), Some(text.as_str()));
    for remote in ["hub", "fork"] {
        obey(clone, &text.replace("remote hub", &format!("remote {remote}")));
        assert_eq!(
            head(&source, &id, "main").await,
            at(&team.first, &format!("refs/remotes/{remote}/main"))
        );
    }
    // It is followed, and so another remote's does not count when its own is gone.
    clone.git(&["update-ref", "-d", "refs/remotes/fork/main"]);
    let text = hint(&source, &id, "main").await;
    assert!(text.contains("follows fork") && text.contains("hub has it"), "{text}");
    obey(clone, &text);
    assert_eq!(
        head(&source, &id, "main").await,
        at(&team.first, "refs/remotes/hub/main")
    );
}

#[tokio::test]
async fn a_remote_that_was_never_fetched_leaves_the_own_branch_until_the_first_push() {
    let team = Team::new();
    let repo = Repo::init(team.path("new"), &[]);
    let first = repo.commit(&[("a", "1")]);
    repo.git(&["remote", "add", "origin", "../hub.git"]);
    // Tags of one's own are no sign of a fetch.
    repo.git(&["tag", "v1"]);
    repo.git(&["config", "--add", "remote.origin.fetch", "+refs/tags/*:refs/tags/*"]);
    let (source, id) = serve(repo.path());
    assert_eq!(head(&source, &id, "main").await, at(&first, "refs/heads/main"));
    repo.git(&["push", "--quiet", "--force", "origin", "main"]);
    repo.commit(&[("a", "2")]);
    assert_eq!(head(&source, &id, "main").await, at(&first, "refs/remotes/origin/main"));
}

#[tokio::test]
async fn bare_repositories_mirrors_and_those_without_a_remote_have_their_own_heads() {
    let team = Team::new();
    let hub = Repo::at(team.path("hub.git"));
    hub.git(&["remote", "add", "backup", "../backup.git"]);
    hub.git(&["update-ref", "refs/remotes/backup/main", &team.first]);
    Repo::at(team.folder.path()).git(&["clone", "--quiet", "--bare", "hub.git", "bare.git"]);
    Repo::at(team.folder.path()).git(&["clone", "--quiet", "--mirror", "hub.git", "mirror.git"]);
    let alone = Repo::init(team.path("alone"), &[]);
    let own = alone.commit(&[("a", "1")]);
    let pushed = team.push_elsewhere("main", "1");
    for (name, commit) in [
        ("hub.git", &pushed),
        ("bare.git", &team.first),
        ("mirror.git", &team.first),
        ("alone", &own),
    ] {
        let (source, id) = serve(&team.path(name));
        assert_eq!(
            head(&source, &id, "main").await,
            at(commit, "refs/heads/main"),
            "{name}"
        );
    }
    let (source, id) = serve(&team.path("mirror.git"));
    Repo::at(team.path("mirror.git")).git(&["fetch", "--quiet"]);
    assert_eq!(head(&source, &id, "main").await, at(&pushed, "refs/heads/main"));
}

#[tokio::test]
async fn a_bare_folder_that_people_work_around_is_a_clone_once_it_has_fetched() {
    let team = Team::new();
    let here = Repo::at(team.folder.path());
    here.git(&["clone", "--quiet", "--bare", "hub.git", "project/.bare"]);
    let project = Repo::at(team.path("project"));
    std::fs::write(project.path().join(".git"), "gitdir: ./.bare\n").unwrap();
    project.git(&["worktree", "add", "--quiet", "main", "main"]);
    let work = Repo::at(team.path("project/main"));
    let (source, id) = serve(work.path());
    let local = work.commit(&[("a", "not pushed")]);
    assert_eq!(
        head(&source, &id, "main").await,
        at(&local, "refs/heads/main"),
        "it fetches into no references"
    );
    project.git(&["config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"]);
    project.git(&["fetch", "--quiet"]);
    for path in ["project/main", "project", "project/.bare"] {
        let (source, id) = serve(&team.path(path));
        assert_eq!(
            head(&source, &id, "main").await,
            at(&team.first, "refs/remotes/origin/main"),
            "{path}"
        );
    }
    assert_eq!(
        head(&source, &id, "main").await.0,
        team.first,
        "what runs reads the configuration again"
    );
}

#[tokio::test]
async fn a_clone_of_one_branch_has_a_head_for_that_alone() {
    let team = Team::new();
    team.push_elsewhere("topic", "1");
    let url = format!("file://{}", team.path("hub.git").display());
    Repo::at(team.folder.path()).git(&["clone", "--quiet", "--single-branch", "--branch=main", &url, "single"]);
    let single = Repo::at(team.path("single"));
    single.git(&["branch", "topic"]);
    let (source, id) = serve(single.path());
    assert_eq!(
        head(&source, &id, "main").await,
        at(&team.first, "refs/remotes/origin/main")
    );
    hint(&source, &id, "topic").await;
}

#[tokio::test]
async fn a_fetch_line_may_lead_anywhere() {
    let team = Team::new();
    let clone = &team.clone;
    clone.git(&["config", "--unset-all", "remote.origin.fetch"]);
    clone.git(&[
        "config",
        "--add",
        "remote.origin.fetch",
        "+refs/heads/*:refs/hub/*/here",
    ]);
    clone.git(&["config", "--add", "remote.origin.fetch", "^refs/heads/private"]);
    let pushed = team.push_elsewhere("main", "1");
    team.push_elsewhere("private", "1");
    clone.git(&["fetch", "--quiet"]);
    clone.git(&["branch", "private"]);
    let (source, id) = serve(clone.path());
    assert_eq!(head(&source, &id, "main").await, at(&pushed, "refs/hub/main/here"));
    hint(&source, &id, "private").await;
}

#[tokio::test]
async fn worktrees_share_the_heads_of_their_clone() {
    let team = Team::new();
    team.clone.git(&["worktree", "add", "--quiet", "-b", "side", "../side"]);
    let side = Repo::at(team.path("side"));
    side.commit(&[("s", "1")]);
    let (source, id) = serve(Path::new(side.path()));
    assert_eq!(
        head(&source, &id, "main").await,
        at(&team.first, "refs/remotes/origin/main")
    );
    hint(&source, &id, "side").await;
    let opened = &source.opened()[0];
    assert_eq!(
        (&opened.default_branch, &opened.headless),
        (&Some(branch("main")), &Some(branch("side")))
    );
    assert_eq!(opened.head, Some(sha(&side.git(&["rev-parse", "HEAD"]))));
}

#[tokio::test]
async fn a_configuration_that_is_damaged_while_it_is_served_makes_no_wrong_head() {
    let team = Team::new();
    let (source, id) = serve(team.clone.path());
    let config = team.clone.path().join(".git/config");
    let good = std::fs::read(&config).unwrap();
    std::fs::write(&config, "[core\n").unwrap();
    let answer = source.head(&id, &branch("main")).await;
    assert!(matches!(answer, Err(SourceError::Unreachable(_))), "{answer:?}");
    std::fs::write(&config, good).unwrap();
    assert_eq!(head(&source, &id, "main").await.0, team.first);
}
