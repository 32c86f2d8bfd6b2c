//! Hooks that are configured in this repository or for this user, and when they last ran.

use std::path::Path;

use clap::ValueEnum;
use coord_agent::terminal::times::{duration, now};
use coord_agent::{git_hooks, local_server};
use coord_git::WorkingCopy;
use coord_hooks::guard::bypass;
use coord_hooks::hook::agents::Agent;

use super::finding::Finding;
use crate::commands::configured_hooks::{self, Configured};
use crate::commands::init::handler::Form;
use crate::commands::init::{self, Tried};
use crate::commands::status::hooks::{HookRun, hook_runs};

/// A finding for each agent with hooks that are configured or have run, and one for git's own hooks.
pub(super) async fn all(working_copy: &WorkingCopy) -> Vec<Finding> {
    let hook_runs = hook_runs(&local_server::file(working_copy, ""));
    let configured = configured_hooks::all(working_copy);
    let agents: Vec<_> = configured
        .iter()
        .filter_map(|(agent, configured)| Some((*agent, configured.as_ref()?.form)))
        .collect();
    let tried = match agents.is_empty() {
        true => Ok(Vec::new()),
        false => init::try_hooks(&agents).await,
    };
    let mut findings = of_agents(&configured, &hook_runs, &tried.unwrap_or_default(), now());
    let guard = guard(working_copy).await;
    let has_guard = guard.fix.is_none();
    findings.push(guard);
    if (has_guard || !agents.is_empty()) && !init::is_on_path("coord") {
        findings.push(not_on_path());
    }
    if let Some((times, newest)) = bypass::noted(working_copy) {
        let sentence = format!("bypasses of the guard: {times}, the last one {newest}");
        findings.push(Finding::warn("bypass", sentence, "coord log"));
    }
    findings
}

/// Hooks of agents and of git call `coord` by its name, and do nothing without it.
fn not_on_path() -> Finding {
    let sentence = "coord is not on your PATH: the hooks of agents and the git guard do nothing";
    let own = std::env::current_exe().ok();
    let folder = own.as_deref().and_then(Path::parent);
    let folder = folder.map_or_else(|| "FOLDER".to_owned(), |folder| folder.display().to_string());
    Finding::wrong("PATH", sentence, format!("export PATH=\"{folder}:$PATH\""))
}

