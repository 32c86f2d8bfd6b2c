//! The plugins in `packaging/plugins`, one for each agent, and the catalogs at the root of the repository.
//! They contain the values that `coord init` writes. This test fails where they differ, and can update them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jsonc_parser::cst::CstInputValue;
use jsonc_parser::json;
use serde_json::Value;

use super::agents::handler::Form;
use super::agents::{AGENTS, Agent, codex_server, copilot_server, mcp_server};
use super::json::{Entry, Json, Syntax};
use super::texts;

const FOLDER: &str = "packaging/plugins";

const NAME: &str = "coord";
const AUTHOR: &str = "Coord";
const HOME: &str = "https://github.com/coord-dev/coord";
const DESCRIPTION: &str = "Locks files for teams of coding agents: an edit of a file that another agent is changing is denied, with the reason";

/// How a person installs the plugin of an agent, and sees that it is installed.
struct Install {
    agent: &'static str,
    title: &'static str,
    lines: &'static str,
    seen: &'static str,
}

const INSTALLS: [Install; 5] = [
    Install {
        agent: "claude-code",
        title: "Claude Code",
        lines: "claude plugin marketplace add coord-dev/coord\nclaude plugin install coord@coord\n",
        seen: "`/plugin` lists it, `/hooks` its hooks and `/mcp` its server.",
    },
    Install {
        agent: "codex",
        title: "Codex",
        lines: "codex plugin marketplace add coord-dev/coord\ncodex plugin add coord@coord\n",
        seen: "Codex runs the hooks once you have trusted them with `/hooks`.",
    },
    Install {
        agent: "cursor",
        title: "Cursor",
        lines: "git clone https://github.com/coord-dev/coord\nmkdir -p ~/.cursor/plugins/local\n\
                cp -r coord/packaging/plugins/cursor ~/.cursor/plugins/local/coord\n",
        seen: "Restart Cursor; its settings list the plugin.",
    },
    Install {
        agent: "gemini",
        title: "Gemini CLI",
        lines: "git clone https://github.com/coord-dev/coord\ngemini extensions install coord/packaging/plugins/gemini\n",
        seen: "`/extensions list` has it, `/hooks` its hooks and `/mcp` its server.",
    },
    Install {
        agent: "copilot",
        title: "Copilot CLI",
        lines: "copilot plugin marketplace add coord-dev/coord\ncopilot plugin install coord@coord\n",
        seen: "`copilot plugin list` has it.",
    },
];

/// The text of a JSON file with `entries`, as `coord init` writes it.
fn file(entries: Vec<Entry>) -> String {
    let json = Json {
        syntax: Syntax::Strict,
        entries,
    };
    json.add(None).expect("an empty file takes everything").text
}

fn property(name: &'static str, value: impl Into<CstInputValue>) -> Entry {
    Entry::Property(vec![name], value.into())
}

/// The paths of a plugin's parts, as its manifest names them.
fn places(skills: &str, servers: &str, hooks: &str) -> [Entry; 3] {
    [("skills", skills), ("mcpServers", servers), ("hooks", hooks)].map(|(name, path)| property(name, path))
}

/// The content of each manifest.
fn manifest(more: Vec<Entry>) -> String {
    let mut entries = vec![
        property("name", NAME),
        property("version", env!("CARGO_PKG_VERSION")),
        property("description", DESCRIPTION),
        property("author", json!({ "name": AUTHOR, "url": HOME })),
        property("homepage", HOME),
        property("repository", HOME),
        property("license", env!("CARGO_PKG_LICENSE")),
    ];
    entries.extend(more);
    file(entries)
}

/// The catalog of one plugin, whose `source` is its folder in the form of its agent.
fn catalog(source: CstInputValue) -> String {
    let plugin = json!({
        "name": NAME,
        "source": source,
        "description": DESCRIPTION,
        "version": (env!("CARGO_PKG_VERSION")),
    });
    file(vec![
        property("name", NAME),
        property("owner", json!({ "name": AUTHOR })),
        property("metadata", json!({ "description": DESCRIPTION })),
        Entry::Property(vec!["plugins"], CstInputValue::Array(vec![plugin])),
    ])
}

fn readme(install: &Install) -> String {
    let Install {
        agent,
        title,
        lines,
        seen,
    } = install;
    format!(
        "# Coord for {title}\n\
         {DESCRIPTION}. The plugin has the hooks of `coord hook {agent}`, the MCP server `coord mcp`, and the rules as a skill: the same as \
         `coord init {agent}` writes into one repository, for all of your repositories at once.\n\n\
         ```sh\n{lines}```\n\n\
         {seen} The plugin runs the program `coord`, which has to be on your PATH ({HOME}#install); without it, the hooks do nothing. Git's own \
         hooks are no part of it: `coord init` in a repository adds them.\n\n\
         These files are generated (`cli/src/commands/init/plugins.rs`); docs/guide/join.md says more.\n"
    )
}

