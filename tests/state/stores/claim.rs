//! `claim`.

use coord_domain::LockMode::{Reading, Writing};
use coord_state::admission::{AncestryQuestion, Denial, Question};
use coord_state::locks::{ClaimOutcome, Survey, keys};
use serde_json::json;

use crate::world::{HEAD, LOCAL, NEXT, World, denial_of, granted, in_short, question_of, stale};

async fn tokens_grow_with_every_grant_and_stay_with_a_renewal(world: World) {
    let ann = world.agent("ann");
    let tokens = |survey: &Survey| survey.own.iter().map(|lock| lock.token).collect::<Vec<_>>();
    let both = tokens(&ann.writes(&["a.ts", "b.ts"]).await);
    assert_eq!(both[0], both[1], "one claim, one token");
    let read = ann.reads(&["c.ts"]).await.own[0].token;
    let again = tokens(&ann.writes(&["a.ts", "d.ts"]).await);
    assert_eq!(again[0], both[0], "a renewal keeps its own");
    let written = ann.writes(&["c.ts"]).await.own[0].token;
    world.expire_locks(&["a.ts"]).await;
    let anew = ann.writes(&["a.ts"]).await.own[0].token;
    let elsewhere = ann.clone().on_branch("other").writes(&["a.ts"]).await.own[0].token;
    // From reading to writing is a grant, and an expired lock is granted anew.
    let all = [both[0], read, again[1], written, anew, elsewhere];
    assert!(all.is_sorted_by(|one, next| one < next), "{all:?}");
}

async fn tokens_keep_growing_when_the_store_has_lost_something(world: World) {
    let token = async |path: &str| world.agent("ann").writes(&[path]).await.own[0].token;
    let [key, locks, expiries] = [keys::token, keys::locks, keys::expiries].map(|key| key(&world.repo));
    let first = token("a.ts").await;
    // The last write is lost, as after a failover.
    world.command(["SET", &key, "7"]).await;
    let second = token("b.ts").await;
    world.command(["DEL", &key, &locks, &expiries]).await;
    let third = token("c.ts").await;
    assert!(first < second && second < third, "{first} {second} {third}");
    // As after FLUSHALL.
    for name in world.command(["KEYS", "*"]).await.as_array().unwrap() {
        world.command(["DEL", name.as_str().unwrap()]).await;
    }
    let fourth = token("c.ts").await;
    assert!(third < fourth, "{third} {fourth}");
    // And when the clock has been set back.
    let ahead = (fourth + 1_000_000_000).to_string();
    world.command(["SET", &key, &ahead]).await;
    assert_eq!(token("d.ts").await, fourth + 1_000_000_001);
}

async fn a_renewal_is_new_in_everything_but_token_and_head(world: World) {
    let ann = world.agent("ann");
    let granted = ann.clone().for_seconds(10).writes(&["a.ts"]).await;
    let ann = ann.at(NEXT).while_branch_is_at(NEXT).for_seconds(500);
    let renewed = ann.with_message("Now the second half of it").writes(&["a.ts"]).await;
    let lock = &renewed.own[0];
    assert!((500..=501).contains(&(lock.expiry - lock.timestamp)), "{lock:?}");
    assert_eq!(
        (lock.message.as_str(), lock.agent_head.as_str(), lock.token),
        ("Now the second half of it", HEAD, granted.own[0].token)
    );
    assert_eq!(world.stored("a.ts").await, renewed.own);
    assert_eq!(
        world.events_since(0).await,
        ["lock_granted ann a.ts", "lock_renewed ann a.ts"]
    );
    world.assert_index_is_exact().await;
}

