//! The cost of each call of a team: the commands that Redis counts, and that Upstash bills.

use coord_domain::work::Verdict;
use coord_teams_state::departures::ShutdownProgress::Closed;

use super::files::{team, with_files};
use super::scale::{adds_dependents, chain};
use super::tasks::{after, depends_on};
use crate::stores::command_counts::Counted;
use crate::world::team::{completed, titled};
use crate::world::worker::judged_file;
use crate::world::{HEAD, LOCAL};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_call_of_a_team_costs_what_it_costs() {
    let Some(counted) = Counted::start() else { return };
    let (lead, [bob]) = counted.world.team_of(["bob"]).await;
    // Every script once, so that the server knows it.
    for round in ["to know the scripts", ""] {
        let mut costs = Vec::new();
        let mut note = async |label: &str| {
            let (total, each) = counted.commands().await;
            costs.push(format!("{label}: {total} ({each})"));
        };
        counted.commands().await;
        let id = lead.adds(&[titled("a")]).await.unwrap().remove(0);
        note("a new task").await;
        bob.takes_next().await.unwrap();
        note("the next task").await;
        bob.claims(&id).await.unwrap();
        note("a renewal").await;
        let more = lead.adds(&[titled("b"), titled("c")]).await.unwrap();
        for id in &more {
            bob.claims(id).await.unwrap();
        }
        counted.commands().await;
        bob.claims(&id).await.unwrap();
        note("a renewal by who has three claims").await;
        for id in &more {
            bob.completes(id).await.unwrap();
        }
        counted.commands().await;
        bob.releases(&id, "half done").await.unwrap();
        note("a task given back with a note").await;
        bob.claims(&id).await.unwrap();
        note("a claim").await;
        bob.completes_with(&id, None, "done").await.unwrap();
        note("a completion on which nothing depends").await;
        bob.takes_next().await.unwrap();
        note("nothing is ready").await;
        lead.shows(&id).await.unwrap();
        note("a task is shown").await;
        lead.sends_text(&["bob"], "one").await.unwrap();
        note("a message to a member").await;
        lead.sends_text(&[], "two").await.unwrap();
        note("a message to all").await;
        let inbox = bob.reads(None).await.unwrap();
        note("a read of two messages").await;
        bob.reads(Some(inbox.cursor)).await.unwrap();
        note("a read in vain, which marks them as read").await;
        bob.reads(Some(inbox.cursor)).await.unwrap();
        note("a read in vain").await;
        if round.is_empty() {
            insta::assert_snapshot!(costs.join("\n"));
        }
    }
}

/// The edges of a task were removed one by one: to delete a task on which 10,000 depend was 10,000 commands.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_on_which_many_depend_ends_in_a_few_commands() {
    let Some(counted) = Counted::start() else { return };
    let (lead, []) = counted.world.team_of([]).await;
    lead.adds(&["completed", "deleted"].map(titled)).await.unwrap();
    adds_dependents(&lead, &["t1", "t2"], 10_000).await;
    lead.claims("t1").await.unwrap();
    counted.commands().await;
    lead.completes("t1").await.unwrap();
    let (commands, each) = counted.commands().await;
    assert!(commands < 100, "{each}");
    assert_eq!(lead.deletes("t2", true).await.unwrap().count, 10_000);
    let (commands, each) = counted.commands().await;
    assert!(commands < 100, "{each}");
}

/// Only the events take commands for each message: an XADD and a PUBLISH.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_assignees_get_their_messages_in_a_few_commands() {
    const ASSIGNEES: usize = 50;
    let Some(counted) = Counted::start() else { return };
    let names: Vec<String> = (0..ASSIGNEES).map(|number| format!("agent-{number}")).collect();
    let members: [&str; ASSIGNEES] = std::array::from_fn(|number| names[number].as_str());
    let (lead, workers) = counted.world.team_of(members).await;
    lead.adds(&[titled("hub")]).await.unwrap();
    let tasks = vec![after("spoke", &["t1"]); ASSIGNEES];
    for (id, member) in lead.adds(&tasks).await.unwrap().iter().zip(members) {
        lead.assigns(id, Some(member)).await.unwrap();
    }
    lead.claims("t1").await.unwrap();
    counted.commands().await;
    lead.completes("t1").await.unwrap();
    let (commands, each) = counted.commands().await;
    assert!(commands < 2 * ASSIGNEES + 50, "{each}");
    for (number, worker) in workers.iter().enumerate() {
        let message = worker.inbox().await.messages.pop().unwrap().message;
        assert_eq!(message, format!("Dependencies are met: t{}", number + 2));
    }
}

