//! Which tasks have free files: those that `next` gives, and those that are suggested.

use coord_domain::LockMode;
use coord_protocol::SuggestedTask;
use coord_teams_state::tasks::{NewTask, Priority};

use super::files::{team, with_files};
use super::tasks::prioritized;
use crate::world::World;
use crate::world::team::titled;

async fn next_passes_over_tasks_whose_files_others_have(world: World) {
    let high = |title, files: &[&str]| prioritized(with_files(title, files), Priority::High);
    let tasks = [
        high("one", &["a.ts"]),
        high("two", &["b.ts"]),
        high("three", &["c.ts"]),
        with_files("four", &["d.ts"]),
    ];
    let (lead, bob, eve) = team(&world, &tasks).await;
    lead.assigns("t2", Some("eve")).await.unwrap();
    world.agent("zoe/1").writes(&["a.ts"]).await;
    world.agent("yan").reads(&["c.ts"]).await;
    let (next, passed) = bob.next().await;
    assert_eq!(next.as_deref(), Some("t4"));
    assert_eq!(passed, ["t1 Locked zoe a.ts", "t2 Reserved eve ", "t3 Locked yan c.ts"]);
    assert_eq!(bob.next().await.0, None);
    // An assigned task comes first.
    assert_eq!(eve.next().await.0.as_deref(), Some("t2"));
    world.agent("zoe/1").abandons(&["a.ts"]).await;
    assert_eq!(bob.next().await.0.as_deref(), Some("t1"));
    world.assert_held_is_exact().await;
}

async fn next_looks_at_so_many_files_and_no_more(world: World) {
    let tasks = [0, 1, 2, 3].map(|task| NewTask {
        files: (0..400).map(|number| format!("m/{task}/{number}.ts")).collect(),
        ..titled("many")
    });
    let (_, bob, _) = team(&world, &tasks).await;
    for task in 0..3 {
        world.agent("zoe").writes(&[format!("m/{task}/399.ts")]).await;
    }
    let (id, passed) = bob.next().await;
    assert_eq!((id, passed.len()), (None, 2), "1,024 files: {passed:?}");
    world.agent("zoe").abandons(&["m/0/399.ts"]).await;
    assert_eq!(bob.next().await.0.as_deref(), Some("t1"));
}

fn names(suggested: &[SuggestedTask]) -> Vec<String> {
    let name = |task: &SuggestedTask| format!("{}/{} {}", task.team, task.id, task.title);
    suggested.iter().map(name).collect()
}

// rule: teams#suggestions
async fn checks_and_claims_of_members_that_are_blocked_suggest_tasks(world: World) {
    let of_dev = NewTask {
        branch: Some("dev".to_owned()),
        ..with_files("elsewhere", &["e.ts"])
    };
    let tasks = [
        with_files("locked", &["a.ts"]),
        with_files("reserved", &["r.ts"]),
        of_dev,
        with_files("free", &["f.ts"]),
        titled("without files"),
        titled("third"),
        titled("fourth"),
    ];
    let (lead, bob, _) = team(&world, &tasks).await;
    lead.assigns("t2", Some("eve")).await.unwrap();
    world.agent("zoe").writes(&["a.ts"]).await;
    let found_by_check = async |path: &str| {
        let found = world.agent("bob").checks(LockMode::Writing, &[path]).await;
        names(&found.suggested)
    };
    let found_by_claim = async |name: &str| {
        let refused = world.agent(name).is_refused(LockMode::Writing, &["a.ts"]).await;
        names(&refused.suggested)
    };
    let expected = ["alpha/t4 free", "alpha/t5 without files", "alpha/t6 third"];
    assert_eq!(found_by_check("a.ts").await, expected);
    assert_eq!(found_by_claim("bob").await, expected);
    assert_eq!(found_by_check("f.ts").await, [""; 0], "nothing blocks");
    assert_eq!(found_by_claim("yan").await, [""; 0], "who is in no team");
    bob.takes("t4").await;
    bob.mate.claims("t5").await.unwrap();
    let expected = ["alpha/t2 reserved", "alpha/t6 third", "alpha/t7 fourth"];
    assert_eq!(found_by_claim("eve").await, expected);
    lead.assert_offers_are_exact().await;
    for id in ["t1", "t2", "t3", "t6", "t7"] {
        lead.deletes(id, true).await.unwrap();
    }
    assert_eq!(found_by_claim("eve").await, [""; 0]);
    lead.assert_offers_are_exact().await;
}

scenarios!(
    next_passes_over_tasks_whose_files_others_have,
    next_looks_at_so_many_files_and_no_more,
    checks_and_claims_of_members_that_are_blocked_suggest_tasks,
);
