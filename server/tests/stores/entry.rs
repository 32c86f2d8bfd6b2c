//! What every question passes: identity, limits, and the age of the head.

use std::collections::BTreeMap;
use std::time::Duration;

use coord::domain::{Claim, NeighborPolicy};
use coord::domain::{CommitSha, FilePath, Message, UserId};
use coord::source::Reachable;
use coord::store::keys;
use coord::store::scripts::{
    self, Entered, Entry, HeadTerms, LearntHead, Limited, Rate, Rates, Release, Remembered, SeenHead, Stop, Who, enter,
    remember,
};

use crate::world::{HEAD, LOCAL, NEXT, World, answered, sha, stopped};

/// A credential, by its hash.
const CREDENTIAL: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// Where nothing of the head is asked of anybody.
fn entry_of<'a>(world: &'a World, who: Who<'a>, rates: Rates) -> Entry<'a> {
    Entry {
        repo: &world.repo,
        branch: &world.branch,
        who,
        rates,
        head: HeadTerms::Stored,
        known_commits: &[],
    }
}

fn shown(credential: &str, needs_push: bool) -> Who<'_> {
    Who::Remembered {
        credential,
        agent_id: "one",
        needs_push,
    }
}

async fn try_entry(world: &World, entry: &Entry<'_>) -> Entered<SeenHead> {
    let entered = enter(&*world.store, entry, Vec::new()).await.unwrap();
    entered.map(|(head, _)| head)
}

async fn a_credential_is_verified_once_and_counts_for_what_it_may_do(world: World) {
    world.records_head(HEAD, &[]).await;
    let reads = entry_of(&world, shown(CREDENTIAL, false), Rates::NONE);
    let pushes = entry_of(&world, shown(CREDENTIAL, true), Rates::NONE);
    for entry in [&reads, &pushes] {
        assert_eq!(stopped(try_entry(&world, entry).await), Stop::Unverified);
    }
    let login = UserId::parse("octo\"cat").unwrap();
    let member = |can_push| Remembered::Member {
        user_id: &login,
        user_name: "The \"Octo\u{e9}\" Cat",
        can_push,
    };
    remember(&*world.store, &world.repo, CREDENTIAL, &member(false), 300)
        .await
        .unwrap();
    assert_eq!(answered(try_entry(&world, &reads).await).commit, sha(HEAD));
    let user_id = login.to_string();
    assert_eq!(stopped(try_entry(&world, &pushes).await), Stop::NoPush { user_id });
    let ttl = world.number(["TTL", &keys::identity(&world.repo, CREDENTIAL)]).await;
    assert!((290..=300).contains(&ttl), "{ttl}");

    remember(&*world.store, &world.repo, CREDENTIAL, &member(true), 300)
        .await
        .unwrap();
    let known = [sha(HEAD)];
    let entry = Entry {
        known_commits: &known,
        ..pushes
    };
    let wanted = scripts::Wanted {
        claim: Claim::Writing,
        policy: NeighborPolicy::Block,
        agent_head: &known[0],
        message: &Message::parse("Rewriting the parser").unwrap(),
        ttl_seconds: 300,
        paths: &[FilePath::parse("a.ts").unwrap()],
    };
    answered(scripts::claim(&*world.store, &entry, &wanted).await.unwrap());
    let stored = world.stored("a.ts").await.remove(0);
    assert_eq!(
        (
            stored.user_id.as_str(),
            stored.user_name.as_str(),
            stored.agent_id.as_deref()
        ),
        ("octo\"cat", "The \"Octo\u{e9}\" Cat", Some("one"))
    );
}

async fn a_credential_that_does_not_count_is_remembered_too(world: World) {
    let entry = entry_of(&world, shown(CREDENTIAL, false), Rates::NONE);
    for is_known in [false, true] {
        let why = "no: \"{}\"\n";
        let refused = Remembered::Refused { is_known, why };
        remember(&*world.store, &world.repo, CREDENTIAL, &refused, 30)
            .await
            .unwrap();
        let why = why.to_owned();
        assert_eq!(
            stopped(try_entry(&world, &entry).await),
            Stop::Refused { is_known, why }
        );
    }
}

async fn what_counts_in_one_repository_does_not_in_another(world: World) {
    let other = World::over(world.store.clone(), None);
    other.records_head(HEAD, &[]).await;
    let login = UserId::parse("octocat").unwrap();
    let member = Remembered::Member {
        user_id: &login,
        user_name: "octocat",
        can_push: true,
    };
    remember(&*world.store, &world.repo, CREDENTIAL, &member, 300)
        .await
        .unwrap();
    let entry = entry_of(&other, shown(CREDENTIAL, false), Rates::NONE);
    assert_eq!(stopped(try_entry(&other, &entry).await), Stop::Unverified);
}

