//! Hooks that are configured in this repository or for this user, and when they were last heard of.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use coord_git::WorkingCopy;

use super::finding::Finding;
use crate::agent::{git_hooks, local_server};
use crate::commands::guard::bypass;
use crate::commands::hook::agents::Agent;
use crate::commands::status::hooks::{Heard, heard};
use crate::terminal::times::{duration, now};

/// What a configuration that has the hook says.
const HOOK: &str = "coord hook";

/// Largest file that is looked into, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Agents by their names for `coord hook`, with the files that configure their hooks, below the working copy or the home folder.
const AGENTS: [(&str, &[&str]); 6] = [
    ("claude-code", &[".claude/settings.json", ".claude/settings.local.json"]),
    ("codex", &[".codex/hooks.json", ".codex/config.toml"]),
    ("cursor", &[".cursor/hooks.json"]),
    ("gemini", &[".gemini/settings.json"]),
    ("copilot", &[".github/hooks/coord.json", ".copilot/config.json"]),
    (
        "opencode",
        &[".opencode/plugins/coord.js", ".config/opencode/plugins/coord.js"],
    ),
];

/// A finding for each agent whose hooks are configured or were heard of, and one for git's own hooks.
pub(super) async fn all(working_copy: &WorkingCopy) -> Vec<Finding> {
    let home = std::env::home_dir();
    let folders: Vec<PathBuf> = [Some(working_copy.root().to_owned()), home]
        .into_iter()
        .flatten()
        .collect();
    let heard = heard(&local_server::file(working_copy, ""));
    let configured = AGENTS.map(|(agent, files)| {
        let paths = folders
            .iter()
            .flat_map(|folder| files.iter().map(|file| folder.join(file)));
        (agent, paths.into_iter().find(|path| has(path, HOOK)))
    });
    let mut findings = of_agents(&configured, &heard, now());
    findings.push(guard(working_copy).await);
    if let Some((times, newest)) = bypass::noted(working_copy) {
        let sentence = format!("bypasses of the guard: {times}, the last one {newest}");
        findings.push(Finding::warn("bypass", sentence, "coord log"));
    }
    findings
}

fn of_agents(configured: &[(&'static str, Option<PathBuf>)], heard: &[Heard], now: i64) -> Vec<Finding> {
    let of_agent = |(agent, path): &(&'static str, Option<PathBuf>)| {
        let latest = heard.iter().find(|heard| heard.agent == *agent);
        let last = latest.map(|heard| format!("last run {} ago ({})", duration(now - heard.time), heard.event));
        match (path, last) {
            (None, None) => None,
            (Some(path), Some(last)) => {
                let subagents = match names_writers(agent) {
                    true => "",
                    false => "; it does not name its subagents, which count as one agent and may edit the same file",
                };
                Some(Finding::ok(
                    "hooks",
                    format!("{agent}: {}, {last}{subagents}", path.display()),
                ))
            }
            (Some(path), None) => Some(Finding::warn(
                "hooks",
                format!("{agent}: {}, not run yet", path.display()),
                format!("restart {agent} in this folder; it reads its hooks when it starts"),
            )),
            (None, Some(last)) => Some(Finding::warn(
                "hooks",
                format!("{agent}: {last}, but no longer configured"),
                "coord init",
            )),
        }
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
            let sentence = "git does not refuse commits and pushes of files that others hold";
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

fn has(path: &Path, text: &str) -> bool {
    let content = coord_files::regular(path, MOST_BYTES)
        .ok()
        .flatten()
        .unwrap_or_default();
    String::from_utf8_lossy(&content).contains(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_hook_is_found_by_its_configuration_and_by_its_calls() {
        let heard = |agent: &str| Heard {
            agent: agent.to_owned(),
            event: "PreToolUse".to_owned(),
            time: 880,
        };
        let configured = [
            ("claude-code", Some(PathBuf::from(".claude/settings.json"))),
            ("codex", Some(PathBuf::from(".codex/hooks.json"))),
            ("cursor", None),
            ("gemini", None),
            ("copilot", Some(PathBuf::from(".github/hooks/coord.json"))),
        ];
        let heard_of = ["claude-code", "cursor", "copilot"].map(heard);
        let findings = of_agents(&configured, &heard_of, 1000);
        let lines: Vec<String> = findings
            .iter()
            .map(|finding| format!("{:?} {} {:?}", finding.state, finding.found, finding.mend))
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
        let nothing = of_agents(&configured[2..4], &[], 1000);
        assert_eq!((nothing.len(), nothing[0].mend.as_deref()), (1, Some("coord init")));
    }

    #[test]
    fn the_guard_is_found_in_gits_hooks() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join(".husky/_");
        fs::create_dir_all(&run).unwrap();
        let found = || guard_in(&run, folder.path());
        assert_eq!(found().mend.as_deref(), Some("coord init"));
        let install = |name: &str| {
            let hook = format!("#!/bin/sh\nexec coord guard {name} \"$@\"\n");
            fs::write(folder.path().join(".husky").join(name), hook).unwrap();
            assert_eq!(found().mend.as_deref(), Some("coord init"));
            // What git runs is what Husky has made.
            fs::write(run.join(name), "#!/bin/sh\n. h\n").unwrap();
            #[cfg(unix)]
            fs::set_permissions(run.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            found()
        };
        let found = install("pre-push");
        assert_eq!(
            (found.found.as_str(), found.mend.as_deref()),
            (
                "coord guard runs at pre-push; no hook at commit-msg names intents and the ledger in messages",
                Some("coord init")
            )
        );
        install("pre-commit");
        let found = install("commit-msg");
        assert_eq!(
            (found.found.as_str(), found.mend.as_deref()),
            ("coord guard runs at pre-commit and pre-push, and at commit-msg", None)
        );
    }
}
