//! `lease_build`, `report_build`, `stage_graph`, `publish_graph`, `fail_build`.

use coord_domain::BuildProgress;
use coord_state as state;
use coord_state::builds::{
    BuildLease, PublishOutcome, StagedPart, StagedSize, fail_build, lease_build, publish_graph, report_build,
    stage_graph,
};
use coord_store::Value;
use futures::StreamExt;

use crate::world::{HEAD, NEXT, World, branch, sha};

/// A text from the byte at `offset` on.
pub(super) fn text_at(offset: usize, text: &str) -> StagedPart {
    let bytes = text.as_bytes().to_vec();
    StagedPart::Text { offset, bytes }
}

/// Fields and values after `before` others.
pub(super) fn fields_after<const N: usize>(before: usize, pairs: [&str; N]) -> StagedPart {
    let pairs = pairs.map(|text| text.as_bytes().to_vec()).to_vec();
    StagedPart::Hash { before, pairs }
}

impl World {
    pub(super) async fn lease(&self, builder: &str, commit: &str) -> BuildLease {
        lease_build(&*self.store, &self.repo, &self.branch, builder, &sha(commit))
            .await
            .unwrap()
    }

    pub(super) async fn stage(&self, builder: &str, key: &str, part: StagedPart) -> PublishOutcome {
        stage_graph(&*self.store, &self.repo, &self.branch, builder, key, part)
            .await
            .unwrap()
    }

    /// Publishes an adjacency of so many fields, and so many bytes of JSON.
    pub(super) async fn publish(&self, builder: &str, commit: &str, fields: usize, bytes: usize) -> PublishOutcome {
        let parts = [
            (self.adjacency_key(), StagedSize::Fields(fields)),
            (self.json_key(), StagedSize::Bytes(bytes)),
        ];
        let fields = [("files", "2".to_owned()), ("edges", "1".to_owned())];
        publish_graph(
            &*self.store,
            &self.repo,
            &self.branch,
            builder,
            &sha(commit),
            &parts,
            &fields,
        )
        .await
        .unwrap()
    }

    pub(super) async fn report(&self, builder: &str, scanned: usize) -> PublishOutcome {
        let progress = BuildProgress {
            files: 12,
            wanted: 10,
            scanned,
        };
        report_build(&*self.store, &self.repo, &self.branch, builder, progress)
            .await
            .unwrap()
    }

    async fn fail(&self, builder: &str, commit: &str, reason: &str) {
        fail_build(&*self.store, &self.repo, &self.branch, builder, &sha(commit), reason)
            .await
            .unwrap();
    }

    pub(super) async fn graph_field(&self, name: &str) -> Value {
        self.command(["HGET", &state::builds::keys::graph(&self.repo, &self.branch), name])
            .await
    }

    async fn set_graph_field(&self, name: &str, value: &str) {
        self.command([
            "HSET",
            &state::builds::keys::graph(&self.repo, &self.branch),
            name,
            value,
        ])
        .await;
    }

    pub(super) fn adjacency_key(&self) -> String {
        state::builds::keys::graph_adjacency(&self.repo, &self.branch)
    }

    fn json_key(&self) -> String {
        state::builds::keys::graph_json(&self.repo, &self.branch)
    }

    pub async fn now(&self) -> i64 {
        self.command(["TIME"]).await.as_array().unwrap()[0].as_int().unwrap()
    }
}

async fn one_builder_at_a_time(world: World) {
    assert_eq!(world.lease("one", HEAD).await, BuildLease::Granted);
    let BuildLease::Busy { until } = world.lease("two", HEAD).await else {
        panic!("not busy")
    };
    assert!((1..=60).contains(&(until - world.now().await)), "{until}");
    assert!(
        matches!(world.lease("two", NEXT).await, BuildLease::Busy { .. }),
        "whatever the commit"
    );
    assert_eq!(
        world.lease("one", NEXT).await,
        BuildLease::Granted,
        "its own lease it renews"
    );
    let other = lease_build(&*world.store, &world.repo, &branch("other"), "two", &sha(HEAD))
        .await
        .unwrap();
    assert_eq!(other, BuildLease::Granted, "another branch is another graph");
}