// rule: locks#stronger-mode
async fn a_reader_becomes_a_writer_and_a_writer_never_a_reader(world: World) {
    let ann = world.agent("ann");
    ann.reads(&["a.ts"]).await;
    let upgraded = ann.clone().at(NEXT).while_branch_is_at(NEXT).writes(&["a.ts"]).await;
    assert_eq!(
        (upgraded.own[0].status, upgraded.own[0].agent_head.as_str()),
        (Writing, NEXT)
    );
    let read = ann.reads(&["a.ts"]).await;
    assert_eq!(read.own[0].status, Writing, "what was written still has to be pushed");
    assert_eq!(world.stored("a.ts").await.len(), 1);
    let events = ["lock_granted", "lock_granted", "lock_renewed"].map(|kind| format!("{kind} ann a.ts"));
    assert_eq!(world.events_since(0).await, events);
    world.agent("bob").is_refused(Reading, &["a.ts"]).await;
}

async fn all_or_nothing(world: World) {
    world.agent("bob").writes(&["taken.ts"]).await;
    let ann = world.agent("ann");
    ann.clone().for_seconds(77).reads(&["mine.ts"]).await;
    let before = world.stored("mine.ts").await;
    let blocking = ann.is_blocked_by(Writing, &["free.ts", "mine.ts", "taken.ts"]).await;
    assert_eq!(blocking, ["DIRECT! taken.ts bob"]);
    assert_eq!(world.stored("free.ts").await, []);
    assert_eq!(world.stored("mine.ts").await, before, "not even renewed");
    let events = world.events_since(2).await;
    assert_eq!(events, ["lock_refused ann free.ts mine.ts taken.ts"]);
    let event = world.last_event().await;
    assert_eq!(
        json!([event["reason"], event["conflicts"]]),
        json!(["CONFLICT", ["taken.ts"]])
    );
    world.assert_index_is_exact().await;
}

async fn writing_behind_the_branch_is_stale_and_reading_is_not(world: World) {
    let ann = world.agent("ann").while_branch_is_at(NEXT);
    let survey = stale(ann.claim(Writing, &["a.ts"]).await);
    assert_eq!((survey.head.commit.as_str(), survey.is_behind), (NEXT, true));
    assert!(survey.own.is_empty() && survey.findings.is_empty());
    assert_eq!(world.stored("a.ts").await, []);
    assert_eq!(world.events().await[0].1["reason"], "STALE");
    let read = ann.reads(&["a.ts"]).await;
    assert!(read.is_behind);
    assert_eq!(read.own[0].agent_head, HEAD);
    granted(ann.based_on(&NEXT[..7]).claim(Writing, &["a.ts"]).await);
}

async fn a_writer_behind_the_branch_renews_its_file_and_gets_no_other(world: World) {
    let ann = world.agent("ann");
    let first = ann.clone().for_seconds(10).writes(&["a.ts", "b.ts"]).await;
    ann.reads(&["read.ts"]).await;
    world.agent("bob").writes(&["taken.ts"]).await;
    let behind = ann.clone().while_branch_is_at(NEXT);
    let renewed = behind.writes(&["a.ts"]).await;
    assert!(renewed.is_behind, "the answer says so");
    let lock = &renewed.own[0];
    assert!(lock.expiry > first.own[0].expiry + 200, "{lock:?}");
    assert_eq!((lock.token, lock.agent_head.as_str()), (first.own[0].token, HEAD));
    // A file that is not held, or not for writing, is new; then nothing is renewed either.
    let before = world.stored("b.ts").await;
    for new in ["new.ts", "read.ts", "taken.ts"] {
        let survey = stale(behind.claim(Writing, &["b.ts", new]).await);
        let held: Vec<&str> = survey.held.iter().map(|held| held.file_path.as_str()).collect();
        assert!(held.contains(&"b.ts") && !held.contains(&"new.ts"), "{held:?}");
    }
    assert_eq!(world.stored("b.ts").await, before);
    assert_eq!(world.stored("new.ts").await, []);
    assert_eq!(world.stored("read.ts").await[0].status, Reading);
    // A lock of another holder is no easier to get behind the branch, and an expired lock is nobody's.
    world.expire_locks(&["a.ts"]).await;
    stale(behind.claim(Writing, &["a.ts"]).await);
    assert_eq!(world.stored("a.ts").await, []);
}

