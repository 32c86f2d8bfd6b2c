//! Budgets and the breaker in claims.

use coord_domain::LockMode::{Reading, Writing};
use coord_intents::intent::{Budget, Intent, Status};
use coord_protocol::ErrorCode;
use coord_state::locks::ClaimOutcome;

use super::{OWNER, found, intent};
use crate::world::{Agent, World};

impl World {
    /// Turns that were counted.
    async fn turns(&self, id: &str) -> u64 {
        let key = coord_intents_state::intents::keys::intent_use(&self.repo);
        let stored = self.command(["HGET", &key, id]).await;
        stored.as_str().unwrap().split(' ').next().unwrap().parse().unwrap()
    }

    async fn status(&self, id: &str) -> String {
        let key = coord_intents_state::intents::keys::intents(&self.repo);
        let stored = self.command(["HGET", &key, id]).await;
        let record: serde_json::Value = serde_json::from_str(stored.as_str().unwrap()).unwrap();
        record["status"].as_str().unwrap().to_owned()
    }
}

async fn only_an_allowed_call_counts_as_a_turn(world: World) {
    world.begins(intent("a", "src/**", Some(100))).await;
    world.agent("bob").writes(&["src/taken.ts"]).await;
    let ann = world.agent("ann").citing("a");
    ann.writes(&["src/a.ts"]).await;
    assert_eq!(world.turns("a").await, 0, "a claim without a call");
    ann.clone().calling("Edit", "1").writes(&["src/a.ts"]).await;
    ann.clone().calling("Edit", "2").writes(&["src/b.ts", "src/c.ts"]).await;
    assert_eq!(world.turns("a").await, 2);
    let call = ann.clone().calling("Edit", "3");
    call.is_refused(Writing, &["src/taken.ts"]).await;
    call.is_refused_by_gate(&["lib/a.ts"]).await;
    call.checks(Writing, &["src/a.ts"]).await;
    call.claim(Reading, &["src/a.ts"]).await;
    let ClaimOutcome::Stale(_) = call
        .clone()
        .while_branch_is_at(crate::world::NEXT)
        .claim(Writing, &["src/z.ts"])
        .await
    else {
        panic!("it is behind")
    };
    assert_eq!(world.turns("a").await, 2);
}

async fn the_budget_warns_and_then_blocks(world: World) {
    world.begins(intent("a", "src/**", Some(5))).await;
    let ann = world.agent("ann").citing("a");
    let mut warned = Vec::new();
    for number in 0..5 {
        let call = ann.clone().calling("Edit", &number.to_string());
        let survey = call.writes(&["src/a.ts"]).await;
        warned.push(
            survey
                .gate
                .findings
                .iter()
                .map(|finding| finding.used)
                .collect::<Vec<_>>(),
        );
    }
    assert_eq!(warned, [vec![], vec![], vec![], vec![4], vec![5]]);
    assert_eq!(
        found(&ann.checks(Writing, &["src/a.ts"]).await),
        ["BUDGET_EXHAUSTED ... a"]
    );
    assert_eq!(world.status("a").await, "IN_PROGRESS", "a check blocks nothing");
    world.forgets_lines().await;
    let call = ann.clone().calling("Edit", "6");
    assert_eq!(call.is_refused_by_gate(&["src/a.ts"]).await, ["BUDGET_EXHAUSTED ... a"]);
    assert_eq!(
        (world.turns("a").await, world.status("a").await),
        (5, "BLOCKED".to_owned())
    );
    assert_eq!(
        world.lines_of_gate().await,
        ["a ACTION BUDGET_EXHAUSTED DENIED", "a ACTION STATE_TRANSITION SUCCESS"]
    );
    let reason = world.entries().await[0].result.error_message.clone();
    assert_eq!(reason.as_deref(), Some("The budget of intent a is spent: 5 of 5 turns"));
    assert_eq!(world.events().await.last().unwrap().1["status"], "BLOCKED");
    assert_eq!(call.is_refused_by_gate(&["src/a.ts"]).await, ["INTENT_BLOCKED ... a"]);

    // Tokens stop the next call, too.
    let tokens = Intent {
        budget: Some(Budget {
            max_tokens: Some(1_000),
            ..Budget::default()
        }),
        ..intent("t", "lib/**", None)
    };
    world.begins(tokens).await;
    let key = coord_intents_state::intents::keys::intent_use(&world.repo);
    world.command(["HSET", &key, "t", "0 999 1"]).await;
    let (ann, bob) = (ann.citing("t"), world.agent("bob").citing("t"));
    assert_eq!(found(&bob.writes(&["lib/a.ts"]).await), ["BUDGET_LOW TOKENS t"]);
    world.command(["HSET", &key, "t", "0 1000 1"]).await;
    assert_eq!(bob.is_refused_by_gate(&["lib/a.ts"]).await, ["BUDGET_EXHAUSTED ... t"]);
    assert_eq!(world.status("t").await, "IN_PROGRESS", "it is not bob's");
    assert_eq!(ann.is_refused_by_gate(&["lib/b.ts"]).await, ["BUDGET_EXHAUSTED ... t"]);
    assert_eq!(world.status("t").await, "BLOCKED");
}