/// Every generated file, by its path from the root of the repository.
fn files() -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    let agent =
        |name: &str| -> &'static Agent { AGENTS.into_iter().find(|agent| agent.name == name).expect("an agent") };
    for install in &INSTALLS {
        let hooks = file(agent(install.agent).hook_entries(Form::Guarded));
        let folder = Path::new(FOLDER).join(install.agent);
        let mut add = |name: &str, text: String| files.insert(folder.join(name), text);
        add("README.md", readme(install));
        add("skills/coord/SKILL.md", texts::skill());
        match install.agent {
            "claude-code" => {
                add(".claude-plugin/plugin.json", manifest(Vec::new()));
                add(".mcp.json", file(vec![mcp_server()]));
                add("hooks/hooks.json", hooks);
            }
            "codex" => {
                let paths = places("./skills/", "./.mcp.json", "./hooks/hooks.json");
                add(".codex-plugin/plugin.json", manifest(paths.into()));
                add(".mcp.json", file(vec![codex_server()]));
                add("hooks/hooks.json", hooks);
            }
            "cursor" => {
                let mut more = vec![property("displayName", AUTHOR)];
                more.extend(places("./skills/", "./mcp.json", "./hooks/hooks.json"));
                add(".cursor-plugin/plugin.json", manifest(more));
                add("mcp.json", file(vec![mcp_server()]));
                add("hooks/hooks.json", hooks);
            }
            "gemini" => {
                let manifest = vec![
                    property("name", NAME),
                    property("version", env!("CARGO_PKG_VERSION")),
                    property("description", DESCRIPTION),
                    mcp_server(),
                ];
                add("gemini-extension.json", file(manifest));
                add("hooks/hooks.json", hooks);
            }
            "copilot" => {
                let paths = places("skills/", ".mcp.json", "hooks.json");
                add("plugin.json", manifest(paths.into()));
                add(".mcp.json", file(vec![copilot_server()]));
                add("hooks.json", hooks);
            }
            other => panic!("{other} has no plugin"),
        }
    }
    let source = |name: &str| format!("./{FOLDER}/{name}");
    let local = json!({ "source": "local", "path": (source("codex")) });
    for (path, source) in [
        (".claude-plugin/marketplace.json", source("claude-code").into()),
        (".agents/plugins/marketplace.json", local),
        (".github/plugin/marketplace.json", source("copilot").into()),
        (".cursor-plugin/marketplace.json", source("cursor").into()),
    ] {
        files.insert(PathBuf::from(path), catalog(source));
    }
    files
}

/// The files below `folder`, from `root`.
fn below(root: &Path, folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    let found = entries.flat_map(|entry| {
        let path = folder.join(entry.file_name());
        match entry.path().is_dir() {
            true => below(root, &path),
            false => vec![path],
        }
    });
    found.collect()
}

#[test]
fn the_plugins_are_what_coord_init_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root");
    let expected = files();
    if std::env::var_os("COORD_UPDATE_DOCS").is_some() {
        fs::remove_dir_all(root.join(FOLDER)).ok();
        for (path, text) in &expected {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    for (path, text) in &expected {
        let found = fs::read_to_string(root.join(path)).unwrap_or_default();
        let shown = path.display();
        assert_eq!(
            &found, text,
            "{shown}: COORD_UPDATE_DOCS=1 cargo test -p coord-cli --lib init::plugins writes it"
        );
    }
    let mut there = below(root, Path::new(FOLDER));
    there.retain(|path| !expected.contains_key(path));
    assert!(there.is_empty(), "nobody generates {there:?}");
}

#[test]
fn each_hook_of_a_plugin_is_one_of_the_agents_events() {
    for (path, text) in files() {
        if !path.ends_with("hooks.json") {
            continue;
        }
        let name = path.strip_prefix(FOLDER).unwrap().components().next().unwrap();
        let name = name.as_os_str().to_str().unwrap();
        let agent = AGENTS.into_iter().find(|agent| agent.name == name).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let hooks = file["hooks"].as_object().unwrap();
        let events = agent.hooks.as_ref().unwrap().events;
        assert_eq!(hooks.len(), events.len(), "{name}");
        for event in events {
            let hook = &hooks[event.name][0];
            assert!(hook.to_string().contains(&agent.command(event)), "{name} {hook}");
        }
    }
}
