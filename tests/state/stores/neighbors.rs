//! Neighbors in the import graph: whichever side of a hub a script looks from, the answer is that of a plain model.

use std::collections::{BTreeMap, BTreeSet};

use coord_domain::{LockEntry, LockMode, NeighborPolicy};
use coord_protocol::InterfacePromise;
use coord_state as state;
use coord_state::locks::{Direction, Finding, Relation};
use coord_store::Request;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::world::{HEAD, World};

use LockMode::{Reading, Writing};
use NeighborPolicy::{Block, Interface, Off, Warn};

/// How a graph is written: files with more neighbors than this are hubs, with chunks of so many lines.
#[derive(Clone, Copy, Debug)]
struct Layout {
    most_neighbors: usize,
    chunk_lines: usize,
}

/// Adds files, each with those that it imports, to the graph of the branch.
pub async fn store_graph(world: &World, imports: &[(&str, &[&str])]) {
    let edges = imports
        .iter()
        .flat_map(|(from, to)| to.iter().map(|to| ((*from).to_owned(), (*to).to_owned())));
    let layout = Layout {
        most_neighbors: 512,
        chunk_lines: 300,
    };
    store_edges(world, &edges.collect(), layout).await;
}

/// Adds `importers`, each of which imports all of `imported`, to the graph of the branch.
pub async fn store_imports(world: &World, importers: &[String], imported: &[impl AsRef<str>]) {
    let imported: Vec<&str> = imported.iter().map(AsRef::as_ref).collect();
    let graph: Vec<(&str, &[&str])> = importers.iter().map(|path| (path.as_str(), &imported[..])).collect();
    store_graph(world, &graph).await;
}

async fn store_edges(world: &World, edges: &BTreeSet<(String, String)>, layout: Layout) {
    let mut words = vec![b"HSET".to_vec(), world.adjacency_key().into_bytes()];
    for (field, text) in adjacency(edges, layout) {
        words.extend([field.into_bytes(), text.into_bytes()]);
    }
    if words.len() > 2 {
        world.store.run(vec![Request::Command(words)]).await.unwrap();
    }
}

/// The fields of the adjacency, in the format of `neighbors.lua`.
fn adjacency(edges: &BTreeSet<(String, String)>, layout: Layout) -> BTreeMap<String, String> {
    let mut lines: BTreeMap<&str, Vec<(char, &str)>> = BTreeMap::new();
    for (from, to) in edges {
        lines.entry(from).or_default().push(('>', to));
        lines.entry(to).or_default().push(('<', from));
    }
    // '>' before '<'.
    for lines in lines.values_mut() {
        lines.sort_by_key(|(sign, path)| (*sign == '<', *path));
    }
    let is_hub: BTreeSet<&str> = lines
        .iter()
        .filter(|(_, lines)| lines.len() > layout.most_neighbors)
        .map(|(path, _)| *path)
        .collect();
    let text = |lines: &[(char, &str)]| {
        let lines = lines.iter().map(|(sign, path)| format!("{sign}{path}\n"));
        lines.collect::<String>()
    };
    let mut fields = BTreeMap::new();
    for (path, lines) in &lines {
        let mut own = format!("{}\n{}", lines.len(), text(lines));
        if is_hub.contains(path) {
            let chunks = lines.chunks(layout.chunk_lines);
            let hubs = lines.iter().copied().filter(|(_, other)| is_hub.contains(other));
            own = format!("B{}:{}\n{}", lines.len(), chunks.len(), text(&hubs.collect::<Vec<_>>()));
            let parts = chunks.enumerate();
            fields.extend(parts.map(|(index, chunk)| (format!("{path}\n{}", index + 1), text(chunk))));
        }
        fields.insert((*path).to_owned(), own);
    }
    fields
}

/// Files `0` to `FILES - 1`.
const FILES: usize = 10;

#[derive(Clone, Debug)]
struct Case {
    edges: BTreeSet<(usize, usize)>,
    layout: (usize, usize),
    /// File, holder, writing, on the branch asked about, keeping its interface.
    locks: Vec<(usize, usize, bool, bool, bool)>,
    /// Locks on files outside the graph.
    unrelated: usize,
    requested: Vec<usize>,
    is_writing: bool,
    policy: NeighborPolicy,
    /// The caller's promise about interfaces, and the requested files whose interface it says will change.
    word: Option<InterfacePromise>,
    changed: BTreeSet<usize>,
}

impl Case {
    /// Returns the promise for the interface of a requested file.
    fn interface_of(&self, number: usize) -> Option<InterfacePromise> {
        match self.changed.contains(&number) {
            true => Some(InterfacePromise::Changes),
            false => self.word,
        }
    }
}

