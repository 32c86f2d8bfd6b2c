//! Hooks that are configured in this repository or for this user, and when they last ran.

use std::path::Path;

use clap::ValueEnum;
use coord_agent::terminal::times::{duration, now};
use coord_agent::{git_hooks, local_server};
use coord_git::WorkingCopy;
use coord_hooks::guard::bypass;
use coord_hooks::hook::agents::Agent;

use super::finding::Finding;
use crate::commands::configured_hooks::{self, ConfiguredHook};
use crate::commands::init::handler::Form;
use crate::commands::init::{self, HookTest};
use crate::commands::status::hooks::{HookRun, hook_runs};

/// A finding for each agent with hooks that are configured or have run, and one for git's own hooks.
pub(super) async fn check(working_copy: &WorkingCopy) -> Vec<Finding> {
    let hook_runs = hook_runs(&local_server::file(working_copy, ""));
    let configured = configured_hooks::find(working_copy);
    let agents: Vec<_> = configured
        .iter()
        .filter_map(|(agent, hook)| Some((*agent, hook.as_ref()?.form)))
        .collect();
    let tests = match agents.is_empty() {
        true => Ok(Vec::new()),
        false => init::test_hooks(&agents).await,
    };
    let mut findings = check_agents(&configured, &hook_runs, &tests.unwrap_or_default(), now());
    let guard = check_guard(working_copy).await;
    let has_guard = guard.fix.is_none();
    findings.push(guard);
    if (has_guard || !agents.is_empty()) && !init::is_on_path("coord") {
        findings.push(missing_on_path());
    }
    if let Some((count, newest)) = bypass::noted(working_copy) {
        let sentence = format!("bypasses of the guard: {count}, the last one {newest}");
        findings.push(Finding::warn("bypass", sentence, "coord log"));
    }
    findings
}

/// Hooks of agents and of git call `coord` by its name, and do nothing without it.
fn missing_on_path() -> Finding {
    let sentence = "coord is not on your PATH: the hooks of agents and the git guard do nothing";
    let program = std::env::current_exe().ok();
    let folder = program.as_deref().and_then(Path::parent);
    let folder = folder.map_or_else(|| "FOLDER".to_owned(), |folder| folder.display().to_string());
    Finding::wrong("PATH", sentence, format!("export PATH=\"{folder}:$PATH\""))
}

/// Checks the hooks of each agent. `tests` has the agents whose hooks were run with an edit of a locked file.
fn check_agents(
    configured: &[(&'static str, Option<ConfiguredHook>)],
    hook_runs: &[HookRun],
    tests: &[HookTest],
    now: i64,
) -> Vec<Finding> {
    let check_agent = |(agent, hook): &(&'static str, Option<ConfiguredHook>)| {
        let latest = hook_runs.iter().find(|run| run.agent == *agent);
        let last_run = latest.map(|run| format!("last run {} ago ({})", duration(now - run.time), run.event));
        let Some(ConfiguredHook { path, form }) = hook else {
            let last_run = last_run?;
            return Some(Finding::warn(
                "hooks",
                format!("{agent}: {last_run}, but no configuration of it is found here"),
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
        let test = tests.iter().find(|test| test.agent == *agent);
        let tested = match test.map(|test| &test.result) {
            None => "",
            Some(Ok(())) => ", denies edits of locked files",
            Some(Err(problem)) => {
                let sentence = format!("{agent}: {path}: the hook {problem}");
                return Some(Finding::wrong("hooks", sentence, "coord init"));
            }
        };
        let Some(last_run) = last_run else {
            return Some(Finding::warn(
                "hooks",
                format!("{agent}: {path}{tested}{without_coord}, not run by {agent} yet"),
                format!("restart {agent} in this folder; it reads its hooks when it starts"),
            ));
        };
        let subagents = match names_writers(agent) {
            true => "",
            false => "; it does not name its subagents, which count as one agent and may edit the same file",
        };
        let sentence = format!("{agent}: {path}{tested}{without_coord}, {last_run}{subagents}");
        Some(Finding::ok("hooks", sentence))
    };
    let findings: Vec<Finding> = configured.iter().filter_map(check_agent).collect();
    if findings.is_empty() {
        let sentence = "no agent has a hook that claims files before its edits: agents have to remember to claim them";
        return vec![Finding::warn("hooks", sentence, "coord init")];
    }
    findings
}

/// Whether the agent tells its hooks which subagent calls.
fn names_writers(agent: &str) -> bool {
    let mut variants = Agent::value_variants().iter();
    variants.any(|variant| variant.name() == agent && variant.names_writers())
}

/// Checks which of git's hooks run the guard.
async fn check_guard(working_copy: &WorkingCopy) -> Finding {
    match git_hooks::folder(working_copy).await {
        Ok(folder) => check_guard_in(&folder, working_copy.root()),
        Err(error) => Finding::warn("git hooks", format!("{error:#}"), "git rev-parse --git-path hooks"),
    }
}

fn check_guard_in(folder: &Path, root: &Path) -> Finding {
    let has_guard = |name: &str| git_hooks::runs_guard(folder, root, name);
    let blocking_hooks = match (has_guard("pre-commit"), has_guard("pre-push")) {
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
            format!("coord guard runs at {blocking_hooks}, and at commit-msg"),
        )
    } else {
        let sentence = format!(
            "coord guard runs at {blocking_hooks}; no hook at commit-msg names intents and the ledger in messages"
        );
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
            Some(ConfiguredHook { path, form })
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
        let test = |agent, result| HookTest { agent, result };
        let tests = [
            test("claude-code", Ok(())),
            test("copilot", Err("allows an edit of a file that another holds".to_owned())),
        ];
        let findings = check_agents(&configured, &hook_runs, &tests, 1000);
        let lines: Vec<String> = findings
            .iter()
            .map(|finding| format!("{:?} {} {:?}", finding.state, finding.found, finding.fix))
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
        let nothing = check_agents(&configured[2..4], &[], &[], 1000);
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
        let found = || check_guard_in(&run, folder.path());
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
