//! The next command for a working copy, by its state. `git push` alone fails if the branch has no upstream, if the
//! upstream has another name, or if the branch was rebased after a push. `git pull --rebase` fails if changes are not
//! committed, and during a merge.

use coord_domain::Branch;
use coord_git::WorkingCopy;
use coord_protocol::{Action, Orchestration};

use super::changes::uncommitted;
use super::git;
use super::pushed::has_branch;
use super::work::Work;

/// The maximum number of reflog entries that are searched for an earlier position of a branch.
const MAX_ENTRIES: &str = "--max-count=500";

/// The command that shows the branches of a remote.
const LIST_BRANCHES: &str = "git ls-remote --heads";

/// Maximum number of files in a command.
const MAX_NAMED: usize = 8;

/// The parts of a request that a command has to repeat.
#[derive(Clone, Copy, Debug, Default)]
pub struct RepeatedRequest<'a> {
    /// The files, as paths of the repository.
    pub files: &'a [String],
    /// The agent, if a command in a shell would not find the same agent by itself.
    pub agent: Option<&'a str>,
    /// The branch, if a command in a shell would not find the same branch by itself.
    pub branch: Option<&'a str>,
}

/// Replaces the command of `orchestration` by the one that works in the working copy of `work`: for PULL and PUSH a git
/// command, or none; for WAIT the command that ends when the files are free.
pub async fn adapt_command(work: &Work, orchestration: &mut Orchestration, request: RepeatedRequest<'_>) {
    match orchestration.action {
        Action::Wait
            if orchestration
                .metadata
                .as_ref()
                .is_some_and(|wait| !wait.conflicts.is_empty()) =>
        {
            if let Some(command) = wait_command(work, request) {
                orchestration.command = Some(command.into());
            }
        }
        Action::Pull => orchestration.command = pull(work).await.map(Into::into),
        Action::Push => {
            let metadata = orchestration.metadata.as_ref();
            let files = metadata.map(|metadata| metadata.unpushed.clone()).unwrap_or_default();
            let working_copy = &work.working_copy;
            if let Some(under_way) = working_copy.unfinished_operation() {
                let git = under_way.command();
                orchestration.command = None;
                orchestration.reason =
                    format!("A {git} is under way. Finish it (`{git} --continue`), push, then release again");
                return;
            }
            let uncommitted = list_uncommitted(working_copy, &files).await;
            if uncommitted.is_empty() {
                orchestration.command = push(work).await.map(Into::into);
            } else {
                orchestration.command = None;
                orchestration.reason = format!(
                    "{} changes that are not committed. Commit and push, then release again, or abandon the work",
                    name_with_verb(&uncommitted)
                );
            }
        }
        _ => {}
    }
}

