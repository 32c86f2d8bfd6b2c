//! The effect of a branch's `.coord.toml`, in each row.

use coord_domain::LockMode::{Reading, Writing};
use coord_domain::NeighborPolicy;
use coord_settings::policy::PolicyText;
use coord_state::admission::{AdmissionTerms, Question};

use crate::stores::admission::claim_once;
use crate::stores::neighbors::store_graph;
use crate::world::{HEAD, World, in_short, question_of, sha};

async fn a_shared_file_is_written_by_several_at_once(world: World) {
    world.store_policy("shared = [\"shared*\"]").await;
    let modes = [Reading, Writing];
    let rows = modes.iter().flat_map(|wanted| modes.map(|others| (*wanted, others)));
    for (row, (wanted, others)) in rows.enumerate() {
        for (turn, name) in ["bob", "ann/other"].into_iter().enumerate() {
            let case = format!("{wanted:?} while {name} is {others:?}");
            let (shared, plain) = (format!("shared{row}{turn}"), format!("plain{row}{turn}"));
            let other = world.agent(name);
            other.claim(others, &[&shared, &plain]).await;
            let user = other.holder.user_id.as_str();
            let found = [format!("DIRECT {shared} {user}")];
            let ann = world.agent("ann");
            let checked = ann.checks(wanted, &[&shared]).await;
            assert_eq!(in_short(&checked.findings), found, "{case}");
            assert!(checked.findings[0].is_shared, "{case}");
            if (wanted, others) != (Reading, Reading) {
                // Beside another file it is all or nothing, as ever.
                let found = ann.is_blocked_by(wanted, &[&shared, &plain]).await;
                assert!(found.contains(&format!("DIRECT! {plain} {user}")), "{case}");
            }
            let granted = match wanted {
                Reading => ann.reads(&[&shared]).await,
                Writing => ann.writes(&[&shared]).await,
            };
            assert_eq!(in_short(&granted.findings), found, "{case}");
            assert_eq!(world.stored(&shared).await.len(), 2, "{case}");
            assert!(world.stored(&shared).await.iter().all(|entry| entry.shared), "{case}");
            assert!(world.stored(&plain).await.iter().all(|entry| !entry.shared), "{case}");
            // Both renew, and each releases its own.
            ann.claim(wanted, &[&shared]).await;
            other.claim(others, &[&shared, &plain]).await;
            assert_eq!(other.abandons(&[&shared]).await.released, [&*shared], "{case}");
            assert_eq!(world.stored(&shared).await.len(), 1, "{case}");
        }
    }
    world.assert_counts_are_exact().await;
}

// rule: policy#shared-default
async fn lockfiles_are_shared_where_there_is_no_policy_and_an_empty_list_ends_that(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["web/pnpm-lock.yaml"]).await;
    let found = bob.writes_beside(&["web/pnpm-lock.yaml"]).await;
    assert_eq!(found, ["DIRECT web/pnpm-lock.yaml ann"]);
    assert_eq!(*bob.about_policy.questions.lock().unwrap(), 0, "one round trip");
    world.store_policy("shared = []").await;
    ann.writes(&["Cargo.lock"]).await;
    bob.is_refused(Writing, &["Cargo.lock"]).await;
}

// rule: policy#changes
async fn a_policy_that_changes_under_held_locks_releases_none(world: World) {
    world.store_policy("shared = [\"a.md\"]").await;
    let (ann, bob, cyd) = (world.agent("ann"), world.agent("bob"), world.agent("cyd"));
    ann.writes(&["a.md"]).await;
    bob.writes(&["a.md"]).await;
    world.store_policy("shared = []").await;
    // Both go on; nobody new comes in.
    ann.writes(&["a.md"]).await;
    bob.writes(&["a.md"]).await;
    cyd.is_refused(Writing, &["a.md"]).await;
    cyd.is_refused(Reading, &["a.md"]).await;
    cyd.abandons(&[""; 0]).await;
    ann.abandons(&["a.md"]).await;
    ann.is_refused(Writing, &["a.md"]).await;
    bob.abandons(&["a.md"]).await;
    ann.writes(&["a.md"]).await;

    // A file that is ignored from now on is released as before, and blocks nobody.
    world.store_policy("ignore = [\"a.md\"]").await;
    bob.writes(&["a.md"]).await;
    assert_eq!(world.stored("a.md").await.len(), 1, "bob has none");
    assert_eq!(ann.abandons(&["a.md"]).await.released, ["a.md"]);
    world.assert_counts_are_exact().await;
}