async fn a_renewal_requests_no_ancestry(world: World) {
    world.records_head(HEAD, &[HEAD]).await;
    let ann = world.agent("ann");
    ann.writes(&["a.ts"]).await;
    ann.reads(&["r.ts"]).await;
    let unknown = ann.clone().at(LOCAL).with_aged_head();
    for (wanted, path) in [(Writing, "a.ts"), (Reading, "a.ts"), (Reading, "r.ts")] {
        let survey = granted(unknown.claim(wanted, &[path]).await);
        assert!(survey.is_behind && !survey.is_known_behind, "{survey:?}");
    }
    for new in ["new.ts", "r.ts"] {
        let question = question_of(unknown.try_claim(Writing, &["a.ts", new]).await);
        assert!(
            matches!(question, Question::Ancestry(AncestryQuestion::Commits { .. })),
            "{question:?}"
        );
    }
}

async fn a_stale_claim_lists_its_conflicts(world: World) {
    world.agent("bob").writes(&["taken.ts"]).await;
    world.agent("cid").reads(&["read.ts"]).await;
    let behind = world.agent("ann").while_branch_is_at(NEXT);
    let survey = stale(behind.claim(Writing, &["taken.ts", "free.ts", "read.ts"]).await);
    assert_eq!(
        in_short(&survey.findings),
        ["DIRECT! read.ts cid", "DIRECT! taken.ts bob"]
    );
    let event = world.last_event().await;
    let expected = json!(["STALE", ["taken.ts", "read.ts"]]);
    assert_eq!(json!([event["reason"], event["conflicts"]]), expected);
}

async fn that_a_caller_is_behind_is_certain_where_its_commit_is_an_older_one_of_the_branch(world: World) {
    world.records_head(NEXT, &[NEXT, HEAD]).await;
    let ann = world.agent("ann").without_source();
    for (agent, is_behind, is_known_behind) in [
        (ann.clone().at(NEXT), false, false),
        (ann.clone().at(HEAD), true, true),
        (ann.clone().at(LOCAL).based_on(HEAD), true, true),
        (ann.clone().at(LOCAL), true, false),
    ] {
        let survey = agent.checks(Writing, &["a.ts"]).await;
        let found = (survey.is_behind, survey.is_known_behind);
        assert_eq!(found, (is_behind, is_known_behind), "{:?} {:?}", agent.head, agent.base);
    }
}

async fn a_claim_lists_the_locks_that_its_holder_had_before(world: World) {
    let ann = world.agent("ann");
    let ann = ann.with_message("Splitting the lexer from the parser");
    let first = ann.writes(&["a.ts"]).await;
    assert_eq!(first.held, []);
    let granted_at = first.own[0].timestamp;
    let ann = ann.with_message("Now the second half of it");
    let [held] = ann.writes(&["a.ts", "b.ts"]).await.held.try_into().unwrap();
    assert_eq!(
        (held.file_path.as_str(), held.status, held.since, held.message.as_str()),
        ("a.ts", Writing, granted_at, "Splitting the lexer from the parser")
    );
    let read = world.agent("ann").reads(&["a.ts"]).await;
    assert_eq!(read.held[0].message, "Now the second half of it");
    assert_eq!(world.agent("ann/two").is_refused(Writing, &["a.ts"]).await.held, []);
}

async fn without_any_head_nothing_is_claimed(world: World) {
    let ann = world.agent("ann").without_source();
    for wanted in [Reading, Writing] {
        assert_eq!(denial_of(ann.try_claim(wanted, &["a.ts"]).await), Denial::UnknownHead);
    }
    assert_eq!(world.stored("a.ts").await, []);
    world.records_head(HEAD, &[]).await;
    ann.writes(&["a.ts"]).await;
}

async fn a_working_copy_ahead_is_measured_from_the_branch(world: World) {
    // LOCAL has the branch's head, and more that is not pushed: what must be on the branch at the release is more than HEAD.
    let ahead = world.agent("ann").at(LOCAL).based_on(HEAD);
    assert_eq!(ahead.writes(&["a.ts"]).await.own[0].agent_head, HEAD);
    // An abbreviation of the head is the head, and is kept whole.
    let abbreviating = world.agent("bob").at(&HEAD[..9]);
    assert_eq!(abbreviating.writes(&["b.ts"]).await.own[0].agent_head, HEAD);
    let reading = ahead.reads(&["c.ts"]).await;
    assert_eq!(reading.own[0].agent_head, LOCAL, "a reader pushes nothing");
}

