//! The output of `coord` for shells and `man`.

use std::process::{Command, Stdio};

use coord_test_support::git::Repo;

fn printed(words: &[&str]) -> String {
    let output = Command::new(crate::COORD).args(words).output().expect("coord runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn shells_get_completions_of_every_command_and_option() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let text = printed(&["completions", shell]);
        for word in ["serve", "graph", "completions", "explain"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn bash_completes_by_what_is_printed() {
    // Debian's bash is always there; what it says is what a person would see.
    let script = format!(
        "{}\nCOMP_WORDS=(coord gr) COMP_CWORD=1; _coord coord gr coord; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        printed(&["completions", "bash"])
    );
    // It is longer than an argument may be.
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    std::io::Write::write_all(&mut file, script.as_bytes()).expect("written");
    let output = Command::new("bash").arg(file.path()).output().expect("bash runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "graph\n", "{output:?}");
}

#[test]
fn the_manual_has_a_page_for_coord_and_for_each_command() {
    let page = printed(&["man"]);
    assert!(
        page.contains(".TH coord 1") && page.contains("serve") && page.contains("\\-\\-port"),
        "{page}"
    );
    let page = printed(&["man", "graph"]);
    assert!(
        page.contains(".TH coord-graph 1") && page.contains("COORD_GRAPH_MAX_FILES"),
        "{page}"
    );
    let output = Command::new(crate::COORD)
        .args(["man", "nothing"])
        .output()
        .expect("coord runs");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let repo = Repo::init(folder.path().join("shop"), &[]);
    for words in [
        &["completions", "zsh"][..],
        &["policy", "check"],
        &["init", "--dry-run", "claude-code"],
    ] {
        let mut child = Command::new(crate::COORD)
            .args(words)
            .current_dir(repo.path())
            .env("HOME", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("coord starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("gone");
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{words:?}: {output:?}"
        );
    }
}
