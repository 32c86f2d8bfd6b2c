//! The handshake of a holder in its claims.

use coord_intents::intent::{Intent, Status};

use super::intent;
use crate::world::World;

fn in_action(id: &str) -> (String, Option<String>) {
    ("ACTION".to_owned(), Some(id.to_owned()))
}

async fn the_first_claim_that_cites_an_intent_selects_it(world: World) {
    world.begins(intent("a", "src/**", None)).await;
    world.begins(intent("b", "lib/**", None)).await;
    world.forgets_lines().await;
    let ann = world.agent("ann").where_required();
    assert_eq!(ann.is_refused_by_gate(&["src/a.ts"]).await, ["INTENT_REQUIRED REQUEST"]);
    ann.clone().citing("a").writes(&["src/a.ts"]).await;
    assert_eq!(ann.session().await, in_action("a"));
    // A claim that cites no intent is for the selected one.
    let survey = ann.writes(&["src/b.ts"]).await;
    assert_eq!(survey.own[0].intent_id.as_deref(), Some("a"));
    let refused = ann.is_refused_by_gate(&["lib/a.ts"]).await;
    assert_eq!(refused, ["SCOPE_VIOLATION a lib/a.ts"]);
    assert_eq!(ann.session().await, in_action("a"), "a refusal selects nothing else");
    ann.clone().citing("b").writes(&["lib/a.ts"]).await;
    assert_eq!(ann.session().await, in_action("b"));
    assert_eq!(
        world.lines_of_gate().await,
        [
            "- REQUEST TOOL_EXECUTION DENIED",
            "a REQUEST STATE_TRANSITION SUCCESS",
            "a ACTION SCOPE_VIOLATION DENIED",
            "b ACTION STATE_TRANSITION SUCCESS"
        ]
    );
    // Each holder has its own.
    assert_eq!(world.agent("ann/two").session().await, (String::new(), None));
    world.agent("bob").writes(&["src/c.ts"]).await;
}

// rule: locks#gate-once
async fn an_intent_that_ended_under_its_holder_is_refused_once_and_deselected(world: World) {
    let ann = world.agent("ann");
    for (id, status, code) in [
        ("a", Status::Completed, "INTENT_NOT_ACTIVE COMPLETED a"),
        ("b", Status::Abandoned, "INTENT_NOT_ACTIVE ABANDONED b"),
        ("c", Status::Blocked, "INTENT_BLOCKED Because c"),
    ] {
        world.begins(intent(id, "src/**", None)).await;
        ann.selects_in_gate(id).await;
        let path = format!("src/{id}.ts");
        ann.writes(&[&path]).await;
        world.moves(id, status).await;
        world.forgets_lines().await;
        let checked = ann.checks(coord_domain::LockMode::Writing, &["src/new.ts"]).await;
        assert_eq!(super::found(&checked), [code]);
        assert_eq!(ann.session().await, in_action(id), "a check changes nothing");
        assert_eq!(ann.is_refused_by_gate(&["src/new.ts"]).await, [code]);
        assert_eq!(ann.session().await, ("REASONING".to_owned(), None));
        assert_eq!(
            world.lines_of_gate().await,
            [
                format!("{id} ACTION TOOL_EXECUTION DENIED"),
                format!("{id} ACTION STATE_TRANSITION SUCCESS")
            ]
        );
        ann.writes(&["src/new.ts"]).await;
        ann.abandons(&["src/new.ts"]).await;
    }
    let refused = ann.where_required().is_refused_by_gate(&["src/new.ts"]).await;
    assert_eq!(refused, ["INTENT_REQUIRED REASONING"]);
}

async fn an_intent_that_changed_under_its_holder_must_be_selected_again(world: World) {
    world.begins(intent("a", "src/**", None)).await;
    let (ann, bob) = (world.agent("ann"), world.agent("bob").citing("a"));
    ann.selects_in_gate("a").await;
    ann.writes(&["src/a.ts"]).await;
    bob.writes(&["src/b.ts"]).await;
    let changed = Intent {
        constraints: vec!["No new dependency".to_owned()],
        ..intent("a", "src/**", None)
    };
    world.writes_intent(changed).await;
    for agent in [&ann, &bob] {
        let refused = agent.is_refused_by_gate(&["src/c.ts"]).await;
        assert_eq!(refused, ["INTENT_NOT_ACTIVE CHANGED a"]);
        assert_eq!(agent.session().await, ("REASONING".to_owned(), None));
    }
    ann.selects_in_gate("a").await;
    ann.writes(&["src/a.ts"]).await;
    bob.writes(&["src/b.ts"]).await;
    assert_eq!(bob.session().await, in_action("a"), "it was refused once");
}

on_every_store!(
    the_first_claim_that_cites_an_intent_selects_it,
    an_intent_that_ended_under_its_holder_is_refused_once_and_deselected,
    an_intent_that_changed_under_its_holder_must_be_selected_again,
);
