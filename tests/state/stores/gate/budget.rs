//! Budgets and the breaker in claims.

use coord_domain::LockMode::{Reading, Writing};
use coord_intents::intent::{Budget, Intent, Status};
use coord_intents_state::intents::keys;
use coord_protocol::ErrorCode;
use coord_state::locks::ClaimOutcome;

use super::{OWNER, found, intent};
use crate::world::{Agent, NEXT, World};

impl World {
    /// Turns that were counted.
    async fn turns(&self, id: &str) -> u64 {
        let key = keys::intent_use(&self.repo);
        let stored = self.command(["HGET", &key, id]).await;
        stored.as_str().unwrap().split(' ').next().unwrap().parse().unwrap()
    }

    async fn status(&self, id: &str) -> String {
        let record = self.stored_json(&keys::intents(&self.repo), id).await;
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
    let behind = call.while_branch_is_at(NEXT).claim(Writing, &["src/z.ts"]).await;
    assert!(matches!(behind, ClaimOutcome::Stale(_)), "{behind:?}");
    assert_eq!(world.turns("a").await, 2);
}

async fn the_budget_warns_and_then_blocks(world: World) {
    world.begins(intent("a", "src/**", Some(5))).await;
    let ann = world.agent("ann").citing("a");
    let mut warned = Vec::new();
    for number in 0..5 {
        let call = ann.clone().calling("Edit", &number.to_string());
        let findings = call.writes(&["src/a.ts"]).await.gate.findings;
        warned.push(findings.iter().map(|finding| finding.used).collect::<Vec<_>>());
    }
    assert_eq!(warned, [vec![], vec![], vec![], vec![4], vec![5]]);
    let checked = ann.checks(Writing, &["src/a.ts"]).await;
    assert_eq!(found(&checked), ["BUDGET_EXHAUSTED ... a"]);
    assert_eq!(world.status("a").await, "IN_PROGRESS", "a check blocks nothing");
    world.forgets_lines().await;
    let call = ann.clone().calling("Edit", "6");
    assert_eq!(call.is_refused_by_gate(&["src/a.ts"]).await, ["BUDGET_EXHAUSTED ... a"]);
    assert_eq!(world.turns("a").await, 5);
    assert_eq!(world.status("a").await, "BLOCKED");
    assert_eq!(
        world.lines_of_gate().await,
        ["a ACTION BUDGET_EXHAUSTED DENIED", "a ACTION STATE_TRANSITION SUCCESS"]
    );
    let reason = world.lines().await[0].result.error_message.clone();
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
    let key = keys::intent_use(&world.repo);
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
    const MAX_CALLS: u64 = 20;
    world.begins(intent("a", "src/**", Some(MAX_CALLS))).await;
    let names: Vec<String> = (0..64).map(|number| format!("agent{number}")).collect();
    let claims = names.iter().map(async |name| {
        let agent = call(&world.agent(&format!("{OWNER}/{name}")), name);
        agent.claim(Writing, &[format!("src/{name}.ts")]).await
    });
    let outcomes = futures::future::join_all(claims).await;
    let refused = |code| {
        let refusals = outcomes.iter().map(|outcome| outcome.survey().gate.refusal());
        refusals.filter(|refusal| *refusal == Some(code)).count()
    };
    let is_granted = |outcome: &&ClaimOutcome| matches!(outcome, ClaimOutcome::Claimed(_));
    assert_eq!(outcomes.iter().filter(is_granted).count() as u64, MAX_CALLS);
    assert_eq!(world.turns("a").await, MAX_CALLS);
    assert_eq!(refused(ErrorCode::BudgetExhausted), 1);
    assert_eq!(refused(ErrorCode::IntentBlocked), 43);
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
    assert_eq!(world.turns("a").await, 0);
    assert_eq!(world.status("a").await, "IN_PROGRESS");
    assert!(found(&call(&ann, "1").writes(&["src/a.ts"]).await).is_empty());
    call(&ann, "2").writes(&["src/a.ts"]).await;
    let refused = call(&ann, "3").is_refused_by_gate(&["src/a.ts"]).await;
    assert_eq!(refused, ["BUDGET_EXHAUSTED ... a"]);
    assert_eq!(world.turns("a").await, 2);
    assert_eq!(world.status("a").await, "BLOCKED");
}

async fn the_same_call_again_and_again_trips_the_breaker(world: World) {
    world.begins(intent("a", "src/**", None)).await;
    let ann = world.agent("ann").citing("a");
    let (same, other) = (call(&ann, "1"), call(&ann, "2"));
    for agent in [&same, &same, &other, &same, &same, &same] {
        agent.writes(&["src/a.ts"]).await;
    }
    call(&world.agent("bob"), "1").writes(&["src/b.ts"]).await;
    ann.writes(&["src/a.ts"]).await;
    world.forgets_lines().await;
    let checked = same.checks(Writing, &["src/a.ts"]).await;
    assert_eq!(found(&checked), ["CIRCUIT_OPEN ... a"]);
    assert_eq!(same.is_refused_by_gate(&["src/a.ts"]).await, ["CIRCUIT_OPEN ... a"]);
    assert_eq!(world.status("a").await, "BLOCKED");
    let line = world.lines().await.remove(0);
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
