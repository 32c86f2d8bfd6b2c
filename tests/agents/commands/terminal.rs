//! The commands in a terminal: colors, widths, and the live table.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use coord_test_support::skipping::skip;

use super::{claim, world};
use crate::processes::program_like;
use crate::texts::assert_has;
use coord_test_worlds::world::World;

/// Runs `line` in a separate terminal, by the command `script` of util-linux.
pub fn in_terminal(world: &World, columns: u16, line: &str) -> Option<Command> {
    let has_script = Command::new("script")
        .arg("--version")
        .output()
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux"));
    if !has_script {
        skip("the command script of util-linux is not installed");
        return None;
    }
    let program = env!("CARGO_BIN_EXE_coord");
    let inside = format!("stty cols {columns} rows 24; '{program}' {line}");
    let mut script = program_like(&world.coord(world.clone.path()), "script");
    script
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR")
        .args(["--quiet", "--flush", "--return", "--command", &inside, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    Some(script)
}

pub fn shown(mut script: Command) -> String {
    let output = script.stdin(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

// rule: commands#terminals
#[test]
fn in_a_terminal_there_are_colors_and_no_line_is_too_wide() {
    let world = world();
    let agent = "a-very-long-name-of-an-agent";
    let long = "Adding a pool: query() becomes async, and every caller has to await it from now on";
    claim(&world, agent, "src/auth/deep/token.ts", long, 0);
    for columns in [80, 120] {
        let Some(script) = in_terminal(&world, columns, "status") else {
            return;
        };
        let text = shown(script);
        assert!(text.contains("\u{1b}[1m"), "{text:?}");
        for line in plain(&text).lines() {
            assert!(line.chars().count() <= usize::from(columns), "{columns}: {line}");
        }
        assert_has(&plain(&text), &["token.ts", "Adding a pool"]);
    }
    let Some(mut script) = in_terminal(&world, 80, "check src/db.ts") else {
        return;
    };
    script.env("NO_COLOR", "1");
    assert!(shown(script).starts_with("PROCEED: "));
    let Some(script) = in_terminal(&world, 80, "check src/db.ts") else {
        return;
    };
    assert!(shown(script).starts_with("\u{1b}[1m\u{1b}[32mPROCEED\u{1b}[0m: "));
}

#[test]
fn the_manual_page_is_opened_in_a_terminal() {
    let world = world();
    let Some(mut script) = in_terminal(&world, 80, "man claim") else {
        return;
    };
    let bin = world.folder("bin");
    let man = bin.join("man");
    std::fs::write(
        &man,
        "#!/bin/sh\necho \"opened ${1##*.} $(grep -c 'coord\\\\-claim' \"$1\")\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&man, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    script.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let text = plain(&shown(script));
    assert!(text.starts_with("opened 1 ") && !text.contains(".TH"), "{text}");
    // Without the program, the same in plain words.
    std::fs::write(&man, "#!/bin/sh\nexit 127\n").unwrap();
    let Some(mut script) = in_terminal(&world, 80, "man claim") else {
        return;
    };
    script.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let text = plain(&shown(script));
    let is_usage = text.contains("Usage: coord claim") || text.contains("Usage: claim");
    assert!(is_usage, "{text}");
}

#[test]
fn a_live_table_ends_with_q_and_restores_the_terminal() {
    let world = world();
    claim(&world, "one", "src/db.ts", "Adding a pool", 0);
    let Some(mut script) = in_terminal(&world, 80, "status --watch") else {
        return;
    };
    let mut process = script.spawn().unwrap();
    let (mut keys, mut out) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
    let mut text = String::new();
    let mut read_until = |wanted: &str| {
        let mut part = [0; 4096];
        while !text.contains(wanted) {
            let count = out.read(&mut part).unwrap();
            assert_ne!(count, 0, "it has ended before {wanted:?}: {text:?}");
            text.push_str(&String::from_utf8_lossy(&part[..count]));
        }
        text.clear();
    };
    read_until("\u{1b}[?1049h");
    read_until("src/db.ts");
    claim(&world, "two", "README.md", "Describing the pool", 0);
    read_until("README.md");
    keys.write_all(b"q").unwrap();
    read_until("\u{1b}[?1049l");
    assert!(process.wait().unwrap().success());
}