async fn a_dead_builder_loses_its_lease_and_can_publish_nothing(world: World) {
    let key = world.adjacency_key();
    world.lease("dead", HEAD).await;
    assert_eq!(world.stage("dead", &key, StagedPart::Begin).await, PublishOutcome::Done);
    world.set_graph_field("lease_until", "1000000000").await;
    assert_eq!(world.lease("two", NEXT).await, BuildLease::Granted);
    for part in [StagedPart::Begin, fields_after(0, ["f", "0\n"]), text_at(0, "x")] {
        assert_eq!(world.stage("dead", &key, part).await, PublishOutcome::LeaseLost);
    }
    assert_eq!(world.publish("dead", HEAD, 0, 0).await, PublishOutcome::LeaseLost);
    world.fail("dead", HEAD, "too late to matter").await;
    assert_eq!(world.graph_field("failure").await, Value::Nil);
    assert_eq!(world.graph_field("version").await, Value::Nil);
    assert_eq!(world.publish("two", NEXT, 0, 0).await, PublishOutcome::Done);
    assert_eq!(
        world.publish("nobody", NEXT, 0, 0).await,
        PublishOutcome::LeaseLost,
        "the lease ended with the publication"
    );
}

async fn a_clock_that_was_set_back_holds_no_build_up(world: World) {
    let ahead = (world.now().await + 7200).to_string();
    world.lease("dead", HEAD).await;
    world.set_graph_field("lease_until", &ahead).await;
    assert_eq!(world.lease("two", HEAD).await, BuildLease::Granted);
    world.fail("two", HEAD, "a reason").await;
    assert!(matches!(world.lease("one", HEAD).await, BuildLease::BackingOff { .. }));
    world.set_graph_field("retry_at", &ahead).await;
    assert_eq!(world.lease("one", HEAD).await, BuildLease::Granted);
}

async fn staging_renews_the_lease(world: World) {
    world.lease("one", HEAD).await;
    world.set_graph_field("lease_until", "1000000000").await;
    world.stage("one", &world.adjacency_key(), StagedPart::Begin).await;
    assert!(matches!(world.lease("two", HEAD).await, BuildLease::Busy { .. }));
}

async fn a_graph_is_seen_whole_or_not_at_all(world: World) {
    let (adjacency, json) = (
        world.adjacency_key(),
        state::builds::keys::graph_json(&world.repo, &world.branch),
    );
    for (commit, file) in [(HEAD, "old.ts"), (NEXT, "new.ts")] {
        world.lease("one", commit).await;
        let before = world.number(["EXISTS", &adjacency, &json]).await;
        let previous = world.command(["HGETALL", &adjacency]).await;
        for key in [&adjacency, &json] {
            world.stage("one", key, StagedPart::Begin).await;
        }
        // More than one chunk of a script, and more than one part.
        for part in 0..2 {
            let fields = (0..1200).flat_map(|number| [format!("{part}/{number}/{file}").into_bytes(), b"0\n".to_vec()]);
            let fields = StagedPart::Hash {
                before: part * 1200,
                pairs: fields.collect(),
            };
            world.stage("one", &adjacency, fields).await;
            let text = format!("{part}{file} ");
            world.stage("one", &json, text_at(part * text.len(), &text)).await;
        }
        assert_eq!(world.number(["EXISTS", &adjacency, &json]).await, before);
        assert_eq!(world.command(["HGETALL", &adjacency]).await, previous);
        assert_eq!(world.publish("one", commit, 2400, 16).await, PublishOutcome::Done);
        assert_eq!(
            world.number(["HLEN", &adjacency]).await,
            2400,
            "nothing of the old one is left"
        );
        assert_eq!(
            world.command(["HGET", &adjacency, &format!("1/1199/{file}")]).await,
            Value::bulk("0\n")
        );
        assert_eq!(
            world.command(["GET", &json]).await,
            Value::bulk(format!("0{file} 1{file} "))
        );
        assert_eq!(
            world
                .number([
                    "EXISTS",
                    &state::builds::keys::staging(&adjacency),
                    &state::builds::keys::staging(&json)
                ])
                .await,
            0
        );
        assert_eq!(world.graph_field("version").await, Value::bulk(commit));
        assert_eq!(world.graph_field("files").await, Value::bulk("2"));
        let generated = world.graph_field("generated_at").await.as_int().unwrap();
        assert!((0..60).contains(&(world.now().await - generated)));
        let event = world.events().await.pop().unwrap().1;
        assert_eq!(
            (&event["type"], &event["version"], &event["branch"]),
            (&"graph_update".into(), &commit.into(), &"main".into())
        );
        assert_eq!(world.lease("two", commit).await, BuildLease::Current);
    }
    assert_eq!(world.events().await.len(), 2);
}

