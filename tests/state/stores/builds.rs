//! `lease_build`, `report_build`, `stage_graph`, `publish_graph`, `fail_build`.

use coord_domain::BuildProgress;
use coord_state as state;
use coord_state::builds::{
    BuildLease, PublishOutcome, StagedPart, StagedSize, fail_build, lease_build, publish_graph, report_build,
    stage_graph,
};
use coord_store::Value;
use futures::StreamExt;
use serde_json::{Value as Json, json};

use crate::world::{HEAD, NEXT, World, branch, sha};

use PublishOutcome::{Done, LeaseLost, Torn};

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

    /// Leases a build that failed before: why, and how many seconds it waits.
    async fn backing_off(&self, builder: &str, commit: &str) -> (String, i64) {
        match self.lease(builder, commit).await {
            BuildLease::BackingOff { reason, until } => (reason, until - self.now().await),
            lease => panic!("{lease:?}"),
        }
    }

    /// Asserts that another builder has the lease.
    async fn assert_busy(&self, builder: &str, commit: &str) {
        match self.lease(builder, commit).await {
            BuildLease::Busy { until } => {
                let left = until - self.now().await;
                assert!((1..=60).contains(&left), "{left}");
            }
            lease => panic!("{lease:?}"),
        }
    }

    pub(super) async fn stage(&self, builder: &str, key: &str, part: StagedPart) -> PublishOutcome {
        stage_graph(&*self.store, &self.repo, &self.branch, builder, key, part)
            .await
            .unwrap()
    }

    /// Stages all parts of a key, which must be done.
    pub(super) async fn stages<const N: usize>(&self, builder: &str, key: &str, parts: [StagedPart; N]) {
        assert_eq!(self.stage(builder, key, StagedPart::Begin).await, Done);
        for part in parts {
            assert_eq!(self.stage(builder, key, part).await, Done);
        }
    }

    /// Publishes an adjacency of so many fields, and so many bytes of JSON.
    pub(super) async fn publish(&self, builder: &str, commit: &str, fields: usize, bytes: usize) -> PublishOutcome {
        let parts = [
            (self.adjacency_key(), StagedSize::Fields(fields)),
            (self.json_key(), StagedSize::Bytes(bytes)),
        ];
        let fields = [("files", "2".to_owned()), ("edges", "1".to_owned())];
        let (store, repo, branch) = (&*self.store, &self.repo, &self.branch);
        publish_graph(store, repo, branch, builder, &sha(commit), &parts, &fields)
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

    pub(super) async fn fail(&self, builder: &str, commit: &str, reason: &str) {
        fail_build(&*self.store, &self.repo, &self.branch, builder, &sha(commit), reason)
            .await
            .unwrap();
    }

    async fn graph_field(&self, name: &str) -> Value {
        self.command(["HGET", &self.graph_key(), name]).await
    }

    async fn set_graph_field(&self, name: &str, value: &str) {
        self.command(["HSET", &self.graph_key(), name, value]).await;
    }

    /// Lets the lease of a build be over.
    async fn end_lease(&self) {
        self.set_graph_field("lease_until", "1000000000").await;
    }

    pub(super) fn adjacency_key(&self) -> String {
        state::builds::keys::graph_adjacency(&self.repo, &self.branch)
    }

    pub(super) fn json_key(&self) -> String {
        state::builds::keys::graph_json(&self.repo, &self.branch)
    }

    pub(super) fn scan_key(&self) -> String {
        state::builds::keys::graph_scan(&self.repo, &self.branch)
    }

    pub async fn now(&self) -> i64 {
        self.command(["TIME"]).await.as_array().unwrap()[0].as_int().unwrap()
    }
}

async fn one_builder_at_a_time(world: World) {
    assert_eq!(world.lease("one", HEAD).await, BuildLease::Granted);
    // For any commit.
    for commit in [HEAD, NEXT] {
        world.assert_busy("two", commit).await;
    }
    assert_eq!(
        world.lease("one", NEXT).await,
        BuildLease::Granted,
        "its own lease it renews"
    );
    let other = lease_build(&*world.store, &world.repo, &branch("other"), "two", &sha(HEAD)).await;
    assert_eq!(other.unwrap(), BuildLease::Granted, "another branch is another graph");
}

