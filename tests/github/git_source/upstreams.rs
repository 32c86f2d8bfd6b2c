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

    /// A team, and its clone as it is served.
    fn served() -> (Team, Served) {
        let team = Team::new();
        let served = Served::at(team.clone.path());
        (team, served)
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

/// A source with one repository.
struct Served {
    source: GitSource,
    repo: RepoId,
}

impl Served {
    fn at(path: &Path) -> Served {
        let (source, repo) = serve(path);
        Served { source, repo }
    }

    /// Commit and reference of the head of `name`.
    async fn head(&self, name: &str) -> (String, String) {
        let tip = self.source.tip(&self.repo, &branch(name)).await.unwrap();
        let head = self.source.head(&self.repo, &branch(name)).await;
        assert_eq!(head.unwrap(), tip.commit);
        (tip.commit.as_str().to_owned(), tip.reference)
    }

    /// The hint about `name`, which has no head, and the branches that are suggested.
    async fn no_head(&self, name: &str) -> (String, Vec<String>) {
        match self.source.head(&self.repo, &branch(name)).await {
            Err(SourceError::UnknownBranch { hint, suggestions, .. }) => (hint.unwrap_or_default(), suggestions),
            other => panic!("{name}: {other:?}"),
        }
    }

    async fn hint(&self, name: &str) -> String {
        self.no_head(name).await.0
    }
}

/// Runs the command of git that the hint names, word for word.
fn obey(clone: &Repo, hint: &str) {
    let (_, command) = hint.split_once("git config ").unwrap();
    let words: Vec<&str> = command.split(' ').take(2).collect();
    clone.git(&["config", words[0], words[1]]);
}

/// A commit, and the reference below `refs` that has it.
fn at(commit: &str, reference: &str) -> (String, String) {
    (commit.to_owned(), format!("refs/{reference}"))
}

#[tokio::test]
async fn the_head_of_a_clone_is_what_was_fetched_and_not_its_own_branch() {
    let (team, served) = Team::served();
    let (clone, origin) = (&team.clone, "remotes/origin/main");
    let first = at(&team.first, origin);
    assert_eq!(served.head("main").await, first);

    clone.commit(&[("a", "nobody has this")]);
    assert_eq!(served.head("main").await, first, "a commit that was not pushed");
    clone.git(&["reset", "--quiet", "--hard", &team.first]);

    let pushed = at(&team.push_elsewhere("main", "1"), origin);
    assert_eq!(served.head("main").await, first, "not fetched yet");
    clone.git(&["fetch", "--quiet"]);
    assert_eq!(served.head("main").await, pushed, "fetched, and not merged");

    clone.git(&["pull", "--quiet", "--rebase"]);
    let own = at(&clone.commit(&[("a", "2")]), origin);
    clone.git(&["push", "--quiet"]);
    assert_eq!(served.head("main").await, own, "pushed from here");
    clone.git(&["pack-refs", "--all", "--prune"]);
    assert_eq!(served.head("main").await, own, "packed");
}

#[tokio::test]
async fn a_branch_that_was_not_pushed_has_no_head_and_a_hint_with_git_push() {
    let (team, served) = Team::served();
    let clone = &team.clone;
    clone.git(&["checkout", "--quiet", "-b", "feature"]);
    let commit = clone.commit(&[("f", "1")]);
    let text = served.hint("feature").await;
    assert!(
        text.contains("git push -u origin feature") && text.contains("origin did not"),
        "{text}"
    );
    clone.git(&["push", "--quiet", "--set-upstream", "origin", "feature"]);
    assert_eq!(served.head("feature").await, at(&commit, "remotes/origin/feature"));

    clone.git(&["push", "--quiet", "origin", "--delete", "feature"]);
    let text = served.hint("feature").await;
    assert!(
        text.contains("git push"),
        "deleted on the remote, and still here: {text}"
    );
    let text = served.hint("nowhere").await;
    assert_eq!(text, "origin had no such branch at the last fetch of the served clone");
}

#[tokio::test]
async fn a_remote_branch_without_a_local_one_has_a_head() {
    let (team, served) = Team::served();
    let commit = team.push_elsewhere("topic/x", "1");
    served.no_head("topic/x").await;
    team.clone.git(&["fetch", "--quiet"]);
    assert_eq!(served.head("topic/x").await, at(&commit, "remotes/origin/topic/x"));
    let (_, suggestions) = served.no_head("topic/y").await;
    assert_eq!(suggestions[0], "topic/x", "suggestions are those that have a head");
}

#[tokio::test]
async fn the_last_branch_that_is_deleted_at_the_remote_does_not_bring_the_own_one_back() {
    let (team, served) = Team::served();
    let clone = &team.clone;
    clone.commit(&[("a", "not pushed")]);
    served.head("main").await;
    clone.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
    clone.git(&["update-ref", "--no-deref", "-d", "refs/remotes/origin/HEAD"]);
    served.no_head("main").await;
}

#[tokio::test]
async fn the_remote_of_the_upstream_goes_before_origin_but_what_it_calls_the_branch_does_not_count() {
    let team = Team::new();
    Repo::init(team.path("fork.git"), &["--bare"]);
    let clone = &team.clone;
    clone.git(&["remote", "add", "fork", "../fork.git"]);
    let second = clone.commit(&[("a", "2")]);
    clone.git(&["push", "--quiet", "fork", "main"]);
    let served = Served::at(clone.path());
    let first = at(&team.first, "remotes/origin/main");
    assert_eq!(served.head("main").await, first);
    clone.git(&["branch", "--quiet", "--set-upstream-to=fork/main", "main"]);
    let second = at(&second, "remotes/fork/main");
    assert_eq!(served.head("main").await, second, "configured while it runs");
    clone.git(&["update-ref", "-d", "refs/remotes/fork/main"]);
    let (text, suggestions) = served.no_head("main").await;
    assert!(
        text.contains("origin has it") && text.contains("git config branch.main.remote origin"),
        "{text}"
    );
    assert!(!suggestions.contains(&"origin/main".to_owned()), "{suggestions:?}");
    clone.git(&["branch", "--quiet", "--unset-upstream", "main"]);
    assert_eq!(served.head("main").await, first);

    // Made from origin/main, as `git checkout -b feature origin/main` does.
    clone.git(&["branch", "--quiet", "--track", "feature", "origin/main"]);
    assert!(served.hint("feature").await.contains("git push -u"));
    clone.git(&["push", "--quiet", "origin", "feature"]);
    assert_eq!(served.head("feature").await, at(&team.first, "remotes/origin/feature"));
}

#[tokio::test]
async fn of_several_remotes_without_an_origin_the_one_that_has_the_branch_counts() {
    let team = Team::new();
    Repo::init(team.path("fork.git"), &["--bare"]);
    let clone = &team.clone;
    clone.git(&["remote", "rename", "origin", "hub"]);
    clone.git(&["branch", "--unset-upstream", "main"]);
    let served = Served::at(clone.path());
    let of_hub = at(&team.first, "remotes/hub/main");
    assert_eq!(served.head("main").await, of_hub, "the only remote");
    clone.git(&["remote", "add", "fork", "../fork.git"]);
    clone.git(&["push", "--quiet", "fork", "main:topic"]);
    assert_eq!(served.head("main").await, of_hub);
    assert_eq!(served.head("topic").await, at(&team.first, "remotes/fork/topic"));
    clone.git(&["push", "--quiet", "fork", "main"]);
    let text = served.hint("main").await;
    assert!(
        text.contains("hub and fork have it") && text.contains("git config branch.main.remote hub"),
        "{text}"
    );
    assert_eq!(served.source.opened()[0].headless, None, "it had a head");
    let opened = serve(clone.path()).0.opened().remove(0);
    assert_eq!(opened.headless, Some(branch("main")));
    assert_eq!(opened.hint.as_deref(), Some(text.as_str()));
    for remote in ["hub", "fork"] {
        obey(clone, &text.replace("remote hub", &format!("remote {remote}")));
        let expected = at(&team.first, &format!("remotes/{remote}/main"));
        assert_eq!(served.head("main").await, expected);
    }
    // It is followed, and so another remote's does not count when its own is gone.
    clone.git(&["update-ref", "-d", "refs/remotes/fork/main"]);
    let text = served.hint("main").await;
    assert!(text.contains("follows fork") && text.contains("hub has it"), "{text}");
    obey(clone, &text);
    assert_eq!(served.head("main").await, of_hub);
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
    let served = Served::at(repo.path());
    assert_eq!(served.head("main").await, at(&first, "heads/main"));
    repo.git(&["push", "--quiet", "--force", "origin", "main"]);
    repo.commit(&[("a", "2")]);
    assert_eq!(served.head("main").await, at(&first, "remotes/origin/main"));
}

#[tokio::test]
async fn bare_repositories_mirrors_and_those_without_a_remote_have_their_own_heads() {
    let team = Team::new();
    let hub = Repo::at(team.path("hub.git"));
    hub.git(&["remote", "add", "backup", "../backup.git"]);
    hub.git(&["update-ref", "refs/remotes/backup/main", &team.first]);
    let here = Repo::at(team.folder.path());
    here.git(&["clone", "--quiet", "--bare", "hub.git", "bare.git"]);
    here.git(&["clone", "--quiet", "--mirror", "hub.git", "mirror.git"]);
    let alone = Repo::init(team.path("alone"), &[]);
    let own = alone.commit(&[("a", "1")]);
    let pushed = team.push_elsewhere("main", "1");
    for (name, commit) in [
        ("hub.git", &pushed),
        ("bare.git", &team.first),
        ("mirror.git", &team.first),
        ("alone", &own),
    ] {
        let head = Served::at(&team.path(name)).head("main").await;
        assert_eq!(head, at(commit, "heads/main"), "{name}");
    }
    let served = Served::at(&team.path("mirror.git"));
    Repo::at(team.path("mirror.git")).git(&["fetch", "--quiet"]);
    assert_eq!(served.head("main").await, at(&pushed, "heads/main"));
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
    let served = Served::at(work.path());
    let local = at(&work.commit(&[("a", "not pushed")]), "heads/main");
    assert_eq!(served.head("main").await, local, "it fetches into no references");
    project.git(&["config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"]);
    project.git(&["fetch", "--quiet"]);
    let fetched = at(&team.first, "remotes/origin/main");
    for path in ["project/main", "project", "project/.bare"] {
        let head = Served::at(&team.path(path)).head("main").await;
        assert_eq!(head, fetched, "{path}");
    }
    // The source that has run since before reads the configuration again.
    assert_eq!(served.head("main").await, fetched);
}

#[tokio::test]
async fn a_clone_of_one_branch_has_a_head_for_that_alone() {
    let team = Team::new();
    team.push_elsewhere("topic", "1");
    let url = format!("file://{}", team.path("hub.git").display());
    Repo::at(team.folder.path()).git(&["clone", "--quiet", "--single-branch", "--branch=main", &url, "single"]);
    let single = Repo::at(team.path("single"));
    single.git(&["branch", "topic"]);
    let served = Served::at(single.path());
    assert_eq!(served.head("main").await, at(&team.first, "remotes/origin/main"));
    served.no_head("topic").await;
}

#[tokio::test]
async fn a_fetch_line_may_lead_anywhere() {
    let team = Team::new();
    let clone = &team.clone;
    clone.git(&["config", "--unset-all", "remote.origin.fetch"]);
    for line in ["+refs/heads/*:refs/hub/*/here", "^refs/heads/private"] {
        clone.git(&["config", "--add", "remote.origin.fetch", line]);
    }
    let pushed = team.push_elsewhere("main", "1");
    team.push_elsewhere("private", "1");
    clone.git(&["fetch", "--quiet"]);
    clone.git(&["branch", "private"]);
    let served = Served::at(clone.path());
    assert_eq!(served.head("main").await, at(&pushed, "hub/main/here"));
    served.no_head("private").await;
}

#[tokio::test]
async fn worktrees_share_the_heads_of_their_clone() {
    let team = Team::new();
    team.clone.git(&["worktree", "add", "--quiet", "-b", "side", "../side"]);
    let side = Repo::at(team.path("side"));
    let commit = side.commit(&[("s", "1")]);
    let served = Served::at(side.path());
    assert_eq!(served.head("main").await, at(&team.first, "remotes/origin/main"));
    served.no_head("side").await;
    let opened = &served.source.opened()[0];
    assert_eq!(opened.default_branch, Some(branch("main")));
    assert_eq!(opened.headless, Some(branch("side")));
    assert_eq!(opened.head, Some(sha(&commit)));
}

#[tokio::test]
async fn a_configuration_that_is_damaged_while_it_is_served_makes_no_wrong_head() {
    let (team, served) = Team::served();
    let config = team.clone.path().join(".git/config");
    let good = std::fs::read(&config).unwrap();
    std::fs::write(&config, "[core\n").unwrap();
    let answer = served.source.head(&served.repo, &branch("main")).await;
    assert_fails!(answer, Unreachable);
    std::fs::write(&config, good).unwrap();
    assert_eq!(served.head("main").await.0, team.first);
}