/// One each ten seconds on the long run, and so many at once.
fn rate(burst: u32) -> Rate {
    Rate {
        interval_ms: 10_000,
        burst,
    }
}

/// The outcomes of `count` questions, by kind.
async fn outcomes(world: &World, entry: &Entry<'_>, count: usize) -> BTreeMap<String, usize> {
    let mut outcomes = BTreeMap::new();
    for _ in 0..count {
        let outcome = match try_entry(world, entry).await {
            Entered::In(_) => "in".to_owned(),
            Entered::Stopped(Stop::Limited {
                retry_after_seconds,
                whose,
            }) => {
                assert!((1..=10).contains(&retry_after_seconds), "{retry_after_seconds}");
                format!("{whose:?}")
            }
            Entered::Stopped(stop) => format!("{stop:?}"),
        };
        *outcomes.entry(outcome).or_insert(0) += 1;
    }
    outcomes
}

fn counts<const N: usize>(pairs: [(&str, usize); N]) -> BTreeMap<String, usize> {
    pairs
        .into_iter()
        .map(|(kind, count)| (kind.to_owned(), count))
        .collect()
}

async fn a_holder_who_asks_too_often_waits_and_others_do_not(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(3),
        ..Rates::NONE
    };
    let (ann, second, bob) = (
        world.agent("ann").holder,
        world.agent("ann/two").holder,
        world.agent("bob").holder,
    );
    for holder in [&ann, &second, &bob] {
        let entry = entry_of(&world, Who::Known(holder), rates);
        assert_eq!(outcomes(&world, &entry, 5).await, counts([("in", 3), ("Holder", 2)]));
    }
    let unlimited = entry_of(&world, Who::Known(&ann), Rates::NONE);
    assert_eq!(outcomes(&world, &unlimited, 5).await, counts([("in", 5)]));
}

async fn a_limit_is_worked_off(world: World) {
    world.records_head(HEAD, &[]).await;
    let ann = world.agent("ann").holder;
    let rates = Rates {
        holder: Rate {
            interval_ms: 400,
            burst: 1,
        },
        ..Rates::NONE
    };
    let entry = entry_of(&world, Who::Known(&ann), rates);
    answered(try_entry(&world, &entry).await);
    let stop = stopped(try_entry(&world, &entry).await);
    let whose = Limited::Holder;
    assert_eq!(
        stop,
        Stop::Limited {
            retry_after_seconds: 1,
            whose
        }
    );
    tokio::time::sleep(Duration::from_millis(450)).await;
    answered(try_entry(&world, &entry).await);
}

async fn all_holders_of_a_repository_share_a_limit(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(100),
        repository: rate(4),
        ..Rates::NONE
    };
    let mut let_in = 0;
    for name in ["a", "b", "c", "d", "e", "f"] {
        let holder = world.agent(name).holder;
        let entry = entry_of(&world, Who::Known(&holder), rates);
        let_in += usize::from(matches!(try_entry(&world, &entry).await, Entered::In(_)));
    }
    assert_eq!(let_in, 4);
    // Another repository has its own.
    let other = World::over(world.store.clone(), None);
    other.records_head(HEAD, &[]).await;
    let holder = other.agent("g").holder;
    answered(try_entry(&other, &entry_of(&other, Who::Known(&holder), rates)).await);
}

async fn a_refused_question_is_not_counted(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(2),
        repository: rate(1),
        ..Rates::NONE
    };
    let ann = world.agent("ann").holder;
    let entry = entry_of(&world, Who::Known(&ann), rates);
    assert_eq!(
        outcomes(&world, &entry, 4).await,
        counts([("in", 1), ("Repository", 3)])
    );
    let own = Rates {
        repository: Rate::NONE,
        ..rates
    };
    let entry = entry_of(&world, Who::Known(&ann), own);
    assert_eq!(outcomes(&world, &entry, 2).await, counts([("in", 1), ("Holder", 1)]));
}

async fn new_credentials_and_new_branches_share_a_limit(world: World) {
    let rates = Rates {
        new: rate(3),
        ..Rates::NONE
    };
    for number in 0..2 {
        let credential = format!("{number:064}");
        let entry = entry_of(&world, shown(&credential, false), rates);
        assert_eq!(stopped(try_entry(&world, &entry).await), Stop::Unverified);
    }
    let ann = world.agent("ann").holder;
    let branches = ["new/1", "new/2"].map(crate::world::branch);
    let aged = |branch| Entry {
        branch,
        head: aged(10, None),
        ..entry_of(&world, Who::Known(&ann), rates)
    };
    let stop = stopped(try_entry(&world, &aged(&branches[0])).await);
    assert!(
        matches!(
            stop,
            Stop::RefreshHead {
                commit: None,
                etag: None
            }
        ),
        "{stop:?}"
    );
    let stop = stopped(try_entry(&world, &aged(&branches[1])).await);
    assert!(
        matches!(
            stop,
            Stop::Limited {
                whose: Limited::New,
                ..
            }
        ),
        "{stop:?}"
    );
    let entry = entry_of(&world, shown(CREDENTIAL, false), rates);
    let stop = stopped(try_entry(&world, &entry).await);
    assert!(
        matches!(
            stop,
            Stop::Limited {
                whose: Limited::New,
                ..
            }
        ),
        "{stop:?}"
    );
}

