//! The age of a head that is kept in the store, and what only the source can tell.

use coord_domain::work::{Shortfall, Verdict};
use coord_domain::{CommitSha, FilePath, LockMode, NeighborPolicy};
use coord_settings::Rates;
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, AncestryQuestion, Denial, HeadQuestion, HeadTerms, Question};
use coord_state::heads::FetchedHead;
use coord_state::locks::{GateTerms, ReleaseOutcome, WrittenFile};

use crate::stores::admission::{entry_of, try_entry};
use crate::world::{HEAD, LOCAL, NEXT, World, aged, answered, denial_of, question_of, sha};

/// For how long a head is kept that nobody looks at any more.
const TWO_WEEKS: i64 = 14 * 86_400;

impl World {
    /// Lets it be `seconds` ago that the head was looked at.
    async fn age_head(&self, seconds: i64) {
        let now = self.now().await;
        let at = (now - seconds).to_string();
        let key = state::heads::keys::head(&self.repo, &self.branch);
        self.command(["HSET", &key, "checked_at", &at]).await;
    }

    async fn records(&self, commit: &str, etag: Option<&str>, is_whole: bool) {
        let commit: CommitSha = sha(commit);
        let fetched = FetchedHead {
            commit: &commit,
            recent: &[],
            etag,
            is_whole,
        };
        state::heads::record_head(&*self.store, &self.repo, &self.branch, &fetched)
            .await
            .unwrap();
    }
}

async fn a_head_is_kept_while_it_is_requested_and_a_claim_outlives_it(world: World) {
    let key = state::heads::keys::head(&world.repo, &world.branch);
    let is_kept = async || {
        let seconds = world.number(["TTL", &key]).await;
        world.command(["EXPIRE", &key, "100"]).await;
        (TWO_WEEKS - 60..=TWO_WEEKS + 3_600).contains(&seconds)
    };
    world.records(HEAD, None, true).await;
    assert!(is_kept().await, "recorded");
    world.records(HEAD, None, false).await;
    assert!(is_kept().await, "looked at again");
    let graph = state::builds::keys::graph(&world.repo, &world.branch);
    world.command(["HSET", &graph, "version", HEAD, "asked_at", "1"]).await;
    let ann = world.agent("ann").without_source();
    ann.checks(LockMode::Reading, &["a.ts"]).await;
    assert!(is_kept().await, "asked about, where nobody here asks the source");
    ann.checks(LockMode::Reading, &["a.ts"]).await;
    assert!(!is_kept().await, "once a day");

    // A release compares the file with the head at the claim, which the lock itself stores.
    ann.writes(&["a.ts"]).await;
    world.command(["DEL", &key]).await;
    world.records_head(NEXT, &[NEXT, HEAD]).await;
    assert!(is_kept().await);
    let outcome = ann
        .at(NEXT)
        .release(Some(NEXT), coord_sources::Reachable::Unknown, &["a.ts"])
        .await;
    assert_eq!(crate::world::released(outcome).released, ["a.ts"]);
}

/// Reading goes on where a turn at the source cannot be noted, and nobody asks the source for the head.
#[tokio::test]
async fn a_check_is_answered_with_the_known_head_where_redis_refuses_writes() {
    let Some(port) = coord_test_support::redis::start() else {
        // Which says that the test is skipped.
        coord_test_support::redis::empty_database();
        return;
    };
    let store = coord_store::redis::RedisStore::connect(&format!("redis://127.0.0.1:{port}")).unwrap();
    let world = World::over(std::sync::Arc::new(store), None);
    let ann = world.agent("ann").without_source();
    let (paths, message) = (
        [FilePath::parse("a.ts").unwrap()],
        coord_domain::LockReason::parse("Trying").unwrap(),
    );
    let (known, unknown) = ([sha(HEAD)], [sha(LOCAL)]);
    let entry = |known, at_most| AdmissionTerms {
        head: aged(10, at_most),
        // The request cannot be counted either.
        rates: Rates::default(),
        ..AdmissionTerms::of(&world.repo, &world.branch, &ann.holder, None, known)
    };
    let check = async |known| {
        let policy = &state::locks::PolicyTerms::of(NeighborPolicy::Block);
        state::locks::check_status(
            &*world.store,
            &entry(known, None),
            &paths,
            LockMode::Writing,
            policy,
            &GateTerms::NONE,
        )
        .await
        .unwrap()
    };
    let refusals = [
        (["CONFIG", "SET", "maxmemory", "1"], ["CONFIG", "SET", "maxmemory", "0"]),
        (
            ["CONFIG", "SET", "min-replicas-to-write", "1"],
            ["CONFIG", "SET", "min-replicas-to-write", "0"],
        ),
    ];
    for (refuse, allow) in refusals {
        world.records(HEAD, None, true).await;
        world.age_head(1_000).await;
        // A graph that nobody has asked about today would be kept by this.
        world
            .command([
                "HSET",
                &state::builds::keys::graph(&world.repo, &world.branch),
                "version",
                HEAD,
                "asked_at",
                "1",
            ])
            .await;
        world.command(refuse).await;
        let refused = world.command(["SET", "anything", "1"]).await;
        assert!(matches!(refused, coord_store::Value::Error(_)), "{refused:?}");
        for _ in 0..3 {
            let survey = answered(check(&known).await);
            assert_eq!((&survey.head.commit, survey.head.is_unconfirmed), (&sha(HEAD), true));
            assert!(survey.head.age >= Some(1_000) && !survey.is_behind);
        }
        // The source is asked about the caller's commits, and not for a head that nobody could note.
        assert!(matches!(
            question_of(check(&unknown).await),
            Question::Ancestry(AncestryQuestion::Commits { age: 0, .. })
        ));
        let wanted = state::locks::ClaimTerms {
            claim: LockMode::Writing,
            policy: &state::locks::PolicyTerms::of(NeighborPolicy::Block),
            agent_head: &known[0],
            message: &message,
            ttl_seconds: 300,
            wait_seconds: 0,
            claimed: &world.claimed,
            take_over: None,
            paths: &paths,
            gate: GateTerms::NONE,
        };
        for at_most in [None, Some(60)] {
            let claimed = state::locks::claim(&*world.store, &entry(&known, at_most), &wanted).await;
            assert!(claimed.is_err(), "{claimed:?}");
        }
        world.command(allow).await;
        assert_eq!(world.number(["HLEN", &state::locks::keys::locks(&world.repo)]).await, 0);
        assert!(matches!(
            question_of(check(&known).await),
            Question::Head(HeadQuestion::Refresh { .. })
        ));
    }
    world.records(HEAD, None, true).await;
    world.age_head(1_000).await;
    world.command(["REPLICAOF", "127.0.0.1", "1"]).await;
    let survey = answered(check(&known).await);
    assert!(survey.head.is_unconfirmed);
}

