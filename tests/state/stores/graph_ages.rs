//! How long a graph is kept that nobody asks about, and one whose branch is gone.

use coord_domain::LockMode::Writing;
use coord_sources::Reachable;
use coord_state as state;
use coord_state::builds::{BuildLease, StagedPart, StagedSize, lease_build, publish_graph, stage_graph, touch_graph};
use coord_state::heads::forget_head;

use super::builds::{fields_after, text_at};
use crate::world::{HEAD, NEXT, World, sha};

const TWO_WEEKS: i64 = 14 * 86_400;

impl World {
    /// The graph and its parts.
    fn graph_keys(&self) -> [String; 4] {
        let (repo, branch) = (&self.repo, &self.branch);
        [
            state::builds::keys::graph(repo, branch),
            state::builds::keys::graph_adjacency(repo, branch),
            state::builds::keys::graph_json(repo, branch),
            state::builds::keys::graph_scan(repo, branch),
        ]
    }

    /// Builds a graph of one file.
    async fn publishes_graph(&self) {
        self.publishes_graph_of(HEAD).await;
    }

    async fn publishes_graph_of(&self, commit: &str) {
        let [_, parts @ ..] = self.graph_keys();
        let (store, repo, branch, commit) = (&*self.store, &self.repo, &self.branch, sha(commit));
        let lease = lease_build(store, repo, branch, "one", &commit).await.unwrap();
        assert_eq!(lease, BuildLease::Granted);
        for part in &parts {
            let piece = if *part == parts[1] {
                text_at(0, "x")
            } else {
                fields_after(0, ["a.ts", "0\n"])
            };
            for piece in [StagedPart::Begin, piece] {
                stage_graph(store, repo, branch, "one", part, piece).await.unwrap();
            }
        }
        let [adjacency, json, scan] = parts;
        let parts = [
            (adjacency, StagedSize::Fields(1)),
            (json, StagedSize::Bytes(1)),
            (scan, StagedSize::Fields(1)),
        ];
        publish_graph(store, repo, branch, "one", &commit, &parts, &[])
            .await
            .unwrap();
    }

    /// For how long the graph and its parts are kept: the graph itself for a little less.
    async fn graph_is_kept_for(&self) -> i64 {
        let mut seconds = Vec::new();
        for key in self.graph_keys() {
            seconds.push(self.number(["TTL", &key]).await);
        }
        assert!(
            seconds[1..]
                .iter()
                .all(|part| (3590..=3610).contains(&(part - seconds[0]))),
            "{seconds:?}"
        );
        seconds[0]
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

fn is_about(seconds: i64, expected: i64) -> bool {
    (expected - 10..=expected).contains(&seconds)
}

async fn a_graph_is_kept_for_two_weeks_after_the_last_request(world: World) {
    world.publishes_graph().await;
    assert!(is_about(world.graph_is_kept_for().await, TWO_WEEKS));
    let ann = world.agent("ann");
    for request in 0..4 {
        world.ages_last_graph_request(86_400).await;
        match request {
            0 => drop(ann.checks(Writing, &["a.ts"]).await),
            1 => drop(ann.writes(&["a.ts"]).await),
            2 => drop(ann.release(None, Reachable::Unknown, &["b.ts"]).await),
            _ => touch_graph(&*world.store, &world.repo, &world.branch).await.unwrap(),
        }
        assert!(
            is_about(world.graph_is_kept_for().await, TWO_WEEKS),
            "request {request}"
        );
    }
    // Once a day is enough.
    world.ages_last_graph_request(80_000).await;
    ann.checks(Writing, &["a.ts"]).await;
    assert!(is_about(world.graph_is_kept_for().await, TWO_WEEKS - 80_000));
}

async fn a_branch_that_moves_without_a_question_expires_all_the_same(world: World) {
    world.publishes_graph().await;
    world.ages_last_graph_request(10 * 86_400).await;
    world.publishes_graph_of(NEXT).await;
    assert!(is_about(world.graph_is_kept_for().await, 4 * 86_400));
    world.agent("ann").checks(Writing, &["a.ts"]).await;
    assert!(is_about(world.graph_is_kept_for().await, TWO_WEEKS));
}

async fn the_graph_of_a_branch_that_is_gone_goes_within_the_hour(world: World) {
    world.publishes_graph().await;
    world.records_head(HEAD, &[]).await;
    forget_head(&*world.store, &world.repo, &world.branch).await.unwrap();
    assert!(is_about(world.graph_is_kept_for().await, 3600));
    assert_eq!(
        world
            .number(["EXISTS", &state::heads::keys::head(&world.repo, &world.branch)])
            .await,
        0
    );
    // The branch is back.
    world.agent("ann").checks(Writing, &["a.ts"]).await;
    assert!(is_about(world.graph_is_kept_for().await, TWO_WEEKS));
}

async fn a_build_that_never_ends_leaves_nothing_for_ever(world: World) {
    lease_build(&*world.store, &world.repo, &world.branch, "one", &sha(HEAD))
        .await
        .unwrap();
    let [graph, ..] = world.graph_keys();
    assert!(is_about(world.number(["TTL", &graph]).await, TWO_WEEKS));
}

on_every_store!(
    a_graph_is_kept_for_two_weeks_after_the_last_request,
    a_branch_that_moves_without_a_question_expires_all_the_same,
    the_graph_of_a_branch_that_is_gone_goes_within_the_hour,
    a_build_that_never_ends_leaves_nothing_for_ever,
);