fn case() -> impl Strategy<Value = Case> {
    let edges = prop::collection::btree_set((0..FILES, 0..FILES), 0..45)
        .prop_map(|edges| edges.into_iter().filter(|(from, to)| from != to).collect());
    let is_here = prop::bool::weighted(0.8);
    let lock = (0..FILES, 0..3usize, any::<bool>(), is_here, any::<bool>());
    let locks = prop::collection::vec(lock, 0..12);
    let requested = Just((0..FILES).collect::<Vec<_>>()).prop_shuffle();
    let requested = (requested, 1..=FILES).prop_map(|(order, count)| order[..count].to_vec());
    let policies = vec![Block, Interface, Interface, Warn];
    let words = vec![None, Some(InterfacePromise::Keeps), Some(InterfacePromise::Changes)];
    (
        edges,
        (0..8usize, 1..4usize),
        locks,
        prop_oneof![Just(0usize), 0..30usize],
        requested,
        any::<bool>(),
        prop::sample::select(policies),
        prop::sample::select(words),
        prop::collection::btree_set(0..FILES, 0..3),
    )
        .prop_map(
            |(edges, layout, locks, unrelated, requested, is_writing, policy, word, mut changed)| {
                changed.retain(|number| requested.contains(number));
                Case {
                    edges,
                    layout,
                    locks,
                    unrelated,
                    requested,
                    is_writing,
                    policy,
                    word,
                    changed,
                }
            },
        )
}

/// `f3.ts`; some names are a part of another name, and some have signs of the format in them.
fn file(number: usize) -> String {
    [
        "a.ts", "a.tsx", "x/a.ts", ">a.ts", "<a.ts", "B12:3", "12", "ü.ts", "a b.ts", "%d+.ts",
    ][number]
        .to_owned()
}

fn user(number: usize) -> &'static str {
    ["ann", "bob", "cid"][number]
}

/// Locks as the rules allow them: a file has one writer or some readers on a branch.
fn held(world: &World, case: &Case) -> BTreeMap<String, Vec<LockEntry>> {
    let mut held: BTreeMap<String, Vec<LockEntry>> = BTreeMap::new();
    let unrelated = (0..case.unrelated).map(|number| (format!("unrelated/{number}"), 1, true, true, false));
    let locks = case
        .locks
        .iter()
        .map(|&(number, user, writes, is_here, keeps)| (file(number), user, writes, is_here, keeps));
    for (path, number, writes, is_here, keeps) in locks.chain(unrelated) {
        let branch = if is_here { "main" } else { "other" };
        let entries = held.entry(path.clone()).or_default();
        let clashes = entries.iter().any(|entry| {
            entry.branch == branch && (writes || entry.status == Writing || entry.user_id == user(number))
        });
        if !clashes {
            entries.push(LockEntry {
                key: format!("{}:{branch}:{path}", world.repo),
                file_path: path,
                branch: branch.to_owned(),
                user_id: user(number).to_owned(),
                user_name: user(number).to_owned(),
                agent_id: None,
                intent_id: None,
                task: None,
                work_branch: None,
                pull_request: None,
                interface_differs: None,
                shared: false,
                notices: None,
                status: if writes { Writing } else { Reading },
                agent_head: HEAD.to_owned(),
                message: "What is done and why".to_owned(),
                timestamp: 1_700_000_000,
                expiry: 5_000_000_000,
                expiry_ms: Some(5_000_000_000_000),
                granted_at: Some(1_700_000_000),
                token: 1,
                interface: (writes && keeps).then_some(InterfacePromise::Keeps),
            });
        }
    }
    held
}

/// Relation, whether it blocks, via, direction, path, user.
type Fact = (String, bool, String, Option<String>, String, String);

fn fact(finding: &Finding) -> Fact {
    (
        format!("{:?}", finding.relation),
        finding.blocks,
        finding.via.clone(),
        finding.direction.map(|direction| format!("{direction:?}")),
        finding.entry.file_path.clone(),
        finding.entry.user_id.clone(),
    )
}

