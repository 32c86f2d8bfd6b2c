//! Writers that keep the interface of a file: what blocks, what a claim changes, and who is warned when one has changed.

use coord_domain::work::Verdict;
use coord_domain::{LockMode, NeighborPolicy};
use coord_protocol::InterfacePromise;
use coord_state::locks::{BrokenInterfacePromise, WrittenFile, announce_interface_changes};
use serde_json::json;

use crate::stores::neighbors::{store_graph, store_imports};
use crate::world::worker::judged_file;
use crate::world::{Agent, HEAD, NEXT, World, answered, files, in_short, released, sha};

use InterfacePromise::{Changes, Keeps};
use LockMode::{Reading, Writing};

fn with<'w>(agent: &Agent<'w>, interface: Option<InterfacePromise>) -> Agent<'w> {
    Agent {
        interface,
        ..agent.clone()
    }
}

/// Someone under the policy `interface`.
fn by_interface<'w>(agent: &Agent<'w>, interface: Option<InterfacePromise>) -> Agent<'w> {
    Agent {
        policy: NeighborPolicy::Interface,
        ..with(agent, interface)
    }
}

async fn writers_of_neighbors_exclude_each_other_where_one_changes_its_interface(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts"]), ("c.ts", &["a.ts"])]).await;
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    let words = [None, Some(Changes), Some(Keeps)];
    for policy in NeighborPolicy::ALL {
        for (theirs, mine) in words.iter().flat_map(|theirs| words.map(|mine| (*theirs, mine))) {
            for file in ["b.ts", "c.ts"] {
                let case = format!("{theirs:?} {mine:?} {policy:?} {file}");
                with(&ann, theirs).writes(&[file]).await;
                let kept = theirs.filter(|word| *word == Keeps);
                assert_eq!(world.stored(file).await[0].interface, kept, "{case}");
                let mut bob = with(&bob, mine);
                bob.policy = policy;
                let blocks = match policy {
                    NeighborPolicy::Block => true,
                    NeighborPolicy::Interface => (theirs, mine) != (Some(Keeps), Some(Keeps)),
                    NeighborPolicy::Warn | NeighborPolicy::Off => false,
                };
                let sign = if blocks { "!" } else { "" };
                let found = match policy {
                    NeighborPolicy::Off => Vec::new(),
                    _ => vec![format!("NEIGHBOR{sign} {file} ann via a.ts")],
                };
                let checked = bob.checks(Writing, &["a.ts"]).await;
                assert_eq!(in_short(&checked.findings), found, "{case}");
                if let Some(finding) = checked.findings.first() {
                    assert_eq!(finding.entry.interface, kept, "a check tells both kinds apart: {case}");
                }
                if blocks {
                    bob.is_refused(Writing, &["a.ts"]).await;
                } else {
                    assert_eq!(bob.writes_beside(&["a.ts"]).await, found, "{case}");
                    bob.abandons(&["a.ts"]).await;
                }
                // The file itself is the writer's alone, whatever it says.
                bob.is_refused(Writing, &[file]).await;
                bob.is_refused(Reading, &[file]).await;
                bob.abandons(&[""; 0]).await;
                ann.abandons(&[file]).await;
            }
        }
    }
}

async fn each_file_of_a_claim_has_a_separate_interface_promise(world: World) {
    store_graph(
        &world,
        &[
            ("a.ts", &["far.ts"]),
            ("b.ts", &["near.ts", "both.ts"]),
            ("c.ts", &["both.ts"]),
        ],
    )
    .await;
    let ann = by_interface(&world.agent("ann"), Some(Keeps));
    ann.writes(&["far.ts"]).await;
    let mut bob = by_interface(&world.agent("bob"), Some(Keeps));
    bob.changes_interface_of = vec!["b.ts".to_owned()];
    let files = ["a.ts", "b.ts", "c.ts"];
    bob.writes(&files).await;
    let stored = async |file: &str| world.stored(file).await[0].interface;
    for (file, kept) in files.into_iter().zip([Some(Keeps), None, Some(Keeps)]) {
        assert_eq!(stored(file).await, kept, "{file}");
    }
    bob.abandons(&files).await;
    // A neighbor of two of the files: the one that changes decides.
    for file in ["near.ts", "both.ts"] {
        ann.writes(&[file]).await;
        let blocking = bob.is_blocked_by(Writing, &["c.ts", "b.ts"]).await;
        assert_eq!(blocking, [format!("NEIGHBOR! {file} ann via b.ts")]);
        assert!(bob.checks(Writing, &["c.ts", "b.ts"]).await.findings[0].blocks);
        bob.abandons(&[""; 0]).await;
        ann.abandons(&[file]).await;
    }
    ann.writes(&["both.ts"]).await;
    bob.writes(&["c.ts"]).await;
    ann.abandons(&["both.ts"]).await;
    // An upgrade of one of them is a renewal of the others.
    bob.writes(&["a.ts"]).await;
    bob.changes_interface_of = vec!["c.ts".to_owned()];
    bob.writes(&["a.ts", "c.ts"]).await;
    assert_eq!((stored("a.ts").await, stored("c.ts").await), (Some(Keeps), None));
    // Back to its interface of before.
    by_interface(&world.agent("bob"), Some(Keeps)).writes(&["c.ts"]).await;
    assert_eq!(stored("c.ts").await, Some(Keeps));
}

