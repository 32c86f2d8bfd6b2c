//! `check_status`.

use coord_domain::LockMode::{Reading, Writing};
use coord_state as state;
use coord_state::admission::Denial;
use coord_state::locks::{Direction, Relation};

use crate::stores::neighbors::store_graph;
use crate::world::{HEAD, LOCAL, NEXT, World, denial_of, in_short};

async fn a_check_shows_whole_entries_and_changes_nothing(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts"]), ("c.ts", &["a.ts"])]).await;
    world.agent("bob/one").writes(&["b.ts"]).await;
    world.agent("cid").reads(&["c.ts"]).await;
    let ann = world.agent("ann");
    ann.reads(&["a.ts"]).await;
    let (events, before) = (
        world.events().await,
        world
            .command(["HGETALL", &state::locks::keys::locks(&world.repo)])
            .await,
    );

    let survey = ann.checks(Reading, &["a.ts", "unheard-of.ts"]).await;

    let mut found: Vec<_> = survey
        .findings
        .iter()
        .map(|found| (found.relation, found.direction, found.via.as_str()))
        .collect();
    found.sort_by_key(|(_, direction, _)| *direction == Some(Direction::ImportedBy));
    assert_eq!(
        found,
        [
            (Relation::Neighbor, Some(Direction::Imports), "a.ts"),
            (Relation::Neighbor, Some(Direction::ImportedBy), "a.ts")
        ]
    );
    let bob = &survey
        .findings
        .iter()
        .find(|found| found.entry.file_path == "b.ts")
        .unwrap()
        .entry;
    assert_eq!(bob.key, format!("{}:main:b.ts", world.repo));
    assert_eq!(
        (bob.branch.as_str(), bob.user_id.as_str(), bob.user_name.as_str()),
        ("main", "bob", "bob's name")
    );
    assert_eq!((bob.agent_id.as_deref(), bob.status), (Some("one"), Writing));
    assert_eq!(
        (bob.agent_head.as_str(), bob.message.as_str()),
        (HEAD, "What bob/one does and why")
    );
    assert_eq!(bob.expiry - bob.timestamp, 300, "{bob:?}");
    assert!(
        (0..60).contains(&(survey.now - bob.timestamp)),
        "{} {}",
        survey.now,
        bob.timestamp
    );
    assert_eq!(survey.own.len(), 1);
    assert_eq!(
        (survey.own[0].file_path.as_str(), survey.own[0].status),
        ("a.ts", Reading)
    );
    assert_eq!(survey.own[0].agent_id, None);
    assert_eq!(
        (survey.head.commit.as_str(), survey.is_behind, survey.omitted),
        (HEAD, false, 0)
    );

    assert_eq!(world.events().await, events);
    assert_eq!(
        world
            .command(["HGETALL", &state::locks::keys::locks(&world.repo)])
            .await,
        before
    );
}

async fn an_agent_without_the_head_is_behind(world: World) {
    let ann = world.agent("ann");
    for (agent, is_behind) in [
        (ann.clone(), false),
        (ann.clone().at(&HEAD[..7]), false),
        (ann.clone().at(NEXT), true),
        (ann.clone().at(NEXT).based_on(HEAD), false),
        (ann.clone().at(LOCAL).based_on(&HEAD[..12]), false),
        (ann.clone().at(LOCAL).based_on(NEXT), true),
        (ann.clone().while_branch_is_at(NEXT), true),
        (ann.clone().while_branch_is_at(&HEAD[..10]), false),
    ] {
        let survey = agent.checks(Writing, &["a.ts"]).await;
        assert_eq!(
            survey.is_behind, is_behind,
            "{:?} {:?} {:?}",
            agent.head, agent.base, agent.repo_head
        );
    }
}

async fn the_stored_head_counts_where_no_source_provides_one(world: World) {
    let ann = world.agent("ann").without_source();
    assert_eq!(denial_of(ann.try_check(Writing, &["a.ts"]).await), Denial::UnknownHead);
    world.records_head(NEXT, &[]).await;
    let survey = ann.checks(Writing, &["a.ts"]).await;
    assert_eq!((survey.head.commit.as_str(), survey.is_behind), (NEXT, true));
    assert!(!ann.clone().at(NEXT).checks(Writing, &["a.ts"]).await.is_behind);
    assert_eq!(
        denial_of(ann.on_branch("other").try_check(Writing, &["a.ts"]).await),
        Denial::UnknownHead
    );
}

async fn all_readers_are_found(world: World) {
    for name in ["bob", "cid", "cid/two", "dan"] {
        world.agent(name).reads(&["a.ts"]).await;
    }
    let survey = world.agent("ann").checks(Writing, &["a.ts"]).await;
    assert_eq!(
        in_short(&survey.findings),
        [
            "DIRECT! a.ts bob",
            "DIRECT! a.ts cid",
            "DIRECT! a.ts cid",
            "DIRECT! a.ts dan"
        ]
    );
    let survey = world.agent("cid/two").checks(Writing, &["a.ts"]).await;
    assert_eq!(survey.findings.len(), 3);
    assert_eq!(survey.own.len(), 1);
}

async fn text_in_any_script_comes_back_as_it_was(world: World) {
    let message = "Größe \"ändern\" \\ / \u{1F980} <&>";
    for path in [
        "src/größe/日本語.ts",
        "a b/\"c\".ts",
        "percent%d.ts",
        "[brackets](x)*.ts",
    ] {
        world.agent("bob").with_message(message).writes(&[path]).await;
        let survey = world.agent("ann").checks(Writing, &[path]).await;
        assert_eq!(survey.findings[0].entry.file_path, path);
        assert_eq!(survey.findings[0].entry.message, message);
    }
    let last = world.events().await.pop().unwrap().1;
    assert_eq!(last["message"], message);
}

on_every_store!(
    a_check_shows_whole_entries_and_changes_nothing,
    an_agent_without_the_head_is_behind,
    the_stored_head_counts_where_no_source_provides_one,
    all_readers_are_found,
    text_in_any_script_comes_back_as_it_was,
);
