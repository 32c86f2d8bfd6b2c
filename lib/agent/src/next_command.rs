//! The command that brings a working copy on, by its state: `git push` alone fails where the branch has no upstream, one of another
//! name, or was rebased after a push, and `git pull --rebase` where changes are not committed or a merge is under way.

use coord_domain::Branch;
use coord_git::WorkingCopy;
use coord_protocol::{Action, Orchestration};

use super::changes::list_files;
use super::git;
use super::pushed::has_branch;
use super::work::Work;

/// Most entries of the log of a branch that are searched for its earlier position.
const MOST_ENTRIES: &str = "--max-count=500";

/// The command that shows the branches of a remote.
const LIST_BRANCHES: &str = "git ls-remote --heads";

/// Most files that a command names.
const MOST_NAMED: usize = 8;

/// The parts of a request that a command has to repeat.
#[derive(Clone, Copy, Debug, Default)]
pub struct RepeatedRequest<'a> {
    /// The files, as paths of the repository.
    pub files: &'a [String],
    /// The agent, where a command in a shell would not find the same one by itself.
    pub agent: Option<&'a str>,
    /// The same of the branch.
    pub branch: Option<&'a str>,
}

/// Gives PULL and PUSH the command that works in the working copy of `work`, or none; and WAIT the one that ends when the files are free.
pub async fn adapt_command(work: &Work, orchestration: &mut Orchestration, about: RepeatedRequest<'_>) {
    match orchestration.action {
        Action::Wait
            if orchestration
                .metadata
                .as_ref()
                .is_some_and(|wait| !wait.conflicts.is_empty()) =>
        {
            if let Some(command) = wait(work, about) {
                orchestration.command = Some(command.into());
            }
        }
        Action::Pull => orchestration.command = pull(work).await.map(Into::into),
        Action::Push => {
            let metadata = orchestration.metadata.as_ref();
            let files = metadata.map(|metadata| metadata.unpushed.clone()).unwrap_or_default();
            let place = &work.working_copy;
            if let Some(under_way) = place.under_way() {
                let git = under_way.command();
                orchestration.command = None;
                orchestration.reason =
                    format!("A {git} is under way. Finish it (`{git} --continue`), push, then release again");
            } else {
                let uncommitted = uncommitted(place, &files).await;
                if uncommitted.is_empty() {
                    orchestration.command = push(work).await.map(Into::into);
                } else {
                    orchestration.command = None;
                    orchestration.reason = format!(
                        "{} changes that are not committed. Commit and push, then release again, or abandon the work",
                        has_or_have(&uncommitted)
                    );
                }
            }
        }
        _ => {}
    }
}

/// The command that claims the files as soon as they are free. `None` where they are too many to be named.
fn wait(work: &Work, about: RepeatedRequest<'_>) -> Option<String> {
    let files = about.files;
    if files.is_empty() || files.len() > MOST_NAMED {
        return None;
    }
    let root = work.working_copy.root();
    let is_inside = work.folder.starts_with(root);
    let mut command = match is_inside {
        true => String::new(),
        false => format!("cd {} && ", quote(&root.display().to_string())),
    };
    command.push_str("coord wait");
    for file in files {
        let path = root.join(file);
        let shown = match is_inside {
            true => path.strip_prefix(&work.folder).unwrap_or(&path).display().to_string(),
            false => file.clone(),
        };
        // It is no option.
        let shown = match shown.starts_with('-') {
            true => format!("./{shown}"),
            false => shown,
        };
        command.push(' ');
        command.push_str(&quote(&shown));
    }
    for (option, value) in [("--agent", about.agent), ("--branch", about.branch)] {
        if let Some(value) = value {
            command.push_str(&format!(" {option} {}", quote(value)));
        }
    }
    Some(command)
}

/// `text` as one word of a shell.
fn quote(text: &str) -> String {
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "._/-".contains(letter)
}

/// The first of `files`, with their verb.
fn has_or_have(files: &[String]) -> String {
    match files {
        [file] => format!("'{file}' has"),
        [first, second] => format!("'{first}' and '{second}' have"),
        [first, second, third] => format!("'{first}', '{second}' and '{third}' have"),
        [first, rest @ ..] => format!("'{first}' and {} more have", rest.len()),
        [] => "Your files have".to_owned(),
    }
}

/// Those of `files` that differ from the checkout; of all tracked files, if none is named.
async fn uncommitted(place: &WorkingCopy, files: &[String]) -> Vec<String> {
    let mut status = vec!["status", "--porcelain=v1", "-z", "--no-renames"];
    let lines = if files.is_empty() {
        status.push("--untracked-files=no");
        let printed = git::output(place.root(), status).await;
        printed.map(|printed| git::paths(&printed)).unwrap_or_default()
    } else {
        status.push("--untracked-files=all");
        list_files(place.root(), &status, files).await.unwrap_or_default()
    };
    // Two letters of the status and a blank come before each path.
    let paths = lines.iter().filter_map(|line| line.get(3..));
    paths.map(str::to_owned).collect()
}

