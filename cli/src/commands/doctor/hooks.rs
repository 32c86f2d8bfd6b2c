//! Hooks that are configured in this repository or for this user, and when they last ran.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use coord_git::WorkingCopy;

use super::finding::Finding;
use crate::agent::{git_hooks, local_server};
use crate::commands::guard::bypass;
use crate::commands::hook::agents::Agent;
use crate::commands::init::handler::Form;
use crate::commands::status::hooks::{HookRun, hook_runs};
use crate::terminal::times::{duration, now};

/// The text that marks a configuration with the hook.
const HOOK: &str = "coord hook";

/// Largest file that is looked into, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Most versions of a plugin that are looked at.
const MOST_VERSIONS: usize = 16;

/// Where the hooks of an agent are configured.
struct Configuration {
    /// Its name for `coord hook`.
    agent: &'static str,
    /// Files below the working copy or the home folder.
    files: &'static [&'static str],
    /// The file of its plugin below the home folder; `*` is the folder of a version.
    plugin: &'static str,
}

const fn configuration(agent: &'static str, files: &'static [&'static str], plugin: &'static str) -> Configuration {
    Configuration { agent, files, plugin }
}

const AGENTS: [Configuration; 6] = [
    configuration(
        "claude-code",
        &[".claude/settings.json", ".claude/settings.local.json"],
        ".claude/plugins/cache/coord/coord/*/hooks/hooks.json",
    ),
    configuration(
        "codex",
        &[".codex/hooks.json", ".codex/config.toml"],
        ".codex/plugins/cache/coord/coord/*/hooks/hooks.json",
    ),
    configuration(
        "cursor",
        &[".cursor/hooks.json"],
        ".cursor/plugins/local/coord/hooks/hooks.json",
    ),
    configuration(
        "gemini",
        &[".gemini/settings.json"],
        ".gemini/extensions/coord/hooks/hooks.json",
    ),
    configuration(
        "copilot",
        &[
            ".github/hooks/coord.json",
            ".copilot/hooks/coord.json",
            ".copilot/config.json",
        ],
        ".copilot/installed-plugins/*/coord/hooks.json",
    ),
    configuration(
        "opencode",
        &[".opencode/plugins/coord.js", ".config/opencode/plugins/coord.js"],
        "",
    ),
];

/// The hooks of an agent, as they are configured.
#[derive(Clone, Debug)]
struct Configured {
    path: PathBuf,
    form: Form,
}

/// A finding for each agent whose hooks are configured or have run, and one for git's own hooks.
pub(super) async fn all(working_copy: &WorkingCopy) -> Vec<Finding> {
    let heard = hook_runs(&local_server::file(working_copy, ""));
    let configured = AGENTS.map(|agent| (agent.agent, configured(&agent, working_copy)));
    let mut findings = of_agents(&configured, &heard, now());
    findings.push(guard(working_copy).await);
    if let Some((times, newest)) = bypass::noted(working_copy) {
        let sentence = format!("bypasses of the guard: {times}, the last one {newest}");
        findings.push(Finding::warn("bypass", sentence, "coord log"));
    }
    findings
}

fn configured(agent: &Configuration, working_copy: &WorkingCopy) -> Option<Configured> {
    let home = std::env::home_dir();
    // Codex reads the hooks of a worktree from the main checkout.
    let main = working_copy.shared_folder().parent().filter(|_| agent.agent == "codex");
    let folders = [
        Some(working_copy.root().to_owned()),
        main.map(PathBuf::from),
        home.clone(),
    ];
    let folders = folders.into_iter().flatten();
    let files = folders.flat_map(|folder| agent.files.iter().map(move |file| folder.join(file)));
    let plugins = home.filter(|_| !agent.plugin.is_empty());
    let plugins = plugins.into_iter().flat_map(|home| versions(&home, agent.plugin));
    files.chain(plugins).find_map(|path| {
        let text = read(&path).filter(|text| text.contains(HOOK))?;
        let form = Form::of(&text, agent.agent);
        Some(Configured { path, form })
    })
}

/// The files that `pattern` stands for below `home`.
fn versions(home: &Path, pattern: &str) -> Vec<PathBuf> {
    match pattern.split_once("/*/") {
        Some((folder, file)) => {
            let entries = std::fs::read_dir(home.join(folder)).into_iter().flatten().flatten();
            entries
                .take(MOST_VERSIONS)
                .map(|entry| entry.path().join(file))
                .collect()
        }
        None => vec![home.join(pattern)],
    }
}

fn of_agents(configured: &[(&'static str, Option<Configured>)], heard: &[HookRun], now: i64) -> Vec<Finding> {
    let of_agent = |(agent, configured): &(&'static str, Option<Configured>)| {
        let latest = heard.iter().find(|heard| heard.agent == *agent);
        let last = latest.map(|heard| format!("last run {} ago ({})", duration(now - heard.time), heard.event));
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
        let Some(last) = last else {
            return Some(Finding::warn(
                "hooks",
                format!("{agent}: {path}{without_coord}, not run yet"),
                format!("restart {agent} in this folder; it reads its hooks when it starts"),
            ));
        };
        let subagents = match names_writers(agent) {
            true => "",
            false => "; it does not name its subagents, which count as one agent and may edit the same file",
        };
        let sentence = format!("{agent}: {path}{without_coord}, {last}{subagents}");
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

fn read(path: &Path) -> Option<String> {
    let content = coord_files::regular(path, MOST_BYTES).ok()??;
    Some(String::from_utf8_lossy(&content).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_hook_is_found_by_its_configuration_and_by_its_calls() {
        let heard = |agent: &str| HookRun {
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
    fn the_form_of_hooks_is_told_by_their_text() {
        let form = |text: &str| Form::of(text, "codex");
        assert_eq!(form("{\"command\": \"coord hook codex Stop\"}"), Form::Plain);
        assert_eq!(
            form("{\"command\": \"coord hook codex Stop --on-error allow\"}"),
            Form::Guarded
        );
        let with = |form: Form| {
            let command = "coord hook codex Stop".to_owned();
            format!(
                "{{\"command\": \"{}\"}}",
                crate::commands::init::handler::Handler { command, form }.sh()
            )
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
