//! The table of blocking, row by row, for claims and for checks.

use coord_domain::{LockMode, NeighborPolicy};
use coord_state::locks::ClaimOutcome;

use crate::stores::neighbors::store_graph;
use crate::world::{World, in_short};

use LockMode::{Reading, Writing};
use NeighborPolicy::{Block, Warn};

/// Where the other's lock is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LockPlace {
    SameFile,
    /// A file that mine imports.
    Imported,
    /// A file that imports mine.
    Importer,
    /// Mine, on another branch.
    OtherBranch,
    /// A file that has nothing to do with mine.
    Elsewhere,
}
use LockPlace::{Elsewhere, Imported, Importer, OtherBranch, SameFile};

/// I want, the other does, where, policy -> the finding (none: nothing), with `!` if it blocks.
const TABLE: [(LockMode, LockMode, LockPlace, NeighborPolicy, Option<&str>); 24] = [
    (Reading, Reading, SameFile, Block, Some("DIRECT")),
    (Reading, Writing, SameFile, Block, Some("DIRECT!")),
    (Writing, Reading, SameFile, Block, Some("DIRECT!")),
    (Writing, Writing, SameFile, Block, Some("DIRECT!")),
    (Reading, Writing, SameFile, Warn, Some("DIRECT!")),
    (Writing, Reading, SameFile, Warn, Some("DIRECT!")),
    (Writing, Writing, SameFile, Warn, Some("DIRECT!")),
    (Reading, Reading, Imported, Block, Some("NEIGHBOR")),
    (Reading, Writing, Imported, Block, Some("NEIGHBOR")),
    (Writing, Reading, Imported, Block, Some("NEIGHBOR")),
    (Writing, Writing, Imported, Block, Some("NEIGHBOR!")),
    (Reading, Writing, Importer, Block, Some("NEIGHBOR")),
    (Writing, Reading, Importer, Block, Some("NEIGHBOR")),
    (Writing, Writing, Importer, Block, Some("NEIGHBOR!")),
    (Writing, Writing, Imported, Warn, Some("NEIGHBOR")),
    (Writing, Writing, Importer, Warn, Some("NEIGHBOR")),
    (Reading, Writing, Imported, Warn, Some("NEIGHBOR")),
    (Reading, Reading, OtherBranch, Block, Some("CROSS_BRANCH")),
    (Reading, Writing, OtherBranch, Block, Some("CROSS_BRANCH")),
    (Writing, Reading, OtherBranch, Block, Some("CROSS_BRANCH")),
    (Writing, Writing, OtherBranch, Block, Some("CROSS_BRANCH")),
    (Reading, Writing, Elsewhere, Block, None),
    (Writing, Reading, Elsewhere, Block, None),
    (Writing, Writing, Elsewhere, Block, None),
];

async fn every_row_holds_for_checks_and_for_claims(world: World) {
    for (row, (wanted, others, place, policy, expected)) in TABLE.into_iter().enumerate() {
        // The other is a different login in one turn, and another agent of my own in the next.
        for (turn, name) in ["bob", "ann/other"].into_iter().enumerate() {
            let case = format!("row {row}: {wanted:?} while {name} is {others:?} {place:?}, {policy:?}");
            let file = |name: &str| format!("row{row}/{turn}/{name}");
            let [mine, imported, importer] = ["mine.ts", "imported.ts", "importer.ts"].map(file);
            store_graph(&world, &[(&importer, &[&*mine]), (&mine, &[&*imported])]).await;
            let (locked, on) = match place {
                SameFile => (mine.clone(), "main"),
                Imported => (imported, "main"),
                Importer => (importer, "main"),
                OtherBranch => (mine.clone(), "other"),
                Elsewhere => (file("elsewhere.ts"), "main"),
            };
            let other = world.agent(name).on_branch(on);
            match others {
                Reading => other.reads(&[&locked]).await,
                Writing => other.writes(&[&locked]).await,
            };

            let mut me = world.agent("ann");
            me.policy = policy;
            let user = other.holder.user_id.as_str();
            let line = |found: &str| match found.starts_with("NEIGHBOR") {
                true => format!("{found} {locked} {user} via {mine}"),
                false => format!("{found} {locked} {user}"),
            };
            let expected: Vec<String> = expected.into_iter().map(line).collect();
            let is_blocked = expected.iter().any(|found| found.contains('!'));

            let checked = me.checks(wanted, &[&mine]).await;
            assert_eq!(in_short(&checked.findings), expected, "{case}");
            assert_eq!(checked.own, [], "{case}");
            let before = world.stored(&mine).await;
            let survey = match me.claim(wanted, &[&mine]).await {
                ClaimOutcome::Claimed(survey) if !is_blocked => {
                    assert_eq!(survey.own.len(), 1, "{case}");
                    assert_eq!(survey.own[0].status, wanted, "{case}");
                    survey
                }
                ClaimOutcome::Conflict(survey) if is_blocked => {
                    assert_eq!(survey.own, [], "{case}");
                    let stored = world.stored(&mine).await;
                    assert_eq!(stored, before, "{case}: something was claimed all the same");
                    survey
                }
                other => panic!("{case}: {other:?}"),
            };
            assert_eq!(in_short(&survey.findings), expected, "{case}");
        }
    }
    world.assert_index_is_exact().await;
}

async fn ones_own_locks_block_nothing_not_even_on_neighbors(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts"])]).await;
    let ann = world.agent("ann");
    ann.writes(&["b.ts"]).await;
    assert_eq!(ann.writes_beside(&["a.ts", "b.ts"]).await, [""; 0]);
    assert_eq!(ann.on_branch("other").writes_beside(&["b.ts"]).await, [""; 0]);
}

// rule: locks#renewal
async fn a_writer_renews_although_a_neighbor_is_now_written(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["a.ts"]).await;
    bob.writes(&["b.ts"]).await;
    // The import is new: it came after both had been granted.
    store_graph(&world, &[("a.ts", &["b.ts"]), ("new.ts", &["b.ts"])]).await;
    assert_eq!(ann.writes_beside(&["a.ts"]).await, ["NEIGHBOR b.ts bob via a.ts"]);
    // Something new beside it is refused, and the neighbor counts as that of the new file, whatever the order.
    for paths in [["a.ts", "new.ts"], ["new.ts", "a.ts"]] {
        let blocking = ann.is_blocked_by(Writing, &paths).await;
        assert_eq!(blocking, ["NEIGHBOR! b.ts bob via new.ts"]);
    }
    assert_eq!(world.stored("new.ts").await, []);
}

async fn a_reader_that_wants_to_write_is_blocked_by_a_written_neighbor(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts"])]).await;
    let ann = world.agent("ann");
    ann.reads(&["a.ts"]).await;
    world.agent("bob").writes(&["b.ts"]).await;
    let blocking = ann.is_blocked_by(Writing, &["a.ts"]).await;
    assert_eq!(blocking, ["NEIGHBOR! b.ts bob via a.ts"]);
    assert_eq!(world.stored("a.ts").await[0].status, Reading);
}

on_every_store!(
    every_row_holds_for_checks_and_for_claims,
    ones_own_locks_block_nothing_not_even_on_neighbors,
    a_writer_renews_although_a_neighbor_is_now_written,
    a_reader_that_wants_to_write_is_blocked_by_a_written_neighbor,
);
