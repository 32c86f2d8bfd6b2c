//! Items that wait for a member, in the answer to any of its requests.

use coord_teams_state::teams::{Membership, PendingShutdown, TeamRefusal, Waiting, memberships};

use crate::world::World;
use crate::world::team::{Mate, titled};

fn unread(count: u64) -> Waiting {
    Waiting {
        unread: Some(count),
        shutdown: None,
    }
}

async fn listed(mate: &Mate<'_>) -> Vec<Membership> {
    memberships(&mate.world.repo, &mate.holder)
        .run(&*mate.world.store)
        .await
        .unwrap()
}

async fn responses_refusals_and_lock_checks_carry_the_same_waiting_notice(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a"), titled("b")]).await.unwrap();
    assert_eq!(bob.waits().await, unread(0));
    lead.sends_text(&["bob"], "one").await.unwrap();
    lead.sends_text(&[], "two").await.unwrap();
    lead.claims("t1").await.unwrap();
    let locks = world
        .agent("bob")
        .checks(coord_domain::LockMode::Writing, &["a.ts"])
        .await;
    for waiting in [
        bob.waits().await,
        bob.waits_after_claim("t1").await,
        bob.waits_after_claim("none").await,
        bob.waits_after_claim("t2").await,
        listed(&bob).await.remove(0).waiting,
        locks.waiting[0].waiting.clone(),
    ] {
        assert_eq!(waiting, unread(2));
    }
    assert_eq!(
        (locks.waiting[0].team.as_str(), locks.waiting[0].handle.as_str()),
        ("alpha", "bob")
    );
    let inbox = bob.reads(None).await.unwrap();
    assert_eq!(
        (inbox.unread, bob.waits().await),
        (2, unread(2)),
        "delivered is not read"
    );
    bob.reads(Some(1)).await.unwrap();
    assert_eq!(bob.waits().await, unread(1));
    bob.reads(Some(inbox.cursor)).await.unwrap();
    assert_eq!((bob.waits().await, lead.waits().await), (unread(0), unread(0)));
}

async fn an_open_shutdown_is_in_every_response_until_it_is_answered(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let id = lead.requests_shutdown(Some("BOB"), 60).await.unwrap().id;
    let request_of = |waiting: Waiting| {
        waiting
            .shutdown
            .map(|request: PendingShutdown| (request.id, request.by, request.target))
    };
    let expected = Some((id.clone(), "lead".to_owned(), "bob".to_owned()));
    lead.adds(&[titled("a")]).await.unwrap();
    assert_eq!(request_of(bob.waits().await), expected);
    assert_eq!(
        request_of(bob.waits_after_claim("t1").await),
        expected,
        "in the refusal, too"
    );
    assert_eq!(request_of(listed(&bob).await.remove(0).waiting), expected);
    for other in [&lead, &eve] {
        assert_eq!(request_of(other.waits().await), None);
    }
    bob.answers_shutdown(&id, Some("Not yet")).await.unwrap();
    assert_eq!(request_of(bob.waits().await), None);
    assert_eq!(request_of(listed(&bob).await.remove(0).waiting), None);
    // One of the team asks all but those that have answered.
    let id = lead.requests_shutdown(None, 60).await.unwrap().id;
    assert_eq!(request_of(lead.waits().await), None, "who asks has approved");
    eve.answers_shutdown(&id, None).await.unwrap();
    let of_eve = request_of(eve.waits().await);
    assert_eq!((of_eve, request_of(bob.waits().await).is_some()), (None, true));
}

async fn a_caller_that_is_no_member_gets_no_news(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.sends_text(&[], "hello").await.unwrap();
    let nothing = Waiting::default();
    let stranger = world.mate("mallory", "alpha");
    assert_eq!(
        (stranger.waits().await, listed(&stranger).await),
        (nothing.clone(), vec![])
    );
    assert_eq!(stranger.waits_after_claim("t1").await, nothing);
    // Neither is an agent whose handle another one has, nor who has left.
    let new = world.mate("bob/new", "alpha");
    new.joins("bob").await.unwrap();
    assert_eq!((bob.waits().await, new.waits().await), (nothing.clone(), unread(1)));
    assert!(matches!(bob.claims("t1").await, Err(TeamRefusal::Superseded { .. })));
    new.leaves().await.unwrap();
    assert_eq!((new.waits().await, listed(&new).await), (nothing, vec![]));
}

scenarios!(
    responses_refusals_and_lock_checks_carry_the_same_waiting_notice,
    an_open_shutdown_is_in_every_response_until_it_is_answered,
    a_caller_that_is_no_member_gets_no_news,
);
