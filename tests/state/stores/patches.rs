//! `patch_graph`.

use coord_state::builds::{GraphPatch, PublishOutcome, StagedSize, patch_graph, publish_graph};
use coord_store::Value;

use super::builds::{fields_after, text_at};
use crate::world::{HEAD, NEXT, World, sha};

impl World {
    async fn patch(&self, builder: &str, commit: &str, patch: &GraphPatch) -> PublishOutcome {
        let fields = [("files", "3".to_owned())];
        let (store, commit) = (&*self.store, sha(commit));
        patch_graph(store, &self.repo, &self.branch, builder, &commit, patch, &fields)
            .await
            .unwrap()
    }
}

async fn a_patch_changes_what_differs_and_fits_one_commit_alone(world: World) {
    let (adjacency, json, scan) = (world.adjacency_key(), world.json_key(), world.scan_key());
    world.lease("one", HEAD).await;
    for (key, part) in [
        (&adjacency, fields_after(0, ["a.ts", "a", "b.ts", "b"])),
        (&scan, fields_after(0, ["a.ts", "1", "b.ts", "2"])),
        (&json, text_at(0, "old")),
    ] {
        world.stages("one", key, [part]).await;
    }
    let parts = [
        (adjacency.clone(), StagedSize::Fields(2)),
        (json.clone(), StagedSize::Bytes(3)),
        (scan.clone(), StagedSize::Fields(2)),
    ];
    let (store, repo, branch) = (&*world.store, &world.repo, &world.branch);
    publish_graph(store, repo, branch, "one", &sha(HEAD), &parts, &[])
        .await
        .unwrap();

    let strings = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let patch = GraphPatch {
        base: HEAD.to_owned(),
        adjacency: strings(&["a.ts", "A", "c.ts", "c"]),
        adjacency_gone: strings(&["b.ts", "never.ts"]),
        scan: strings(&["c.ts", "3"]),
        scan_gone: strings(&["b.ts"]),
        json_bytes: 3,
    };
    assert_eq!(world.patch("one", NEXT, &patch).await, PublishOutcome::LeaseLost);
    world.lease("one", NEXT).await;
    world.stages("one", &json, [text_at(0, "new")]).await;
    let unfit = GraphPatch {
        base: NEXT.to_owned(),
        ..patch.clone()
    };
    assert_eq!(world.patch("one", NEXT, &unfit).await, PublishOutcome::Rebased);
    let text = world.command(["GET", &json]).await;
    assert_eq!(text, Value::bulk("old"), "nothing changed");
    assert_eq!(world.patch("two", NEXT, &patch).await, PublishOutcome::LeaseLost);
    let torn = GraphPatch {
        json_bytes: 4,
        ..patch.clone()
    };
    assert_eq!(world.patch("one", NEXT, &torn).await, PublishOutcome::Torn);
    assert_eq!(world.command(["HGET", &adjacency, "a.ts"]).await, Value::bulk("a"));
    assert_eq!(world.patch("one", NEXT, &patch).await, PublishOutcome::Done);
    for (key, field, value) in [
        (&adjacency, "a.ts", Value::bulk("A")),
        (&adjacency, "b.ts", Value::Nil),
        (&adjacency, "c.ts", Value::bulk("c")),
        (&scan, "a.ts", Value::bulk("1")),
        (&scan, "b.ts", Value::Nil),
        (&scan, "c.ts", Value::bulk("3")),
        (&world.graph_key(), "version", Value::bulk(NEXT)),
        (&world.graph_key(), "files", Value::bulk("3")),
        (&world.graph_key(), "builder", Value::Nil),
    ] {
        assert_eq!(world.command(["HGET", key, field]).await, value, "{key} {field}");
    }
    assert_eq!(world.command(["GET", &json]).await, Value::bulk("new"));
    assert!(world.number(["TTL", &json]).await > 13 * 86_400);
    let events = world.events().await;
    let versions: Vec<_> = events.iter().map(|(_, event)| event["version"].clone()).collect();
    assert_eq!(versions, [HEAD, NEXT]);
}

on_every_store!(a_patch_changes_what_differs_and_fits_one_commit_alone,);