async fn a_dead_builder_loses_its_lease_and_can_publish_nothing(world: World) {
    let key = world.adjacency_key();
    world.lease("dead", HEAD).await;
    world.stages("dead", &key, []).await;
    world.end_lease().await;
    assert_eq!(world.lease("two", NEXT).await, BuildLease::Granted);
    for part in [StagedPart::Begin, fields_after(0, ["f", "0\n"]), text_at(0, "x")] {
        assert_eq!(world.stage("dead", &key, part).await, LeaseLost);
    }
    assert_eq!(world.publish("dead", HEAD, 0, 0).await, LeaseLost);
    world.fail("dead", HEAD, "too late to matter").await;
    assert_eq!(world.graph_field("failure").await, Value::Nil);
    assert_eq!(world.graph_field("version").await, Value::Nil);
    assert_eq!(world.publish("two", NEXT, 0, 0).await, Done);
    assert_eq!(
        world.publish("nobody", NEXT, 0, 0).await,
        LeaseLost,
        "the lease ended with the publication"
    );
}

async fn a_clock_that_was_set_back_holds_no_build_up(world: World) {
    let ahead = (world.now().await + 7200).to_string();
    world.lease("dead", HEAD).await;
    world.set_graph_field("lease_until", &ahead).await;
    assert_eq!(world.lease("two", HEAD).await, BuildLease::Granted);
    world.fail("two", HEAD, "a reason").await;
    world.backing_off("one", HEAD).await;
    world.set_graph_field("retry_at", &ahead).await;
    assert_eq!(world.lease("one", HEAD).await, BuildLease::Granted);
}

async fn staging_renews_the_lease(world: World) {
    world.lease("one", HEAD).await;
    world.end_lease().await;
    world.stages("one", &world.adjacency_key(), []).await;
    world.assert_busy("two", HEAD).await;
}

async fn a_graph_is_seen_whole_or_not_at_all(world: World) {
    let (adjacency, json) = (world.adjacency_key(), world.json_key());
    let staging = [&adjacency, &json].map(|key| state::builds::keys::staging(key));
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
        assert_eq!(world.publish("one", commit, 2400, 16).await, Done);
        let fields = world.number(["HLEN", &adjacency]).await;
        assert_eq!(fields, 2400, "nothing of the old one is left");
        let last = world.command(["HGET", &adjacency, &format!("1/1199/{file}")]).await;
        assert_eq!(last, Value::bulk("0\n"));
        let text = world.command(["GET", &json]).await;
        assert_eq!(text, Value::bulk(format!("0{file} 1{file} ")));
        assert_eq!(world.number(["EXISTS", &staging[0], &staging[1]]).await, 0);
        assert_eq!(world.graph_field("version").await, Value::bulk(commit));
        assert_eq!(world.graph_field("files").await, Value::bulk("2"));
        let generated = world.graph_field("generated_at").await.as_int().unwrap();
        assert!((0..60).contains(&(world.now().await - generated)));
        let event = world.last_event().await;
        assert_eq!(
            json!([event["type"], event["version"], event["branch"]]),
            json!(["graph_update", commit, "main"])
        );
        assert_eq!(world.lease("two", commit).await, BuildLease::Current);
    }
    assert_eq!(world.events().await.len(), 2);
}

async fn staged_parts_of_an_earlier_builder_are_removed(world: World) {
    let adjacency = world.adjacency_key();
    world.lease("dead", HEAD).await;
    let ghost = fields_after(0, ["ghost.ts", "0\n"]);
    world.stages("dead", &adjacency, [ghost]).await;
    world.end_lease().await;
    world.lease("two", HEAD).await;
    let fields = fields_after(0, ["a.ts", "0\n"]);
    world.stages("two", &adjacency, [fields]).await;
    assert_eq!(world.publish("two", HEAD, 1, 0).await, Done);
    let files = world.command(["HKEYS", &adjacency]).await;
    assert_eq!(files, Value::Array(vec![Value::bulk("a.ts")]));
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
        let fields = [fields_after(0, ["a.ts", "0\n"]), fields_after(1, ["b.ts", "0\n"])];
        world.stages("one", &adjacency, fields).await;
        let texts = [text_at(0, "the begin"), text_at(9, ", the end")];
        world.stages("one", &json, texts).await;
    };
    stages_all(HEAD).await;
    assert_eq!(world.publish("one", HEAD, 2, 18).await, Done);
    let published = world.command(["HGETALL", &adjacency]).await;

    stages_all(NEXT).await;
    for (key, next) in [
        (&adjacency, fields_after(2, ["c.ts", "0\n"])),
        (&json, text_at(18, " and more")),
    ] {
        loses(key).await;
        assert_eq!(world.stage("one", key, next).await, Torn);
        assert_eq!(world.publish("one", NEXT, 2, 18).await, Torn, "{key} is gone");
        stages_all(NEXT).await;
    }
    for (fields, bytes) in [(3, 18), (1, 18), (2, 17), (2, 19)] {
        assert_eq!(world.publish("one", NEXT, fields, bytes).await, Torn);
    }
    assert_eq!(world.command(["HGETALL", &adjacency]).await, published);
    assert_eq!(world.graph_field("version").await, Value::bulk(HEAD));
    assert_eq!(world.publish("one", NEXT, 2, 18).await, Done);
}