async fn racing_claims_never_pass_the_most_of_turns(world: World) {
    const MOST: u64 = 20;
    world.begins(intent("a", "src/**", Some(MOST))).await;
    let names: Vec<String> = (0..64).map(|number| format!("agent{number}")).collect();
    let claims = names.iter().map(async |name| {
        let agent = world
            .agent(&format!("{OWNER}/{name}"))
            .citing("a")
            .calling("Edit", name);
        agent.claim(Writing, &[format!("src/{name}.ts")]).await
    });
    let outcomes = futures::future::join_all(claims).await;
    let refused = |code| {
        outcomes
            .iter()
            .filter(|outcome| outcome.survey().gate.refusal() == Some(code))
            .count()
    };
    let granted = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, ClaimOutcome::Claimed(_)));
    assert_eq!(granted.count() as u64, MOST);
    assert_eq!(world.turns("a").await, MOST);
    assert_eq!(
        (refused(ErrorCode::BudgetExhausted), refused(ErrorCode::IntentBlocked)),
        (1, 43)
    );
}

fn call<'w>(agent: &Agent<'w>, digest: &str) -> Agent<'w> {
    agent.clone().citing("a").calling("Edit", digest)
}

async fn agents_of_other_logins_have_separate_turns(world: World) {
    world.begins(intent("a", "src/**", Some(2))).await;
    let (ann, bob, cem) = (world.agent("ann"), world.agent("bob"), world.agent("cem"));
    call(&bob, "1").writes(&["src/b.ts"]).await;
    let low = call(&cem, "2").writes(&["src/c.ts"]).await;
    assert_eq!(found(&low), ["BUDGET_LOW TURNS a"]);
    for other in [&bob, &cem] {
        let refused = call(other, "3").is_refused_by_gate(&["src/d.ts"]).await;
        assert_eq!(refused, ["BUDGET_EXHAUSTED ... a"]);
    }
    assert_eq!(
        (world.turns("a").await, world.status("a").await),
        (0, "IN_PROGRESS".to_owned())
    );
    assert!(found(&call(&ann, "1").writes(&["src/a.ts"]).await).is_empty());
    call(&ann, "2").writes(&["src/a.ts"]).await;
    assert_eq!(
        call(&ann, "3").is_refused_by_gate(&["src/a.ts"]).await,
        ["BUDGET_EXHAUSTED ... a"]
    );
    assert_eq!(
        (world.turns("a").await, world.status("a").await),
        (2, "BLOCKED".to_owned())
    );
}

async fn the_same_call_again_and_again_trips_the_breaker(world: World) {
    world.begins(intent("a", "src/**", None)).await;
    let ann = world.agent("ann").citing("a");
    let (same, other) = (ann.clone().calling("Edit", "1"), ann.clone().calling("Edit", "2"));
    for call in [&same, &same, &other, &same, &same, &same] {
        call.writes(&["src/a.ts"]).await;
    }
    world
        .agent("bob")
        .citing("a")
        .calling("Edit", "1")
        .writes(&["src/b.ts"])
        .await;
    ann.writes(&["src/a.ts"]).await;
    world.forgets_lines().await;
    assert_eq!(
        found(&same.checks(Writing, &["src/a.ts"]).await),
        ["CIRCUIT_OPEN ... a"]
    );
    assert_eq!(same.is_refused_by_gate(&["src/a.ts"]).await, ["CIRCUIT_OPEN ... a"]);
    assert_eq!(world.status("a").await, "BLOCKED");
    let line = world.entries().await.remove(0);
    assert_eq!(line.payload.tool_name.as_deref(), Some("Edit"));
    assert_eq!(
        line.result.error_message.as_deref(),
        Some("Edit was called 3 times in a row with the same input, and nothing else between")
    );
    world.moves("a", Status::InProgress).await;
    for _ in 0..3 {
        same.writes(&["src/a.ts"]).await;
    }
    assert_eq!(world.turns("a").await, 9, "that of bob is not among them");
    let mut off = same.clone();
    off.about.rules.most_repeats = 0;
    for _ in 0..3 {
        off.writes(&["src/a.ts"]).await;
    }
}

on_every_store!(
    only_an_allowed_call_counts_as_a_turn,
    the_budget_warns_and_then_blocks,
    racing_claims_never_pass_the_most_of_turns,
    agents_of_other_logins_have_separate_turns,
    the_same_call_again_and_again_trips_the_breaker,
);
