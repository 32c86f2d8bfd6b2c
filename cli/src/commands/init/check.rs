//! Runs each hook once, as its agent does, with an edit of a file that someone else has locked: it must deny the edit.
//!
//! The hooks run in a temporary repository ([`Scratch`]), so the user's repository and its server are not touched.

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
use crate::commands::scratch::{Scratch, remove_coord_variables};

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

const HOOK_TIMEOUT: Duration = Duration::from_secs(20);

/// The test of an agent's hooks.
#[derive(Debug)]
pub struct HookTest {
    pub agent: &'static str,
    /// An error is a clause that names the problem.
    pub result: Result<(), String>,
}

/// Runs the hooks of `agents`, each in its form, in a throw-away repository. Agents without hooks are left out.
///
/// # Errors
/// When the hooks cannot be tested: the repository cannot be created, or its server grants no lock.
pub async fn test_hooks(agents: &[(&'static str, Form)]) -> anyhow::Result<Vec<HookTest>> {
    const FILE: &str = "self-test.txt";
    let agent_id = |name: &str| AgentId::parse(name).map_err(|invalid| anyhow::anyhow!("{invalid}"));
    let scratch = Scratch::start("self-test", &[], Some(0)).await?;
    let client = scratch.client(REQUEST_TIMEOUT)?;
    let root = scratch.working_copy.root();
    let mut work = Work::in_folder(root, &AgentArgs::default())?;
    work.agent_id = Some(agent_id("holder")?);
    let claim = work.claim(
        vec![FILE.to_owned()],
        LockMode::Writing,
        "the self-test holds it".to_owned(),
    );
    let response = client.post_status(&claim).await?;
    ensure!(response.success, "{}", response.orchestration.reason);

    let attempt = Attempt {
        root,
        file: &root.join(FILE),
        conversation: "self-test",
    };
    let editor = agent_id("editor")?;
    let mut tests = Vec::new();
    for (name, form) in agents {
        let Some((agent, hooks)) = hooks_of(name) else { continue };
        let result = check_agent(agent, hooks, *form, &attempt, &editor).await;
        tests.push(HookTest {
            agent: name,
            result: result.map_err(|error| format!("{error:#}")),
        });
    }
    Ok(tests)
}

/// The agent with this name, and its hooks.
pub fn hooks_of(name: &str) -> Option<(&'static Agent, &'static Hooks)> {
    let agent = AGENTS.into_iter().find(|agent| agent.name == name)?;
    Some((agent, agent.hooks.as_ref()?))
}

/// The command of a hook, as its agent runs it on this system.
pub fn command_of(agent: &Agent, hooks: &Hooks, event: &Event, form: Form) -> String {
    let handler = agent.handler(event, form);
    // Windows has no Unix shell to run it in.
    match cfg!(windows) {
        true => handler.command,
        false => (hooks.command)(&handler),
    }
}

async fn check_agent(
    agent: &Agent,
    hooks: &Hooks,
    form: Form,
    attempt: &Attempt<'_>,
    editor: &AgentId,
) -> anyhow::Result<()> {
    // Without coord, a guarded hook would allow the edit.
    ensure!(is_on_path("coord"), "cannot run: coord is not on your PATH");
    for event in hooks.events {
        let command = command_of(agent, hooks, event, form);
        let payload = (hooks.payload)(event, attempt);
        let reply = run(&command, &payload, attempt.root, editor).await;
        let result = reply.and_then(|reply| check_reply(event, hooks, &reply, attempt.file));
        result.map_err(|error| anyhow::anyhow!("{} {error:#}", event.name))?;
    }
    Ok(())
}

pub struct Reply {
    /// The exit status; `None` after a signal.
    status: Option<i32>,
    output: String,
    errors: String,
}

/// Runs the hook `command` in `root`, as the agent `editor`.
///
/// # Errors
/// When the hook cannot be run, or does not end in time.
pub async fn run(command: &str, payload: &Value, root: &Path, editor: &AgentId) -> anyhow::Result<Reply> {
    let mut shell = match cfg!(windows) {
        true => Command::new("cmd"),
        false => Command::new("sh"),
    };
    environment::clear_hook_variables(shell.as_std_mut());
    remove_coord_variables(shell.as_std_mut());
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
    let output = tokio::time::timeout(HOOK_TIMEOUT, async {
        // A hook that needs no payload may have closed its input.
        let _ = input.write_all(payload.to_string().as_bytes()).await;
        drop(input);
        hook.wait_with_output().await
    });
    let output = output
        .await
        .with_context(|| format!("does not end within {HOOK_TIMEOUT:?}"))??;
    Ok(Reply {
        status: output.status.code(),
        output: String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        errors: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

/// The reason in a reply that denies an agent's call; `None` if the call may proceed.
///
/// # Errors
/// When the reply does not have the agent's form.
pub fn denial(event: &Event, hooks: &Hooks, reply: &Reply) -> anyhow::Result<Option<String>> {
    let denied_by_status = match (reply.status, event.is_before_edit) {
        (Some(0), _) => false,
        (Some(2), true) => true,
        (Some(127), _) => bail!("cannot run: coord is not found"),
        (Some(status), _) => bail!("ends with status {status}: {}", shorten(&reply.errors)),
        (None, _) => bail!("was stopped by a signal"),
    };
    let output: Option<Value> = match reply.output.as_str() {
        "" => None,
        text if denied_by_status => serde_json::from_str(text).ok(),
        text => Some(serde_json::from_str(text).ok().context("prints no JSON")?),
    };
    let denied_by_output = event.is_before_edit && output.as_ref().is_some_and(hooks.denies);
    Ok(match (denied_by_output, denied_by_status) {
        (true, _) => Some(reply.output.clone()),
        (false, true) => Some(reply.errors.clone()),
        (false, false) => None,
    })
}

/// Checks that a hook before an edit denies the edit of the locked `file`, and that other hooks do not fail.
fn check_reply(event: &Event, hooks: &Hooks, reply: &Reply, file: &Path) -> anyhow::Result<()> {
    let denial = denial(event, hooks, reply)?;
    if !event.is_before_edit {
        return Ok(());
    }
    let reason = denial.context("allows an edit of a file that another holds")?;
    // A hook also denies the edit if the server does not answer.
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_for_the_lock = [&reply.output, &reply.errors].iter().any(|text| text.contains(&*name));
    ensure!(
        is_for_the_lock,
        "denies the edit, but not for the lock: {}",
        shorten(&reason)
    );
    Ok(())
}

/// The beginning of a hook's output, for one line of a terminal.
fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 160;
    let line = text.lines().next().unwrap_or("it says nothing");
    line.chars()
        .filter(|character| !character.is_control())
        .take(MAX_CHARS)
        .collect()
}
