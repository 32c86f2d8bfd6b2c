//! What each call of a team costs: the commands that Redis counts, and that Upstash bills.

use super::tasks::after;
use crate::stores::command_counts::Counted;
use crate::world::team::titled;

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
    for _ in 0..10 {
        let tasks: Vec<_> = (0..200).map(|_| after("spoke", &["t1", "t2"])).collect();
        lead.adds(&tasks).await.unwrap();
    }
    lead.claims("t1").await.unwrap();
    counted.commands().await;
    lead.completes("t1").await.unwrap();
    let (commands, each) = counted.commands().await;
    assert!(commands < 40, "{each}");
    assert_eq!(lead.deletes("t2", true).await.unwrap().count, 2000);
    let (commands, each) = counted.commands().await;
    assert!(commands < 40, "{each}");
}
