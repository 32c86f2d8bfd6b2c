//! The age of a head that is kept in the store, and what only the source can tell.

use coord_domain::LockMode::Reading;
use coord_domain::work::{Shortfall, Verdict};
use coord_domain::{CommitSha, Holder};
use coord_settings::Rates;
use coord_sources::Reachable;
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, AncestryQuestion, Denial, HeadQuestion, HeadTerms, Question};
use coord_state::heads::FetchedHead;
use coord_state::locks::WrittenFile;

use crate::stores::admission::{check_once, claim_once, entry_of, try_entry};
use crate::world::{HEAD, LOCAL, NEXT, World, aged, answered, denial_of, not_pushed, question_of, released, sha};

/// For how long a head is kept that nobody looks at any more.
const TWO_WEEKS: i64 = 14 * 86_400;

impl World {
    /// Lets it be `seconds` ago that the head was looked at.
    pub(super) async fn age_head(&self, seconds: i64) {
        let at = (self.now().await - seconds).to_string();
        self.command(["HSET", &self.head_key(), "checked_at", &at]).await;
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

/// Terms by which the head is fetched again after ten seconds, and is too old after `at_most` seconds.
fn aged_entry<'a>(world: &'a World, holder: &'a Holder, at_most: Option<u32>) -> AdmissionTerms<'a> {
    AdmissionTerms {
        head: aged(10, at_most),
        ..entry_of(world, holder, Rates::NONE)
    }
}

async fn a_head_is_kept_while_it_is_requested_and_a_claim_outlives_it(world: World) {
    let key = world.head_key();
    let is_kept = async || {
        let seconds = world.number(["TTL", &key]).await;
        world.command(["EXPIRE", &key, "100"]).await;
        (TWO_WEEKS - 60..=TWO_WEEKS + 3_600).contains(&seconds)
    };
    world.records(HEAD, None, true).await;
    assert!(is_kept().await, "recorded");
    world.records(HEAD, None, false).await;
    assert!(is_kept().await, "looked at again");
    world
        .command(["HSET", &world.graph_key(), "version", HEAD, "asked_at", "1"])
        .await;
    let ann = world.agent("ann").without_source();
    ann.checks(Reading, &["a.ts"]).await;
    assert!(is_kept().await, "asked about, where nobody here asks the source");
    ann.checks(Reading, &["a.ts"]).await;
    assert!(!is_kept().await, "once a day");

    // A release compares the file with the head at the claim, which the lock itself stores.
    ann.writes(&["a.ts"]).await;
    world.command(["DEL", &key]).await;
    world.records_head(NEXT, &[NEXT, HEAD]).await;
    assert!(is_kept().await);
    let outcome = ann.at(NEXT).release(Some(NEXT), Reachable::Unknown, &["a.ts"]).await;
    assert_eq!(released(outcome).released, ["a.ts"]);
}

/// Reading goes on where a turn at the source cannot be noted, and nobody asks the source for the head.
#[tokio::test]
async fn a_check_is_answered_with_the_known_head_where_redis_refuses_writes() {
    let Some(world) = World::on_separate_redis() else {
        return;
    };
    let ann = world.agent("ann").holder;
    let (known, unknown) = ([sha(HEAD)], [sha(LOCAL)]);
    let entry = |known, at_most| AdmissionTerms {
        known_commits: known,
        // The request cannot be counted either.
        rates: Rates::default(),
        ..aged_entry(&world, &ann, at_most)
    };
    let check = async |known| check_once(&world, &entry(known, None), &["a.ts"]).await.unwrap();
    for option in ["maxmemory", "min-replicas-to-write"] {
        world.records(HEAD, None, true).await;
        world.age_head(1_000).await;
        // A graph that nobody has asked about today would be kept by this.
        world
            .command(["HSET", &world.graph_key(), "version", HEAD, "asked_at", "1"])
            .await;
        world.command(["CONFIG", "SET", option, "1"]).await;
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
        for at_most in [None, Some(60)] {
            let claimed = claim_once(&world, &entry(&known, at_most), &known[0], &["a.ts"]).await;
            assert!(claimed.is_err(), "{claimed:?}");
        }
        world.command(["CONFIG", "SET", option, "0"]).await;
        assert_eq!(world.locked_file_count().await, 0);
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
    let enter = async |at_most| try_entry(&world, &aged_entry(&world, &ann, at_most)).await;
    let head_ttl = async || world.number(["TTL", &world.head_key()]).await;
    // Nothing is known: one asks, the others wait.
    let first = Question::Head(HeadQuestion::Refresh {
        commit: None,
        etag: None,
    });
    assert_eq!(question_of(enter(None).await), first);
    let waits = Question::Head(HeadQuestion::Await);
    for _ in 0..3 {
        assert_eq!(question_of(enter(None).await), waits);
    }
    let ttl = head_ttl().await;
    assert!(
        (1..=60).contains(&ttl),
        "a branch that may not exist is forgotten: {ttl}"
    );
    world.records(HEAD, Some("W/\"one\""), true).await;
    let ttl = head_ttl().await;
    assert!(
        (TWO_WEEKS - 60..=TWO_WEEKS).contains(&ttl),
        "one that exists is kept: {ttl}"
    );
    let seen = answered(enter(None).await);
    assert!(seen.age.unwrap() <= 2 && !seen.is_unconfirmed, "{seen:?}");

    // It is old: one asks, the others go on, but for those to whom it is too old.
    world.age_head(30).await;
    let again = Question::Head(HeadQuestion::Refresh {
        commit: Some(sha(HEAD)),
        etag: Some("W/\"one\"".to_owned()),
    });
    assert_eq!(question_of(enter(Some(20)).await), again);
    let seen = answered(enter(None).await);
    assert!((30..=33).contains(&seen.age.unwrap()), "{seen:?}");
    assert_eq!(seen.commit, sha(HEAD));
    answered(enter(Some(60)).await);
    assert_eq!(question_of(enter(Some(20)).await), waits);
    world.records(NEXT, None, true).await;
    assert_eq!(answered(enter(Some(20)).await).commit, sha(NEXT));
}

async fn an_etag_is_not_trusted_for_ever(world: World) {
    let ann = world.agent("ann").holder;
    world.records(HEAD, Some("\"one\""), true).await;
    let read_at = (world.now().await - 301).to_string();
    world.command(["HSET", &world.head_key(), "read_at", &read_at]).await;
    // "Not modified" says that it is still that, but is no answer in whole.
    world.records(HEAD, Some("\"one\""), false).await;
    world.age_head(11).await;
    let whole = Question::Head(HeadQuestion::Refresh {
        commit: Some(sha(HEAD)),
        etag: None,
    });
    assert_eq!(
        question_of(try_entry(&world, &aged_entry(&world, &ann, None)).await),
        whole
    );
}

async fn an_old_head_counts_up_to_its_age_limit_while_the_source_is_unreachable(world: World) {
    let ann = world.agent("ann").holder;
    let enter = async |at_most| try_entry(&world, &aged_entry(&world, &ann, at_most)).await;
    let fail = async || {
        state::heads::record_head_failure(&*world.store, &world.repo, &world.branch, 40)
            .await
            .unwrap();
    };
    let assert_waits = |stop: Denial| match stop {
        Denial::AwaitHead {
            retry_after_seconds: 38..=40,
        } => {}
        stop => panic!("{stop:?}"),
    };
    denial_of(enter(None).await);
    fail().await;
    assert_waits(denial_of(enter(None).await));

    world.records(HEAD, None, true).await;
    world.age_head(30).await;
    fail().await;
    let seen = answered(enter(Some(60)).await);
    assert!(seen.is_unconfirmed && seen.age >= Some(30), "{seen:?}");
    assert_waits(denial_of(enter(Some(20)).await));

    world.records(HEAD, None, true).await;
    assert!(!answered(enter(Some(20)).await).is_unconfirmed);
    state::heads::forget_head(&*world.store, &world.repo, &world.branch)
        .await
        .unwrap();
    assert_eq!(world.number(["EXISTS", &world.head_key()]).await, 0);
}

async fn commits_that_the_store_knows_cause_no_source_request(world: World) {
    world.records_head(NEXT, &[NEXT, HEAD]).await;
    let ann = world.agent("ann").holder;
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
        let admitted = check_once(&world, &entry, &["a.ts"]).await;
        admitted.unwrap().map(|survey| survey.is_behind)
    };
    let stop = question_of(check(&[LOCAL], false).await);
    assert!(
        matches!(&stop, Question::Ancestry(AncestryQuestion::Commits { head, .. }) if *head == sha(NEXT)),
        "{stop:?}"
    );
    for (known, is_asked, is_behind, case) in [
        (&[NEXT][..], false, false, "the head"),
        (&[HEAD], false, true, "an older commit of the branch"),
        (&[LOCAL, &HEAD[..8]], false, true, "its base is older"),
        (&[LOCAL], true, true, "unknown, and asked about"),
        (&[LOCAL, NEXT], true, false, "its base is the head"),
    ] {
        assert_eq!(check(known, is_asked).await, Admitted::Outcome(is_behind), "{case}");
    }
    assert_eq!(world.events().await.len(), 1, "nothing but the head was announced");
}

async fn an_unproven_push_is_checked_with_the_source_before_not_pushed(world: World) {
    world.records_head(HEAD, &[HEAD]).await;
    let ann = world.agent("ann");
    ann.writes(&["a.ts"]).await;
    let ann = ann.without_source().with_aged_head();
    let release = async |verdict| ann.try_release(Some(NEXT), verdict, false, &["a.ts"]).await;
    let events = world.events().await.len();
    let asks = question_of(release(None).await);
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
    not_pushed(answered(release(Some(missing)).await));
    released(answered(release(Some(Verdict::Pushed)).await));
}

on_every_store!(
    a_head_is_kept_while_it_is_requested_and_a_claim_outlives_it,
    one_caller_refreshes_an_old_head_and_the_others_use_it,
    an_etag_is_not_trusted_for_ever,
    an_old_head_counts_up_to_its_age_limit_while_the_source_is_unreachable,
    commits_that_the_store_knows_cause_no_source_request,
    an_unproven_push_is_checked_with_the_source_before_not_pushed,
);
