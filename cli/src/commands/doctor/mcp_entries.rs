//! Whether the hooks of an agent and its MCP server would ask the same server, for the same branch, as the same agent. Hooks have the
//! agent's environment; the MCP server has what its entry in the agent's configuration hands on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use coord_files::regular;
use coord_git::WorkingCopy;
use coord_settings::env_vars;
use serde_json::Value as Json;
use toml_edit::{DocumentMut, Item, TableLike};

use super::finding::Finding;

/// Largest file that is looked into, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The variables, each with the option that goes before it.
const VARIABLES: [(&str, Option<&str>); 5] = [
    (env_vars::COORD_URL, Some("--url")),
    (env_vars::COORD_TOKEN, None),
    (env_vars::COORD_AGENT, Some("--agent")),
    (env_vars::COORD_BRANCH, Some("--branch")),
    (env_vars::COORD_TEAM, None),
];

/// Agents with the JSON files that configure their MCP servers, below the working copy or the home folder, and where in them.
const FILES: [(&str, &str, &[&str]); 6] = [
    ("claude-code", ".mcp.json", &["mcpServers"]),
    ("cursor", ".cursor/mcp.json", &["mcpServers"]),
    ("gemini", ".gemini/settings.json", &["mcpServers"]),
    ("vscode", ".vscode/mcp.json", &["servers"]),
    ("opencode", "opencode.json", &["mcp"]),
    ("copilot", ".copilot/mcp-config.json", &["mcpServers"]),
];

/// How an agent starts `coord mcp`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Entry {
    words: Vec<String>,
    environment: BTreeMap<String, String>,
    /// The variables that are handed on; `None` where all are.
    handed_on: Option<BTreeSet<String>>,
}

/// A finding for each entry that differs from the hooks.
pub(super) fn all(working_copy: &WorkingCopy) -> Vec<Finding> {
    let home = std::env::home_dir();
    let folders: Vec<PathBuf> = [Some(working_copy.root().to_owned()), home]
        .into_iter()
        .flatten()
        .collect();
    let own = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let mut findings = Vec::new();
    for folder in &folders {
        let path = folder.join(".codex/config.toml");
        if let Some(entry) = text(&path).and_then(|text| of_toml(&text)) {
            findings.extend(difference("codex", &path, &entry, &own));
        }
        for (agent, file, place) in FILES {
            let path = folder.join(file);
            if let Some(entry) = text(&path).and_then(|text| of_json(&text, place)) {
                findings.extend(difference(agent, &path, &entry, &own));
            }
        }
    }
    findings
}

fn text(path: &Path) -> Option<String> {
    String::from_utf8(regular(path, MOST_BYTES).ok()??).ok()
}

/// The differences, if hooks have the variables `own`.
fn difference(agent: &str, path: &Path, entry: &Entry, own: &dyn Fn(&str) -> Option<String>) -> Option<Finding> {
    let differs = |(name, option): &(&str, Option<&str>)| {
        let (hooks, server) = (own(name), entry.value(name, *option, own));
        (hooks != server).then(|| {
            let shown = |value: Option<String>| match value {
                None => "unset".to_owned(),
                Some(_) if *name == env_vars::COORD_TOKEN => "set".to_owned(),
                Some(value) => value,
            };
            format!(
                "{name} is {} for the hooks and {} for `coord mcp`",
                shown(hooks),
                shown(server)
            )
        })
    };
    let differences: Vec<String> = VARIABLES.iter().filter_map(differs).collect();
    (!differences.is_empty()).then(|| {
        let fix = match entry.handed_on {
            Some(_) => "coord init codex".to_owned(),
            None => format!(
                "make the entry `coord` in {} and the environment of {agent} agree",
                path.display()
            ),
        };
        Finding::warn(
            "mcp",
            format!("{agent}: {}: {}", path.display(), differences.join("; ")),
            fix,
        )
    })
}

impl Entry {
    /// The value that `coord mcp` would use of a variable.
    fn value(&self, name: &str, option: Option<&str>, own: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let by_option = option.and_then(|option| {
            let mut words = self.words.iter();
            words
                .find_map(|word| match word.strip_prefix(option)? {
                    "" => Some(None),
                    rest => rest.strip_prefix('=').map(|value| Some(value.to_owned())),
                })?
                .or_else(|| {
                    let place = self.words.iter().position(|word| word == option)?;
                    self.words.get(place + 1).cloned()
                })
        });
        // A reference to the environment.
        let set = self.environment.get(name).filter(|value| !value.contains('$')).cloned();
        let is_handed_on = self.handed_on.as_ref().is_none_or(|names| names.contains(name))
            || self.environment.get(name).is_some_and(|value| value.contains('$'));
        by_option.or(set).or_else(|| own(name).filter(|_| is_handed_on))
    }

