//! Whether the hooks of an agent and its MCP server would ask the same server, for the same branch, as the same agent.
//! Hooks inherit the agent's environment. The MCP server gets what its entry in the agent's configuration passes on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use coord_files::regular;
use coord_git::WorkingCopy;
use coord_settings::env_vars;
use serde_json::Value as Json;
use toml_edit::{DocumentMut, Item, TableLike};

use super::finding::Finding;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The variables, each with the option that takes precedence over it.
const VARIABLES: [(&str, Option<&str>); 5] = [
    (env_vars::COORD_URL, Some("--url")),
    (env_vars::COORD_TOKEN, None),
    (env_vars::COORD_AGENT, Some("--agent")),
    (env_vars::COORD_BRANCH, Some("--branch")),
    (env_vars::COORD_TEAM, None),
];

/// Agents, each with the JSON file that configures its MCP servers, below the working copy or the home folder, and the
/// keys that lead to the servers.
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
    /// The variables that the agent passes on; `None` where it passes on all.
    passed_on: Option<BTreeSet<String>>,
}

/// A finding for each entry that differs from the hooks.
pub(super) fn check(working_copy: &WorkingCopy) -> Vec<Finding> {
    let home = std::env::home_dir();
    let folders = [Some(working_copy.root().to_owned()), home].into_iter().flatten();
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let mut findings = Vec::new();
    for folder in folders {
        let path = folder.join(".codex/config.toml");
        if let Some(entry) = read(&path).and_then(|text| parse_toml(&text)) {
            findings.extend(compare("codex", &path, &entry, &variable));
        }
        for (agent, file, keys) in FILES {
            let path = folder.join(file);
            if let Some(entry) = read(&path).and_then(|text| parse_json(&text, keys)) {
                findings.extend(compare(agent, &path, &entry, &variable));
            }
        }
    }
    findings
}

fn read(path: &Path) -> Option<String> {
    String::from_utf8(regular(path, MAX_BYTES).ok()??).ok()
}

/// The differences between `entry` and hooks with the environment `variable`.
fn compare(agent: &str, path: &Path, entry: &Entry, variable: &dyn Fn(&str) -> Option<String>) -> Option<Finding> {
    let difference = |(name, option): &(&str, Option<&str>)| {
        let (hooks, server) = (variable(name), entry.value(name, *option, variable));
        (hooks != server).then(|| {
            let printable = |value: Option<String>| match value {
                None => "unset".to_owned(),
                Some(_) if *name == env_vars::COORD_TOKEN => "set".to_owned(),
                Some(value) => value,
            };
            format!(
                "{name} is {} for the hooks and {} for `coord mcp`",
                printable(hooks),
                printable(server)
            )
        })
    };
    let differences: Vec<String> = VARIABLES.iter().filter_map(difference).collect();
    (!differences.is_empty()).then(|| {
        let fix = match entry.passed_on {
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
    /// The value that `coord mcp` would use for the variable `name`.
    fn value(&self, name: &str, option: Option<&str>, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let by_option = option.and_then(|option| {
            let mut words = self.words.iter();
            words
                .find_map(|word| match word.strip_prefix(option)? {
                    "" => Some(None),
                    rest => rest.strip_prefix('=').map(|value| Some(value.to_owned())),
                })?
                .or_else(|| {
                    let index = self.words.iter().position(|word| word == option)?;
                    self.words.get(index + 1).cloned()
                })
        });
        // A `$` refers to the agent's environment.
        let set = self.environment.get(name).filter(|value| !value.contains('$')).cloned();
        let is_passed_on = self.passed_on.as_ref().is_none_or(|names| names.contains(name))
            || self.environment.get(name).is_some_and(|value| value.contains('$'));
        by_option.or(set).or_else(|| variable(name).filter(|_| is_passed_on))
    }

    /// This entry, if it starts `coord mcp`.
    fn if_starts_coord(self) -> Option<Entry> {
        let runs = self
            .words
            .iter()
            .any(|word| Path::new(word).file_stem().is_some_and(|name| name == "coord"));
        (runs && self.words.iter().any(|word| word == "mcp")).then_some(self)
    }
}

/// Codex passes on the variables that `env_vars` lists.
fn parse_toml(text: &str) -> Option<Entry> {
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
        passed_on: Some(words(table.get("env_vars")).into_iter().collect()),
    }
    .if_starts_coord()
}

fn parse_json(text: &str, keys: &[&str]) -> Option<Entry> {
    let mut value: &Json = &serde_json::from_str(text).ok()?;
    for key in keys {
        value = value.get(key)?;
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
        passed_on: None,
    }
    .if_starts_coord()
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
        Some(compare("one", Path::new("/w/file"), &entry, &own)?.found)
    }

    #[test]
    fn codex_passes_on_the_variables_that_its_entry_names() {
        let entry = |more: &str| {
            parse_toml(&format!(
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
        assert_eq!(parse_toml("[mcp_servers.coord]\ncommand = \"other\"\n"), None);
    }

    #[test]
    fn options_take_precedence_over_variables_and_a_reference_means_the_environment() {
        let entry = |text: &str| parse_json(&format!(r#"{{"mcpServers":{{"coord":{text}}}}}"#), &["mcpServers"]);
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
        assert_eq!(parse_json("[1,2", &["mcpServers"]), None);
    }
}