/// The command that claims the files as soon as they are free. `None` if there are no files or too many.
fn wait_command(work: &Work, request: RepeatedRequest<'_>) -> Option<String> {
    let files = request.files;
    if files.is_empty() || files.len() > MAX_NAMED {
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
        let argument = match is_inside {
            true => path.strip_prefix(&work.folder).unwrap_or(&path).display().to_string(),
            false => file.clone(),
        };
        // A file whose name begins with a hyphen must not be an option.
        let argument = match argument.starts_with('-') {
            true => format!("./{argument}"),
            false => argument,
        };
        command.push(' ');
        command.push_str(&quote(&argument));
    }
    for (option, value) in [("--agent", request.agent), ("--branch", request.branch)] {
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

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "._/-".contains(character)
}

/// The first of `files`, and `has` or `have`.
fn name_with_verb(files: &[String]) -> String {
    match files {
        [file] => format!("'{file}' has"),
        [first, second] => format!("'{first}' and '{second}' have"),
        [first, second, third] => format!("'{first}', '{second}' and '{third}' have"),
        [first, rest @ ..] => format!("'{first}' and {} more have", rest.len()),
        [] => "Your files have".to_owned(),
    }
}

/// The files of `files` with changes that are not committed. If `files` is empty, all tracked files are compared.
async fn list_uncommitted(working_copy: &WorkingCopy, files: &[String]) -> Vec<String> {
    let root = working_copy.root();
    if !files.is_empty() {
        return uncommitted(root, files).await.unwrap_or_default();
    }
    let status = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no"];
    let output = git::output(root, status).await;
    let lines = output.map(|output| git::paths(&output)).unwrap_or_default();
    // Each path is preceded by two letters for the status, and a space.
    let paths = lines.iter().filter_map(|line| line.get(3..));
    paths.map(str::to_owned).collect()
}

/// The command that pulls the head of the branch into the working copy. `None` during a merge, rebase or the like, and
/// if there is nothing to pull from.
pub async fn pull(work: &Work) -> Option<String> {
    let working_copy = &work.working_copy;
    if working_copy.unfinished_operation().is_some() {
        return None;
    }
    let autostash = match list_uncommitted(working_copy, &[]).await.as_slice() {
        [_, ..] => " --autostash",
        [] => "",
    };
    let remote = working_copy.tip(&work.branch).and_then(|tip| {
        let name = tip.reference.strip_prefix("refs/remotes/")?.to_owned();
        Some(name.strip_suffix(work.branch.as_str())?.strip_suffix('/')?.to_owned())
    });
    let upstream = || working_copy.upstream();
    match remote {
        Some(remote)
            if working_copy.checked_out().as_ref() == Some(&work.branch)
                && upstream() == Some((remote.clone(), work.branch.clone())) =>
        {
            Some(format!("git pull --rebase{autostash}"))
        }
        Some(remote) => are_safe(&[&remote, work.branch.as_str()])
            .then(|| format!("git pull --rebase{autostash} {remote} {}", work.branch)),
        // The head is the clone's own branch.
        None => upstream().map(|_| format!("git pull --rebase{autostash}")),
    }
}

/// The command that pushes the commits of the working copy.
pub async fn push(work: &Work) -> Option<String> {
    let working_copy = &work.working_copy;
    let remote = working_copy.push_remote()?;
    let Some(checked_out) = working_copy.checked_out() else {
        let names = [remote.as_str(), work.branch.as_str()];
        return are_safe(&names).then(|| format!("git push {remote} HEAD:{}", work.branch));
    };
    let upstream = working_copy.upstream();
    let is_same_remote = upstream
        .as_ref()
        .is_some_and(|(upstream_remote, _)| *upstream_remote == remote);
    let target = match &upstream {
        Some((_, branch)) if is_same_remote => branch,
        _ => &checked_out,
    };
    if !are_safe(&[&remote, checked_out.as_str(), target.as_str()]) {
        return None;
    }
    let mut force = "";
    if is_diverged(working_copy, &remote, target) {
        if *target == work.branch && checked_out != work.branch
            || !was_pushed(working_copy, &checked_out, &remote, target).await
        {
            return Some(format!("git pull --rebase {remote} {target}"));
        }
        force = " --force-with-lease";
    }
    let pushes_nothing = working_copy
        .setting("push.default")
        .is_some_and(|value| value == "nothing");
    Some(match upstream {
        Some(_) if is_same_remote && *target == checked_out && !pushes_nothing => format!("git push{force}"),
        Some(_) if is_same_remote && *target != checked_out => format!("git push{force} {remote} HEAD:{target}"),
        Some(_) => format!("git push{force} {remote} HEAD"),
        None => format!("git push{force} -u {remote} HEAD"),
    })
}

/// Whether `branch` at `remote`, as this clone knows it, has commits that the working copy lacks.
fn is_diverged(working_copy: &WorkingCopy, remote: &str, branch: &Branch) -> bool {
    let Some((name, commit)) = remote_tip(working_copy, remote, branch) else {
        return false;
    };
    working_copy
        .base_head(&name)
        .is_none_or(|base| base.to_string() != commit)
}

/// Coord's name of `branch` at `remote`, and its commit.
fn remote_tip(working_copy: &WorkingCopy, remote: &str, branch: &Branch) -> Option<(Branch, String)> {
    let find = |name: &Branch| {
        let tip = working_copy.tip(name)?;
        let is_same = tip.reference == format!("refs/remotes/{remote}/{branch}");
        is_same.then(|| (name.clone(), tip.commit.to_string()))
    };
    find(branch).or_else(|| find(&Branch::parse(&format!("{remote}/{branch}")).ok()?))
}

/// Whether `local` once had the commit of the remote's `branch`: it was rebased or amended after a push.
async fn was_pushed(working_copy: &WorkingCopy, local: &Branch, remote: &str, branch: &Branch) -> bool {
    let Some((_, commit)) = remote_tip(working_copy, remote, branch) else {
        return false;
    };
    let name = format!("refs/heads/{local}");
    let args = ["log", "--walk-reflogs", "--format=%H", MAX_ENTRIES, &name, "--"];
    let output = git::output(working_copy.root(), args).await.unwrap_or_default();
    String::from_utf8_lossy(&output).lines().any(|line| line == commit)
}

/// The command to run if neither the server nor this clone knows the branch of `work`.
pub async fn missing_branch_command(work: &Work) -> Option<String> {
    let (working_copy, branch) = (&work.working_copy, &work.branch);
    let remote = working_copy
        .push_remote()
        .filter(|remote| are_safe(&[remote, branch.as_str()]))?;
    let is_checked_out = working_copy.checked_out().as_ref() == Some(branch);
    let is_at_remote = has_branch(working_copy, &remote, branch).await;
    Some(match (is_at_remote, is_checked_out) {
        (Some(true), _) | (None, false) if !working_copy.is_followed(&remote, branch) => {
            format!("git remote set-branches --add {remote} {branch} && git fetch {remote}")
        }
        (Some(true), _) | (None, false) => format!("git fetch {remote}"),
        (_, true) => format!("git push -u {remote} HEAD"),
        (Some(false), false) => format!("{LIST_BRANCHES} {remote}"),
    })
}

/// The advice of [`missing_branch_command`] as a clause that begins with a verb.
pub async fn missing_branch_clause(work: &Work) -> String {
    match missing_branch_command(work).await {
        Some(command) if command.starts_with(LIST_BRANCHES) => {
            format!("name a branch that the remote has (`{command}`), with COORD_BRANCH or `git config coord.branch`")
        }
        Some(command) => format!("run `{command}`"),
        None => "name a branch that the remote has, with COORD_BRANCH or `git config coord.branch`".to_owned(),
    }
}

/// Whether all names are safe in a shell, and none is an option.
fn are_safe(names: &[&str]) -> bool {
    let is_safe = |name: &&str| !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain);
    names.iter().all(is_safe)
}