    fn of_coord(self) -> Option<Entry> {
        let runs = self
            .words
            .iter()
            .any(|word| Path::new(word).file_stem().is_some_and(|name| name == "coord"));
        (runs && self.words.iter().any(|word| word == "mcp")).then_some(self)
    }
}

/// Codex hands on what `env_vars` names.
fn of_toml(text: &str) -> Option<Entry> {
    let document: DocumentMut = text.parse().ok()?;
    let table = document.get("mcp_servers")?.get("coord")?.as_table_like()?;
    let words = |item: Option<&Item>| -> Vec<String> {
        let array = item.and_then(Item::as_array).into_iter().flatten();
        array.filter_map(|value| Some(value.as_str()?.to_owned())).collect()
    };
    let command = table.get("command").and_then(Item::as_str).map(str::to_owned);
    let environment = table.get("env").and_then(Item::as_table_like);
    let environment = environment.into_iter().flat_map(TableLike::iter);
    Entry {
        words: command.into_iter().chain(words(table.get("args"))).collect(),
        environment: environment
            .filter_map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned())))
            .collect(),
        handed_on: Some(words(table.get("env_vars")).into_iter().collect()),
    }
    .of_coord()
}

fn of_json(text: &str, place: &[&str]) -> Option<Entry> {
    let mut value: &Json = &serde_json::from_str(text).ok()?;
    for name in place {
        value = value.get(name)?;
    }
    let entry = value.get("coord")?;
    // OpenCode has the words in `command`, and the variables in `environment`.
    let words = [&entry["command"], &entry["args"]]
        .into_iter()
        .flat_map(|words| match words {
            Json::String(word) => vec![word.clone()],
            Json::Array(words) => words.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        });
    let variables = [&entry["env"], &entry["environment"]]
        .into_iter()
        .filter_map(Json::as_object);
    Entry {
        words: words.collect(),
        environment: variables
            .flatten()
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect(),
        handed_on: None,
    }
    .of_coord()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the finding for `entry` when the hooks have `own`.
    fn finding_for(entry: Option<Entry>, own: &[(&str, &str)]) -> Option<String> {
        let own = |name: &str| {
            own.iter()
                .find(|(own, _)| *own == name)
                .map(|(_, value)| (*value).to_owned())
        };
        let entry = entry.expect("an entry of coord");
        Some(difference("one", Path::new("/w/file"), &entry, &own)?.found)
    }

    #[test]
    fn codex_hands_on_what_is_named() {
        let entry = |more: &str| {
            of_toml(&format!(
                "[mcp_servers.coord]\ncommand = \"coord\"\nargs = [\"mcp\"]\n{more}"
            ))
        };
        let own = [("COORD_URL", "https://coord.example"), ("COORD_TOKEN", "secret")];
        assert_eq!(finding_for(entry(""), &[]), None);
        assert_eq!(
            finding_for(entry(""), &own).unwrap(),
            "one: /w/file: COORD_URL is https://coord.example for the hooks and unset for `coord mcp`; COORD_TOKEN is set for the \
             hooks and unset for `coord mcp`"
        );
        assert_eq!(
            finding_for(entry("env_vars = [\"COORD_URL\", \"COORD_TOKEN\"]\n"), &own),
            None
        );
        let set = entry("env_vars = [\"COORD_TOKEN\"]\nenv = { COORD_URL = \"https://coord.example\" }\n");
        assert_eq!(finding_for(set, &own), None);
        assert_eq!(of_toml("[mcp_servers.coord]\ncommand = \"other\"\n"), None);
    }

    #[test]
    fn options_go_before_variables_and_references_are_the_environments() {
        let entry = |text: &str| of_json(&format!(r#"{{"mcpServers":{{"coord":{text}}}}}"#), &["mcpServers"]);
        let own = [("COORD_BRANCH", "main")];
        for (text, is_found) in [
            (r#"{"command":"coord","args":["mcp"]}"#, false),
            (r#"{"command":["/usr/bin/coord","mcp","--branch","main"]}"#, false),
            (r#"{"command":"coord","args":["mcp","--branch=next"]}"#, true),
            (r#"{"command":"coord","args":["mcp","--branch","next"]}"#, true),
            (
                r#"{"command":"coord","args":["mcp"],"env":{"COORD_BRANCH":"${COORD_BRANCH}"}}"#,
                false,
            ),
            (
                r#"{"command":"coord","args":["mcp"],"env":{"COORD_AGENT":"ada"}}"#,
                true,
            ),
            (r#"{"command":"coord","args":["mcp"],"env":{"COORD_BRANCH":1}}"#, false),
        ] {
            assert_eq!(finding_for(entry(text), &own).is_some(), is_found, "{text}");
        }
        assert_eq!(entry(r#"{"command":"other","args":["mcp"]}"#), None);
        assert_eq!(of_json("[1,2", &["mcpServers"]), None);
    }
}
