//! A push releases the pushed files, and the end of the session releases the unchanged ones.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Answer, Session, claude, held_files, locks, output_of, write};
use crate::processes::{assert_success, output_with};
use crate::texts::assert_has;
use coord_test_support::waiting::block_until;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE};
use coord_test_worlds::world::World;

/// The session of this process.
fn session(world: &World) -> Session<'_> {
    super::session(world, &CLAUDE_CODE, None)
}

fn push(world: &World) {
    world.clone.git(&["push", "--quiet"]);
}

#[track_caller]
fn assert_ended(answer: &Answer) {
    assert_eq!(answer.status, 0, "{answer:?}");
}

#[test]
fn the_hook_after_a_push_releases_pushed_files() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
        let ada = super::session(&world, form, None);
        for file in ["a.txt", "b.txt", "c.txt"] {
            ada.may_edit(file);
        }
        world.clone.commit(&[("a.txt", "aa")]);
        // Committed is not pushed.
        ada.has_run("git commit -am 'Change a'");
        assert_eq!(held_files(&world), ["a.txt", "b.txt", "c.txt"], "{}", form.agent);
        write(&world, "b.txt", "bb");
        push(&world);
        ada.has_run("git push");
        // b.txt has changes that are not committed; c.txt is not changed yet.
        assert_eq!(held_files(&world), ["b.txt", "c.txt"], "{}", form.agent);
        assert_ended(&ada.ends_turn());
        assert_eq!(held_files(&world), ["b.txt"], "{}", form.agent);
        world.clone.commit(&[]);
        assert_ended(&ada.ends_turn());
        assert_eq!(held_files(&world), ["b.txt"], "{}", form.agent);
        push(&world);
        assert_ended(&ada.ends());
        assert_eq!(held_files(&world), [""; 0], "{}", form.agent);
    }
}

#[test]
fn a_push_from_another_folder_than_the_agents_releases_too() {
    let world = World::with(&[("a.txt", "a")]);
    let worktree = world.worktree("other");
    let outside = world.folder("outside");
    let ada = session(&world).at(&outside);
    ada.may_edit(worktree.path().join("a.txt").to_str().unwrap());
    worktree.commit(&[("a.txt", "aa")]);
    worktree.git(&["push", "--quiet", "origin", "HEAD:main"]);
    let command = format!("cd {} && git push origin HEAD:main", worktree.path().display());
    let answer = ada.has_run(&command);
    assert_eq!(held_files(&world), [""; 0], "{answer:?}");
}

#[test]
fn a_push_that_no_hook_has_seen_is_noticed_by_a_later_one() {
    let world = World::with(&[("a.txt", "a")]);
    let ada = session(&world);
    ada.may_edit("a.txt");
    world.clone.commit(&[("a.txt", "aa")]);
    push(&world);
    let answer = ada.has_run("make");
    assert_eq!(held_files(&world), [""; 0]);
    assert_ended(&answer);
    assert_has(&output_of(&answer), &["released a.txt"]);
}

#[test]
fn others_pushes_before_the_claim_are_no_work_of_the_session() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let other = world.worktree("other");
    let ada = claude(&world, "ada");
    ada.may_edit("a.txt");
    world.clone.commit(&[("a.txt", "aa")]);
    push(&world);
    ada.has_run("git push");
    assert_eq!(held_files(&world), [""; 0]);
    other.git(&["pull", "--quiet", "--rebase"]);
    other.commit(&[("b.txt", "bb")]);
    other.git(&["push", "--quiet", "origin", "HEAD:main"]);
    world.clone.git(&["pull", "--quiet", "--rebase"]);
    assert_success(&world.run(&["claim", "b.txt", "--message", "Change b", "--agent", "ada"]));
    let answer = ada.has_run("make");
    assert_eq!(held_files(&world), ["b.txt"], "{answer:?}");
    world.clone.commit(&[("b.txt", "bbb")]);
    push(&world);
    ada.has_run("git push");
    assert_eq!(held_files(&world), [""; 0]);
}

#[test]
fn the_end_of_a_turn_lists_the_released_and_the_kept_files() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
    let ada = session(&world);
    for file in ["a.txt", "b.txt", "c.txt"] {
        ada.may_edit(file);
    }
    world.clone.commit(&[("a.txt", "aa")]);
    write(&world, "b.txt", "bb");
    let answer = ada.ends_turn();
    let message = answer.body["systemMessage"].as_str().unwrap();
    let kept = ["a.txt (committed and not pushed)", "b.txt (changed and not committed)"];
    assert_has(message, &["Released c.txt."]);
    assert_has(message, &kept);
    assert_eq!(held_files(&world), ["a.txt", "b.txt"]);
}

#[test]
fn new_files_and_files_of_another_worktree_of_the_session_are_kept() {
    let world = World::with(&[("a.txt", "a")]);
    let worktree = world.worktree("other");
    let ada = session(&world);
    let there = worktree.path().join("a.txt");
    ada.may_edit(there.to_str().unwrap());
    std::fs::write(&there, "aa").unwrap();
    ada.may_edit("new.txt");
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
        let (event, call) = ada.edit_call("a.txt");
        let mut command = world.coord(ada.folder);
        command.env("COORD_LOCK_TTL_SECONDS", seconds);
        command.args(["hook", "claude-code", event]);
        assert_success(&output_with(command, &call.to_string()));
        let first = locks(&world)[0].clone();
        let has_next_second = || SystemTime::now() > UNIX_EPOCH + Duration::from_secs(first.timestamp as u64 + 2);
        block_until("the next second", has_next_second);
        // The last look was less than a minute ago.
        ada.has_run("make");
        assert_eq!(locks(&world)[0].expiry, first.expiry);
        let mut marks = std::fs::read_dir(world.sessions()).unwrap().flatten();
        let mark = marks.find(|file| file.file_name().to_string_lossy().ends_with("renewed"));
        let file = std::fs::File::options().append(true).open(mark.unwrap().path());
        let past = SystemTime::now() - Duration::from_secs(61);
        file.unwrap().set_modified(past).unwrap();
        ada.has_run("make");
        let again = locks(&world)[0].clone();
        assert_eq!(again.expiry > first.expiry, is_renewed, "{first:?} {again:?}");
        assert_eq!(again.message, first.message);
    }
}