async fn staged_parts_of_an_earlier_builder_are_removed(world: World) {
    let adjacency = world.adjacency_key();
    world.lease("dead", HEAD).await;
    world.stage("dead", &adjacency, StagedPart::Begin).await;
    world
        .stage("dead", &adjacency, fields_after(0, ["ghost.ts", "0\n"]))
        .await;
    world.set_graph_field("lease_until", "1000000000").await;
    world.lease("two", HEAD).await;
    world.stage("two", &adjacency, StagedPart::Begin).await;
    world.stage("two", &adjacency, fields_after(0, ["a.ts", "0\n"])).await;
    assert_eq!(world.publish("two", HEAD, 1, 0).await, PublishOutcome::Done);
    assert_eq!(
        world.command(["HKEYS", &adjacency]).await,
        Value::Array(vec![Value::bulk("a.ts")])
    );
}

/// As a Redis that ends before its log is synced and comes back: the lease is older than what is lost.
async fn a_graph_of_which_the_store_has_lost_a_part_is_not_published(world: World) {
    let (adjacency, json) = (world.adjacency_key(), world.json_key());
    let loses = async |key: &str| {
        let gone = world.number(["DEL", &state::builds::keys::staging(key)]).await;
        assert_eq!(gone, 1);
    };
    let stages_all = async |commit| {
        world.lease("one", commit).await;
        for (key, parts) in [
            (
                &adjacency,
                [fields_after(0, ["a.ts", "0\n"]), fields_after(1, ["b.ts", "0\n"])],
            ),
            (&json, [text_at(0, "the begin"), text_at(9, ", the end")]),
        ] {
            for part in [vec![StagedPart::Begin], parts.to_vec()].concat() {
                assert_eq!(world.stage("one", key, part).await, PublishOutcome::Done);
            }
        }
    };
    stages_all(HEAD).await;
    assert_eq!(world.publish("one", HEAD, 2, 18).await, PublishOutcome::Done);
    let published = world.command(["HGETALL", &adjacency]).await;

    stages_all(NEXT).await;
    for (key, next) in [
        (&adjacency, fields_after(2, ["c.ts", "0\n"])),
        (&json, text_at(18, " and more")),
    ] {
        loses(key).await;
        assert_eq!(world.stage("one", key, next).await, PublishOutcome::Torn);
        assert_eq!(
            world.publish("one", NEXT, 2, 18).await,
            PublishOutcome::Torn,
            "{key} is gone"
        );
        stages_all(NEXT).await;
    }
    for (fields, bytes) in [(3, 18), (1, 18), (2, 17), (2, 19)] {
        assert_eq!(world.publish("one", NEXT, fields, bytes).await, PublishOutcome::Torn);
    }
    assert_eq!(world.command(["HGETALL", &adjacency]).await, published);
    assert_eq!(world.graph_field("version").await, Value::bulk(HEAD));
    assert_eq!(world.publish("one", NEXT, 2, 18).await, PublishOutcome::Done);
}

async fn a_graph_without_any_edge_leaves_nothing_of_the_old_one(world: World) {
    let adjacency = world.adjacency_key();
    for (commit, fields) in [(HEAD, Some(fields_after(0, ["a.ts", "0\n"]))), (NEXT, None)] {
        world.lease("one", commit).await;
        world.stage("one", &adjacency, StagedPart::Begin).await;
        if let Some(fields) = fields.clone() {
            world.stage("one", &adjacency, fields).await;
        }
        let count = fields.iter().len();
        assert_eq!(world.publish("one", commit, count, 0).await, PublishOutcome::Done);
    }
    assert_eq!(world.number(["EXISTS", &adjacency]).await, 0);
}