/// With files too, each is one script: a task is claimed and its files are, or neither.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_call_of_a_task_with_two_files_costs_what_it_costs() {
    let Some(counted) = Counted::start() else { return };
    let files = ["a.ts", "b.ts"];
    let (_lead, bob, _eve) = team(&counted.world, &vec![with_files("with files", &files); 4]).await;
    counted.world.records_head(HEAD, &[HEAD]).await;
    let asking = bob.clone().with_source();
    let pushed = files.map(|file| judged_file(file, Verdict::Pushed));
    // Every script once, and what a claim asks of the repository is known then.
    for (round, claimed) in ["t1", "t3"].into_iter().enumerate() {
        let mut costs = Vec::new();
        let mut note = async |label: &str| {
            let (total, each) = counted.commands().await;
            costs.push(format!("{label}: {total} ({each})"));
        };
        counted.commands().await;
        bob.takes(claimed).await;
        note("a claim").await;
        bob.takes(claimed).await;
        note("a renewal").await;
        completed(asking.completes(claimed, Some(LOCAL), &pushed).await.unwrap());
        note("a completion").await;
        let (next, _) = bob.next().await;
        note("the next task").await;
        let next = next.expect("a task that is ready");
        asking.releases_pushed(&next, LOCAL, &pushed).await;
        note("a task given back").await;
        if round == 1 {
            insta::assert_snapshot!(costs.join("\n"));
        }
    }
}

/// Each claim was looked at, written and given a note alone; then all in one run, which took 400 ms with 20,000 claims.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forced_shutdown_releases_all_claims_in_a_few_commands() {
    let Some(counted) = Counted::start() else { return };
    let names: Vec<String> = (0..21).map(|number| format!("m{number:02}")).collect();
    let (lead, []) = counted.world.team_of([]).await;
    for _ in 0..6 {
        lead.adds(&vec![titled("a"); 175]).await.unwrap();
    }
    for name in &names {
        let mate = counted.world.mate(name, "alpha");
        mate.joins(name).await.unwrap();
        for _ in 0..50 {
            mate.takes_next().await.unwrap();
        }
    }
    lead.requests_shutdown(None, 0).await.unwrap();
    counted.commands().await;
    let forced = lead.forces_shutdown("s1").await.unwrap();
    assert_eq!((forced.progress, forced.given_back.len()), (Closed, 1050));
    assert_eq!(forced.passed_over, names);
    let (commands, each) = counted.commands().await;
    // Two for the event of each task, in two runs of 1,000 claims at most.
    assert!(commands < 2 * 1050 + 100 && each.contains("fcall 2"), "{each}");
}

/// All edges were searched for a ring, by reads of the store, though new tasks on which nothing depends are on none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_tasks_with_many_dependencies_are_added_in_a_few_commands() {
    let Some(counted) = Counted::start() else { return };
    let (lead, []) = counted.world.team_of([]).await;
    let hubs = lead.adds(&vec![titled("hub"); 100]).await.unwrap();
    let hubs: Vec<&str> = hubs.iter().map(String::as_str).collect();
    let tasks = vec![after("spoke", &hubs); 100];
    counted.commands().await;
    lead.adds(&tasks).await.unwrap();
    let (commands, each) = counted.commands().await;
    // Two for the view of each task, and 20,000 names of edges by 500 at a time.
    assert!(commands < 2 * 100 + 40 + 40, "{each}");
}

/// The search went through all that the store has: 600 ms with 196,000 dependencies.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_for_a_ring_gives_up_where_both_sides_are_large() {
    let Some(counted) = Counted::start() else { return };
    let (lead, []) = counted.world.team_of([]).await;
    let layer = async |count: usize, dependencies: &[String]| {
        let dependencies: Vec<&str> = dependencies.iter().map(String::as_str).collect();
        let mut ids = Vec::new();
        for tasks in vec![after("a", &dependencies); count].chunks(128) {
            ids.extend(lead.adds(tasks).await.unwrap());
        }
        ids
    };
    let last = layer(1, &layer(64, &layer(256, &[]).await).await).await;
    let first = layer(1, &[]).await;
    layer(256, &layer(64, &first).await).await;
    counted.commands().await;
    assert_refused!(lead.updates(&first[0], &depends_on(&[&last[0]])) => TooMany { most: 30_000, .. });
    let (commands, each) = counted.commands().await;
    assert!(commands < 1000, "{each}");
}

/// The search goes on from both ends in turns: a large side is not searched where the other one is small.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ring_is_searched_for_from_the_smaller_side() {
    let Some(counted) = Counted::start() else { return };
    let (lead, []) = counted.world.team_of([]).await;
    // t1 <- t2 <- ... <- t400, and two that are alone.
    lead.adds(&chain(None)).await.unwrap();
    lead.adds(&chain(Some("t200"))).await.unwrap();
    lead.adds(&["alone", "alone, too"].map(titled)).await.unwrap();
    lead.updates("t401", &depends_on(&[])).await.unwrap();
    counted.commands().await;
    // Nothing depends on t401, and t402 depends on nothing: the rest is large.
    lead.updates("t401", &depends_on(&["t400"])).await.unwrap();
    let (along, each) = counted.commands().await;
    assert!(along < 60, "{each}");
    lead.updates("t1", &depends_on(&["t402"])).await.unwrap();
    let (against, each) = counted.commands().await;
    assert!(against < 60, "{each}");
}
