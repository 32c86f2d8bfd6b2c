//! The cost of claims, checks and releases toward a limit, and which go first.

use std::collections::BTreeMap;

use coord_domain::{FilePath, LockMode, LockReason, NeighborPolicy};
use coord_settings::Rates;
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, Denial, HeadTerms, LimitSubject, admit_without_head};
use coord_state::locks::{ClaimTerms, GateTerms, PolicyTerms, Release, live_locks};
use coord_teams_state::tasks::{NewTask, TaskFilter, TaskReference, list_tasks};
use coord_teams_state::teams::{RequestKey, TeamTerms, show_team};

use crate::stores::admission::entry_of;
use crate::stores::limits::{counts, rate};
use crate::world::team::{Mate, titled};
use crate::world::{HEAD, World, sha};

/// Returns the outcome of a request: whether it was allowed, or whose limit was met.
fn came<T: std::fmt::Debug>(admitted: &Admitted<T>) -> String {
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
        let known = [head.clone()];
        let entry = AdmissionTerms {
            head: HeadTerms::Fetched(&head),
            known_commits: &known,
            ..entry_of(self, &holder, rates)
        };
        let paths: Vec<FilePath> = paths.iter().map(|path| FilePath::parse(path).unwrap()).collect();
        let wanted = ClaimTerms {
            claim: LockMode::Writing,
            policy: &PolicyTerms::of(NeighborPolicy::Block),
            agent_head: &head,
            message: &LockReason::parse("Rewriting the parser").unwrap(),
            ttl_seconds: 300,
            wait_seconds: 0,
            claimed: &self.claimed,
            take_over: None,
            paths: &paths,
            gate: GateTerms::NONE,
        };
        came(&state::locks::claim(&*self.store, &entry, &wanted).await.unwrap())
    }

    async fn releases_within(&self, name: &str, rates: Rates, path: &str) -> String {
        let (holder, head) = (self.agent(name).holder, sha(HEAD));
        let entry = AdmissionTerms {
            head: HeadTerms::Fetched(&head),
            ..entry_of(self, &holder, rates)
        };
        let release = Release {
            new_head: None,
            agent_head: &head,
            is_abandoned: true,
            message: &LockReason::parse("Throwing it away").unwrap(),
            paths: &[FilePath::parse(path).unwrap()],
            can_ask: false,
            judged_files: &[],
        };
        came(&state::locks::release(&*self.store, &entry, &release).await.unwrap())
    }

    pub(super) async fn checks_within(&self, name: &str, rates: Rates, paths: usize) -> String {
        let holder = self.agent(name).holder;
        let entry = entry_of(self, &holder, rates);
        let paths: Vec<FilePath> = (0..paths)
            .map(|number| FilePath::parse(&format!("{number}.ts")).unwrap())
            .collect();
        let policy = PolicyTerms::of(NeighborPolicy::Block);
        let checked = state::locks::check_status(
            &*self.store,
            &entry,
            &paths,
            LockMode::Writing,
            &policy,
            &GateTerms::NONE,
        );
        came(&checked.await.unwrap())
    }
}

