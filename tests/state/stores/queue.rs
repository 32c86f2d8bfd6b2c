//! Tickets of claims that were refused for others' locks: `queue.lua`.

use coord::domain::LockMode::{self, Reading, Writing};
use coord::domain::NeighborPolicy;
use coord::source::Reachable;
use coord::state;
use coord::state::locks::{Queued, ReleaseOutcome, Survey};
use coord::store::Value;
use coord_protocol::InterfacePromise;
use serde_json::Value as Json;

use crate::stores::neighbors::store_graph;
use crate::world::{Agent, World, in_short};

/// The tickets that are stored.
async fn tickets(world: &World) -> Vec<Json> {
    match world.command(["GET", &state::locks::keys::queue(&world.repo)]).await {
        Value::Bulk(json) => serde_json::from_slice(&json).unwrap(),
        _ => Vec::new(),
    }
}

/// Lets so many seconds pass for all tickets.
async fn pass(world: &World, seconds: i64) {
    let mut tickets = tickets(world).await;
    for ticket in &mut tickets {
        for name in ["since", "asked", "asked_before", "reserved"] {
            if let Some(time) = ticket[name].as_i64() {
                ticket[name] = (time - 1000 * seconds).into();
            }
        }
    }
    let text = Json::from(tickets).to_string();
    world
        .command(["SET", &state::locks::keys::queue(&world.repo), &text, "PX", "60000"])
        .await;
}

/// Holders of the tickets, in their order; `!` behind one with a reservation.
async fn row(world: &World) -> Vec<String> {
    let name = |ticket: &Json| {
        let sign = if ticket["reserved"].is_i64() { "!" } else { "" };
        format!("{}{sign}", ticket["user_id"].as_str().unwrap())
    };
    tickets(world).await.iter().map(name).collect()
}

fn place(survey: &Survey) -> &Queued {
    survey.queued.as_ref().expect("a ticket")
}

/// Refused, with a place in the queue: its number, and what blocks.
async fn waits(agent: &Agent<'_>, mode: LockMode, paths: &[&str]) -> (u64, Vec<String>) {
    let survey = agent.is_refused(mode, paths).await;
    (place(&survey).position, in_short(&survey.findings))
}

async fn a_refused_claim_takes_a_place_and_the_same_claim_keeps_it(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob/one"), world.agent("eve"));
    ann.writes(&["a.ts", "b.ts"]).await;
    let first = bob.is_refused(Writing, &["b.ts", "a.ts"]).await;
    let second = eve.is_refused(Writing, &["a.ts"]).await;
    assert_eq!((place(&first).position, place(&second).position), (1, 2));
    assert_eq!(place(&first).before, []);
    let before = &place(&second).before;
    assert_eq!(
        (before.len(), before[0].user.as_str(), before[0].agent_id.as_deref()),
        (1, "bob", Some("one"))
    );
    assert_eq!(before[0].message, "What bob/one does and why");
    // The order of the files and the words do not matter; another mode, branch or agent is another claim.
    let again = bob
        .clone()
        .saying("The same in other words")
        .is_refused(Writing, &["a.ts", "b.ts"])
        .await;
    assert_eq!(
        (place(&again).ticket.as_str(), place(&again).position),
        (place(&first).ticket.as_str(), 1)
    );
    assert_eq!(row(&world).await, ["bob", "eve"]);
    let read = bob.is_refused(Reading, &["a.ts", "b.ts"]).await;
    assert_ne!(place(&read).ticket, place(&first).ticket);
    assert_eq!(place(&read).position, 2, "behind eve, who wants to write");
    let other = world.agent("bob/two").is_refused(Writing, &["a.ts", "b.ts"]).await;
    assert_ne!(place(&other).ticket, place(&first).ticket);
    assert_eq!(row(&world).await, ["bob", "eve", "bob", "bob"]);
    // What is granted ends its ticket.
    ann.abandons(&["a.ts", "b.ts"]).await;
    bob.writes(&["a.ts", "b.ts"]).await;
    assert_eq!(
        row(&world).await,
        ["eve", "bob"],
        "a writer has what it wanted to read, too"
    );
}