async fn one_caller_refreshes_an_old_head_and_the_others_use_it(world: World) {
    let ann = world.agent("ann").holder;
    let entry = |at_most| AdmissionTerms {
        head: aged(10, at_most),
        ..entry_of(&world, &ann, Rates::NONE)
    };
    // Nothing is known: one asks, the others wait.
    let first = Question::Head(HeadQuestion::Refresh {
        commit: None,
        etag: None,
    });
    assert_eq!(question_of(try_entry(&world, &entry(None)).await), first);
    let waits = Question::Head(HeadQuestion::Await);
    for _ in 0..3 {
        assert_eq!(question_of(try_entry(&world, &entry(None)).await), waits);
    }
    let ttl = world
        .number(["TTL", &state::heads::keys::head(&world.repo, &world.branch)])
        .await;
    assert!(
        (1..=60).contains(&ttl),
        "a branch that may not exist is forgotten: {ttl}"
    );
    world.records(HEAD, Some("W/\"one\""), true).await;
    let ttl = world
        .number(["TTL", &state::heads::keys::head(&world.repo, &world.branch)])
        .await;
    assert!(
        (TWO_WEEKS - 60..=TWO_WEEKS).contains(&ttl),
        "one that exists is kept: {ttl}"
    );
    let seen = answered(try_entry(&world, &entry(None)).await);
    assert!(seen.age.unwrap() <= 2 && !seen.is_unconfirmed, "{seen:?}");

    // It is old: one asks, the others go on, but for those to whom it is too old.
    world.age_head(30).await;
    let again = Question::Head(HeadQuestion::Refresh {
        commit: Some(sha(HEAD)),
        etag: Some("W/\"one\"".to_owned()),
    });
    assert_eq!(question_of(try_entry(&world, &entry(Some(20))).await), again);
    let seen = answered(try_entry(&world, &entry(None)).await);
    assert!((30..=33).contains(&seen.age.unwrap()), "{seen:?}");
    assert_eq!(seen.commit, sha(HEAD));
    answered(try_entry(&world, &entry(Some(60))).await);
    assert_eq!(question_of(try_entry(&world, &entry(Some(20))).await), waits);
    world.records(NEXT, None, true).await;
    assert_eq!(answered(try_entry(&world, &entry(Some(20))).await).commit, sha(NEXT));
}

async fn an_etag_is_not_trusted_for_ever(world: World) {
    let ann = world.agent("ann").holder;
    let entry = AdmissionTerms {
        head: aged(10, None),
        ..entry_of(&world, &ann, Rates::NONE)
    };
    world.records(HEAD, Some("\"one\""), true).await;
    let key = state::heads::keys::head(&world.repo, &world.branch);
    let now = world.now().await;
    world.command(["HSET", &key, "read_at", &(now - 301).to_string()]).await;
    // "Not modified" says that it is still that, but is no answer in whole.
    world.records(HEAD, Some("\"one\""), false).await;
    world.age_head(11).await;
    let whole = Question::Head(HeadQuestion::Refresh {
        commit: Some(sha(HEAD)),
        etag: None,
    });
    assert_eq!(question_of(try_entry(&world, &entry).await), whole);
}

