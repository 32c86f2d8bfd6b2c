//! The `agent_id` that all processes of one session share. The agent of these tests is whatever has started them.

use coord_cli::agent::session::Session;
use coord_git::WorkingCopy;

use crate::world::World;

fn session(world: &World, agent: &str) -> Session {
    let working_copy = WorkingCopy::containing(world.clone.path()).unwrap();
    Session::of_this_process(&working_copy, agent).unwrap()
}

#[test]
fn every_process_of_an_agent_has_the_id_that_the_first_one_made() {
    let world = World::with(&[("a.txt", "a")]);
    let first = session(&world, "claude-code");
    assert!(first.agent_id.as_str().starts_with("claude-code-"), "{first:?}");
    assert_eq!(session(&world, "mcp").agent_id, first.agent_id);
    let worktree = world.worktree("ada");
    let there = WorkingCopy::containing(worktree.path()).unwrap();
    let there = Session::of_this_process(&there, "mcp").unwrap();
    assert_eq!(there.agent_id, first.agent_id, "in another worktree of the repository");
}

#[test]
fn processes_that_come_at_the_same_time_agree() {
    let world = World::with(&[("a.txt", "a")]);
    let ids: Vec<String> = std::thread::scope(|scope| {
        let start = || session(&world, "codex").agent_id.as_str().to_owned();
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(start)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[test]
fn the_conversation_that_one_process_notes_is_known_to_the_next() {
    let world = World::with(&[("a.txt", "a")]);
    let mut first = session(&world, "cursor");
    assert_eq!(first.conversation, None);
    first.note_conversation("chat-1").unwrap();
    assert_eq!(session(&world, "cursor"), first);
    assert_eq!(session(&world, "cursor").conversation.as_deref(), Some("chat-1"));
}

#[test]
fn a_file_that_cannot_be_read_is_written_anew() {
    let world = World::with(&[("a.txt", "a")]);
    session(&world, "gemini");
    let folder = world.clone.path().join(".git/coord/sessions");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    for damaged in ["", "{", "{\"agent_id\":\"no spaces here\"}"] {
        std::fs::write(&file, damaged).unwrap();
        let after = session(&world, "gemini").agent_id;
        assert_eq!(session(&world, "gemini").agent_id, after, "after {damaged:?}");
    }
}

#[test]
fn a_conversation_of_an_agent_with_several_has_one_id_everywhere() {
    let one = Session::of_conversation("cursor", "chat-1").unwrap();
    assert_eq!(one, Session::of_conversation("cursor", "chat-1").unwrap());
    assert_ne!(
        one.agent_id,
        Session::of_conversation("cursor", "chat-2").unwrap().agent_id
    );
}
