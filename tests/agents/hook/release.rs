//! A push releases the pushed files, and the end of the session releases the unchanged ones.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Answer, Session, held_files, locks};
use coord_test_support::waiting::block_until;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE};
use coord_test_worlds::world::World;

fn write(world: &World, file: &str, content: &str) {
    std::fs::write(world.clone.path().join(file), content).unwrap();
}

/// All that an answer says.
fn text_of(answer: &Answer) -> String {
    assert_eq!(answer.status, 0, "{answer:?}");
    format!("{} {}", answer.body, answer.aside)
}

#[test]
fn the_hook_after_a_push_releases_pushed_files() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
        let ada = Session {
            world: &world,
            form,
            folder: world.clone.path(),
            holder: None,
        };
        for file in ["a.txt", "b.txt", "c.txt"] {
            assert_eq!(ada.denial(&ada.edits(file)), None);
        }
        write(&world, "a.txt", "aa");
        world
            .clone
            .git(&["commit", "--quiet", "--all", "--message", "Change a"]);
        // Committed is not pushed.
        ada.has_run("git commit -am 'Change a'");
        assert_eq!(held_files(&world), ["a.txt", "b.txt", "c.txt"], "{}", form.agent);
        write(&world, "b.txt", "bb");
        world.clone.git(&["push", "--quiet"]);
        ada.has_run("git push");
        // b.txt has changes that are not committed; c.txt is not changed yet.
        assert_eq!(held_files(&world), ["b.txt", "c.txt"], "{}", form.agent);
        let end = text_of(&ada.ends_turn());
        assert_eq!(held_files(&world), ["b.txt"], "{}: {end}", form.agent);
        world
            .clone
            .git(&["commit", "--quiet", "--all", "--message", "Change b"]);
        text_of(&ada.ends_turn());
        assert_eq!(held_files(&world), ["b.txt"], "{}", form.agent);
        world.clone.git(&["push", "--quiet"]);
        text_of(&ada.ends());
        assert_eq!(held_files(&world), [""; 0], "{}", form.agent);
    }
}

#[test]
fn a_push_from_another_folder_than_the_agents_releases_too() {
    let world = World::with(&[("a.txt", "a")]);
    let worktree = world.worktree("other");
    let outside = world.folder("outside");
    let ada = Session {
        folder: &outside,
        ..session(&world)
    };
    let file = worktree.path().join("a.txt");
    assert_eq!(ada.denial(&ada.edits(file.to_str().unwrap())), None);
    worktree.commit(&[("a.txt", "aa")]);
    worktree.git(&["push", "--quiet", "origin", "HEAD:main"]);
    let answer = ada.has_run(&format!(
        "cd {} && git push origin HEAD:main",
        worktree.path().display()
    ));
    assert_eq!(held_files(&world), [""; 0], "{answer:?}");
}

#[test]
fn a_push_that_no_hook_has_seen_is_noticed_by_a_later_one() {
    let world = World::with(&[("a.txt", "a")]);
    let ada = session(&world);
    assert_eq!(ada.denial(&ada.edits("a.txt")), None);
    write(&world, "a.txt", "aa");
    world
        .clone
        .git(&["commit", "--quiet", "--all", "--message", "Change a"]);
    world.clone.git(&["push", "--quiet"]);
    let answer = ada.has_run("make");
    assert_eq!(held_files(&world), [""; 0]);
    assert!(text_of(&answer).contains("released a.txt"), "{answer:?}");
}