async fn of_several_writers_next_to_a_file_those_block_that_may_change_theirs(world: World) {
    let imports = ["k0.ts", "k1.ts", "k2.ts", "w.ts"];
    store_graph(&world, &[("a.ts", &imports)]).await;
    let kept = with(&world.agent("ann"), Some(Keeps));
    kept.writes(&imports[..3]).await;
    let bob = by_interface(&world.agent("bob"), Some(Keeps));
    let found = bob.finds(Writing, &["a.ts"]).await;
    assert!(found.iter().all(|finding| !finding.contains('!')), "{found:?}");
    world.agent("cyd").writes(&["w.ts"]).await;
    let mut found = bob.is_blocked_by(Writing, &["a.ts"]).await;
    assert_eq!(found[0], "NEIGHBOR k0.ts ann via a.ts");
    found.retain(|finding| finding.contains('!'));
    assert_eq!(found, ["NEIGHBOR! w.ts cyd via a.ts"]);
}

/// The script tells these apart by the text of the entries, before it decodes them.
async fn a_promise_on_another_branch_or_in_words_has_no_effect_here(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts"])]).await;
    let words = "interface\":\"keeps\" {\"status\":\"WRITING\",\"branch\":\"main\",\"interface\":\"keeps\"}";
    let ann = world.agent("ann").with_message(words);
    let elsewhere = world.agent("eve").with_message(words).on_branch("other");
    let bob = by_interface(&world.agent("bob"), Some(Keeps));
    for here_first in [true, false] {
        for (here, there, blocks) in [
            (None, Some(Keeps), true),
            (Some(Keeps), None, false),
            (Some(Keeps), Some(Keeps), false),
            (None, None, true),
        ] {
            let (here, there) = (with(&ann, here), with(&elsewhere, there));
            let in_order = if here_first { [&here, &there] } else { [&there, &here] };
            for agent in in_order {
                agent.writes(&["b.ts"]).await;
            }
            let case = format!("{:?} {:?} {here_first}", here.interface, there.interface);
            let found = bob.finds(Writing, &["a.ts"]).await;
            let sign = if blocks { "!" } else { "" };
            assert_eq!(found, [format!("NEIGHBOR{sign} b.ts ann via a.ts")], "{case}");
            here.abandons(&["b.ts"]).await;
            let found = bob.finds(Writing, &["a.ts"]).await;
            assert_eq!(found, [""; 0], "the other branch: {case}");
            there.abandons(&["b.ts"]).await;
        }
    }
}

// rule: locks#upgrade
async fn a_renewal_keeps_the_interface_promise_and_a_new_one_counts_as_a_new_claim(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts"])]).await;
    let ann = by_interface(&world.agent("ann"), None);
    let bob = by_interface(&world.agent("bob"), Some(Keeps));
    let interface = async || world.stored("b.ts").await[0].interface;
    with(&ann, Some(Keeps)).writes(&["b.ts"]).await;
    ann.writes(&["b.ts"]).await;
    assert_eq!(interface().await, Some(Keeps), "a renewal says nothing of it");
    ann.reads(&["b.ts"]).await;
    assert_eq!(interface().await, Some(Keeps));
    bob.writes(&["a.ts"]).await;
    with(&ann, Some(Keeps)).writes(&["b.ts"]).await;
    // Bob's claim was granted because the interface stays; nobody can take that back while he writes.
    let blocking = with(&ann, Some(Changes)).is_blocked_by(Writing, &["b.ts"]).await;
    assert_eq!(blocking, ["NEIGHBOR! a.ts bob via b.ts"]);
    assert_eq!(interface().await, Some(Keeps));
    bob.abandons(&["a.ts"]).await;
    with(&ann, Some(Changes)).writes(&["b.ts"]).await;
    assert_eq!(interface().await, None);
    with(&ann, Some(Keeps)).writes(&["b.ts"]).await;
    ann.abandons(&["b.ts"]).await;
    ann.writes(&["b.ts"]).await;
    assert_eq!(interface().await, None, "a new claim says it anew");
    ann.abandons(&["b.ts"]).await;
    ann.reads(&["b.ts"]).await;
    with(&ann, Some(Keeps)).writes(&["b.ts"]).await;
    assert_eq!(interface().await, Some(Keeps), "who read it, and writes now");
}

