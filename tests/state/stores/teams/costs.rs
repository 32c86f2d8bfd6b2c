//! What each call of a team costs: the commands that Redis counts, and that Upstash bills.

use coord::domain::work::Verdict;

use super::files::{team, with_files};
use super::tasks::after;
use crate::stores::command_counts::Counted;
use crate::world::team::{done, titled};
use crate::world::worker::judged;
use crate::world::{HEAD, LOCAL, sha};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_call_of_a_team_costs_what_it_costs() {
    let Some(counted) = Counted::start() else { return };
    let (lead, [bob]) = counted.world.team_of(["bob"]).await;
    // Every script once, so that the server knows it.
    for round in ["to know the scripts", ""] {
        let mut costs = Vec::new();
        let mut note = async |what: &str| {
            let (total, each) = counted.commands().await;
            costs.push(format!("{what}: {total} ({each})"));
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
        lead.tells(&["bob"], "one").await.unwrap();
        note("a message to a member").await;
        lead.tells(&[], "two").await.unwrap();
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
    lead.adds(&[titled("completed"), titled("deleted")]).await.unwrap();
    for _ in 0..50 {
        let tasks: Vec<_> = (0..200).map(|_| after("spoke", &["t1", "t2"])).collect();
        lead.adds(&tasks).await.unwrap();
    }
    lead.claims("t1").await.unwrap();
    counted.commands().await;
    lead.completes("t1").await.unwrap();
    let (commands, each) = counted.commands().await;
    assert!(commands < 100, "{each}");
    assert_eq!(lead.deletes("t2", true).await.unwrap().count, 10_000);
    let (commands, each) = counted.commands().await;
    assert!(commands < 100, "{each}");
}

/// With files too, each is one script: a task is claimed and its files are, or neither.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_call_of_a_task_with_two_files_costs_what_it_costs() {
    let Some(counted) = Counted::start() else { return };
    let files = ["a.ts", "b.ts"];
    let tasks: Vec<_> = (0..4).map(|_| with_files("with files", &files)).collect();
    let (_lead, bob, _eve) = team(&counted.world, &tasks).await;
    counted.world.records_head(HEAD, &[HEAD]).await;
    let asking = bob.clone().with_source();
    let (local, pushed) = (sha(LOCAL), files.map(|file| judged(file, Verdict::Pushed)));
    // Every script once, and what a claim asks of the repository is known then.
    for (round, claimed) in ["t1", "t3"].into_iter().enumerate() {
        let mut costs = Vec::new();
        let mut note = async |what: &str| {
            let (total, each) = counted.commands().await;
            costs.push(format!("{what}: {total} ({each})"));
        };
        counted.commands().await;
        bob.takes(claimed).await;
        note("a claim").await;
        bob.takes(claimed).await;
        note("a renewal").await;
        done(asking.completes(claimed, Some(LOCAL), &pushed).await.unwrap());
        note("a completion").await;
        let (next, _) = bob.next().await;
        note("the next task").await;
        let next = next.expect("a task that is ready");
        done(
            asking
                .releases(&next, &asking.given_back(Some(&local), &pushed))
                .await
                .unwrap(),
        );
        note("a task given back").await;
        if round == 1 {
            insta::assert_snapshot!(costs.join("\n"));
        }
    }
}