/// The command that brings the head of the branch into the working copy. `None` while git is in the middle of something, or where
/// there is nothing to pull from.
pub async fn pull(work: &Work) -> Option<String> {
    let place = &work.working_copy;
    if place.under_way().is_some() {
        return None;
    }
    let autostash = match uncommitted(place, &[]).await.as_slice() {
        [_, ..] => " --autostash",
        [] => "",
    };
    let from = place.tip(&work.branch).and_then(|tip| {
        let name = tip.reference.strip_prefix("refs/remotes/")?.to_owned();
        Some(name.strip_suffix(work.branch.as_str())?.strip_suffix('/')?.to_owned())
    });
    let own = || place.upstream();
    match from {
        Some(remote)
            if place.checked_out().as_ref() == Some(&work.branch)
                && own() == Some((remote.clone(), work.branch.clone())) =>
        {
            Some(format!("git pull --rebase{autostash}"))
        }
        Some(remote) => safe(&[&remote, work.branch.as_str()])
            .then(|| format!("git pull --rebase{autostash} {remote} {}", work.branch)),
        // The branch of the clone itself is the head.
        None => own().map(|_| format!("git pull --rebase{autostash}")),
    }
}

/// The command that pushes the commits of the working copy.
pub async fn push(work: &Work) -> Option<String> {
    let place = &work.working_copy;
    let remote = place.push_remote()?;
    let Some(own) = place.checked_out() else {
        let names = [remote.as_str(), work.branch.as_str()];
        return safe(&names).then(|| format!("git push {remote} HEAD:{}", work.branch));
    };
    let upstream = place.upstream();
    let is_same_remote = upstream.as_ref().is_some_and(|(of, _)| *of == remote);
    let target = match &upstream {
        Some((_, branch)) if is_same_remote => branch,
        _ => &own,
    };
    if !safe(&[&remote, own.as_str(), target.as_str()]) {
        return None;
    }
    let mut force = "";
    if is_diverged(place, &remote, target) {
        if *target == work.branch && own != work.branch || !was_own(place, &own, &remote, target).await {
            return Some(format!("git pull --rebase {remote} {target}"));
        }
        force = " --force-with-lease";
    }
    let is_told = place.setting("push.default").is_some_and(|value| value == "nothing");
    Some(match upstream {
        Some(_) if is_same_remote && *target == own && !is_told => format!("git push{force}"),
        Some(_) if is_same_remote && *target != own => format!("git push{force} {remote} HEAD:{target}"),
        Some(_) => format!("git push{force} {remote} HEAD"),
        None => format!("git push{force} -u {remote} HEAD"),
    })
}

/// Whether `branch` at `remote`, as this clone knows it, has commits that the working copy lacks.
fn is_diverged(place: &WorkingCopy, remote: &str, branch: &Branch) -> bool {
    let Some((at, commit)) = of_remote(place, remote, branch) else {
        return false;
    };
    place.base_head(&at).is_none_or(|base| base.to_string() != commit)
}

/// The name by which Coord knows `branch` at `remote`, and its commit.
fn of_remote(place: &WorkingCopy, remote: &str, branch: &Branch) -> Option<(Branch, String)> {
    let is_of_remote = |name: &Branch| {
        let tip = place.tip(name)?;
        let is_it = tip.reference == format!("refs/remotes/{remote}/{branch}");
        is_it.then(|| (name.clone(), tip.commit.to_string()))
    };
    is_of_remote(branch).or_else(|| is_of_remote(&Branch::parse(&format!("{remote}/{branch}")).ok()?))
}

/// Whether `own` was once the same as the remote's `branch`: it was rebased or amended after a push.
async fn was_own(place: &WorkingCopy, own: &Branch, remote: &str, branch: &Branch) -> bool {
    let Some((_, commit)) = of_remote(place, remote, branch) else {
        return false;
    };
    let name = format!("refs/heads/{own}");
    let args = ["log", "--walk-reflogs", "--format=%H", MOST_ENTRIES, &name, "--"];
    let printed = git::output(place.root(), args).await.unwrap_or_default();
    String::from_utf8_lossy(&printed).lines().any(|line| line == commit)
}

/// The command that helps where neither the server nor this clone knows the branch of `work`.
pub async fn for_missing_branch(work: &Work) -> Option<String> {
    let (place, branch) = (&work.working_copy, &work.branch);
    let remote = place.push_remote().filter(|remote| safe(&[remote, branch.as_str()]))?;
    let is_checked_out = place.checked_out().as_ref() == Some(branch);
    let at_remote = has_branch(place, &remote, branch).await;
    Some(match (at_remote, is_checked_out) {
        (Some(true), _) | (None, false) if !place.is_followed(&remote, branch) => {
            format!("git remote set-branches --add {remote} {branch} && git fetch {remote}")
        }
        (Some(true), _) | (None, false) => format!("git fetch {remote}"),
        (_, true) => format!("git push -u {remote} HEAD"),
        (Some(false), false) => format!("{LIST_BRANCHES} {remote}"),
    })
}

/// The same as a clause that begins with a verb.
pub async fn missing_branch_clause(work: &Work) -> String {
    match for_missing_branch(work).await {
        Some(command) if command.starts_with(LIST_BRANCHES) => {
            format!("name a branch that the remote has (`{command}`), with COORD_BRANCH or `git config coord.branch`")
        }
        Some(command) => format!("run `{command}`"),
        None => "name a branch that the remote has, with COORD_BRANCH or `git config coord.branch`".to_owned(),
    }
}

/// Whether no name means anything to a shell or is an option.
fn safe(names: &[&str]) -> bool {
    let is_safe = |name: &&str| !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain);
    names.iter().all(is_safe)
}
