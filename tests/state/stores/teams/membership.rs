//! Teams are made, joined and handed over.

use coord_state::admission::{Admitted, Denial, admit_without_head};
use coord_teams_state::teams::{JoinKind, TeamQuestion, TeamRefusal, TeamTerms, keys, list_teams, show_team};

use super::tasks::clearing;
use crate::world::team::titled;
use crate::world::{World, answered};

impl World {
    /// Fields of a hash that begin so.
    async fn number_of_fields(&self, key: &str, prefix: &str) -> usize {
        let fields = self.command(["HKEYS", key]).await;
        let names = fields.as_array().unwrap().iter();
        names.filter(|name| name.as_str().unwrap().starts_with(prefix)).count()
    }
}

async fn a_team_is_made_once_whatever_the_case_of_its_name(world: World) {
    let ann = world.mate("ann/one", "Alpha");
    ann.creates("Ann").await.unwrap();
    let again = world.mate("bob", "aLPHA");
    assert_refused!(again.creates("bob") => "Team \"aLPHA\" already exists");
    let joined = JoinKind::New {
        handle: "bob".to_owned(),
    };
    assert_eq!(again.joins("bob").await.unwrap(), joined);
    let terms = ann.terms().admission;
    let teams = admit_without_head(&*world.store, &terms, list_teams(&world.repo)).await;
    let teams = answered(teams.unwrap());
    let [summary] = &teams[..] else { panic!("{teams:?}") };
    assert_eq!((&*summary.name, &*summary.leader, summary.members), ("Alpha", "Ann", 2));
    let team = ann.shows_team().await.unwrap();
    let members = team.members.values().map(|member| {
        assert!(member.seen.is_some() && member.is_live, "{member:?}");
        (member.handle.as_str(), member.login.as_str())
    });
    assert_eq!(members.collect::<Vec<_>>(), [("Ann", "ann"), ("bob", "bob")]);
    let other = world.mate("ann/one", "beta");
    assert_refused!(other.joins("ann") => "Team \"beta\" does not exist");
}

async fn a_handle_is_one_logins_alone(world: World) {
    let (_, [bob]) = world.team_of(["bob"]).await;
    assert_refused!(bob.joins("bob") => "Agent \"bob\" is already a member of team \"alpha\"");
    assert_refused!(bob.joins("other") => "Agent \"bob\" is already a member of team \"alpha\"");
    let eve = world.mate("eve", "alpha");
    let taken = TeamRefusal::HandleTaken {
        handle: "bob".to_owned(),
        team: "alpha".to_owned(),
    };
    assert_eq!(eve.joins("BOB").await, Err(taken));
    assert_refused!(eve.sends_text(&["bob"], "hi") => "\"eve\" is not a member of team \"alpha\"");
}

async fn a_restarted_agent_keeps_its_inbox_and_tasks(world: World) {
    let (lead, []) = world.team_of([]).await;
    let old = world.mate("bob/old", "alpha");
    old.joins("bob").await.unwrap();
    lead.adds(&[titled("a")]).await.unwrap();
    old.claims("t1").await.unwrap();
    lead.sends_text(&["bob"], "for bob").await.unwrap();
    let new = world.mate("bob/new", "alpha");
    let taken_over = JoinKind::TakenOver {
        handle: "bob".to_owned(),
        from: "old".to_owned(),
    };
    assert_eq!(new.joins("Bob").await.unwrap(), taken_over);
    assert_eq!(new.inbox().await.messages[0].message, "for bob");
    new.completes("t1").await.unwrap();
    // And back again.
    old.joins("bob").await.unwrap();
    old.inbox().await;
    assert_refused!(new.reads(None) => Superseded);
    for number in 0..10 {
        let agent = world.mate(&format!("bob/n{number}"), "alpha");
        agent.joins("bob").await.unwrap();
    }
    // The agent, and the 8 before.
    let team = keys::team(&world.repo, &lead.team);
    assert_eq!(world.number_of_fields(&team, "@bob").await, 9);
}