async fn an_ignored_file_has_no_lock_and_blocks_no_claim(world: World) {
    world.store_policy("ignore = [\"dist/\"]").await;
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    let granted = ann.writes(&["a.ts", "dist/a.js"]).await;
    assert_eq!(granted.own.len(), 1);
    assert_eq!(world.stored("dist/a.js").await, []);
    let granted = bob.writes(&["dist/a.js", "dist/b.js"]).await;
    assert_eq!((granted.own.len(), in_short(&granted.findings)), (0, vec![]));
    let found = bob.finds(Writing, &["dist/a.js", "a.ts"]).await;
    assert_eq!(found, ["DIRECT! a.ts ann"]);
    let released = ann.releases_read(&["dist/a.js"]).await;
    assert_eq!(released.missing, ["dist/a.js"]);
    assert_eq!(
        released.policy.len(),
        64,
        "so that it can be told apart from a lock that expired"
    );
    world.assert_held_is_exact().await;
}

// rule: policy#neighbors
async fn each_mode_of_neighbors_has_its_row(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts"])]).await;
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["b.ts"]).await;
    for (mode, found) in [
        ("block", &["NEIGHBOR! b.ts ann via a.ts"][..]),
        ("interface", &["NEIGHBOR! b.ts ann via a.ts"]),
        ("warn", &["NEIGHBOR b.ts ann via a.ts"]),
        ("off", &[]),
    ] {
        for operator in NeighborPolicy::ALL {
            world.store_policy(&format!("neighbors = \"{mode}\"")).await;
            let mut bob = bob.clone();
            bob.policy = operator;
            let is_blocked = found.iter().any(|found| found.contains('!'));
            assert_eq!(bob.finds(Writing, &["a.ts"]).await, found, "{mode}");
            let reading = bob.checks(Reading, &["a.ts"]).await;
            assert!(reading.findings.iter().all(|finding| !finding.blocks), "{mode}");
            if is_blocked {
                bob.is_refused(Writing, &["a.ts"]).await;
            } else {
                assert_eq!(bob.writes_beside(&["a.ts"]).await, found, "{mode}");
                bob.abandons(&["a.ts"]).await;
            }
        }
    }
}

async fn a_policy_is_requested_once(world: World) {
    let ann = world.agent("ann");
    let questions = || *ann.about_policy.questions.lock().unwrap();
    ann.writes(&["a.ts"]).await;
    assert_eq!(questions(), 0);
    world.store_policy("ttl_seconds = 60").await;
    ann.writes(&["a.ts"]).await;
    ann.checks(Writing, &["a.ts", "b.ts"]).await;
    ann.writes(&["b.ts"]).await;
    assert_eq!(questions(), 1, "and then it is known");
    world.store_policy("ttl_seconds = 90").await;
    ann.checks(Reading, &["a.ts"]).await;
    assert_eq!(questions(), 2);
    // Nothing is claimed or changed by a question.
    world.store_policy("ttl_seconds = 120").await;
    let bob = world.agent("bob");
    let before = world.events().await.len();
    let known = [sha(HEAD)];
    let entry = AdmissionTerms::of(&world.repo, &world.branch, &bob.holder, known.first(), &known);
    let claimed = claim_once(&world, &entry, &known[0], &["z.ts"]).await;
    let question = question_of(claimed.unwrap());
    let Question::Policy(question) = question else {
        panic!("{question:?}");
    };
    assert_eq!(question.files, ["z.ts"]);
    assert_eq!(PolicyText::from_stored(&question.text).file.ttl_seconds, Some(120));
    assert_eq!(world.events().await.len(), before);
    assert_eq!(world.stored("z.ts").await, []);
}

on_every_store!(
    a_shared_file_is_written_by_several_at_once,
    lockfiles_are_shared_where_there_is_no_policy_and_an_empty_list_ends_that,
    a_policy_that_changes_under_held_locks_releases_none,
    an_ignored_file_has_no_lock_and_blocks_no_claim,
    each_mode_of_neighbors_has_its_row,
    a_policy_is_requested_once,
);
