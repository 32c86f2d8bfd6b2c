//! How long a graph is kept that nobody asks about, and one whose branch is gone.

use coord_domain::LockMode::Writing;
use coord_state::builds::{BuildLease, StagedSize, publish_graph, touch_graph};
use coord_state::heads::forget_head;

use super::builds::{fields_after, text_at};
use crate::world::{HEAD, NEXT, World, sha};

const TWO_WEEKS: i64 = 14 * 86_400;

impl World {
    /// The graph and its parts.
    fn graph_keys(&self) -> [String; 4] {
        [self.graph_key(), self.adjacency_key(), self.json_key(), self.scan_key()]
    }

    /// Builds a graph of one file.
    async fn publishes_graph_of(&self, commit: &str) {
        assert_eq!(self.lease("one", commit).await, BuildLease::Granted);
        let [_, adjacency, json, scan] = self.graph_keys();
        for (part, piece) in [
            (&adjacency, fields_after(0, ["a.ts", "0\n"])),
            (&json, text_at(0, "x")),
            (&scan, fields_after(0, ["a.ts", "0\n"])),
        ] {
            self.stages("one", part, [piece]).await;
        }
        let parts = [
            (adjacency, StagedSize::Fields(1)),
            (json, StagedSize::Bytes(1)),
            (scan, StagedSize::Fields(1)),
        ];
        publish_graph(&*self.store, &self.repo, &self.branch, "one", &sha(commit), &parts, &[])
            .await
            .unwrap();
    }

    /// Asserts for how long the graph and its parts are kept: the graph itself for a little less.
    async fn assert_graph_is_kept_for(&self, expected: i64, case: &str) {
        let mut seconds = Vec::new();
        for key in self.graph_keys() {
            seconds.push(self.number(["TTL", &key]).await);
        }
        assert!(
            seconds[1..]
                .iter()
                .all(|part| (3590..=3610).contains(&(part - seconds[0]))),
            "{case}: {seconds:?}"
        );
        assert!((expected - 10..=expected).contains(&seconds[0]), "{case}: {seconds:?}");
    }

    /// As if the last request about the graph had been so long ago.
    async fn ages_last_graph_request(&self, seconds: i64) {
        let [graph, parts @ ..] = self.graph_keys();
        let asked_at = (self.now().await - seconds).to_string();
        self.command(["HSET", &graph, "asked_at", &asked_at]).await;
        self.command(["EXPIRE", &graph, &(TWO_WEEKS - seconds).to_string()])
            .await;
        for part in &parts {
            self.command(["EXPIRE", part, &(TWO_WEEKS - seconds + 3600).to_string()])
                .await;
        }
    }
}

async fn a_graph_is_kept_for_two_weeks_after_the_last_request(world: World) {
    world.publishes_graph_of(HEAD).await;
    world.assert_graph_is_kept_for(TWO_WEEKS, "published").await;
    let ann = world.agent("ann");
    for request in ["check", "claim", "release", "read"] {
        world.ages_last_graph_request(86_400).await;
        match request {
            "check" => drop(ann.checks(Writing, &["a.ts"]).await),
            "claim" => drop(ann.writes(&["a.ts"]).await),
            "release" => drop(ann.releases_read(&["b.ts"]).await),
            _ => touch_graph(&*world.store, &world.repo, &world.branch).await.unwrap(),
        }
        world.assert_graph_is_kept_for(TWO_WEEKS, request).await;
    }
    world.ages_last_graph_request(80_000).await;
    ann.checks(Writing, &["a.ts"]).await;
    world
        .assert_graph_is_kept_for(TWO_WEEKS - 80_000, "once a day is enough")
        .await;
}

async fn a_branch_that_moves_without_a_question_expires_all_the_same(world: World) {
    world.publishes_graph_of(HEAD).await;
    world.ages_last_graph_request(10 * 86_400).await;
    world.publishes_graph_of(NEXT).await;
    world.assert_graph_is_kept_for(4 * 86_400, "moved").await;
    world.agent("ann").checks(Writing, &["a.ts"]).await;
    world.assert_graph_is_kept_for(TWO_WEEKS, "asked about").await;
}

async fn the_graph_of_a_branch_that_is_gone_goes_within_the_hour(world: World) {
    world.publishes_graph_of(HEAD).await;
    world.records_head(HEAD, &[]).await;
    forget_head(&*world.store, &world.repo, &world.branch).await.unwrap();
    world.assert_graph_is_kept_for(3600, "gone").await;
    assert_eq!(world.number(["EXISTS", &world.head_key()]).await, 0);
    world.agent("ann").checks(Writing, &["a.ts"]).await;
    world.assert_graph_is_kept_for(TWO_WEEKS, "the branch is back").await;
}

async fn a_build_that_never_ends_leaves_nothing_for_ever(world: World) {
    world.lease("one", HEAD).await;
    let seconds = world.number(["TTL", &world.graph_key()]).await;
    assert!((TWO_WEEKS - 10..=TWO_WEEKS).contains(&seconds), "{seconds}");
}

on_every_store!(
    a_graph_is_kept_for_two_weeks_after_the_last_request,
    a_branch_that_moves_without_a_question_expires_all_the_same,
    the_graph_of_a_branch_that_is_gone_goes_within_the_hour,
    a_build_that_never_ends_leaves_nothing_for_ever,
);
