//! The `agent_id` that all processes of one session share. The agent of these tests is whatever has started them.

use std::time::{Duration, SystemTime};

use coord_agent::conversations::{self, ConversationEvent};
use coord_agent::session::Session;
use coord_git::WorkingCopy;

use coord_test_worlds::world::World;

fn session(world: &World, agent: &str) -> Session {
    let working_copy = WorkingCopy::containing(world.clone.path()).unwrap();
    Session::of_this_process(&working_copy, agent).unwrap()
}

// rule: holders#nearest
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

fn note_event(world: &World, agent: &str, name: &str, event: ConversationEvent) -> String {
    let working_copy = WorkingCopy::containing(world.clone.path()).unwrap();
    let holder = conversations::note_event(&working_copy, agent, name, event).unwrap();
    holder.as_str().to_owned()
}

// rule: holders#order
#[test]
fn a_process_has_the_holder_of_the_conversation_that_its_hook_noted() {
    let world = World::with(&[("a.txt", "a")]);
    let chat = note_event(&world, "cursor", "chat-1", ConversationEvent::Work);
    assert_eq!(session(&world, "mcp").agent_id.as_str(), chat);
    assert_eq!(note_event(&world, "cursor", "chat-1", ConversationEvent::Work), chat);
    // Another program that runs hooks for the same conversation in the same process.
    assert_eq!(
        note_event(&world, "claude-code", "chat-1", ConversationEvent::Work),
        chat
    );
}

#[test]
fn the_first_conversation_has_the_holder_that_its_process_had_before() {
    let world = World::with(&[("a.txt", "a")]);
    let before = session(&world, "claude-code").agent_id;
    assert_eq!(
        note_event(&world, "claude-code", "one", ConversationEvent::Start),
        before.as_str()
    );
    assert_ne!(
        note_event(&world, "claude-code", "two", ConversationEvent::Start),
        before.as_str()
    );
}

#[test]
fn a_process_with_two_conversations_is_neither_and_notes_session_unknown() {
    let world = World::with(&[("a.txt", "a")]);
    let one = note_event(&world, "codex", "one", ConversationEvent::Work);
    let two = note_event(&world, "codex", "two", ConversationEvent::Work);
    let found = session(&world, "codex-mcp-client");
    assert!(
        found.agent_id.as_str() != one && found.agent_id.as_str() != two,
        "{found:?}"
    );
    let note = found.note().unwrap();
    assert!(
        note.starts_with("SESSION_UNKNOWN: ") && note.contains(&one) && note.contains(&two),
        "{note}"
    );
    // The end of one leaves the other.
    note_event(&world, "codex", "one", ConversationEvent::End);
    let found = session(&world, "codex-mcp-client");
    assert_eq!((found.agent_id.as_str(), found.note()), (two.as_str(), None));
    // It may be resumed.
    assert_eq!(note_event(&world, "codex", "one", ConversationEvent::Start), one);
    assert!(session(&world, "codex-mcp-client").note().is_some());
}

// rule: holders#session-folder
#[test]
fn a_file_that_cannot_be_read_is_written_anew() {
    let world = World::with(&[("a.txt", "a")]);
    session(&world, "gemini");
    let folder = world.own_sessions();
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    for damaged in ["", "{", "{\"agent_id\":\"no spaces here\"}"] {
        std::fs::write(&file, damaged).unwrap();
        let after = session(&world, "gemini").agent_id;
        assert_eq!(session(&world, "gemini").agent_id, after, "after {damaged:?}");
    }
}

// rule: holders#session-cleanup
#[test]
fn a_new_conversation_removes_files_that_nothing_has_touched_for_a_day() {
    let world = World::with(&[("a.txt", "a")]);
    note_event(&world, "cursor", "chat-1", ConversationEvent::Start);
    let folder = world.own_sessions();
    let aged = |name: &str, hours: u64| {
        let path = folder.join(name);
        let file = std::fs::File::create(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600))
            .unwrap();
        path
    };
    let (old, young) = (aged("old.notes.json", 25), aged("young.notes.json", 23));
    note_event(&world, "cursor", "chat-2", ConversationEvent::Start);
    assert_eq!((old.exists(), young.exists()), (false, true));
}

// rule: holders#form
#[test]
fn a_damaged_file_of_a_conversation_changes_no_holder() {
    let world = World::with(&[("a.txt", "a")]);
    let chat = note_event(&world, "cursor", "chat-1", ConversationEvent::Start);
    let folder = world.own_sessions();
    let files = || std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let file = files()
        .find(|file| file.to_string_lossy().ends_with(".conversation.json"))
        .unwrap();
    for damaged in ["", "{", "{\"holders\":{\"cursor\":\"no spaces here\"}}"] {
        std::fs::write(&file, damaged).unwrap();
        assert_eq!(
            note_event(&world, "cursor", "chat-1", ConversationEvent::Work),
            chat,
            "after {damaged:?}"
        );
    }
}