async fn the_leader_hands_over_and_alone_may(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    assert_refused!(bob.hands_over("eve") => "Only \"lead\", the leader of team \"alpha\", may do this");
    assert_refused!(lead.hands_over("ghost") => "Recipient \"ghost\" is not a member of team \"alpha\"");
    assert_refused!(lead.leaves() => LeaderStays);
    assert_eq!(lead.hands_over("BOB").await.unwrap(), "bob");
    assert_eq!(lead.leaves().await.unwrap(), [""; 0]);
    assert_refused!(eve.hands_over("eve") => NotLeader);
    let events = world.events().await;
    let change = |(_, event): &(_, serde_json::Value)| event["change"].as_str().unwrap_or_default().to_owned();
    let changes: Vec<String> = events.iter().map(change).collect();
    assert_eq!(changes, ["created", "joined", "joined", "handed_over", "left"]);
}

async fn a_repository_has_100_teams(world: World) {
    for number in 0..100 {
        let login = format!("ann-{}", number / 20);
        world.mate(&login, &format!("t{number}")).creates("ann").await.unwrap();
    }
    let more = world.mate("bob", "more");
    assert_refused!(more.creates("ann") => "There can be no more than 100 teams");
    world.mate("ann-0", "t7").deletes_team().await.unwrap();
    more.creates("ann").await.unwrap();
    assert_eq!(world.number_of_fields(&keys::members(&world.repo), "t7/").await, 0);
}

/// One login could make all teams of a repository, and nobody else could delete them.
async fn a_login_makes_20_of_the_teams_of_a_repository_by_whatever_agents(world: World) {
    for number in 0..20 {
        let (agent, team) = (format!("ann/a{number}"), format!("t{number}"));
        world.mate(&agent, &team).creates("ann").await.unwrap();
    }
    let more = world.mate("ann/other", "more");
    assert_refused!(more.creates("ann") => "There can be no more than 20 teams made by one login");
    world.mate("bob", "more").creates("bob").await.unwrap();
    // One that it leads without having made it does not count, and one that it has made does, whoever leads it.
    let handed = world.mate("ann/a3", "t3");
    world.mate("bob", "t3").joins("bob").await.unwrap();
    handed.hands_over("bob").await.unwrap();
    let last = world.mate("ann/other", "last");
    assert!(last.creates("ann").await.is_err());
    world.mate("ann/a4", "t4").deletes_team().await.unwrap();
    last.creates("ann").await.unwrap();
}

/// 999 joins of one login under changing agents filled a team.
async fn a_login_has_200_of_the_members_of_a_team(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    for number in 1..200 {
        let agent = world.mate(&format!("bob/{number}"), "alpha");
        agent.joins(&format!("bob-{number}")).await.unwrap();
    }
    let more = world.mate("bob/more", "alpha");
    assert_refused!(more.joins("more") => "There can be no more than 200 members of one login");
    world.mate("eve", "alpha").joins("eve").await.unwrap();
    // Another agent may go on as one of them, and what leaves makes room.
    world.mate("bob/again", "alpha").joins("bob-7").await.unwrap();
    bob.leaves().await.unwrap();
    more.joins("more").await.unwrap();
    lead.inbox().await;
}

/// Stores the team `alpha` as if it had been made, and its members seen, that many days ago.
async fn was_left_for(world: &World, days: f64, handles: &[&str]) {
    let team = world.mate("x", "alpha").team;
    let time = world.now().await * 1000 - (days * 86_400_000.0) as i64;
    let edit = |team: &mut serde_json::Value| team["created"] = time.into();
    world.edit_json(&keys::team(&world.repo, &team), "team", edit).await;
    let seen = keys::seen(&world.repo, &team);
    for handle in handles {
        world.command(["HSET", &seen, handle, &time.to_string()]).await;
    }
}