async fn a_release_names_what_was_to_be_kept(world: World) {
    world.records_head(NEXT, &[HEAD]).await;
    let ann = world.agent("ann");
    with(&ann, Some(Keeps)).writes(&["kept.ts", "same.ts"]).await;
    ann.writes(&["plain.ts"]).await;
    let judged_files = [
        judged_file("kept.ts", Verdict::Pushed),
        judged_file("same.ts", Verdict::Unchanged),
        judged_file("plain.ts", Verdict::Pushed),
    ];
    let paths = ["kept.ts", "same.ts", "plain.ts"];
    let outcome = answered(ann.release_as_judged(Some(NEXT), &judged_files, false, &paths).await);
    let [interface] = released(outcome).interfaces.try_into().unwrap();
    let expected = WrittenFile {
        path: "kept.ts".to_owned(),
        claim_head: sha(HEAD),
    };
    assert_eq!(interface.written, expected);
    with(&ann, Some(Keeps)).writes(&["kept.ts"]).await;
    let thrown_away = ann.abandons(&["kept.ts"]).await.interfaces;
    assert_eq!(thrown_away, [], "they change nothing");
}

/// The change of an interface that was promised to stay, in these names.
fn broken(path: &str, names: &[&str]) -> BrokenInterfacePromise {
    BrokenInterfacePromise {
        path: path.to_owned(),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
    }
}

/// Announces changes of the agent's files. Returns how many holders are notified.
async fn announces(agent: &Agent<'_>, changes: &[BrokenInterfacePromise]) -> u64 {
    let known = [sha(HEAD)];
    announce_interface_changes(&*agent.world.store, &agent.entry(&known), changes)
        .await
        .unwrap()
}

async fn holders_of_neighbors_are_warned_once_by_their_next_claim_or_release(world: World) {
    store_graph(
        &world,
        &[
            ("a.ts", &["b.ts"]),
            ("r.ts", &["b.ts"]),
            ("b.ts", &["far.ts"]),
            ("x.ts", &["y.ts"]),
        ],
    )
    .await;
    let (ann, bob, cyd) = (world.agent("ann"), world.agent("bob"), world.agent("cyd"));
    let bob = by_interface(&bob, Some(Keeps));
    with(&ann, Some(Keeps)).writes(&["b.ts"]).await;
    bob.writes(&["a.ts"]).await;
    cyd.reads(&["r.ts", "x.ts"]).await;
    world.agent("cyd").on_branch("other").reads(&["r.ts"]).await;
    let count = world.events().await.len();
    let changes = [broken("b.ts", &["query", "Pool"])];
    assert_eq!(announces(&ann, &changes).await, 2);
    assert_eq!(world.events().await.len(), count + 1);
    let event = world.last_event().await;
    assert_eq!(
        json!([event["type"], event["files"], event["told"], event["names"]]),
        json!(["interface_changed", ["b.ts"], 2, ["query", "Pool"]])
    );
    let notice = "b.ts\tann\tquery, Pool\n";
    let stored_notice = async || world.stored("a.ts").await[0].notices.clone();
    // A check says it and leaves it; a claim says it, and then it is said.
    for _ in 0..2 {
        let checked = bob.checks(Writing, &["a.ts"]).await;
        assert_eq!(checked.own[0].notices.as_deref(), Some(notice));
    }
    assert_eq!(bob.writes(&["a.ts"]).await.own[0].notices.as_deref(), Some(notice));
    assert_eq!(bob.writes(&["a.ts"]).await.own[0].notices, None);
    assert_eq!(stored_notice().await, None);
    let released = cyd.releases_read(&["r.ts", "x.ts"]).await;
    assert_eq!(released.notices, [("r.ts".to_owned(), notice.to_owned())]);
    let elsewhere = world.stored("r.ts").await;
    assert!(
        elsewhere.iter().all(|entry| entry.notices.is_none()),
        "not on the other branch: {elsewhere:?}"
    );
    // The same again is said once, and what has no names or no holders is an event alone.
    let own = announces(&ann, &[broken("far.ts", &[])]).await;
    assert_eq!(own, 0, "b.ts is the writer's own");
    for _ in 0..40 {
        announces(&ann, &changes).await;
    }
    assert_eq!(stored_notice().await.as_deref(), Some(notice));
    let many: Vec<_> = (0..40)
        .map(|number| broken("b.ts", &[&format!("name{number:03}")]))
        .collect();
    announces(&ann, &many).await;
    assert!(stored_notice().await.unwrap().len() <= 1024);
    world.assert_counts_are_exact().await;
}

