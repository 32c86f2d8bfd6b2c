//! Runs each hook once, as its agent does, with an edit of a file that another holds: a denial has to deny.
//!
//! That happens in a repository of its own ([`Scratch`]): the user's repository and its server see nothing of it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use coord::domain::AgentId;
use coord::settings::env_vars;
use coord_protocol::LockMode;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::agents::handler::Form;
use super::agents::{Agent, Attempt, Event, Hooks};
use super::detect::is_on_path;
use super::scratch::{Scratch, clear_of_coord};
use crate::agent::options::AgentArgs;
use crate::agent::work::Work;
use crate::git::environment;

/// Time limit of a request.
const REQUEST_TIME: Duration = Duration::from_secs(10);

/// Time limit of a hook.
const HOOK_TIME: Duration = Duration::from_secs(20);

/// Whether an agent's hooks work; `None` where it has none.
#[derive(Debug)]
pub struct Verdict {
    pub agent: &'static Agent,
    /// What is wrong, in a clause.
    pub result: Option<Result<(), String>>,
}

/// Runs the hooks of `agents`, in a repository and on a server that are there for this alone.
///
/// # Errors
/// When it cannot be checked: the repository cannot be made, or its server gives no lock.
pub async fn check(agents: &[&'static Agent], form: Form) -> anyhow::Result<Vec<Verdict>> {
    const FILE: &str = "self-test.txt";
    let id = |who: &str| AgentId::parse(who).map_err(|invalid| anyhow::anyhow!("{invalid}"));
    let scratch = Scratch::start().await?;
    let client = scratch.client(REQUEST_TIME)?;
    let root = scratch.working_copy.root();
    let mut work = Work::in_folder(root, &AgentArgs::default())?;
    work.agent_id = Some(id("holder")?);
    let claim = work.claim(
        vec![FILE.to_owned()],
        LockMode::Writing,
        "the self-test holds it".to_owned(),
    );
    let answer = client.post_status(&claim).await?;
    ensure!(answer.success, "{}", answer.orchestration.reason);

    let attempt = Attempt {
        root,
        file: &root.join(FILE),
        conversation: "self-test",
    };
    let editor = id("editor")?;
    let mut verdicts = Vec::new();
    for agent in agents {
        let result = match &agent.hooks {
            Some(hooks) => Some(
                check_agent(agent, hooks, form, &attempt, &editor)
                    .await
                    .map_err(|error| format!("{error:#}")),
            ),
            None => None,
        };
        verdicts.push(Verdict { agent, result });
    }
    Ok(verdicts)
}

async fn check_agent(
    agent: &Agent,
    hooks: &Hooks,
    form: Form,
    attempt: &Attempt<'_>,
    editor: &AgentId,
) -> anyhow::Result<()> {
    // A guarded hook would let the edit go on.
    ensure!(is_on_path("coord"), "cannot run: coord is not on your PATH");
    for event in hooks.events {
        let handler = agent.handler(event, form);
        // Windows has no shell of Unix to run it in.
        let command = if cfg!(windows) {
            handler.command
        } else {
            (hooks.run)(&handler)
        };
        let payload = (hooks.payload)(event, attempt);
        let reply = run(&command, &payload, attempt.root, editor).await;
        let judged = reply.and_then(|reply| judge(event, hooks, &reply, attempt.file));
        judged.map_err(|error| anyhow::anyhow!("{} {error:#}", event.name))?;
    }
    Ok(())
}

/// What a hook has answered.
struct Reply {
    status: Option<i32>,
    output: String,
    errors: String,
}

async fn run(command: &str, payload: &Value, root: &Path, editor: &AgentId) -> anyhow::Result<Reply> {
    let mut shell = match cfg!(windows) {
        true => Command::new("cmd"),
        false => Command::new("sh"),
    };
    environment::clear_of_git(shell.as_std_mut());
    clear_of_coord(|name| _ = shell.env_remove(name));
    let mut hook = shell
        .args([if cfg!(windows) { "/C" } else { "-c" }, command])
        .current_dir(root)
        .env(env_vars::COORD_AGENT, editor.as_str())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .context("cannot run: no shell")?;
    let mut input = hook.stdin.take().context("it has no input")?;
    let ended = tokio::time::timeout(HOOK_TIME, async {
        // A hook that needs no payload may have closed its input.
        let _ = input.write_all(payload.to_string().as_bytes()).await;
        drop(input);
        hook.wait_with_output().await
    });
    let ended = ended
        .await
        .with_context(|| format!("does not end within {HOOK_TIME:?}"))??;
    Ok(Reply {
        status: ended.status.code(),
        output: String::from_utf8_lossy(&ended.stdout).trim().to_owned(),
        errors: String::from_utf8_lossy(&ended.stderr).trim().to_owned(),
    })
}

/// # Errors
/// When the reply is not what the agent should get.
fn judge(event: &Event, hooks: &Hooks, reply: &Reply, file: &Path) -> anyhow::Result<()> {
    let denied_by_status = match (reply.status, event.is_before_edit) {
        (Some(0), _) => false,
        (Some(2), true) => true,
        (Some(127), _) => bail!("cannot run: coord is not found"),
        (Some(status), _) => bail!("ends with status {status}: {}", shortened(&reply.errors)),
        (None, _) => bail!("was stopped by a signal"),
    };
    let answer: Option<Value> = match reply.output.as_str() {
        "" => None,
        text if denied_by_status => serde_json::from_str(text).ok(),
        text => Some(serde_json::from_str(text).ok().context("prints no JSON")?),
    };
    if !event.is_before_edit {
        return Ok(());
    }
    let denied_by_answer = answer.as_ref().is_some_and(hooks.denies);
    ensure!(
        denied_by_status || denied_by_answer,
        "allows an edit of a file that another holds"
    );
    // Without an answer of the server it denies as well.
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_for_the_lock = [&reply.output, &reply.errors].iter().any(|text| text.contains(&*name));
    let why = if denied_by_answer { &reply.output } else { &reply.errors };
    ensure!(
        is_for_the_lock,
        "denies the edit, but not for the lock: {}",
        shortened(why)
    );
    Ok(())
}

/// The beginning of what a hook says, for one line of a terminal.
fn shortened(text: &str) -> String {
    const MOST: usize = 160;
    let line = text.lines().next().unwrap_or("it says nothing");
    line.chars().filter(|letter| !letter.is_control()).take(MOST).collect()
}