async fn readers_share_and_the_last_one_standing_may_write(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.reads(&["a.ts"]).await;
    bob.reads(&["a.ts"]).await;
    ann.is_refused(Writing, &["a.ts"]).await;
    bob.abandons(&["a.ts"]).await;
    ann.writes(&["a.ts"]).await;
    assert_eq!(world.stored("a.ts").await.len(), 1);
}

async fn branches_hold_the_same_file_beside_each_other(world: World) {
    world.agent("bob").on_branch("other").writes(&["a.ts"]).await;
    let survey = world.agent("ann").writes(&["a.ts"]).await;
    assert_eq!(in_short(&survey.findings), ["CROSS_BRANCH a.ts bob"]);
    assert_eq!(survey.findings[0].entry.branch, "other");
    assert_eq!(world.stored("a.ts").await.len(), 2);
    world.agent("ann").abandons(&["a.ts"]).await;
    assert_eq!(world.stored("a.ts").await[0].user_id, "bob");
    world.assert_index_is_exact().await;
}

async fn five_hundred_and_twelve_files_of_the_longest_paths_are_one_claim(world: World) {
    let paths: Vec<String> = (0..512)
        .map(|number| format!("{number:0>128}", number = format!("x{number}")))
        .collect();
    let survey = world.agent("ann").writes(&paths).await;
    assert_eq!(survey.own.len(), 512);
    let refused = world.agent("bob").is_refused(Reading, &paths).await;
    assert_eq!(refused.findings.len(), 512);
    assert_eq!(world.agent("ann").abandons(&paths).await.released.len(), 512);
    assert_eq!(world.events().await.len(), 3);
}

// rule: locks#atomic
async fn of_claims_at_one_time_one_wins(world: World) {
    let names: Vec<String> = (0..16).map(|number| format!("user{number}")).collect();
    let agents: Vec<_> = names.iter().map(|name| world.agent(name)).collect();
    let outcomes = futures::future::join_all(agents.iter().map(|agent| agent.claim(Writing, &["a.ts", "b.ts"]))).await;
    let claims = outcomes.iter().zip(&names);
    let granted = claims.filter(|(outcome, _)| matches!(outcome, ClaimOutcome::Claimed(_)));
    let winners: Vec<&String> = granted.map(|(_, name)| name).collect();
    assert_eq!(winners.len(), 1, "{outcomes:?}");
    for path in ["a.ts", "b.ts"] {
        assert_eq!(world.stored(path).await[0].user_id, *winners[0]);
    }
    assert_eq!(world.events().await.len(), 16, "one grant and fifteen refusals");
}

on_every_store!(
    tokens_grow_with_every_grant_and_stay_with_a_renewal,
    tokens_keep_growing_when_the_store_has_lost_something,
    a_renewal_is_new_in_everything_but_token_and_head,
    a_reader_becomes_a_writer_and_a_writer_never_a_reader,
    all_or_nothing,
    writing_behind_the_branch_is_stale_and_reading_is_not,
    a_writer_behind_the_branch_renews_its_file_and_gets_no_other,
    a_renewal_requests_no_ancestry,
    a_stale_claim_lists_its_conflicts,
    that_a_caller_is_behind_is_certain_where_its_commit_is_an_older_one_of_the_branch,
    a_claim_lists_the_locks_that_its_holder_had_before,
    without_any_head_nothing_is_claimed,
    a_working_copy_ahead_is_measured_from_the_branch,
    readers_share_and_the_last_one_standing_may_write,
    branches_hold_the_same_file_beside_each_other,
    five_hundred_and_twelve_files_of_the_longest_paths_are_one_claim,
    of_claims_at_one_time_one_wins,
);
