//! Eight agents in worktrees work a graph of 60 tasks to its end, through `coord mcp` and hooks. Two agents are killed:
//! a successor takes over the handle of one and continues its task; the other's claim expires, and a different agent
//! does its task. Then all stop.

mod judge;
mod plan;
mod worker;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::hook::held;
use crate::mcp::agent;
use crate::worktree_agent::world_with_guards;
use coord_test_worlds::world::World;
use judge::{Tally, judge};
use plan::{FILES, Planned, TASKS, file, plan};
use worker::{Death, End, Worker};

const AGENTS: usize = 8;
const TEAM: &str = "alpha";
const LEADER: &str = "agent0";

fn death_of(number: usize) -> Option<Death> {
    match number {
        3 => Some(Death::AfterAnEdit),
        5 => Some(Death::BeforeThePush),
        _ => None,
    }
}

/// Lets an agent work until it stops; if it is killed, a successor continues under its handle. Returns the handle, and
/// the numbers of the messages that it got.
fn employ<'a>(world: &'a World, plan: &'a [Planned], mut worker: Worker<'a>) -> (String, BTreeSet<u64>) {
    loop {
        match worker.works() {
            End::Killed(remains) => worker = Worker::succeeds(world, plan, remains),
            End::Stopped { handle, received } => return (handle, received),
        }
    }
}

/// The log of the repository, the oldest event first.
fn events(world: &World) -> Vec<Value> {
    let (mut client, mut after, mut events) = (agent(world), "0-0".to_owned(), Vec::new());
    loop {
        let page = client.read(&format!("coord://activity?after={after}"));
        assert_ne!(page["is_cut"], true, "{}", page["cursor"]);
        page["cursor"].as_str().unwrap().clone_into(&mut after);
        match page["events"].as_array().unwrap() {
            none if none.is_empty() => return events,
            some => events.extend(some.iter().cloned()),
        }
    }
}

/// The commits and the files have each task once, and no task before one that it depends on.
fn check_the_branch(world: &World, plan: &[Planned]) {
    world.clone.git(&["pull", "--quiet", "--rebase"]);
    let log = world.clone.git(&["log", "--reverse", "--format=%s", "--grep=^Do t"]);
    let mut done = BTreeSet::new();
    for subject in log.lines() {
        let task = plan.iter().find(|task| task.subject() == subject).unwrap();
        assert!(task.dependencies.is_subset(&done), "{subject} comes too early: {log}");
        assert!(done.insert(task.id.clone()), "{subject} twice: {log}");
    }
    assert_eq!(done.len(), TASKS, "{log}");
    for number in 0..FILES {
        let text = std::fs::read_to_string(world.clone.path().join(file(number))).unwrap();
        let of_file = plan.iter().filter(|task| task.files.contains(&file(number)));
        let expected: BTreeSet<String> = of_file.map(Planned::line).collect();
        let lines: Vec<String> = text.lines().skip(1).map(|line| format!("{line}\n")).collect();
        assert_eq!(lines.len(), expected.len(), "{}: {text}", file(number));
        assert!(
            lines.iter().all(|line| expected.contains(line)),
            "{}: {text}",
            file(number)
        );
    }
}

/// The team is closed, all members have approved, and nothing of it is out or unread.
fn check_the_team(world: &World, tally: &Tally) {
    let team = agent(world).read(&format!("coord://team/{TEAM}"))["team"].clone();
    assert!(team["closedAt"].is_string() && team["openTasks"] == 0, "{team}");
    let members = team["members"].as_array().unwrap();
    assert_eq!(members.len(), AGENTS, "{team}");
    for member in members {
        let has_nothing = member["unread"] == 0 && member["claims"].as_array().unwrap().is_empty();
        assert!(has_nothing && member["endedAt"].is_string(), "{member}");
    }
    let of = |wanted: &str| -> Vec<&str> {
        let steps = tally.shutdown.iter().filter(|(state, _)| state == wanted);
        steps.map(|(_, by)| by.as_str()).collect()
    };
    assert_eq!(of("requested"), [LEADER]);
    assert_eq!(of("closed").len(), 1, "{:?}", tally.shutdown);
    for state in ["rejected", "rejected_by", "forced"] {
        assert_eq!(of(state), [""; 0], "{state}");
    }
}

#[test]
fn eight_agents_work_sixty_tasks_to_the_end_though_two_are_killed() {
    let files: Vec<(String, &str)> = (0..FILES).map(|number| (file(number), "first\n")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let (world, plan) = (world_with_guards(&files), plan());
    let mut workers: Vec<Worker<'_>> = (0..AGENTS)
        .map(|number| Worker::start(&world, &plan, &format!("agent{number}"), death_of(number)))
        .collect();
    workers[0].leads();
    for worker in &mut workers[1..] {
        worker.joins();
    }
    let received: Vec<(String, BTreeSet<u64>)> = std::thread::scope(|scope| {
        let (world, plan, workers) = (&world, &plan, workers.into_iter());
        let employed = workers.map(|worker| scope.spawn(move || employ(world, plan, worker)));
        let threads: Vec<_> = employed.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });

    let tally = judge(&events(&world), &plan).unwrap();
    assert_eq!(tally.taken_over, ["agent3".to_owned(), "agent5".to_owned()].into());
    let [(lapsed, owner)] = &tally.lapsed[..] else {
        panic!("{:?}", tally.lapsed);
    };
    assert_eq!(owner, "agent5");
    assert_ne!(&tally.completed[lapsed], "agent5");
    assert!(tally.most_out > 2, "they have worked side by side");
    check_the_branch(&world, &plan);
    assert_eq!(held(&world), [""; 0], "nothing stays locked");
    check_the_team(&world, &tally);
    for (handle, got) in received {
        let to_it = tally.messages.iter().filter(|(_, to)| to.contains(&handle));
        let to_it: BTreeSet<u64> = to_it.map(|(number, _)| *number).collect();
        assert_eq!(got, to_it, "the messages to {handle}");
    }
}