async fn any_caller_with_push_rights_deletes_a_team_idle_for_two_weeks(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    let other = world.mate("other", "alpha");
    was_left_for(&world, 13.9, &["lead", "bob"]).await;
    assert_refused!(other.deletes_team() => NotAMember);
    was_left_for(&world, 14.1, &["lead"]).await;
    assert!(other.deletes_team().await.is_err(), "bob was seen");
    was_left_for(&world, 14.1, &["bob"]).await;
    other.deletes_team().await.unwrap();
    for mate in [&lead, &bob] {
        assert_refused!(mate.reads(None) => NoTeam);
    }
    assert_eq!(world.number(["EXISTS", &keys::members(&world.repo)]).await, 0);
    // A member that is not the leader may, too: to ask is not to be seen.
    let (_, [bob]) = world.team_of(["bob"]).await;
    was_left_for(&world, 14.1, &["lead", "bob"]).await;
    bob.deletes_team().await.unwrap();
}

/// A handle that is free again was all that the rights of its former member were bound to.
async fn a_freed_handle_carries_no_rights_of_the_earlier_login(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    bob.adds(&["a", "b"].map(titled)).await.unwrap();
    bob.claims("t1").await.unwrap();
    bob.expire_claim("t1").await;
    bob.leaves().await.unwrap();
    let mallory = world.mate("mallory", "alpha");
    mallory.joins("bob").await.unwrap();
    assert_refused!(mallory.updates("t2", &clearing()) => NotCreator);
    assert_refused!(mallory.assigns("t2", Some("bob")) => NotCreator);
    // The expired claim is the earlier login's.
    assert_refused!(mallory.completes("t1") => NotOwner);
    assert_refused!(mallory.completes_with("t1", Some(1), "") => ClaimLost);
    // The leader has them, and so has the login once it is back.
    lead.updates("t2", &clearing()).await.unwrap();
    mallory.leaves().await.unwrap();
    bob.joins("bob").await.unwrap();
    bob.updates("t2", &clearing()).await.unwrap();
    bob.completes("t1").await.unwrap();
}

async fn a_team_that_is_assumed_has_to_be_the_only_one_of_the_caller(world: World) {
    let (_, [bob]) = world.team_of(["bob"]).await;
    let asks = async || {
        let terms = TeamTerms {
            is_assumed: true,
            ..bob.terms()
        };
        match show_team(&*world.store, &terms).await.unwrap() {
            Admitted::Outcome(Ok((team, _))) => Ok(team.name),
            Admitted::Denied(Denial::Question(question)) => {
                let question = question.of_extension::<TeamQuestion>(TeamQuestion::NAME).unwrap();
                Err(question.handles.into_iter().collect::<Vec<_>>())
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(asks().await.as_deref(), Ok("alpha"));
    let pair = |team: &str, handle: &str| (team.to_owned(), handle.to_owned());
    let beta = world.mate("bob", "Beta");
    beta.creates("Robert").await.unwrap();
    assert_eq!(asks().await, Err(vec![pair("alpha", "bob"), pair("beta", "Robert")]));
    bob.leaves().await.unwrap();
    assert_eq!(asks().await, Err(vec![pair("beta", "Robert")]));
    beta.deletes_team().await.unwrap();
    assert_eq!(asks().await, Err(Vec::new()));
}

scenarios!(
    a_team_that_is_assumed_has_to_be_the_only_one_of_the_caller,
    a_freed_handle_carries_no_rights_of_the_earlier_login,
    a_team_is_made_once_whatever_the_case_of_its_name,
    a_handle_is_one_logins_alone,
    a_restarted_agent_keeps_its_inbox_and_tasks,
    the_leader_hands_over_and_alone_may,
    a_repository_has_100_teams,
    a_login_makes_20_of_the_teams_of_a_repository_by_whatever_agents,
    a_login_has_200_of_the_members_of_a_team,
    any_caller_with_push_rights_deletes_a_team_idle_for_two_weeks,
);
