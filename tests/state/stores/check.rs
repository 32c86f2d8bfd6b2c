//! `check_status`.

use coord_domain::LockMode::{Reading, Writing};
use coord_state as state;
use coord_state::admission::Denial;
use coord_state::locks::{Direction, Relation};

use crate::stores::neighbors::store_graph;
use crate::world::{HEAD, LOCAL, NEXT, World, denial_of};

async fn a_check_shows_whole_entries_and_changes_nothing(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts"]), ("c.ts", &["a.ts"])]).await;
    world.agent("bob/one").writes(&["b.ts"]).await;
    world.agent("cid").reads(&["c.ts"]).await;
    let ann = world.agent("ann");
    ann.reads(&["a.ts"]).await;
    let locks = state::locks::keys::locks(&world.repo);
    let stored = async || (world.events().await, world.command(["HGETALL", &locks]).await);
    let before = stored().await;

    let survey = ann.checks(Reading, &["a.ts", "unheard-of.ts"]).await;

    for (path, direction) in [("b.ts", Direction::Imports), ("c.ts", Direction::ImportedBy)] {
        let found = survey.findings.iter().find(|found| found.entry.file_path == path);
        let found = found.expect(path);
        assert_eq!((found.relation, found.via.as_str()), (Relation::Neighbor, "a.ts"));
        assert_eq!(found.direction, Some(direction), "{path}");
    }
    assert_eq!(survey.findings.len(), 2);
    let mut entries = survey.findings.iter().map(|found| &found.entry);
    let bob = entries.find(|entry| entry.file_path == "b.ts").unwrap();
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
    let age = survey.now - bob.timestamp;
    assert!((0..60).contains(&age), "{age}");
    let [own] = survey.own.as_slice() else {
        panic!("{:?}", survey.own)
    };
    assert_eq!((own.file_path.as_str(), own.status), ("a.ts", Reading));
    assert_eq!(own.agent_id, None);
    assert_eq!(
        (survey.head.commit.as_str(), survey.is_behind, survey.omitted),
        (HEAD, false, 0)
    );
    assert_eq!(stored().await, before);
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
        let case = format!("{:?} {:?} {:?}", agent.head, agent.base, agent.repo_head);
        assert_eq!(agent.checks(Writing, &["a.ts"]).await.is_behind, is_behind, "{case}");
    }
}

async fn the_stored_head_counts_where_no_source_provides_one(world: World) {
    let ann = world.agent("ann").without_source();
    assert_eq!(denial_of(ann.try_check(Writing, &["a.ts"]).await), Denial::UnknownHead);
    world.records_head(NEXT, &[]).await;
    let survey = ann.checks(Writing, &["a.ts"]).await;
    assert_eq!((survey.head.commit.as_str(), survey.is_behind), (NEXT, true));
    assert!(!ann.clone().at(NEXT).checks(Writing, &["a.ts"]).await.is_behind);
    let elsewhere = ann.on_branch("other").try_check(Writing, &["a.ts"]).await;
    assert_eq!(denial_of(elsewhere), Denial::UnknownHead);
}

async fn all_readers_are_found(world: World) {
    for name in ["bob", "cid", "cid/two", "dan"] {
        world.agent(name).reads(&["a.ts"]).await;
    }
    let readers = ["bob", "cid", "cid", "dan"].map(|user| format!("DIRECT! a.ts {user}"));
    assert_eq!(world.agent("ann").finds(Writing, &["a.ts"]).await, readers);
    let survey = world.agent("cid/two").checks(Writing, &["a.ts"]).await;
    assert_eq!((survey.findings.len(), survey.own.len()), (3, 1));
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
    assert_eq!(world.last_event().await["message"], message);
}

on_every_store!(
    a_check_shows_whole_entries_and_changes_nothing,
    an_agent_without_the_head_is_behind,
    the_stored_head_counts_where_no_source_provides_one,
    all_readers_are_found,
    text_in_any_script_comes_back_as_it_was,
);