async fn an_old_head_counts_up_to_its_age_limit_while_the_source_is_unreachable(world: World) {
    let ann = world.agent("ann").holder;
    let entry = |at_most| AdmissionTerms {
        head: aged(10, at_most),
        ..entry_of(&world, &ann, Rates::NONE)
    };
    let fail = async || {
        state::heads::record_head_failure(&*world.store, &world.repo, &world.branch, 40)
            .await
            .unwrap();
    };
    denial_of(try_entry(&world, &entry(None)).await);
    fail().await;
    let stop = denial_of(try_entry(&world, &entry(None)).await);
    assert!(
        matches!(
            stop,
            Denial::AwaitHead {
                retry_after_seconds: 38..=40
            }
        ),
        "{stop:?}"
    );

    world.records(HEAD, None, true).await;
    world.age_head(30).await;
    fail().await;
    let seen = answered(try_entry(&world, &entry(Some(60))).await);
    assert!(seen.is_unconfirmed && seen.age >= Some(30), "{seen:?}");
    let stop = denial_of(try_entry(&world, &entry(Some(20))).await);
    assert!(
        matches!(
            stop,
            Denial::AwaitHead {
                retry_after_seconds: 38..=40
            }
        ),
        "{stop:?}"
    );

    world.records(HEAD, None, true).await;
    assert!(!answered(try_entry(&world, &entry(Some(20))).await).is_unconfirmed);
    state::heads::forget_head(&*world.store, &world.repo, &world.branch)
        .await
        .unwrap();
    assert_eq!(
        world
            .number(["EXISTS", &state::heads::keys::head(&world.repo, &world.branch)])
            .await,
        0
    );
}

async fn commits_that_the_store_knows_cause_no_source_request(world: World) {
    world.records_head(NEXT, &[NEXT, HEAD]).await;
    let ann = world.agent("ann").holder;
    let path = [FilePath::parse("a.ts").unwrap()];
    let check = async |known: &[&str], is_asked| {
        let known: Vec<CommitSha> = known.iter().map(|commit| sha(commit)).collect();
        let entry = AdmissionTerms {
            head: HeadTerms::Aged {
                refresh_after: 10,
                at_most: None,
                is_asked,
            },
            known_commits: &known,
            ..entry_of(&world, &ann, Rates::NONE)
        };
        let policy = &state::locks::PolicyTerms::of(NeighborPolicy::Block);
        let admitted = state::locks::check_status(
            &*world.store,
            &entry,
            &path,
            LockMode::Writing,
            policy,
            &GateTerms::NONE,
        )
        .await;
        admitted.unwrap().map(|survey| survey.is_behind)
    };
    assert_eq!(check(&[NEXT], false).await, Admitted::Outcome(false));
    assert_eq!(
        check(&[HEAD], false).await,
        Admitted::Outcome(true),
        "an older commit of the branch"
    );
    assert_eq!(
        check(&[LOCAL, &HEAD[..8]], false).await,
        Admitted::Outcome(true),
        "its base is older"
    );
    let stop = question_of(check(&[LOCAL], false).await);
    assert!(
        matches!(&stop, Question::Ancestry(AncestryQuestion::Commits { head, .. }) if *head == sha(NEXT)),
        "{stop:?}"
    );
    assert_eq!(check(&[LOCAL], true).await, Admitted::Outcome(true));
    assert_eq!(check(&[LOCAL, NEXT], true).await, Admitted::Outcome(false));
    assert_eq!(world.events().await.len(), 1, "nothing but the head was announced");
}

async fn an_unproven_push_is_checked_with_the_source_before_not_pushed(world: World) {
    world.records_head(HEAD, &[HEAD]).await;
    let ann = world.agent("ann");
    ann.writes(&["a.ts"]).await;
    let ann = ann.without_source().with_aged_head();
    let events = world.events().await.len();
    let asks = question_of(ann.try_release(Some(NEXT), None, false, &["a.ts"]).await);
    let Question::Ancestry(AncestryQuestion::Work { head, written, .. }) = asks else {
        panic!("{asks:?}")
    };
    let claimed = WrittenFile {
        path: "a.ts".to_owned(),
        claim_head: sha(HEAD),
    };
    assert_eq!((head, written), (sha(HEAD), vec![claimed]));
    assert_eq!(world.events().await.len(), events, "nothing was refused yet");
    let missing = Verdict::Missing(Shortfall::NotOnBranch);
    let refused = answered(ann.try_release(Some(NEXT), Some(missing), false, &["a.ts"]).await);
    assert!(matches!(refused, ReleaseOutcome::NotPushed { .. }), "{refused:?}");
    crate::world::released(answered(
        ann.try_release(Some(NEXT), Some(Verdict::Pushed), false, &["a.ts"])
            .await,
    ));
}

on_every_store!(
    a_head_is_kept_while_it_is_requested_and_a_claim_outlives_it,
    one_caller_refreshes_an_old_head_and_the_others_use_it,
    an_etag_is_not_trusted_for_ever,
    an_old_head_counts_up_to_its_age_limit_while_the_source_is_unreachable,
    commits_that_the_store_knows_cause_no_source_request,
    an_unproven_push_is_checked_with_the_source_before_not_pushed,
);
