//! Settings of git: set, shown, and removed again where they are still as they were set.

use super::{error, init, run};
use coord_test_worlds::world::World;

fn setting(world: &World, key: &str) -> Option<String> {
    let listed = world.clone.git(&["config", "--local", "--list"]);
    let beginning = format!("{}=", key.to_lowercase());
    listed
        .lines()
        .find_map(|line| line.strip_prefix(&beginning).map(str::to_owned))
}

#[test]
fn server_token_file_and_branch_are_set_and_removed() {
    let world = World::with(&[("a.txt", "a\n")]);
    let token = world.folder("secrets").join("token");
    std::fs::write(&token, "t").unwrap();
    let token = token.display().to_string();
    let arguments = [
        "vscode",
        "--yes",
        "--no-check",
        "--no-guard",
        "--url",
        "https://coord.example.com",
        "--token-file",
        &token,
        "--branch",
        "develop",
    ];
    let printed = init(&world, &arguments);
    assert!(
        printed.contains("git config --local coord.url https://coord.example.com\n"),
        "{printed}"
    );
    assert!(printed.contains("1 file and 3 settings of git changed"), "{printed}");
    assert_eq!(
        setting(&world, "coord.url").as_deref(),
        Some("https://coord.example.com")
    );
    assert_eq!(setting(&world, "coord.tokenFile").as_deref(), Some(token.as_str()));
    assert!(init(&world, &arguments).contains("nothing to change"));
    // A setting that someone else has changed since.
    world.clone.git(&["config", "coord.branch", "other"]);
    init(&world, &["--undo", "--yes"]);
    assert_eq!(setting(&world, "coord.url"), None);
    assert_eq!(setting(&world, "coord.tokenFile"), None);
    assert_eq!(setting(&world, "coord.branch").as_deref(), Some("other"));
}

#[test]
fn a_setting_that_the_user_made_is_not_removed() {
    let world = World::with(&[("a.txt", "a\n")]);
    world.clone.git(&["config", "coord.url", "https://mine.example.com"]);
    init(&world, &["vscode", "--yes", "--no-check", "--no-guard"]);
    init(&world, &["--undo", "--yes"]);
    assert_eq!(
        setting(&world, "coord.url").as_deref(),
        Some("https://mine.example.com")
    );
}

#[test]
fn values_that_cannot_be_used_are_refused_before_anything_is_written() {
    let world = World::with(&[("a.txt", "a\n")]);
    for (option, value, sentence) in [
        ("--url", "ftp://x", "--url: "),
        ("--url", "https://user:secret@x", "--url: "),
        ("--token-file", "missing", "--token-file "),
        ("--branch", "a..b", "--branch \"a..b\" "),
    ] {
        let errors = error(&world, &["vscode", "--yes", "--no-check", option, value]);
        assert!(errors.contains(sentence) && !errors.contains("secret"), "{errors}");
        assert_eq!(world.clone.git(&["status", "--porcelain"]), "");
    }
    let both = run(&world, &["vscode", "--user", "--url", "https://x"]);
    assert_eq!(both.status.code(), Some(2));
}