#[test]
fn others_pushes_before_the_claim_are_no_work_of_the_session() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let other = world.worktree("other");
    let ada = Session {
        holder: Some("ada"),
        ..session(&world)
    };
    assert_eq!(ada.denial(&ada.edits("a.txt")), None);
    world.clone.commit(&[("a.txt", "aa")]);
    world.clone.git(&["push", "--quiet"]);
    ada.has_run("git push");
    assert_eq!(held_files(&world), [""; 0]);
    other.git(&["pull", "--quiet", "--rebase"]);
    other.commit(&[("b.txt", "bb")]);
    other.git(&["push", "--quiet", "origin", "HEAD:main"]);
    world.clone.git(&["pull", "--quiet", "--rebase"]);
    let claimed = world.run(&["claim", "b.txt", "--message", "Change b", "--agent", "ada"]);
    assert!(claimed.status.success(), "{claimed:?}");
    let answer = ada.has_run("make");
    assert_eq!(held_files(&world), ["b.txt"], "{answer:?}");
    world.clone.commit(&[("b.txt", "bbb")]);
    world.clone.git(&["push", "--quiet"]);
    ada.has_run("git push");
    assert_eq!(held_files(&world), [""; 0]);
}

#[test]
fn the_end_of_a_turn_lists_the_released_and_the_kept_files() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
    let ada = session(&world);
    for file in ["a.txt", "b.txt", "c.txt"] {
        assert_eq!(ada.denial(&ada.edits(file)), None);
    }
    write(&world, "a.txt", "aa");
    world
        .clone
        .git(&["commit", "--quiet", "--all", "--message", "Change a"]);
    write(&world, "b.txt", "bb");
    let answer = ada.ends_turn();
    let message = answer.body["systemMessage"].as_str().unwrap();
    assert!(message.contains("Released c.txt."), "{message}");
    assert!(message.contains("a.txt (committed and not pushed)"), "{message}");
    assert!(message.contains("b.txt (changed and not committed)"), "{message}");
    assert_eq!(held_files(&world), ["a.txt", "b.txt"]);
}

#[test]
fn new_files_and_files_of_another_worktree_of_the_session_are_kept() {
    let world = World::with(&[("a.txt", "a")]);
    let worktree = world.worktree("other");
    let ada = session(&world);
    let there = worktree.path().join("a.txt");
    assert_eq!(ada.denial(&ada.edits(there.to_str().unwrap())), None);
    std::fs::write(&there, "aa").unwrap();
    assert_eq!(ada.denial(&ada.edits("new.txt")), None);
    write(&world, "new.txt", "x");
    ada.ends();
    assert_eq!(held_files(&world), ["a.txt", "new.txt"]);
}

// rule: hooks#hook-renewal
#[test]
fn locks_that_expire_soon_are_renewed_at_most_once_a_minute() {
    for (seconds, is_renewed) in [("100", true), ("300", false)] {
        let world = World::with(&[("a.txt", "a")]);
        let ada = session(&world);
        // The hook starts the server, which takes the time of locks from its environment.
        let (event, call) = (CLAUDE_CODE.edit)(ada.folder, &ada.folder.join("a.txt"));
        let mut command = world.coord(ada.folder);
        command
            .env("COORD_LOCK_TTL_SECONDS", seconds)
            .args(["hook", "claude-code", event]);
        let mut running = command.stdin(Stdio::piped()).spawn().unwrap();
        running
            .stdin
            .take()
            .unwrap()
            .write_all(call.to_string().as_bytes())
            .unwrap();
        assert!(running.wait().unwrap().success());
        let first = locks(&world)[0].clone();
        let has_next_second = || SystemTime::now() > UNIX_EPOCH + Duration::from_secs(first.timestamp as u64 + 2);
        block_until("the next second", has_next_second);
        // The last look was less than a minute ago.
        ada.has_run("make");
        assert_eq!(locks(&world)[0].expiry, first.expiry);
        let marks = std::fs::read_dir(world.sessions()).unwrap().flatten();
        let mark = marks
            .map(|file| file.path())
            .find(|path| path.to_string_lossy().ends_with("renewed"))
            .unwrap();
        let file = std::fs::File::options().append(true).open(mark).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(61)).unwrap();
        ada.has_run("make");
        let again = locks(&world)[0].clone();
        assert_eq!(again.expiry > first.expiry, is_renewed, "{first:?} {again:?}");
        assert_eq!(again.message, first.message);
    }
}

fn session(world: &World) -> Session<'_> {
    Session {
        world,
        form: &CLAUDE_CODE,
        folder: world.clone.path(),
        holder: None,
    }
}