/// `tried` has what became of an edit of a locked file, for agents whose hooks were run.
fn of_agents(
    configured: &[(&'static str, Option<Configured>)],
    hook_runs: &[HookRun],
    tried: &[Tried],
    now: i64,
) -> Vec<Finding> {
    let of_agent = |(agent, configured): &(&'static str, Option<Configured>)| {
        let latest = hook_runs.iter().find(|run| run.agent == *agent);
        let last = latest.map(|run| format!("last run {} ago ({})", duration(now - run.time), run.event));
        let Some(Configured { path, form }) = configured else {
            let last = last?;
            return Some(Finding::warn(
                "hooks",
                format!("{agent}: {last}, but no configuration of it is found here"),
                "coord init",
            ));
        };
        let path = path.display();
        let without_coord = match form {
            Form::Guarded => "",
            Form::Strict => ", strict: without coord on the PATH, edits are denied",
            Form::Plain => {
                let sentence =
                    format!("{agent}: {path}, of an earlier version: the hooks fail where coord is not installed");
                return Some(Finding::warn("hooks", sentence, "coord init"));
            }
        };
        let result = tried
            .iter()
            .find(|tried| tried.agent == *agent)
            .map(|tried| &tried.result);
        if let Some(Err(why)) = result {
            let sentence = format!("{agent}: {path}: the hook {why}");
            return Some(Finding::wrong("hooks", sentence, "coord init"));
        }
        let tried = if result.is_some() {
            ", denies edits of locked files"
        } else {
            ""
        };
        let Some(last) = last else {
            return Some(Finding::warn(
                "hooks",
                format!("{agent}: {path}{tried}{without_coord}, not run by {agent} yet"),
                format!("restart {agent} in this folder; it reads its hooks when it starts"),
            ));
        };
        let subagents = match names_writers(agent) {
            true => "",
            false => "; it does not name its subagents, which count as one agent and may edit the same file",
        };
        let sentence = format!("{agent}: {path}{tried}{without_coord}, {last}{subagents}");
        Some(Finding::ok("hooks", sentence))
    };
    let findings: Vec<Finding> = configured.iter().filter_map(of_agent).collect();
    if findings.is_empty() {
        let sentence = "no agent has a hook that claims files before its edits: agents have to remember to claim them";
        return vec![Finding::warn("hooks", sentence, "coord init")];
    }
    findings
}

/// Whether the agent tells hooks which of its subagents calls.
fn names_writers(agent: &str) -> bool {
    let mut agents = Agent::value_variants().iter();
    agents.any(|known| known.name() == agent && known.names_writers())
}

/// By the files that git runs here.
async fn guard(working_copy: &WorkingCopy) -> Finding {
    match git_hooks::folder(working_copy).await {
        Ok(folder) => guard_in(&folder, working_copy.root()),
        Err(error) => Finding::warn("git hooks", format!("{error:#}"), "git rev-parse --git-path hooks"),
    }
}

fn guard_in(folder: &Path, root: &Path) -> Finding {
    let has_guard = |name: &str| git_hooks::runs_guard(folder, root, name);
    let (commits, pushes) = (has_guard("pre-commit"), has_guard("pre-push"));
    let refusing = match (commits, pushes) {
        (false, false) => {
            let sentence =
                "the git guard is not active: commits and pushes of files that others hold will not be blocked";
            return Finding::warn("git hooks", sentence, "coord init");
        }
        (true, true) => "pre-commit and pre-push",
        (true, false) => "pre-commit",
        (false, true) => "pre-push",
    };
    if has_guard("commit-msg") {
        Finding::ok(
            "git hooks",
            format!("coord guard runs at {refusing}, and at commit-msg"),
        )
    } else {
        let sentence =
            format!("coord guard runs at {refusing}; no hook at commit-msg names intents and the ledger in messages");
        Finding::warn("git hooks", sentence, "coord init")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_hook_is_found_by_its_configuration_and_by_its_calls() {
        let hook_run = |agent: &str| HookRun {
            agent: agent.to_owned(),
            event: "PreToolUse".to_owned(),
            time: 880,
        };
        let found = |path: &str, form: Form| {
            let path = PathBuf::from(path);
            Some(Configured { path, form })
        };
        let configured = [
            ("claude-code", found(".claude/settings.json", Form::Strict)),
            ("codex", found(".codex/hooks.json", Form::Guarded)),
            ("cursor", None),
            ("gemini", None),
            ("copilot", found(".github/hooks/coord.json", Form::Guarded)),
            ("opencode", found(".opencode/plugins/coord.js", Form::Plain)),
        ];
        let hook_runs = ["claude-code", "cursor", "copilot"].map(hook_run);
        let denied = |agent, result| Tried { agent, result };
        let tried = [
            denied("claude-code", Ok(())),
            denied("copilot", Err("allows an edit of a file that another holds".to_owned())),
        ];
        let findings = of_agents(&configured, &hook_runs, &tried, 1000);
        let lines: Vec<String> = findings
            .iter()
            .map(|finding| format!("{:?} {} {:?}", finding.state, finding.found, finding.fix))
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
        let nothing = of_agents(&configured[2..4], &[], &[], 1000);
        assert_eq!((nothing.len(), nothing[0].fix.as_deref()), (1, Some("coord init")));
    }

    #[test]
    fn the_form_of_a_hook_follows_from_its_command() {
        let form = |text: &str| Form::of(text, "codex");
        assert_eq!(form("{\"command\": \"coord hook codex Stop\"}"), Form::Plain);
        assert_eq!(
            form("{\"command\": \"coord hook codex Stop --on-error allow\"}"),
            Form::Guarded
        );
        let with = |form: Form| {
            let command = "coord hook codex Stop".to_owned();
            format!("{{\"command\": \"{}\"}}", init::handler::Handler { command, form }.sh())
        };
        assert_eq!(form(&with(Form::Guarded)), Form::Guarded);
        assert_eq!(form(&with(Form::Strict)), Form::Strict);
    }

    #[test]
    fn the_guard_is_found_in_gits_hooks() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join(".husky/_");
        fs::create_dir_all(&run).unwrap();
        let found = || guard_in(&run, folder.path());
        assert_eq!(found().fix.as_deref(), Some("coord init"));
        let install = |name: &str| {
            let hook = format!("#!/bin/sh\nexec coord guard {name} \"$@\"\n");
            fs::write(folder.path().join(".husky").join(name), hook).unwrap();
            assert_eq!(found().fix.as_deref(), Some("coord init"));
            // Git runs the script that Husky has generated.
            fs::write(run.join(name), "#!/bin/sh\n. h\n").unwrap();
            #[cfg(unix)]
            fs::set_permissions(run.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            found()
        };
        let found = install("pre-push");
        assert_eq!(
            (found.found.as_str(), found.fix.as_deref()),
            (
                "coord guard runs at pre-push; no hook at commit-msg names intents and the ledger in messages",
                Some("coord init")
            )
        );
        install("pre-commit");
        let found = install("commit-msg");
        assert_eq!(
            (found.found.as_str(), found.fix.as_deref()),
            ("coord guard runs at pre-commit and pre-push, and at commit-msg", None)
        );
    }
}