async fn a_graph_without_any_edge_leaves_nothing_of_the_old_one(world: World) {
    let adjacency = world.adjacency_key();
    world.lease("one", HEAD).await;
    let fields = fields_after(0, ["a.ts", "0\n"]);
    world.stages("one", &adjacency, [fields]).await;
    assert_eq!(world.publish("one", HEAD, 1, 0).await, Done);
    world.lease("one", NEXT).await;
    world.stages("one", &adjacency, []).await;
    assert_eq!(world.publish("one", NEXT, 0, 0).await, Done);
    assert_eq!(world.number(["EXISTS", &adjacency]).await, 0);
}

async fn a_failed_build_waits_longer_each_time_and_holds_up_that_commit_alone(world: World) {
    for wait in [10, 20, 40, 80, 160, 320, 600, 600] {
        assert_eq!(world.lease("one", HEAD).await, BuildLease::Granted);
        world.fail("one", HEAD, "a blob is missing").await;
        for builder in ["one", "two"] {
            let (reason, left) = world.backing_off(builder, HEAD).await;
            assert_eq!(reason, "a blob is missing");
            assert!((wait - 2..=wait).contains(&left), "{wait}: {left}");
        }
        world.set_graph_field("retry_at", "1000000000").await;
    }
    world.set_graph_field("retry_at", "9000000000").await;
    assert_eq!(world.lease("two", NEXT).await, BuildLease::Granted);
    assert_eq!(world.publish("two", NEXT, 0, 0).await, Done);
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
    let (_, left) = world.backing_off("one", HEAD).await;
    assert!(left <= 10, "a success begins the count anew: {left}");
}

async fn progress_is_published_renews_the_lease_and_ends_with_the_build(world: World) {
    let mut channel = world
        .store
        .subscribe(&state::events::keys::events(&world.repo))
        .await
        .unwrap();
    assert_eq!(world.report("one", 1).await, LeaseLost);
    world.lease("one", HEAD).await;
    world.end_lease().await;
    assert_eq!(world.report("two", 1).await, LeaseLost);
    assert_eq!(world.report("one", 4).await, Done);
    let until = world.graph_field("lease_until").await.as_int().unwrap();
    assert!(until > world.now().await + 30);
    let event: Json = serde_json::from_slice(&channel.next().await.unwrap()).unwrap();
    let said = ["type", "branch", "version", "files", "wanted", "scanned"].map(|name| &event[name]);
    assert_eq!(json!(said), json!(["graph_progress", "main", HEAD, 12, 10, 4]));
    assert_eq!(world.events().await.len(), 0, "progress is no news for who comes later");
    let stored = world.stored_json(&world.graph_key(), "progress").await;
    assert_eq!(stored, json!({ "files": 12, "wanted": 10, "scanned": 4 }));
    world.fail("one", HEAD, "a blob is missing").await;
    assert_eq!(world.graph_field("progress").await, Value::Nil);
    world.lease("one", NEXT).await;
    world.report("one", 5).await;
    world.publish("one", NEXT, 0, 0).await;
    assert_eq!(world.graph_field("progress").await, Value::Nil);
}

async fn staged_parts_expire_and_published_ones_stay(world: World) {
    let adjacency = world.adjacency_key();
    let staging = state::builds::keys::staging(&adjacency);
    world.lease("one", HEAD).await;
    let fields = fields_after(0, ["a.ts", "1\n>b.ts\n"]);
    world.stages("one", &adjacency, [fields]).await;
    let left = world.number(["TTL", &staging]).await;
    assert!((3000..=3600).contains(&left), "{left}");
    world.publish("one", HEAD, 1, 0).await;
    assert!(world.number(["TTL", &adjacency]).await > 13 * 86_400);
    assert_eq!(world.number(["EXISTS", &staging]).await, 0);
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
