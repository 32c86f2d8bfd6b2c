//! The cost of claims, checks and releases toward a limit, and which go first.

use std::collections::BTreeMap;

use coord_settings::Rates;
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, Denial, HeadTerms, admit_without_head};
use coord_state::locks::live_locks;
use coord_teams_state::tasks::{NewTask, TaskFilter, TaskReference, create_tasks, list_tasks};
use coord_teams_state::teams::{RequestKey, TeamTerms, show_team};

use crate::stores::admission::{abandon_once, check_once, claim_once, entry_of};
use crate::stores::limits::{counts, of_holder, of_person, of_repository, rate};
use crate::world::team::{Mate, titled};
use crate::world::{HEAD, World, files, sha};

/// Returns the outcome of a request: whether it was allowed, or whose limit was met.
fn came<T>(admitted: &Admitted<T>) -> String {
    match admitted {
        Admitted::Denied(Denial::Limited { whose, .. }) => format!("{whose:?}"),
        Admitted::Outcome(_) => "in".to_owned(),
        Admitted::Denied(stop) => panic!("{stop:?}"),
    }
}

impl World {
    /// A claim of one agent, with limits.
    async fn claims_within(&self, name: &str, rates: Rates, paths: &[&str]) -> String {
        let (holder, head) = (self.agent(name).holder, sha(HEAD));
        let entry = AdmissionTerms {
            head: HeadTerms::Fetched(&head),
            known_commits: std::slice::from_ref(&head),
            ..entry_of(self, &holder, rates)
        };
        came(&claim_once(self, &entry, &head, paths).await.unwrap())
    }

    async fn releases_within(&self, name: &str, rates: Rates, path: &str) -> String {
        let (holder, head) = (self.agent(name).holder, sha(HEAD));
        let entry = AdmissionTerms {
            head: HeadTerms::Fetched(&head),
            ..entry_of(self, &holder, rates)
        };
        came(&abandon_once(self, &entry, &head, &[path]).await.unwrap())
    }

    /// A check of so many files.
    pub(super) async fn checks_within(&self, name: &str, rates: Rates, count: usize) -> String {
        let holder = self.agent(name).holder;
        let entry = entry_of(self, &holder, rates);
        came(&check_once(self, &entry, &files("src", count)).await.unwrap())
    }
}

/// The terms of a mate's request, with limits.
fn terms_within<'a>(mate: &'a Mate<'_>, rates: Rates) -> TeamTerms<'a> {
    let mut terms = mate.terms();
    terms.admission.rates = rates;
    terms
}

// rule: http#limits
async fn all_agents_of_a_person_share_a_limit_however_many_they_are(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(2),
        person: rate(5),
        ..of_repository(100)
    };
    let mut seen = BTreeMap::new();
    for number in 0..40 {
        let came = world.checks_within(&format!("ann/{number}"), rates, 1).await;
        *seen.entry(came).or_insert(0) += 1;
    }
    assert_eq!(seen, counts([("in", 5), ("Person", 35)]));
    assert_eq!(world.checks_within("bob", rates, 1).await, "in");
    // The memory of agents is bounded.
    let plenty = Rates {
        person: rate(1_000),
        ..of_holder(2)
    };
    for number in 0..40 {
        world.checks_within(&format!("cem/{number}"), plenty, 1).await;
    }
    assert_eq!(world.checks_within("cem/39", plenty, 1).await, "in");
    assert_eq!(world.checks_within("cem/39", plenty, 1).await, "Holder");
    let key = state::admission::keys::limit(&world.repo, &coord_store::script::sha1_hex("cem"));
    let stored = world.command(["GET", &key]).await;
    assert_eq!(stored.as_str().unwrap().split(',').count(), 17, "{stored:?}");
}

async fn claims_go_before_reads(world: World) {
    for rates in [of_repository(4), of_person(4), of_holder(4)] {
        let world = world.beside();
        world.records_head(HEAD, &[]).await;
        for _ in 0..4 {
            assert_eq!(world.checks_within("ann", rates, 1).await, "in");
        }
        assert_ne!(world.checks_within("ann", rates, 1).await, "in");
        assert_eq!(world.claims_within("ann", rates, &["a.ts"]).await, "in");
        assert_eq!(world.claims_within("ann", rates, &["b.ts"]).await, "in");
        assert_ne!(world.claims_within("ann", rates, &["c.ts"]).await, "in");
        assert_ne!(world.checks_within("ann", rates, 1).await, "in");
    }
}

async fn a_claim_passes_as_a_renewal_only_where_all_of_it_is_held(world: World) {
    world.records_head(HEAD, &[]).await;
    let claim = async |name: &str, paths: &[&str]| world.claims_within(name, of_repository(4), paths).await;
    assert_eq!(claim("ann", &["a.ts"]).await, "in");
    while claim("bob", &["a.ts"]).await == "in" {}
    assert_eq!(claim("ann", &["d.ts"]).await, "Repository");
    assert_eq!(claim("ann", &["a.ts", "d.ts"]).await, "Repository");
    assert_eq!(claim("ann/two", &["a.ts"]).await, "Repository");
    assert!(world.stored("d.ts").await.is_empty());
    assert_eq!(claim("ann", &["a.ts"]).await, "in");
    world.expire_locks(&["a.ts"]).await;
    assert_eq!(claim("ann", &["a.ts"]).await, "Repository");
}