/// Returns the result by the table of blocking, with no regard to how the graph is stored.
fn expected(case: &Case, held: &BTreeMap<String, Vec<LockEntry>>) -> Vec<Fact> {
    let mut facts = Vec::new();
    let is_mine = |entry: &LockEntry| entry.user_id == "ann" && entry.branch == "main";
    // If a holder no longer promises to keep an interface, neighbors block it as they would a new claim.
    let is_renewed = |number: usize| {
        let is_taken_back = case.interface_of(number) == Some(InterfacePromise::Changes);
        held.get(&file(number)).is_some_and(|entries| {
            entries
                .iter()
                .any(|entry| is_mine(entry) && entry.status == Writing && !(is_taken_back && entry.interface.is_some()))
        })
    };
    let keeps = |number: usize| case.interface_of(number) == Some(InterfacePromise::Keeps);
    for number in &case.requested {
        let path = file(*number);
        let entries = held.get(&path).into_iter().flatten();
        for entry in entries.filter(|entry| entry.user_id != "ann") {
            let (relation, blocks) = if entry.branch == "main" {
                (Relation::Direct, case.is_writing || entry.status == Writing)
            } else {
                (Relation::CrossBranch, false)
            };
            let (relation, user) = (format!("{relation:?}"), entry.user_id.clone());
            facts.push((relation, blocks, path.clone(), None, path.clone(), user));
        }
    }
    for number in (0..FILES).filter(|number| !case.requested.contains(number)) {
        let path = file(number);
        let is_neighbor = |of: &usize| case.edges.contains(&(*of, number)) || case.edges.contains(&(number, *of));
        // The first of those that may be refused most.
        let near = case.requested.iter().filter(|of| is_neighbor(of));
        let Some(via) = near.min_by_key(|of| (is_renewed(**of), !is_renewed(**of) && keeps(**of))) else {
            continue;
        };
        let direction = if case.edges.contains(&(*via, number)) {
            Direction::Imports
        } else {
            Direction::ImportedBy
        };
        for entry in held.get(&path).into_iter().flatten() {
            if entry.branch == "main" && entry.user_id != "ann" {
                let both_keep = keeps(*via) && entry.interface.is_some();
                let excludes = match case.policy {
                    Block => true,
                    Interface => !both_keep,
                    Warn | Off => false,
                };
                let blocks = case.is_writing && entry.status == Writing && excludes && !is_renewed(*via);
                let (relation, direction) = ("Neighbor".to_owned(), Some(format!("{direction:?}")));
                let user = entry.user_id.clone();
                facts.push((relation, blocks, file(*via), direction, path.clone(), user));
            }
        }
    }
    facts.sort();
    facts
}

async fn any_graph_in_any_layout_gives_the_answer_of_the_model(world: World) {
    let mut runner = TestRunner::new(Config {
        cases: 300,
        source_file: Some(file!()),
        ..Config::default()
    });
    let runtime = tokio::runtime::Handle::current();
    tokio::task::block_in_place(|| {
        let outcome = runner.run(&case(), |case| {
            let (found, expected) = runtime.block_on(ask(&world, &case));
            prop_assert_eq!(found, expected);
            Ok(())
        });
        outcome.unwrap();
    });
}

async fn ask(world: &World, case: &Case) -> (Vec<Fact>, Vec<Fact>) {
    let locks = state::locks::keys::locks(&world.repo);
    world.command(["DEL", &locks, &world.adjacency_key()]).await;
    let edges = case.edges.iter().map(|(from, to)| (file(*from), file(*to))).collect();
    let (most_neighbors, chunk_lines) = case.layout;
    let layout = Layout {
        most_neighbors,
        chunk_lines,
    };
    store_edges(world, &edges, layout).await;
    let held = held(world, case);
    for (path, entries) in &held {
        world
            .command(["HSET", &locks, path, &serde_json::to_string(entries).unwrap()])
            .await;
    }
    let mut ann = world.agent("ann");
    (ann.policy, ann.interface) = (case.policy, case.word);
    ann.changes_interface_of = case.changed.iter().map(|number| file(*number)).collect();
    let paths: Vec<String> = case.requested.iter().map(|number| file(*number)).collect();
    let wanted = if case.is_writing { Writing } else { Reading };
    let survey = ann.checks(wanted, &paths).await;
    let mut found: Vec<Fact> = survey.findings.iter().map(fact).collect();
    found.sort();
    (found, expected(case, &held))
}

async fn the_graph_of_one_branch_has_no_effect_on_another(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts"])]).await;
    world.agent("bob").on_branch("other").writes(&["b.ts"]).await;
    let ann = world.agent("ann");
    for ann in [ann.clone(), ann.on_branch("other")] {
        assert_eq!(ann.writes_beside(&["a.ts"]).await, [""; 0], "{:?}", ann.branch);
    }
}

on_every_store!(
    any_graph_in_any_layout_gives_the_answer_of_the_model,
    the_graph_of_one_branch_has_no_effect_on_another,
);