async fn an_oversized_notice_does_not_block_the_others(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts", "c.ts"])]).await;
    let ann = world.agent("ann");
    let broken = |file: &str, letter: &str, count: usize| broken(file, &[&letter.repeat(count)]);
    let notices = async || {
        let stored = world.stored("a.ts").await;
        let last_letter = |line: &str| line.chars().last().unwrap();
        let of_each = stored.iter().map(|entry| entry.notices.clone().unwrap_or_default());
        of_each
            .map(|text| text.lines().map(last_letter).collect())
            .collect::<Vec<String>>()
    };
    world.agent("bob").reads(&["a.ts"]).await;
    let first = [
        broken("b.ts", "v", 600),
        broken("b.ts", "w", 600),
        broken("c.ts", "x", 100),
        broken("b.ts", "y", 400),
    ];
    assert_eq!(announces(&ann, &first).await, 2);
    assert_eq!(notices().await, ["vx"]);
    // Of two locks on a file, one has room.
    world.agent("cyd").reads(&["a.ts"]).await;
    assert_eq!(announces(&ann, &first).await, 2);
    assert_eq!(notices().await, ["vx", "vx"]);
    world.agent("dan").reads(&["a.ts"]).await;
    let next = [
        broken("b.ts", "y", 400),
        broken("c.ts", "z", 100),
        broken("c.ts", "w", 600),
    ];
    assert_eq!(announces(&ann, &next).await, 4);
    assert_eq!(notices().await, ["vxz", "vxz", "yz"]);
    world.assert_held_is_exact().await;
}

// rule: locks#blocks-others
async fn a_claim_reports_once_how_many_neighbors_it_blocks(world: World) {
    let importers = files("importers", 21);
    store_imports(&world, &importers, &["hub.ts"]).await;
    let ann = by_interface(&world.agent("ann"), None);
    let cost = async |agent: &Agent<'_>, files: &[&str]| {
        let cost = agent.writes(files).await.cost;
        cost.map(|cost| (cost.neighbors, cost.file_path, cost.blocks_always))
    };
    let much = Some((21, "hub.ts".to_owned(), false));
    assert_eq!(cost(&ann, &["hub.ts"]).await, None, "nobody else is there");
    ann.abandons(&["hub.ts"]).await;
    world.agent("bob").writes(&["z.ts"]).await;
    assert_eq!(cost(&ann, &["hub.ts"]).await, much);
    assert_eq!(cost(&ann, &["hub.ts"]).await, None, "it is a renewal");
    assert_eq!(cost(&with(&ann, Some(Keeps)), &["hub.ts"]).await, None);
    assert_eq!(
        cost(&with(&ann, Some(Changes)), &["hub.ts"]).await,
        much,
        "it kept the interface until now"
    );
    ann.abandons(&["hub.ts"]).await;
    assert_eq!(cost(&ann, &[&importers[0]]).await, None, "it has one neighbor");
    ann.abandons(&importers[..1]).await;
    let by = |policy| Agent {
        policy,
        ..with(&ann, Some(Keeps))
    };
    let whatever = Some((21, "hub.ts".to_owned(), true));
    for (policy, expected) in [
        (NeighborPolicy::Interface, None),
        (NeighborPolicy::Warn, None),
        (NeighborPolicy::Off, None),
        (NeighborPolicy::Block, whatever),
    ] {
        assert_eq!(cost(&by(policy), &["hub.ts"]).await, expected, "{policy:?}");
        ann.abandons(&["hub.ts"]).await;
    }
}

on_every_store!(
    a_claim_reports_once_how_many_neighbors_it_blocks,
    an_oversized_notice_does_not_block_the_others,
    writers_of_neighbors_exclude_each_other_where_one_changes_its_interface,
    each_file_of_a_claim_has_a_separate_interface_promise,
    a_promise_on_another_branch_or_in_words_has_no_effect_here,
    of_several_writers_next_to_a_file_those_block_that_may_change_theirs,
    a_renewal_keeps_the_interface_promise_and_a_new_one_counts_as_a_new_claim,
    a_release_names_what_was_to_be_kept,
    holders_of_neighbors_are_warned_once_by_their_next_claim_or_release,
);
