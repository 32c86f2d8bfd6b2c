//! How many tickets there are, with how many files and bytes.

use coord_domain::LockMode::{Reading, Writing};
use serde_json::Value as Json;

use super::{row, tickets, waits};
use crate::world::{World, in_short};

// rule: locks#no-ticket
async fn there_are_64_tickets_16_of_a_person_and_4_of_a_holder(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts"]).await;
    let bob = world.agent("bob");
    // A holder waits for one set of files on a branch.
    for number in 0..5 {
        let branch = format!("b{number}");
        ann.clone().on_branch(&branch).writes(&["a.ts"]).await;
        waits(&bob.clone().on_branch(&branch), Writing, &["a.ts"]).await;
    }
    let stored = tickets(&world).await;
    let branches: Vec<&Json> = stored.iter().map(|ticket| &ticket["branch"]).collect();
    assert_eq!(branches, ["b1", "b2", "b3", "b4"], "the oldest went");
    for agent in 0..16 {
        waits(&world.agent(&format!("eve/{agent}")), Writing, &["a.ts"]).await;
    }
    let refused = world.agent("eve/more").is_refused(Writing, &["a.ts"]).await;
    assert_eq!(refused.queued, None, "eve has 16");
    assert_eq!(refused.findings.iter().filter(|finding| finding.blocks).count(), 1);
    for number in 20..64 {
        waits(&world.agent(&format!("p{number}")), Writing, &["a.ts"]).await;
    }
    assert_eq!(tickets(&world).await.len(), 64);
    let refused = world.agent("late").is_refused(Writing, &["a.ts"]).await;
    assert_eq!(refused.queued, None);
    // A holder of a ticket keeps it.
    assert_eq!(waits(&world.agent("p63"), Writing, &["a.ts"]).await.0, 60);
    // A reservation is before a claim without a ticket, too.
    ann.abandons(&["a.ts"]).await;
    let refused = world.agent("late").is_refused(Writing, &["a.ts"]).await;
    assert!(in_short(&refused.findings).contains(&"RESERVED! a.ts eve".to_owned()));
}

fn files(name: &str, count: usize) -> Vec<String> {
    let own = (1..count).map(|number| format!("{name}{number}"));
    std::iter::once("a.ts".to_owned()).chain(own).collect()
}

async fn a_holder_reserves_64_files_at_most(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts"]).await;
    let bob = world.agent("bob");
    let most = bob.is_refused(Writing, &files("b", 64)).await;
    assert!(most.queued.is_some());
    let more = bob.is_refused(Writing, &files("c", 65)).await;
    assert_eq!(more.queued, None);
    // Bob does not wait for the other files any more.
    assert_eq!(row(&world).await, [""; 0]);
    // On all branches together: the oldest ticket goes.
    waits(&bob, Writing, &["a.ts"]).await;
    let elsewhere = ann.clone().on_branch("other");
    elsewhere.writes(&["a.ts"]).await;
    let bob_elsewhere = bob.clone().on_branch("other");
    let other = bob_elsewhere.is_refused(Writing, &files("d", 63)).await;
    assert!(other.queued.is_some());
    assert_eq!(row(&world).await, ["bob", "bob"]);
    elsewhere.on_branch("third").writes(&["a.ts"]).await;
    waits(&bob.on_branch("third"), Writing, &["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob", "bob"]);
    assert_eq!(tickets(&world).await[0]["branch"], "other");
    // The free ones of a large claim are granted to others.
    ann.abandons(&["a.ts"]).await;
    world.agent("eve").writes(&["a.ts", "c1", "c2"]).await;
}

async fn tickets_are_bounded_in_bytes_of_all_and_of_a_person(world: World) {
    world.agent("ann").writes(&["a.ts"]).await;
    let long = |name: &str| -> Vec<String> {
        let own = (1..64).map(|number| format!("{name}{number:0>475}.ts"));
        std::iter::once("a.ts".to_owned()).chain(own).collect()
    };
    let mut stored = Vec::new();
    for name in ["bob/1", "bob/2", "bob/3", "eve/1", "eve/2", "eve/3", "joe/1"] {
        let refused = world.agent(name).is_refused(Reading, &long(name)).await;
        stored.extend(refused.queued.map(|_| name));
    }
    assert_eq!(stored, ["bob/1", "bob/2", "eve/1", "eve/2"]);
    let bytes = Json::from(tickets(&world).await).to_string().len();
    assert!(bytes < 131_072, "{bytes}");
    assert_eq!(waits(&world.agent("small"), Writing, &["a.ts"]).await.0, 5);
}

on_every_store! {
    there_are_64_tickets_16_of_a_person_and_4_of_a_holder,
    a_holder_reserves_64_files_at_most,
    tickets_are_bounded_in_bytes_of_all_and_of_a_person,
}