fn aged(refresh_after: u32, at_most: Option<u32>) -> HeadTerms<'static> {
    HeadTerms::Aged {
        refresh_after,
        at_most,
        is_asked: false,
    }
}

impl World {
    /// Lets it be `seconds` ago that the head was looked at.
    async fn age_head(&self, seconds: i64) {
        let now = self.now().await;
        let at = (now - seconds).to_string();
        let key = keys::head(&self.repo, &self.branch);
        self.command(["HSET", &key, "checked_at", &at]).await;
    }

    async fn records(&self, commit: &str, etag: Option<&str>, is_whole: bool) {
        let commit: CommitSha = sha(commit);
        let learnt = LearntHead {
            commit: &commit,
            how: "github",
            recent: &[],
            etag,
            is_whole,
        };
        scripts::record_head(&*self.store, &self.repo, &self.branch, &learnt)
            .await
            .unwrap();
    }
}

async fn one_refreshes_an_old_head_and_the_others_go_on_with_it(world: World) {
    let ann = world.agent("ann").holder;
    let entry = |at_most| Entry {
        head: aged(10, at_most),
        ..entry_of(&world, Who::Known(&ann), Rates::NONE)
    };
    // Nothing is known: one asks, the others wait.
    let first = Stop::RefreshHead {
        commit: None,
        etag: None,
    };
    assert_eq!(stopped(try_entry(&world, &entry(None)).await), first);
    let waits = Stop::AwaitHead { retry_after_seconds: 0 };
    for _ in 0..3 {
        assert_eq!(stopped(try_entry(&world, &entry(None)).await), waits);
    }
    let ttl = world.number(["TTL", &keys::head(&world.repo, &world.branch)]).await;
    assert!(
        (1..=60).contains(&ttl),
        "a branch that may not exist is forgotten: {ttl}"
    );
    world.records(HEAD, Some("W/\"one\""), true).await;
    let ttl = world.number(["TTL", &keys::head(&world.repo, &world.branch)]).await;
    assert_eq!(ttl, -1, "one that exists is not");
    let seen = answered(try_entry(&world, &entry(None)).await);
    assert!(seen.age.unwrap() <= 2 && !seen.is_unconfirmed, "{seen:?}");

    // It is old: one asks, the others go on, but for those to whom it is too old.
    world.age_head(30).await;
    let again = Stop::RefreshHead {
        commit: Some(sha(HEAD)),
        etag: Some("W/\"one\"".to_owned()),
    };
    assert_eq!(stopped(try_entry(&world, &entry(Some(20))).await), again);
    let seen = answered(try_entry(&world, &entry(None)).await);
    assert!((30..=33).contains(&seen.age.unwrap()), "{seen:?}");
    assert_eq!(seen.commit, sha(HEAD));
    answered(try_entry(&world, &entry(Some(60))).await);
    assert_eq!(stopped(try_entry(&world, &entry(Some(20))).await), waits);
    world.records(NEXT, None, true).await;
    assert_eq!(answered(try_entry(&world, &entry(Some(20))).await).commit, sha(NEXT));
}

async fn an_etag_is_not_trusted_for_ever(world: World) {
    let ann = world.agent("ann").holder;
    let entry = Entry {
        head: aged(10, None),
        ..entry_of(&world, Who::Known(&ann), Rates::NONE)
    };
    world.records(HEAD, Some("\"one\""), true).await;
    let key = keys::head(&world.repo, &world.branch);
    let now = world.now().await;
    world.command(["HSET", &key, "read_at", &(now - 301).to_string()]).await;
    // "Not modified" says that it is still that, but is no answer in whole.
    world.records(HEAD, Some("\"one\""), false).await;
    world.age_head(11).await;
    let whole = Stop::RefreshHead {
        commit: Some(sha(HEAD)),
        etag: None,
    };
    assert_eq!(stopped(try_entry(&world, &entry).await), whole);
}