// rule: http#limits
async fn all_agents_of_a_person_share_a_limit_however_many_they_are(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(2),
        person: rate(5),
        repository: rate(100),
        ..Rates::NONE
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
        holder: rate(2),
        person: rate(1_000),
        ..Rates::NONE
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
    world.records_head(HEAD, &[]).await;
    for rates in [
        Rates {
            repository: rate(4),
            ..Rates::NONE
        },
        Rates {
            person: rate(4),
            ..Rates::NONE
        },
        Rates {
            holder: rate(4),
            ..Rates::NONE
        },
    ] {
        let world = World::over(world.store.clone(), None);
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
    let rates = Rates {
        repository: rate(4),
        ..Rates::NONE
    };
    assert_eq!(world.claims_within("ann", rates, &["a.ts"]).await, "in");
    while world.claims_within("bob", rates, &["a.ts"]).await == "in" {}
    assert_eq!(world.claims_within("ann", rates, &["d.ts"]).await, "Repository");
    assert_eq!(world.claims_within("ann", rates, &["a.ts", "d.ts"]).await, "Repository");
    assert_eq!(world.claims_within("ann/two", rates, &["a.ts"]).await, "Repository");
    assert!(world.stored("d.ts").await.is_empty());
    assert_eq!(world.claims_within("ann", rates, &["a.ts"]).await, "in");
    world.expire_locks(&["a.ts"]).await;
    assert_eq!(world.claims_within("ann", rates, &["a.ts"]).await, "Repository");
}

// rule: http#limits
async fn a_lock_is_renewed_and_released_while_others_use_up_their_rates(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(4),
        person: rate(4),
        repository: rate(9),
        ..Rates::NONE
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
    let rates = Rates {
        repository: rate(20),
        ..Rates::NONE
    };
    // 16 for 512 files, 1 for up to 32.
    assert_eq!(world.checks_within("ann", rates, 512).await, "in");
    assert_eq!(world.checks_within("ann", rates, 512).await, "Repository");
    for _ in 0..4 {
        assert_eq!(world.checks_within("ann", rates, 32).await, "in");
    }
    assert_eq!(world.checks_within("ann", rates, 1).await, "Repository");
    // However small the limit, the largest request is allowed at some time.
    let other = World::over(world.store.clone(), None);
    other.records_head(HEAD, &[]).await;
    let small = Rates {
        repository: rate(2),
        ..Rates::NONE
    };
    assert_eq!(other.checks_within("ann", small, 512).await, "in");
}

async fn a_list_looks_at_500_tasks_for_the_price_of_a_request(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    for _ in 0..6 {
        let tasks: Vec<NewTask> = (0..200).map(|number| titled(&format!("Task {number}"))).collect();
        lead.adds(&tasks).await.unwrap();
    }
    let terms = TeamTerms {
        admission: AdmissionTerms {
            rates: Rates {
                holder: rate(3),
                ..Rates::NONE
            },
            ..bob.terms().admission
        },
        ..bob.terms()
    };
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
    assert!(
        matches!(
            denied,
            Admitted::Denied(Denial::Limited {
                whose: LimitSubject::Holder,
                ..
            })
        ),
        "{denied:?}"
    );
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
        let terms = TeamTerms {
            admission: AdmissionTerms {
                rates,
                ..lead.terms().admission
            },
            ..lead.terms()
        };
        let mut count = 0;
        while let Admitted::Outcome(_) = show_team(&*world.store, &terms).await.unwrap() {
            count += 1;
            assert!(count < 10, "nothing is counted");
        }
        count
    };
    let of_three = Rates {
        holder: rate(3),
        ..Rates::NONE
    };
    // 100 members count as one more: two of each, where three are allowed. The second is admitted with the third.
    assert_eq!(admitted(of_three).await, 2);
    // A request that was counted before, and is run again after a question, is still charged.
    let of_person = Rates {
        person: rate(3),
        ..Rates::NONE
    };
    let counted = TeamTerms {
        admission: AdmissionTerms {
            rates: of_person.of_counted(),
            ..lead.terms().admission
        },
        ..lead.terms()
    };
    for _ in 0..3 {
        assert!(matches!(
            show_team(&*world.store, &counted).await.unwrap(),
            Admitted::Outcome(_)
        ));
    }
    assert_eq!(admitted(of_person).await, 0);
}

async fn a_read_of_all_locks_counts_by_their_number(world: World) {
    world.records_head(HEAD, &[]).await;
    let files: Vec<String> = (0..500).map(|number| format!("src/{number}.ts")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    assert_eq!(world.claims_within("bob", Rates::NONE, &files).await, "in");
    let ann = world.agent("ann").holder;
    let rates = Rates {
        person: rate(3),
        ..Rates::NONE
    };
    let terms = AdmissionTerms {
        head: HeadTerms::Any,
        ..entry_of(&world, &ann, rates)
    };
    let read = async || {
        admit_without_head(&*world.store, &terms, live_locks(&world.repo))
            .await
            .unwrap()
    };
    assert!(matches!(read().await, Admitted::Outcome(_)));
    assert!(
        matches!(read().await, Admitted::Denied(Denial::Limited { .. })),
        "each counts as two"
    );
}

async fn new_tasks_cost_by_their_number_and_that_of_their_dependencies(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let adds = async |mate: &Mate<'_>, tasks: &[NewTask], burst: u32| {
        let terms = TeamTerms {
            admission: AdmissionTerms {
                rates: Rates {
                    holder: rate(burst),
                    ..Rates::NONE
                },
                ..mate.terms().admission
            },
            ..mate.terms()
        };
        let created = coord_teams_state::tasks::create_tasks(&*world.store, &terms, RequestKey::NONE, tasks).await;
        came(&created.unwrap())
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
