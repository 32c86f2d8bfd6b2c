//! The order of the tickets, and how long each lasts.

use coord_domain::LockMode::{Reading, Writing};
use coord_state as state;

use super::{pass, place, row, tickets, waits};
use crate::world::World;

async fn a_refused_claim_takes_a_place_and_the_same_claim_keeps_it(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob/one"), world.agent("eve"));
    ann.writes(&["a.ts", "b.ts"]).await;
    let first = bob.is_refused(Writing, &["b.ts", "a.ts"]).await;
    let second = eve.is_refused(Writing, &["a.ts"]).await;
    assert_eq!((place(&first).position, place(&second).position), (1, 2));
    assert_eq!(place(&first).before, []);
    let [before] = &place(&second).before[..] else {
        panic!("{second:?}")
    };
    assert_eq!((&*before.user, before.agent_id.as_deref()), ("bob", Some("one")));
    assert_eq!(before.message, "What bob/one does and why");
    // The order of the files and the words do not matter; another mode, branch or agent is another claim.
    let in_other_words = bob.clone().with_message("The same in other words");
    let again = in_other_words.is_refused(Writing, &["a.ts", "b.ts"]).await;
    assert_eq!(place(&again).ticket, place(&first).ticket);
    assert_eq!(place(&again).position, 1);
    assert_eq!(row(&world).await, ["bob", "eve"]);
    let read = bob.is_refused(Reading, &["a.ts", "b.ts"]).await;
    assert_ne!(place(&read).ticket, place(&first).ticket);
    assert_eq!(place(&read).position, 2, "behind eve, who wants to write");
    let other = world.agent("bob/two").is_refused(Writing, &["a.ts", "b.ts"]).await;
    assert_ne!(place(&other).ticket, place(&first).ticket);
    assert_eq!(row(&world).await, ["bob", "eve", "bob", "bob"]);
    // A granted claim ends its ticket, and that of the same files for reading.
    ann.abandons(&["a.ts", "b.ts"]).await;
    bob.writes(&["a.ts", "b.ts"]).await;
    assert_eq!(row(&world).await, ["eve", "bob"]);
}

// rule: locks#keeping-a-ticket
async fn a_ticket_ends_30_seconds_after_its_last_claim(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts"]).await;
    waits(&bob, Writing, &["a.ts"]).await;
    pass(&world, 29).await;
    assert_eq!(waits(&eve, Writing, &["a.ts"]).await.0, 2);
    pass(&world, 2).await;
    assert_eq!(waits(&eve, Writing, &["a.ts"]).await.0, 1, "bob was silent for 31 s");
    assert_eq!(row(&world).await, ["eve"]);
    // While the server makes the claim again, it is asked for.
    let mut joe = world.agent("joe");
    joe.wait = 20;
    waits(&joe, Writing, &["a.ts"]).await;
    pass(&world, 29).await;
    waits(&eve, Writing, &["a.ts"]).await;
    pass(&world, 20).await;
    assert_eq!(waits(&bob, Writing, &["a.ts"]).await.0, 3);
    assert_eq!(row(&world).await, ["eve", "joe", "bob"]);
    pass(&world, 2).await;
    waits(&eve, Writing, &["a.ts"]).await;
    assert_eq!(row(&world).await, ["eve", "bob"], "joe was silent for 31 s");
}

// rule: locks#no-rings
async fn two_holders_that_wait_for_each_other_are_listed_as_mutual(world: World) {
    let (ann, bob, eve) = (world.agent("ann/one"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts"]).await;
    bob.writes(&["b.ts"]).await;
    let first = ann.is_refused(Writing, &["b.ts"]).await;
    assert_eq!(place(&first).mutual, [], "bob does not wait yet");
    let second = bob.is_refused(Writing, &["a.ts"]).await;
    let ann_one = [("ann".to_owned(), Some("one".to_owned()))];
    assert_eq!(place(&second).mutual, ann_one);
    let again = ann.is_refused(Writing, &["b.ts"]).await;
    assert_eq!(place(&again).mutual, [("bob".to_owned(), None)]);
    // A holder of nothing is in no ring.
    let third = eve.is_refused(Writing, &["a.ts"]).await;
    assert_eq!(place(&third).mutual, []);
    bob.abandons(&["b.ts"]).await;
    ann.writes(&["b.ts"]).await;
    assert_eq!(place(&bob.is_refused(Writing, &["a.ts"]).await).mutual, []);
}

async fn branches_have_separate_queues(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["a.ts"]).await;
    waits(&bob, Writing, &["a.ts", "b.ts"]).await;
    let elsewhere = ann.clone().on_branch("other");
    elsewhere.writes(&["b.ts"]).await;
    let survey = bob.clone().on_branch("other").is_refused(Writing, &["b.ts"]).await;
    assert_eq!(place(&survey).position, 1);
    elsewhere.abandons(&["b.ts"]).await;
    assert_eq!(row(&world).await, ["bob", "bob!"]);
}

async fn a_ticket_that_an_older_version_has_stored_is_kept(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts"]).await;
    waits(&bob, Writing, &["a.ts"]).await;
    let mut stored = tickets(&world).await;
    for name in ["held", "patience", "overtaken"] {
        stored[0].as_object_mut().unwrap().remove(name);
    }
    let (key, stored) = (state::locks::keys::queue(&world.repo), serde_json::Value::from(stored));
    world.command(["SET", &key, &stored.to_string()]).await;
    assert_eq!(waits(&eve, Writing, &["a.ts"]).await.0, 2);
    assert_eq!(waits(&bob, Writing, &["a.ts"]).await.0, 1);
    ann.abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob!", "eve"]);
}

async fn the_tickets_go_by_themselves(world: World) {
    world.agent("ann").writes(&["a.ts"]).await;
    waits(&world.agent("bob"), Writing, &["a.ts"]).await;
    let left = world.number(["PTTL", &state::locks::keys::queue(&world.repo)]).await;
    assert!((29_000..=30_001).contains(&left), "{left}");
}

on_every_store! {
    a_refused_claim_takes_a_place_and_the_same_claim_keeps_it,
    a_ticket_ends_30_seconds_after_its_last_claim,
    two_holders_that_wait_for_each_other_are_listed_as_mutual,
    branches_have_separate_queues,
    a_ticket_that_an_older_version_has_stored_is_kept,
    the_tickets_go_by_themselves,
}
