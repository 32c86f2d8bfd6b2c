//! A file that cannot be read as what it should be: it is named, with the line, and nothing at all is written.

use super::{error, files, write};
use coord_test_worlds::world::World;

#[test]
fn a_malformed_file_is_named_with_its_line_and_nothing_is_written() {
    let large = format!("{{\"a\": \"{}\"}}", "x".repeat(1 << 20));
    let deep = "[".repeat(100_000);
    let cases = [
        ("claude-code", ".mcp.json", "{\n  \"mcpServers\": {\n"),
        ("claude-code", ".mcp.json", "[]\n"),
        ("claude-code", ".mcp.json", "{ \"mcpServers\": [] }\n"),
        ("claude-code", ".claude/settings.json", "{\n  // no comments here\n}\n"),
        (
            "claude-code",
            ".claude/settings.json",
            "{ \"hooks\": { \"Stop\": {} } }\n",
        ),
        ("claude-code", "CLAUDE.md", "a\n<!-- coord init: begin -->\nb\n"),
        ("claude-code", "CLAUDE.md", "<!-- coord init: end -->\n"),
        ("codex", ".codex/config.toml", "model = 1\n\n[mcp_servers\n"),
        ("codex", ".codex/config.toml", "mcp_servers = 1\n"),
        ("vscode", ".vscode/mcp.json", &large),
        ("opencode", "opencode.json", &deep),
    ];
    let mut sentences = Vec::new();
    for (agent, path, text) in cases {
        let world = World::with(&[("a.txt", "a\n")]);
        write(&world.clone, path, text);
        let before = files(world.clone.path());
        sentences.push(error(&world, &[agent, "cursor", "--yes", "--no-check"]));
        assert!(files(world.clone.path()) == before, "{path}");
        assert!(!world.clone.path().join(".git/hooks/pre-commit").exists());
    }
    insta::assert_snapshot!(sentences.concat());
}

#[test]
fn a_file_that_is_no_text_or_no_file_is_refused() {
    let world = World::with(&[("a.txt", "a\n")]);
    std::fs::write(world.clone.path().join(".mcp.json"), b"{}\n\xff\n").unwrap();
    let sentence = error(&world, &["claude-code", "--yes", "--no-check"]);
    assert_eq!(
        sentence,
        "coord: nothing was written: .mcp.json: line 2: it is not UTF-8\n"
    );
    std::fs::remove_file(world.clone.path().join(".mcp.json")).unwrap();
    std::fs::create_dir(world.clone.path().join(".mcp.json")).unwrap();
    let sentence = error(&world, &["claude-code", "--yes", "--no-check"]);
    assert_eq!(
        sentence,
        "coord: nothing was written: .mcp.json is a folder, and Coord opens regular files only: replace it with a regular file, or \
         remove it\n"
    );
}

#[test]
fn where_one_file_cannot_be_written_the_others_are_not() {
    let world = World::with(&[("a.txt", "a\n")]);
    // A file where a folder is needed: nobody, not even root, can write below it.
    write(&world.clone, ".agents", "a file\n");
    let before = files(world.clone.path());
    let sentence = error(&world, &["claude-code", "codex", "--yes", "--no-check"]);
    assert!(
        sentence.contains(".agents is a file, where a folder should be"),
        "{sentence}"
    );
    assert_eq!(files(world.clone.path()), before);
    assert!(!world.clone.path().join(".claude").exists());
}