async fn the_first_has_a_reservation_once_its_files_are_free(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts"]).await;
    waits(&bob, Writing, &["a.ts"]).await;
    waits(&eve, Writing, &["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob", "eve"]);
    ann.abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob!", "eve"], "the release has noticed it");
    let reserved = ["RESERVED! a.ts bob"];
    assert_eq!(
        waits(&eve, Writing, &["a.ts"]).await,
        (2, reserved.map(str::to_owned).to_vec())
    );
    // A check says what a claim would, and takes no place.
    for agent in [&ann, &eve] {
        assert_eq!(in_short(&agent.checks(Writing, &["a.ts"]).await.findings), reserved);
        assert_eq!(in_short(&agent.checks(Reading, &["a.ts"]).await.findings), reserved);
    }
    assert_eq!(in_short(&bob.checks(Writing, &["a.ts"]).await.findings), [""; 0]);
    assert_eq!(row(&world).await, ["bob!", "eve"]);
    bob.writes(&["a.ts"]).await;
    assert_eq!(waits(&eve, Writing, &["a.ts"]).await.1, ["DIRECT! a.ts bob"]);
}

async fn a_reservation_ends_after_20_seconds_and_the_next_one_is_first(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts"]).await;
    waits(&bob, Writing, &["a.ts"]).await;
    waits(&eve, Writing, &["a.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    pass(&world, 19).await;
    let survey = eve.is_refused(Writing, &["a.ts"]).await;
    let (finding, now) = (&survey.findings[0], survey.now);
    assert!((now..=now + 2).contains(&finding.entry.expiry), "{finding:?} at {now}");
    pass(&world, 2).await;
    assert_eq!(
        waits(&bob, Writing, &["a.ts"]).await,
        (2, vec!["RESERVED! a.ts eve".to_owned()])
    );
    eve.writes(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob"], "who came too late is at the end");
}

async fn who_does_not_ask_for_30_seconds_or_three_times_the_last_wait_loses_its_place(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts"]).await;
    waits(&bob, Writing, &["a.ts"]).await;
    pass(&world, 29).await;
    assert_eq!(waits(&eve, Writing, &["a.ts"]).await.0, 2);
    pass(&world, 2).await;
    assert_eq!(waits(&eve, Writing, &["a.ts"]).await.0, 1, "bob was silent for 31 s");
    assert_eq!(row(&world).await, ["eve"]);
    // Who asks each 25 seconds may be 75 seconds late, and no longer than five minutes, however seldom it asks.
    pass(&world, 25).await;
    waits(&eve, Writing, &["a.ts"]).await;
    pass(&world, 74).await;
    assert_eq!(waits(&bob, Writing, &["a.ts"]).await.0, 2);
    pass(&world, 2).await;
    assert_eq!(waits(&bob, Writing, &["a.ts"]).await.0, 1);
    pass(&world, 29).await;
    waits(&bob, Writing, &["a.ts"]).await;
    for (seconds, expected) in [(80, 1), (230, 1), (299, 1), (301, 2)] {
        if expected == 2 {
            // Somebody who comes meanwhile.
            waits(&world.agent("joe"), Writing, &["a.ts"]).await;
        }
        pass(&world, seconds).await;
        if expected == 2 {
            waits(&world.agent("joe"), Writing, &["a.ts"]).await;
        }
        assert_eq!(waits(&bob, Writing, &["a.ts"]).await.0, expected, "after {seconds} s");
    }
}

async fn a_claim_of_many_files_does_not_starve_behind_small_ones(world: World) {
    let (big, small, other) = (world.agent("big"), world.agent("small"), world.agent("other"));
    small.writes(&["a.ts"]).await;
    waits(&big, Writing, &["a.ts", "b.ts", "c.ts"]).await;
    // Without the ticket, one of them would have one of the files at any time.
    assert_eq!(
        waits(&other, Writing, &["b.ts"]).await,
        (2, vec!["RESERVED! b.ts big".to_owned()])
    );
    small.abandons(&["a.ts"]).await;
    assert_eq!(
        waits(&small, Writing, &["a.ts", "c.ts"]).await,
        (
            2,
            vec!["RESERVED! a.ts big".to_owned(), "RESERVED! c.ts big".to_owned()]
        )
    );
    other.writes(&["d.ts"]).await;
    big.writes(&["a.ts", "b.ts", "c.ts"]).await;
    big.abandons(&["a.ts", "b.ts", "c.ts"]).await;
    assert_eq!(row(&world).await, ["other!", "small!"]);
    other.writes(&["b.ts"]).await;
    small.writes(&["a.ts", "c.ts"]).await;
    assert_eq!(row(&world).await, [""; 0]);
}

async fn readers_do_not_overtake_a_waiting_writer(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.reads(&["a.ts"]).await;
    waits(&bob, Writing, &["a.ts"]).await;
    assert_eq!(
        waits(&eve, Reading, &["a.ts"]).await,
        (2, ["DIRECT a.ts ann", "RESERVED! a.ts bob"].map(str::to_owned).to_vec())
    );
    // Who reads already goes on.
    ann.reads(&["a.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    bob.writes(&["a.ts"]).await;
    bob.abandons(&["a.ts"]).await;
    // Readers do not wait for readers.
    eve.reads(&["a.ts"]).await;
    ann.reads(&["a.ts"]).await;
}

async fn those_that_want_each_others_files_do_not_wait_for_tickets(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    // All or nothing: of two that want the same files in another order, one has all.
    eve.writes(&["a.ts", "b.ts"]).await;
    waits(&ann, Writing, &["a.ts", "b.ts"]).await;
    waits(&bob, Writing, &["b.ts", "a.ts"]).await;
    eve.abandons(&["a.ts", "b.ts"]).await;
    waits(&bob, Writing, &["b.ts", "a.ts"]).await;
    ann.writes(&["a.ts", "b.ts"]).await;
    ann.abandons(&["a.ts", "b.ts"]).await;
    bob.writes(&["b.ts", "a.ts"]).await;
    bob.abandons(&["a.ts", "b.ts"]).await;
    // A ticket that waits for a lock of the caller does not stop it: ann waits for b.ts, which bob has, and bob needs a.ts.
    bob.writes(&["b.ts"]).await;
    waits(&ann, Writing, &["a.ts", "b.ts"]).await;
    bob.writes(&["a.ts"]).await;
    waits(&eve, Writing, &["a.ts"]).await;
    bob.abandons(&["a.ts", "b.ts"]).await;
    assert_eq!(row(&world).await, ["ann!", "eve"]);
    ann.writes(&["a.ts", "b.ts"]).await;
}

async fn two_who_hold_what_the_other_wants_are_told(world: World) {
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
    // One who holds nothing, or has somebody else before it, is in no ring.
    let third = eve.is_refused(Writing, &["a.ts"]).await;
    assert_eq!(place(&third).mutual, []);
    // Who gives back what the other wants is out of it.
    bob.abandons(&["b.ts"]).await;
    ann.writes(&["b.ts"]).await;
    assert_eq!(place(&bob.is_refused(Writing, &["a.ts"]).await).mutual, []);
}

async fn a_ring_of_tickets_and_locks_is_seen_through_others(world: World) {
    let (ann, bob, eve, joe) = (
        world.agent("ann"),
        world.agent("bob"),
        world.agent("eve"),
        world.agent("joe"),
    );
    // eve waits for ann, who waits for bob, who has c.ts: he may have what eve waits for.
    bob.writes(&["c.ts"]).await;
    ann.writes(&["a.ts"]).await;
    waits(&ann, Writing, &["c.ts"]).await;
    waits(&eve, Writing, &["a.ts", "e.ts"]).await;
    assert_eq!(
        waits(&joe, Writing, &["e.ts"]).await,
        (2, vec!["RESERVED! e.ts eve".to_owned()])
    );
    bob.writes(&["e.ts"]).await;
    // So may it be through a ticket: joe waits behind eve's.
    waits(&world.agent("zoe"), Writing, &["e.ts", "z.ts"]).await;
    bob.writes(&["z.ts"]).await;
    // A lock of somebody else is no reason.
    world.agent("max").writes(&["m.ts"]).await;
    waits(&world.agent("max"), Writing, &["z.ts"]).await;
}

async fn a_renewal_and_an_upgrade_that_others_wait_for_are_not_refused(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.reads(&["a.ts"]).await;
    waits(&bob, Writing, &["a.ts"]).await;
    ann.reads(&["a.ts"]).await;
    ann.writes(&["a.ts"]).await;
    ann.writes(&["a.ts"]).await;
    ann.reads(&["a.ts"]).await;
    assert_eq!(in_short(&ann.checks(Writing, &["a.ts"]).await.findings), [""; 0]);
    // A claim with another file renews what is held, and waits for the rest alone.
    let eve = world.agent("eve");
    eve.writes(&["e.ts"]).await;
    waits(&bob, Writing, &["e.ts", "f.ts"]).await;
    eve.writes(&["e.ts", "f.ts"]).await;
}

async fn a_neighbor_that_blocked_comes_after_the_ticket(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts", "c.ts"])]).await;
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["b.ts"]).await;
    waits(&bob, Writing, &["a.ts"]).await;
    ann.abandons(&["b.ts"]).await;
    assert_eq!(row(&world).await, ["bob!"]);
    // The next one to write it would keep bob out again.
    assert_eq!(
        waits(&eve, Writing, &["b.ts"]).await,
        (2, vec!["RESERVED! b.ts bob".to_owned()])
    );
    // Reading it keeps nobody out.
    eve.reads(&["b.ts"]).await;
    bob.writes(&["a.ts"]).await;
}

async fn branches_have_queues_of_their_own(world: World) {
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

async fn a_release_gives_up_what_the_caller_waits_for(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts", "b.ts"]).await;
    waits(&bob, Writing, &["a.ts"]).await;
    waits(&bob, Writing, &["b.ts"]).await;
    waits(&eve, Writing, &["a.ts", "b.ts"]).await;
    // Whoever has it, bob does not wait for it any more.
    let lost = bob.release_or_abandon(None, Reachable::Unknown, true, &["a.ts"]).await;
    assert!(matches!(lost, ReleaseOutcome::Lost { .. }), "{lost:?}");
    assert_eq!(row(&world).await, ["bob", "eve"]);
    const ALL: [&str; 0] = [];
    bob.abandons(&ALL).await;
    assert_eq!(row(&world).await, ["eve"]);
}

async fn there_are_64_tickets_16_of_a_person_and_4_of_a_holder(world: World) {
    world.agent("ann").writes(&["a.ts"]).await;
    let bob = world.agent("bob");
    for number in 0..5 {
        waits(&bob, Writing, &["a.ts", &format!("{number}.ts")]).await;
    }
    let files: Vec<String> = tickets(&world)
        .await
        .iter()
        .map(|ticket| ticket["files"][1].to_string())
        .collect();
    assert_eq!(
        files,
        [1, 2, 3, 4].map(|number| format!("\"{number}.ts\"")),
        "the oldest went"
    );
    for agent in 0..4 {
        for number in 0..4 {
            let refused = world
                .agent(&format!("eve/{agent}"))
                .is_refused(Reading, &["a.ts", &format!("{number}.ts")])
                .await;
            assert!(refused.queued.is_some());
        }
    }
    let refused = world.agent("eve/more").is_refused(Writing, &["a.ts"]).await;
    assert_eq!(refused.queued, None, "eve has 16");
    assert_eq!(refused.findings.len(), 1, "{:?}", refused.findings);
    for number in 20..64 {
        waits(&world.agent(&format!("p{number}")), Writing, &["a.ts"]).await;
    }
    assert_eq!(tickets(&world).await.len(), 64);
    let refused = world.agent("late").is_refused(Writing, &["a.ts"]).await;
    assert_eq!(refused.queued, None);
    // Who has a ticket keeps it.
    assert_eq!(waits(&world.agent("p63"), Writing, &["a.ts"]).await.0, 64);
    // And whoever has none is refused for those that have one.
    world.agent("ann").abandons(&["a.ts"]).await;
    let refused = world.agent("late").is_refused(Writing, &["a.ts"]).await;
    assert_eq!(in_short(&refused.findings), ["RESERVED! a.ts bob"]);
}

async fn nobody_waits_for_a_shared_file(world: World) {
    world.store_policy("shared = [\"s.lock\"]").await;
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts", "s.lock"]).await;
    let blocked = ["DIRECT s.lock ann", "DIRECT! a.ts ann"].map(str::to_owned).to_vec();
    assert_eq!(waits(&bob, Writing, &["a.ts", "s.lock"]).await, (1, blocked));
    eve.writes(&["s.lock"]).await;
    eve.abandons(&["s.lock"]).await;
    // It is no part of what bob waits for.
    ann.abandons(&["s.lock"]).await;
    bob.abandons(&["s.lock"]).await;
    assert_eq!(row(&world).await, ["bob"]);
    ann.abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob!"]);
    let reserved = vec!["RESERVED! a.ts bob".to_owned()];
    assert_eq!(waits(&eve, Writing, &["a.ts", "s.lock"]).await, (2, reserved));
    bob.writes(&["a.ts", "s.lock"]).await;
    assert_eq!(row(&world).await, ["eve"]);
    // What is shared from now on is waited for no longer.
    world.store_policy("shared = [\"a.ts\", \"s.lock\"]").await;
    world.agent("joe").writes(&["a.ts"]).await;
    eve.writes(&["a.ts", "s.lock"]).await;
    assert_eq!(row(&world).await, [""; 0]);
}

/// Who says that the interfaces of the files stay as they are.
fn keeping<'w>(agent: &Agent<'w>) -> Agent<'w> {
    Agent {
        interface: Some(InterfacePromise::Keeps),
        policy: NeighborPolicy::Interface,
        ..agent.clone()
    }
}

async fn who_keeps_an_interface_does_not_come_after_a_ticket_of_a_neighbor(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts"])]).await;
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts"]).await;
    let blocked = vec!["NEIGHBOR! a.ts ann via b.ts".to_owned()];
    assert_eq!(waits(&keeping(&bob), Writing, &["b.ts"]).await, (1, blocked));
    // Once ann keeps the interface, bob's turn has come.
    keeping(&ann).writes(&["a.ts"]).await;
    let found = in_short(&keeping(&eve).checks(Writing, &["b.ts"]).await.findings);
    assert_eq!(found, ["NEIGHBOR a.ts ann via b.ts", "RESERVED! b.ts bob"]);
    ann.abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob!"]);
    let reserved = vec!["RESERVED! a.ts bob".to_owned()];
    assert_eq!(waits(&eve, Writing, &["a.ts"]).await, (2, reserved));
    // Neither does who keeps it, nor whom no neighbor stops, keep bob from his file.
    keeping(&eve).writes(&["a.ts"]).await;
    eve.abandons(&["a.ts"]).await;
    for policy in [NeighborPolicy::Warn, NeighborPolicy::Off] {
        let mut joe = world.agent("joe");
        joe.policy = policy;
        joe.writes(&["a.ts"]).await;
        joe.abandons(&["a.ts"]).await;
    }
    bob.writes(&["b.ts"]).await;
    assert_eq!(row(&world).await, [""; 0]);
    bob.abandons(&["b.ts"]).await;
    // Between tickets it is the same.
    ann.writes(&["a.ts"]).await;
    waits(&bob, Writing, &["b.ts"]).await;
    waits(&keeping(&eve), Writing, &["a.ts"]).await;
    waits(&world.agent("joe"), Writing, &["a.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob!", "eve!", "joe"]);
    keeping(&eve).writes(&["a.ts"]).await;
    bob.writes(&["b.ts"]).await;
}

async fn neighbors_of_a_ticket_are_forgotten_where_they_block_no_longer(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts"])]).await;
    let (ann, mut bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["a.ts", "c.ts"]).await;
    waits(&bob, Writing, &["b.ts", "c.ts"]).await;
    assert_eq!(tickets(&world).await[0]["near"], serde_json::json!(["a.ts"]));
    bob.policy = NeighborPolicy::Off;
    waits(&bob, Writing, &["b.ts", "c.ts"]).await;
    assert_eq!(tickets(&world).await[0]["near"], Json::Null);
    ann.abandons(&["c.ts"]).await;
    assert_eq!(row(&world).await, ["bob!"]);
}

async fn tickets_of_very_many_files_are_bounded_in_bytes(world: World) {
    world.agent("ann").writes(&["a.ts"]).await;
    let long: Vec<String> = (0..512)
        .map(|number| format!("{number:0100}.ts"))
        .chain(["a.ts".to_owned()])
        .skip(1)
        .collect();
    let mut stored = 0;
    for number in 0..6 {
        let refused = world.agent(&format!("p{number}")).is_refused(Writing, &long).await;
        stored += usize::from(refused.queued.is_some());
    }
    assert_eq!(stored, 2);
    let bytes = Json::from(tickets(&world).await).to_string().len();
    assert!(bytes < 131_072, "{bytes}");
    assert_eq!(waits(&world.agent("small"), Writing, &["a.ts"]).await.0, 3);
}

async fn tickets_are_bounded_in_files(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts"]).await;
    let files = |name: &str| -> Vec<String> {
        let own = (1..512).map(|number| format!("{name}{number}"));
        std::iter::once("a.ts".to_owned()).chain(own).collect()
    };
    let has_place = async |agent: &Agent<'_>, name: &str| {
        let refused = agent.is_refused(Writing, &files(name)).await;
        refused.queued.is_some()
    };
    // A person may have half of them.
    for (name, has_room) in [("b1", true), ("b2", true), ("b3", true), ("b4", true), ("b5", false)] {
        assert_eq!(
            has_place(&world.agent(&format!("bob/{name}")), name).await,
            has_room,
            "{name}"
        );
    }
    for (name, has_room) in [("c", true), ("d", true), ("e", true), ("f", true), ("g", false)] {
        assert_eq!(has_place(&world.agent(name), name).await, has_room, "{name}");
    }
    // Who has a place keeps it.
    assert!(has_place(&world.agent("f"), "f").await);
}

async fn the_tickets_go_by_themselves(world: World) {
    world.agent("ann").writes(&["a.ts"]).await;
    waits(&world.agent("bob"), Writing, &["a.ts"]).await;
    let left = world.number(["PTTL", &state::locks::keys::queue(&world.repo)]).await;
    assert!((29_000..=30_001).contains(&left), "{left}");
}

on_every_store! {
    a_refused_claim_takes_a_place_and_the_same_claim_keeps_it,
    the_first_has_a_reservation_once_its_files_are_free,
    a_reservation_ends_after_20_seconds_and_the_next_one_is_first,
    who_does_not_ask_for_30_seconds_or_three_times_the_last_wait_loses_its_place,
    a_claim_of_many_files_does_not_starve_behind_small_ones,
    readers_do_not_overtake_a_waiting_writer,
    those_that_want_each_others_files_do_not_wait_for_tickets,
    two_who_hold_what_the_other_wants_are_told,
    a_ring_of_tickets_and_locks_is_seen_through_others,
    a_renewal_and_an_upgrade_that_others_wait_for_are_not_refused,
    a_neighbor_that_blocked_comes_after_the_ticket,
    branches_have_queues_of_their_own,
    a_release_gives_up_what_the_caller_waits_for,
    there_are_64_tickets_16_of_a_person_and_4_of_a_holder,
    nobody_waits_for_a_shared_file,
    who_keeps_an_interface_does_not_come_after_a_ticket_of_a_neighbor,
    neighbors_of_a_ticket_are_forgotten_where_they_block_no_longer,
    tickets_of_very_many_files_are_bounded_in_bytes,
    tickets_are_bounded_in_files,
    the_tickets_go_by_themselves,
}