async fn a_failed_build_waits_longer_each_time_and_holds_up_that_commit_alone(world: World) {
    for wait in [10, 20, 40, 80, 160, 320, 600, 600] {
        assert_eq!(world.lease("one", HEAD).await, BuildLease::Granted);
        world.fail("one", HEAD, "a blob is missing").await;
        for builder in ["one", "two"] {
            let BuildLease::BackingOff { reason, until } = world.lease(builder, HEAD).await else {
                panic!("no backing off")
            };
            assert_eq!(reason, "a blob is missing");
            assert!(
                (wait - 2..=wait).contains(&(until - world.now().await)),
                "{wait}: {until}"
            );
        }
        world.set_graph_field("retry_at", "1000000000").await;
    }
    world.set_graph_field("retry_at", "9000000000").await;
    assert_eq!(world.lease("two", NEXT).await, BuildLease::Granted);
    assert_eq!(world.publish("two", NEXT, 0, 0).await, PublishOutcome::Done);
    for name in [
        "failed",
        "failure",
        "failures",
        "retry_at",
        "builder",
        "building",
        "lease_until",
    ] {
        assert_eq!(world.graph_field(name).await, Value::Nil, "{name}");
    }
    world.lease("one", HEAD).await;
    world.fail("one", HEAD, "again").await;
    let BuildLease::BackingOff { until, .. } = world.lease("one", HEAD).await else {
        panic!("no backing off")
    };
    assert!(until - world.now().await <= 10, "a success begins the count anew");
}

async fn progress_is_published_renews_the_lease_and_ends_with_the_build(world: World) {
    let mut channel = world
        .store
        .subscribe(&state::events::keys::events(&world.repo))
        .await
        .unwrap();
    assert_eq!(world.report("one", 1).await, PublishOutcome::LeaseLost);
    world.lease("one", HEAD).await;
    world.set_graph_field("lease_until", "1000000000").await;
    assert_eq!(world.report("two", 1).await, PublishOutcome::LeaseLost);
    assert_eq!(world.report("one", 4).await, PublishOutcome::Done);
    let until = world.graph_field("lease_until").await.as_int().unwrap();
    assert!(until > world.now().await + 30);
    let event: serde_json::Value = serde_json::from_slice(&channel.next().await.unwrap()).unwrap();
    let counts = ["files", "wanted", "scanned"].map(|name| event[name].as_u64().unwrap());
    assert_eq!((&event["type"], counts), (&"graph_progress".into(), [12, 10, 4]));
    assert_eq!((&event["branch"], &event["version"]), (&"main".into(), &HEAD.into()));
    assert_eq!(world.events().await.len(), 0, "progress is no news for who comes later");
    let stored = world.graph_field("progress").await;
    let stored: serde_json::Value = serde_json::from_str(stored.as_str().unwrap()).unwrap();
    assert_eq!(stored, serde_json::json!({ "files": 12, "wanted": 10, "scanned": 4 }));
    world.fail("one", HEAD, "a blob is missing").await;
    assert_eq!(world.graph_field("progress").await, Value::Nil);
    world.lease("one", NEXT).await;
    world.report("one", 5).await;
    world.publish("one", NEXT, 0, 0).await;
    assert_eq!(world.graph_field("progress").await, Value::Nil);
}

async fn staged_parts_expire_and_published_ones_stay(world: World) {
    let adjacency = world.adjacency_key();
    let part = || fields_after(0, ["a.ts", "1\n>b.ts\n"]);
    world.lease("one", HEAD).await;
    world.stage("one", &adjacency, StagedPart::Begin).await;
    world.stage("one", &adjacency, part()).await;
    let left = world.number(["TTL", &state::builds::keys::staging(&adjacency)]).await;
    assert!((3000..=3600).contains(&left), "{left}");
    world.publish("one", HEAD, 1, 0).await;
    assert!(world.number(["TTL", &adjacency]).await > 13 * 86_400);
    assert_eq!(
        world
            .number(["EXISTS", &state::builds::keys::staging(&adjacency)])
            .await,
        0
    );
}

on_every_store!(
    progress_is_published_renews_the_lease_and_ends_with_the_build,
    staged_parts_expire_and_published_ones_stay,
    one_builder_at_a_time,
    a_dead_builder_loses_its_lease_and_can_publish_nothing,
    a_clock_that_was_set_back_holds_no_build_up,
    staging_renews_the_lease,
    a_graph_is_seen_whole_or_not_at_all,
    staged_parts_of_an_earlier_builder_are_removed,
    a_graph_of_which_the_store_has_lost_a_part_is_not_published,
    a_graph_without_any_edge_leaves_nothing_of_the_old_one,
    a_failed_build_waits_longer_each_time_and_holds_up_that_commit_alone,
);