// rule: http#limits
async fn a_lock_is_renewed_and_released_while_others_use_up_their_rates(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(4),
        person: rate(4),
        ..of_repository(9)
    };
    assert_eq!(world.claims_within("ann", rates, &["a.ts"]).await, "in");
    for name in ["bob", "cem", "dan", "ann/two"] {
        while world.checks_within(name, rates, 1).await == "in" {}
        while world.claims_within(name, rates, &["b.ts", "c.ts"]).await == "in" {}
    }
    assert_ne!(world.claims_within("ann", rates, &["d.ts"]).await, "in");
    assert_eq!(world.claims_within("ann", rates, &["a.ts"]).await, "in");
    assert_eq!(world.releases_within("ann", rates, "a.ts").await, "in");
}

async fn the_cost_of_a_request_follows_from_its_paths(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = of_repository(20);
    // 16 for 512 files, 1 for up to 32.
    assert_eq!(world.checks_within("ann", rates, 512).await, "in");
    assert_eq!(world.checks_within("ann", rates, 512).await, "Repository");
    for _ in 0..4 {
        assert_eq!(world.checks_within("ann", rates, 32).await, "in");
    }
    assert_eq!(world.checks_within("ann", rates, 1).await, "Repository");
    // However small the limit, the largest request is allowed at some time.
    let other = world.beside();
    other.records_head(HEAD, &[]).await;
    assert_eq!(other.checks_within("ann", of_repository(2), 512).await, "in");
}

async fn a_list_looks_at_500_tasks_for_the_price_of_a_request(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    for _ in 0..6 {
        let tasks: Vec<NewTask> = (0..200).map(|number| titled(&format!("Task {number}"))).collect();
        lead.adds(&tasks).await.unwrap();
    }
    let terms = terms_within(&bob, of_holder(3));
    let filter = TaskFilter {
        text: "in no title",
        ..TaskFilter::default()
    };
    let mut ends = Vec::new();
    for after in [0, 500, 1_000] {
        match list_tasks(&*world.store, &terms, after, 500, &filter).await.unwrap() {
            Admitted::Outcome(Ok((page, _))) => ends.push(page.next),
            other => panic!("{other:?} after {after}"),
        }
    }
    assert_eq!(ends, [Some(500), Some(1_000), None]);
    let denied = list_tasks(&*world.store, &terms, 0, 500, &filter).await.unwrap();
    assert_eq!(came(&denied), "Holder");
    let all = lead.lists(0, 500, &TaskFilter::default()).await.unwrap();
    assert_eq!(
        (all.tasks.len(), all.next),
        (250, Some(250)),
        "what a run returns is bounded, too"
    );
}

async fn work_that_is_found_to_be_long_counts_as_further_requests(world: World) {
    let names: [&str; 99] = std::array::from_fn(|number| &*Box::leak(format!("m{number}").into_boxed_str()));
    let (lead, _) = world.team_of(names).await;
    let admitted = async |rates: Rates| {
        let terms = terms_within(&lead, rates);
        let mut count = 0;
        while let Admitted::Outcome(_) = show_team(&*world.store, &terms).await.unwrap() {
            count += 1;
            assert!(count < 10, "nothing is counted");
        }
        count
    };
    // 100 members count as one more: two of each, where three are allowed. The second is admitted with the third.
    assert_eq!(admitted(of_holder(3)).await, 2);
    // A request that was counted before, and is run again after a question, is still charged.
    let counted = terms_within(&lead, of_person(3).of_counted());
    for _ in 0..3 {
        assert_eq!(came(&show_team(&*world.store, &counted).await.unwrap()), "in");
    }
    assert_eq!(admitted(of_person(3)).await, 0);
}

async fn a_read_of_all_locks_counts_by_their_number(world: World) {
    world.records_head(HEAD, &[]).await;
    world.agent("bob").writes(&files("src", 500)).await;
    let ann = world.agent("ann").holder;
    let terms = AdmissionTerms {
        head: HeadTerms::Any,
        ..entry_of(&world, &ann, of_person(3))
    };
    for (outcome, why) in [("in", "the first"), ("Person", "each counts as two")] {
        let read = admit_without_head(&*world.store, &terms, live_locks(&world.repo)).await;
        assert_eq!(came(&read.unwrap()), outcome, "{why}");
    }
}

async fn new_tasks_cost_by_their_number_and_that_of_their_dependencies(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let adds = async |mate: &Mate<'_>, tasks: &[NewTask], burst: u32| {
        let terms = terms_within(mate, of_holder(burst));
        came(
            &create_tasks(&*world.store, &terms, RequestKey::NONE, tasks)
                .await
                .unwrap(),
        )
    };
    // Two for 64 tasks.
    let plain: Vec<NewTask> = (0..64).map(|_| titled("a")).collect();
    for came in ["in", "in", "Holder"] {
        assert_eq!(adds(&lead, &plain, 5).await, came);
    }
    assert_eq!(adds(&lead, &plain[..32], 5).await, "in");
    let depends: Vec<NewTask> = (0..64)
        .map(|place| NewTask {
            dependencies: (0..place).map(TaskReference::New).collect(),
            ..titled("b")
        })
        .collect();
    // Four for 64 tasks with 2,016 dependencies, which cost as much as 63 more.
    for came in ["in", "Holder"] {
        assert_eq!(adds(&bob, &depends, 7).await, came);
    }
    assert_eq!(adds(&bob, &plain, 7).await, "in");
}

on_every_store!(
    new_tasks_cost_by_their_number_and_that_of_their_dependencies,
    all_agents_of_a_person_share_a_limit_however_many_they_are,
    claims_go_before_reads,
    a_claim_passes_as_a_renewal_only_where_all_of_it_is_held,
    a_lock_is_renewed_and_released_while_others_use_up_their_rates,
    the_cost_of_a_request_follows_from_its_paths,
    a_list_looks_at_500_tasks_for_the_price_of_a_request,
    work_that_is_found_to_be_long_counts_as_further_requests,
    a_read_of_all_locks_counts_by_their_number,
);
