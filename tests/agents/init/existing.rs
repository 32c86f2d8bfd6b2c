//! Files that are there already keep their content, comments, order and layout.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::{files, init, read, run, write};
use coord_test_worlds::world::World;

/// Files of people, in the layouts that people use: tabs, comments, one line, no newline at the end, CRLF, empty objects.
const FILES: [(&str, &str); 12] = [
    (".mcp.json", "{\"mcpServers\": {}}"),
    (
        ".claude/settings.json",
        "{\n\t\"permissions\": { \"allow\": [\"Bash(ls)\"] },\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"mine.sh\" }] }\n\t\t]\n\t}\n}\n",
    ),
    ("CLAUDE.md", "# Mine\n\nNo newline at the end"),
    ("AGENTS.md", "# Ours\r\n\r\nLines of Windows\r\n"),
    (
        ".codex/config.toml",
        "# the model\nmodel = \"gpt-5\"   # best\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[profiles.fast] # quick\nmodel = \"mini\"\n",
    ),
    (
        ".cursor/mcp.json",
        "{\n  // mine\n  \"mcpServers\": {\n    \"other\": { \"url\": \"http://localhost:1\" }, // last\n  },\n}\n",
    ),
    (
        ".cursor/hooks.json",
        "{\n    \"version\": 1,\n    \"hooks\": { \"stop\": [{ \"command\": \"./mine.sh\" }] }\n}\n",
    ),
    (".gemini/settings.json", "{ \"theme\": \"dark\" }\n"),
    (".github/hooks/coord.json", "{\"version\":1,\"hooks\":{}}\n"),
    (".github/mcp.json", "{}\n"),
    ("opencode.jsonc", "{\n  /* mine */\n  \"model\": \"x\"\n}\n"),
    (".vscode/mcp.json", "{\n  \"servers\": {},\n  \"inputs\": []\n}\n"),
];

#[test]
fn existing_configuration_stays_and_undo_restores_each_byte() {
    let world = World::with(&FILES);
    init(&world, &["--yes", "--no-check", "--no-guard"]);
    let diff = world.clone.git(&["diff", "--no-color", "--", ".", ":!AGENTS.md"]);
    insta::assert_snapshot!(diff);
    let rules = read(&world.clone, "AGENTS.md");
    assert!(rules.contains("coord init: begin") && !rules.replace("\r\n", "").contains('\n'));
    init(&world, &["--undo", "--yes"]);
    assert_eq!(world.clone.git(&["status", "--porcelain"]), "");
}

#[test]
fn an_entry_of_the_same_name_is_left_with_a_note() {
    let world = World::with(&[
        (".mcp.json", "{\"mcpServers\": {\"coord\": {\"command\": \"other\"}}}\n"),
        (".claude/skills/coord/SKILL.md", "mine\n"),
        (
            ".codex/config.toml",
            "mcp_servers = { coord = { command = \"other\" } }\n",
        ),
    ]);
    let printed = init(&world, &["--yes", "--no-check", "--no-guard"]);
    let notes: Vec<&str> = printed.lines().filter(|line| line.starts_with("Note: ")).collect();
    insta::assert_snapshot!(notes.join("\n"), @"
    Note: .mcp.json `mcpServers.coord` is set otherwise: it was left.
    Note: .claude/skills/coord/SKILL.md has its own text: it was left.
    Note: .codex/config.toml `mcp_servers.coord` is set otherwise: it was left.
    ");
    init(&world, &["--undo", "--yes"]);
    assert_eq!(world.clone.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_table_on_one_line_gets_the_server_there() {
    let world = World::with(&[(".codex/config.toml", "mcp_servers = { other = { command = \"x\" } }\n")]);
    init(&world, &["codex", "--yes", "--no-check", "--no-guard"]);
    insta::assert_snapshot!(read(&world.clone, ".codex/config.toml"), @r#"mcp_servers = { other = { command = "x" } , coord = { command = "coord", args = ["mcp"], env_vars = ["COORD_URL", "COORD_TOKEN", "COORD_AGENT", "COORD_BRANCH", "COORD_TEAM"] } }"#);
    init(&world, &["--undo", "--yes"]);
    assert_eq!(world.clone.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_link_to_a_file_of_the_repository_is_followed_and_permissions_are_kept() {
    let world = World::with(&[("AGENTS.md", "# Ours\n")]);
    let clone = world.clone.path();
    symlink("AGENTS.md", clone.join("CLAUDE.md")).unwrap();
    let settings = clone.join("settings.json");
    fs::write(&settings, "{}\n").unwrap();
    fs::set_permissions(&settings, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(clone.join(".claude")).unwrap();
    symlink("../settings.json", clone.join(".claude/settings.json")).unwrap();
    let arguments = ["claude-code", "codex", "--yes", "--no-check", "--no-guard"];
    let printed = init(&world, &arguments);
    assert!(printed.contains("  CLAUDE.md -> AGENTS.md "), "{printed}");
    assert!(clone.join("CLAUDE.md").is_symlink() && clone.join(".claude/settings.json").is_symlink());
    assert!(
        fs::read_to_string(&settings)
            .unwrap()
            .contains("coord hook claude-code")
    );
    let mode = fs::metadata(&settings).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // One file, one text.
    assert_eq!(read(&world.clone, "AGENTS.md").matches("coord init: begin").count(), 1);
    assert!(init(&world, &arguments).contains("nothing to change"));
    assert!(init(&world, &["claude-code", "--yes", "--no-check", "--no-guard"]).contains("nothing to change"));
    init(&world, &["--undo", "--yes"]);
    assert_eq!(read(&world.clone, "AGENTS.md"), "# Ours\n");
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{}\n");
}

#[test]
fn a_link_to_nothing_is_refused() {
    let world = World::with(&[("a.txt", "a\n")]);
    symlink("missing.md", world.clone.path().join("CLAUDE.md")).unwrap();
    let output = run(&world, &["claude-code", "--yes", "--no-check"]);
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8_lossy(&output.stdout);
    let note = "CLAUDE.md is a symbolic link, which Coord does not follow here: replace it with a regular file";
    assert!(printed.contains(note), "{printed}");
    assert!(!world.clone.path().join("missing.md").exists());
    assert!(
        world.clone.path().join(".mcp.json").exists(),
        "the other files are written"
    );
}

#[test]
fn a_text_between_the_markers_is_brought_up_to_date() {
    let world = World::with(&[("a.txt", "a\n")]);
    let arguments = ["codex", "--yes", "--no-check", "--no-guard"];
    init(&world, &arguments);
    let written = files(world.clone.path());
    let text = read(&world.clone, "AGENTS.md");
    write(
        &world.clone,
        "AGENTS.md",
        &text.replace("tell your user", "tell nobody"),
    );
    init(&world, &arguments);
    assert_eq!(files(world.clone.path()), written);
}