async fn while_the_source_cannot_be_asked_an_old_head_does_for_some(world: World) {
    let ann = world.agent("ann").holder;
    let entry = |at_most| Entry {
        head: aged(10, at_most),
        ..entry_of(&world, Who::Known(&ann), Rates::NONE)
    };
    let fail = async || {
        scripts::fail_head(&*world.store, &world.repo, &world.branch, 40)
            .await
            .unwrap();
    };
    stopped(try_entry(&world, &entry(None)).await);
    fail().await;
    let stop = stopped(try_entry(&world, &entry(None)).await);
    assert!(
        matches!(
            stop,
            Stop::AwaitHead {
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
    let stop = stopped(try_entry(&world, &entry(Some(20))).await);
    assert!(
        matches!(
            stop,
            Stop::AwaitHead {
                retry_after_seconds: 38..=40
            }
        ),
        "{stop:?}"
    );

    world.records(HEAD, None, true).await;
    assert!(!answered(try_entry(&world, &entry(Some(20))).await).is_unconfirmed);
    scripts::forget_head(&*world.store, &world.repo, &world.branch)
        .await
        .unwrap();
    assert_eq!(
        world.number(["EXISTS", &keys::head(&world.repo, &world.branch)]).await,
        0
    );
}

async fn what_the_store_knows_of_the_commits_is_not_asked_of_the_source(world: World) {
    world.records_head(NEXT, &[NEXT, HEAD]).await;
    let ann = world.agent("ann").holder;
    let path = [FilePath::parse("a.ts").unwrap()];
    let check = async |known: &[&str], is_asked| {
        let known: Vec<CommitSha> = known.iter().map(|commit| sha(commit)).collect();
        let entry = Entry {
            head: HeadTerms::Aged {
                refresh_after: 10,
                at_most: None,
                is_asked,
            },
            known_commits: &known,
            ..entry_of(&world, Who::Known(&ann), Rates::NONE)
        };
        let policy = NeighborPolicy::Block;
        let entered = scripts::check_status(&*world.store, &entry, &path, Claim::Writing, policy).await;
        entered.unwrap().map(|survey| survey.is_behind)
    };
    assert_eq!(check(&[NEXT], false).await, Entered::In(false));
    assert_eq!(
        check(&[HEAD], false).await,
        Entered::In(true),
        "an older commit of the branch"
    );
    assert_eq!(
        check(&[LOCAL, &HEAD[..8]], false).await,
        Entered::In(true),
        "its base is older"
    );
    let stop = stopped(check(&[LOCAL], false).await);
    assert!(
        matches!(&stop, Stop::AskSource { head, .. } if *head == sha(NEXT)),
        "{stop:?}"
    );
    assert_eq!(check(&[LOCAL], true).await, Entered::In(true));
    assert_eq!(check(&[LOCAL, NEXT], true).await, Entered::In(false));
    assert_eq!(world.events().await.len(), 1, "nothing but the head was announced");
}

async fn whether_work_was_pushed_is_asked_before_it_is_refused(world: World) {
    world.records_head(HEAD, &[HEAD]).await;
    let ann = world.agent("ann");
    ann.writes(&["a.ts"]).await;
    let message = Message::parse("Done with the parser").unwrap();
    let release = async |new_head: &str, reachable, is_asked| {
        let release = Release {
            new_head: Some(&sha(new_head)),
            reachable,
            is_abandoned: false,
            message: &message,
            paths: &[FilePath::parse("a.ts").unwrap()],
        };
        let entry = Entry {
            head: HeadTerms::Aged {
                refresh_after: 10,
                at_most: None,
                is_asked,
            },
            ..entry_of(&world, Who::Known(&ann.holder), Rates::NONE)
        };
        scripts::release(&*world.store, &entry, &release).await.unwrap()
    };
    let events = world.events().await.len();
    let stop = stopped(release(NEXT, Reachable::Unknown, false).await);
    assert!(matches!(stop, Stop::AskSource { .. }), "{stop:?}");
    assert_eq!(world.events().await.len(), events, "nothing was refused yet");
    let refused = answered(release(NEXT, Reachable::No, true).await);
    assert!(
        matches!(refused, scripts::ReleaseOutcome::NotPushed { .. }),
        "{refused:?}"
    );
    crate::world::released(answered(release(NEXT, Reachable::Yes, true).await));
}

on_every_store!(
    a_credential_is_verified_once_and_counts_for_what_it_may_do,
    a_credential_that_does_not_count_is_remembered_too,
    what_counts_in_one_repository_does_not_in_another,
    a_holder_who_asks_too_often_waits_and_others_do_not,
    a_limit_is_worked_off,
    all_holders_of_a_repository_share_a_limit,
    a_refused_question_is_not_counted,
    new_credentials_and_new_branches_share_a_limit,
    one_refreshes_an_old_head_and_the_others_go_on_with_it,
    an_etag_is_not_trusted_for_ever,
    while_the_source_cannot_be_asked_an_old_head_does_for_some,
    what_the_store_knows_of_the_commits_is_not_asked_of_the_source,
    whether_work_was_pushed_is_asked_before_it_is_refused,
);
