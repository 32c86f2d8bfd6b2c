//! Runs each hook once, as its agent does, with an edit of a file that another holds: a denial has to deny.
//!
//! That happens in a temporary repository ([`Scratch`]): the user's repository and its server are not touched.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use coord_agent::git::environment;
use coord_agent::options::AgentArgs;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_protocol::LockMode;
use coord_settings::env_vars;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::agents::handler::Form;
use super::agents::{AGENTS, Agent, Attempt, Event, Hooks};
use super::detect::is_on_path;
use crate::commands::scratch::{Scratch, clear_of_coord};

/// Time limit of a request.
const REQUEST_TIME: Duration = Duration::from_secs(10);

/// Time limit of a hook.
const HOOK_TIME: Duration = Duration::from_secs(20);

/// An agent whose hooks were run.
#[derive(Debug)]
pub struct Tried {
    pub agent: &'static str,
    /// The problem, as a clause.
    pub result: Result<(), String>,
}

/// Runs the hooks of `agents` in the form in which each has them, in a repository and on a server that are there for this alone. Agents
/// without hooks are left out.
///
/// # Errors
/// When it cannot be checked: the repository cannot be made, or its server gives no lock.
pub async fn try_hooks(agents: &[(&'static str, Form)]) -> anyhow::Result<Vec<Tried>> {
    const FILE: &str = "self-test.txt";
    let id = |who: &str| AgentId::parse(who).map_err(|invalid| anyhow::anyhow!("{invalid}"));
    let scratch = Scratch::start("self-test", &[], Some(0)).await?;
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
    let mut all = Vec::new();
    for (name, form) in agents {
        let Some((agent, hooks)) = hooks_of(name) else { continue };
        let result = check_agent(agent, hooks, *form, &attempt, &editor).await;
        all.push(Tried {
            agent: name,
            result: result.map_err(|error| format!("{error:#}")),
        });
    }
    Ok(all)
}

/// The agent with this name, and its hooks.
pub fn hooks_of(name: &str) -> Option<(&'static Agent, &'static Hooks)> {
    let agent = AGENTS.into_iter().find(|agent| agent.name == name)?;
    Some((agent, agent.hooks.as_ref()?))
}

/// The command of a hook, as its agent runs it on this system.
pub fn command_of(agent: &Agent, hooks: &Hooks, event: &Event, form: Form) -> String {
    let handler = agent.handler(event, form);
    // Windows has no shell of Unix to run it in.
    match cfg!(windows) {
        true => handler.command,
        false => (hooks.run)(&handler),
    }
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
        let command = command_of(agent, hooks, event, form);
        let payload = (hooks.payload)(event, attempt);
        let reply = run(&command, &payload, attempt.root, editor).await;
        let verdict = reply.and_then(|reply| judge(event, hooks, &reply, attempt.file));
        verdict.map_err(|error| anyhow::anyhow!("{} {error:#}", event.name))?;
    }
    Ok(())
}

/// The reply of a hook.
pub struct Reply {
    status: Option<i32>,
    output: String,
    errors: String,
}

/// Runs the hook `command` in `root`, as the agent `editor`.
///
/// # Errors
/// When it cannot be run, or does not end in time.
pub async fn run(command: &str, payload: &Value, root: &Path, editor: &AgentId) -> anyhow::Result<Reply> {
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

/// The reason in a reply that denies an agent's call; `None` when the call may proceed.
///
/// # Errors
/// When the reply is not of the agent's form.
pub fn denial(event: &Event, hooks: &Hooks, reply: &Reply) -> anyhow::Result<Option<String>> {
    let denied_by_status = match (reply.status, event.is_before_edit) {
        (Some(0), _) => false,
        (Some(2), true) => true,
        (Some(127), _) => bail!("cannot run: coord is not found"),
        (Some(status), _) => bail!("ends with status {status}: {}", shorten(&reply.errors)),
        (None, _) => bail!("was stopped by a signal"),
    };
    let answer: Option<Value> = match reply.output.as_str() {
        "" => None,
        text if denied_by_status => serde_json::from_str(text).ok(),
        text => Some(serde_json::from_str(text).ok().context("prints no JSON")?),
    };
    let denied_by_answer = event.is_before_edit && answer.as_ref().is_some_and(hooks.denies);
    Ok(match (denied_by_answer, denied_by_status) {
        (true, _) => Some(reply.output.clone()),
        (false, true) => Some(reply.errors.clone()),
        (false, false) => None,
    })
}

/// # Errors
/// When the reply is not what the agent should get.
fn judge(event: &Event, hooks: &Hooks, reply: &Reply, file: &Path) -> anyhow::Result<()> {
    let denial = denial(event, hooks, reply)?;
    if !event.is_before_edit {
        return Ok(());
    }
    let why = denial.context("allows an edit of a file that another holds")?;
    // Without an answer of the server it denies as well.
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_for_the_lock = [&reply.output, &reply.errors].iter().any(|text| text.contains(&*name));
    ensure!(
        is_for_the_lock,
        "denies the edit, but not for the lock: {}",
        shorten(&why)
    );
    Ok(())
}

/// The beginning of a hook's output, for one line of a terminal.
fn shorten(text: &str) -> String {
    const MOST: usize = 160;
    let line = text.lines().next().unwrap_or("it says nothing");
    line.chars().filter(|letter| !letter.is_control()).take(MOST).collect()
}
