//! Each place with each kind of file that an attacker can put there.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;

use super::places::{By, PLACES, PathUse, is_known};
use super::{SECRET, World, contains, run, text};

/// The replacement of a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trap {
    LinkToSecret,
    Dangling,
    LinkOfParent,
    Pipe,
    Socket,
    Folder,
    TooLarge,
    HardLink,
}

const TRAPS: [Trap; 8] = [
    Trap::LinkToSecret,
    Trap::Dangling,
    Trap::LinkOfParent,
    Trap::Pipe,
    Trap::Socket,
    Trap::Folder,
    Trap::TooLarge,
    Trap::HardLink,
];

/// A world with intents and a team, in which each place has been written once.
fn world() -> World {
    let world = World::with(&[("a.txt", "a\n")]);
    let done = |args: &[&str], status: i32| {
        let output = run(&world, args, "");
        assert_eq!(output.status.code(), Some(status), "{args:?}: {}", text(&output));
    };
    done(&["intent", "new", "one", "--name", "One", "--scope", "a.txt"], 0);
    done(&["init", "claude-code", "codex", "--yes", "--no-check"], 0);
    done(&["sync", "--yes"], 0);
    hook(&world, "PreToolUse");
    world
}

fn hook(world: &World, event: &str) -> std::process::Output {
    let payload = json!({
        "session_id": "s", "cwd": world.clone.path(), "hook_event_name": event, "tool_name": "Edit", "tool_use_id": "1",
        "transcript_path": null, "tool_input": { "file_path": world.clone.path().join("a.txt"), "old_string": "a", "new_string": "b" },
    });
    run(world, &["hook", "claude-code", event], &payload.to_string())
}

fn act(world: &World, by: By) -> std::process::Output {
    match by {
        By::Command(args) | By::Quiet(args) => run(world, args, ""),
        By::Hook(event) => hook(world, event),
    }
}

fn clear(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// Puts `trap` at `path`; returns the folder or file outside, as it has to stay.
fn set(world: &World, path: &Path, trap: Trap, most: u64, outside: &Path) {
    let secret = outside.join("secret");
    clear(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match trap {
        Trap::LinkToSecret => symlink(secret, path).unwrap(),
        Trap::Dangling => symlink(outside.join("missing"), path).unwrap(),
        Trap::LinkOfParent => {
            let parent = path.parent().unwrap();
            // The root itself and git's own folder are no places of others.
            if parent != world.clone.path() && !parent.ends_with(".git") {
                clear(parent);
                symlink(outside, parent).unwrap();
            }
        }
        Trap::Pipe => {
            let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
        }
        Trap::Socket => drop(UnixListener::bind(path).unwrap()),
        Trap::Folder => fs::create_dir(path).unwrap(),
        // Without blocks on the disk.
        Trap::TooLarge if most < u64::MAX => fs::File::create(path).unwrap().set_len(most + 1).unwrap(),
        Trap::TooLarge => {}
        Trap::HardLink => fs::hard_link(secret, path).unwrap(),
    }
}

/// Every file below `folder`, with its content.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(&path).unwrap()))
        .collect();
    found.sort();
    found
}

fn try_place(world: &World, place: &PathUse, trap: Trap) -> Option<String> {
    let path = world.clone.path().join(place.path);
    let outside = world.folder("outside");
    let name = path.file_name().unwrap();
    fs::write(outside.join("secret"), format!("intents: [{SECRET}\n{SECRET}\n")).unwrap();
    if trap == Trap::LinkOfParent {
        fs::write(outside.join(name), SECRET).unwrap();
    }
    let before = files(&outside);
    set(world, &path, trap, place.most, &outside);
    let output = act(world, place.by);
    let printed = text(&output);
    let case = format!("{} as {trap:?}: {printed}", place.path);
    let is_set = fs::symlink_metadata(&path).is_ok_and(|about| !about.is_file()) || path.parent().unwrap().is_symlink();
    let is_set = is_set || (trap == Trap::TooLarge && place.most < u64::MAX);
    let must_fail = matches!(place.by, By::Command(_)) && is_set;
    // A hard link to a secret is the user's own act; only the other name must not change.
    let is_own = trap == Trap::HardLink;
    let wrong = [
        (files(&outside) != before, "changed what is outside"),
        (!is_own && printed.contains(SECRET), "printed the secret"),
        (!is_own && contains(world.clone.path(), SECRET), "copied the secret"),
        (printed.contains("panicked"), "panicked"),
        (must_fail && output.status.success(), "looked like success"),
    ];
    let wrong: Vec<&str> = wrong
        .into_iter()
        .filter(|(is, _)| *is)
        .map(|(_, problem)| problem)
        .collect();
    clear(&path);
    if path.parent().unwrap().is_symlink() {
        clear(path.parent().unwrap());
    }
    for file in fs::read_dir(&outside).unwrap().flatten() {
        fs::remove_file(file.path()).unwrap();
    }
    (!wrong.is_empty()).then(|| format!("{}: {case}", wrong.join(", ")))
}

fn try_all(traps: &[Trap]) {
    let world = world();
    let mut wrong = Vec::new();
    for place in PLACES {
        for trap in traps {
            wrong.extend(try_place(&world, place, *trap));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_link_at_any_place_is_followed() {
    try_all(&TRAPS[..3]);
}

#[test]
fn no_special_file_at_any_place_is_opened() {
    try_all(&TRAPS[3..6]);
}

#[test]
fn no_large_file_is_read_and_no_hard_link_is_written_at_any_place() {
    try_all(&TRAPS[6..]);
}

#[test]
fn every_file_that_coord_makes_is_a_known_place() {
    let world = world();
    let root = world.clone.path();
    let mut folders = vec![root.to_owned()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let is_gits =
                name.starts_with(".git/") && !name.starts_with(".git/coord") && !name.starts_with(".git/hooks");
            let is_gits = is_gits || name.ends_with(".sample");
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(path),
                false if is_gits => {}
                false => {
                    assert!(is_known(&name), "{name} is no place of tests/security/links/places.rs");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 12, "only {seen} files were made");
}

#[test]
fn a_refused_file_is_named_with_its_remedy_and_the_other_files_are_written() {
    let world = world();
    let file = |name: &str| world.clone.path().join(".orchestration").join(name);
    let outside = world.folder("outside");
    fs::write(outside.join("secret"), SECRET).unwrap();
    clear(&file("active_intents.yaml"));
    clear(&file("agent_trace.jsonl"));
    clear(&file("intent_map.md"));
    symlink(outside.join("secret"), file("active_intents.yaml")).unwrap();
    symlink(outside.join(".bash_profile"), file("intent_map.md")).unwrap();
    let output = run(&world, &["sync", "--yes"], "");
    let printed = text(&output);
    assert_eq!(output.status.code(), Some(3), "{printed}");
    for name in ["active_intents.yaml", "intent_map.md"] {
        let sentence = format!("{name} is a symbolic link, which Coord does not follow here: replace it");
        assert!(printed.contains(&sentence), "{printed}");
    }
    assert!(printed.contains("written: agent_trace.jsonl"), "{printed}");
    assert!(!outside.join(".bash_profile").exists());
    assert!(fs::symlink_metadata(file("agent_trace.jsonl")).unwrap().is_file());
}

// rule: files#sync-safety
#[test]
fn a_file_that_becomes_a_link_during_coord_sync_is_not_followed() {
    let world = world();
    let folder = world.clone.path().join(".orchestration");
    let outside = world.folder("outside");
    for name in ["active_intents.yaml", "agent_trace.jsonl", "intent_map.md"] {
        fs::write(outside.join(name), SECRET).unwrap();
    }
    let before = files(&outside);
    let kept = world.clone.path().join("kept");
    let is_done = AtomicBool::new(false);
    let linked = AtomicUsize::new(0);
    let printed = std::thread::scope(|scope| {
        scope.spawn(|| {
            let next = world.clone.path().join("next");
            while !is_done.load(Ordering::Relaxed) {
                // The folder, and then a file in it: a link, and again the real one.
                if fs::rename(&folder, &kept).is_ok() {
                    // `coord sync` creates the folder again whenever it is missing.
                    if symlink(&outside, &folder).is_ok() {
                        linked.fetch_add(1, Ordering::Relaxed);
                    }
                    std::thread::yield_now();
                    while fs::rename(&kept, &folder).is_err() {
                        let _ = fs::remove_file(&folder);
                        let _ = fs::remove_dir_all(&folder);
                    }
                }
                let file = folder.join("agent_trace.jsonl");
                let _ = fs::remove_file(&next);
                symlink(outside.join("agent_trace.jsonl"), &next).unwrap();
                let _ = fs::copy(&file, &kept);
                let _ = fs::rename(&next, &file);
                std::thread::yield_now();
                let _ = fs::rename(&kept, &file);
            }
        });
        let printed = (0..20)
            .map(|_| text(&run(&world, &["sync", "--yes"], "")))
            .collect::<Vec<_>>();
        is_done.store(true, Ordering::Relaxed);
        printed
    });
    for printed in printed {
        assert!(!printed.contains(SECRET) && !printed.contains("panicked"), "{printed}");
    }
    assert!(linked.into_inner() > 0, "the folder was never a link");
    assert!(files(&outside) == before, "what is outside was changed");
    clear(&world.clone.path().join("next"));
    assert!(!contains(&world.clone.path().join(".git/coord"), SECRET));
}
