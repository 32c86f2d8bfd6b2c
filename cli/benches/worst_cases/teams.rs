//! The most expensive requests of teams: large graphs of tasks, and a forced end.

use std::time::Instant;

use coord_domain::team::{Handle, TaskId, TeamName};
use coord_domain::{Branch, Holder, RepoId, UserId};
use coord_settings::Rates;
use coord_state::admission::{AdmissionTerms, Admitted, HeadTerms, USES_EVERYTHING};
use coord_store::{Request, Store};
use coord_teams_state::tasks::{ClaimedFiles, NewTask, ReleasedFiles, TaskChanges, TaskClaim, TaskEnd, TaskReference};
use coord_teams_state::teams::{NewMember, RequestKey, TeamRefusal, TeamTerms, create_team, join_team};
use coord_teams_state::{departures, tasks};
use coord_test_support::process::processor_time;

use crate::run::Measurement;

/// The operation to measure, with the state that it needs.
#[derive(Clone, Copy, Debug)]
pub enum Case {
    /// The task on which 10,000 depend is completed.
    Cascade,
    /// The ends of a chain of 10,000 are joined.
    Cycle,
    /// 200 new tasks, on each of which 20 others come to depend: as many dependencies as one request may add.
    NewTasks,
    /// A team of 50 members and their leader, with 20 claims each, is closed by force: as many as one run of the script ends.
    Forced,
}

impl Case {
    pub const ALL: [Case; 4] = [Case::Cascade, Case::Cycle, Case::NewTasks, Case::Forced];

    pub fn name(self) -> &'static str {
        match self {
            Case::Cascade => "team: completion of a task on which 10,000 depend",
            Case::Cycle => "team: a cycle over 10,000 tasks",
            Case::NewTasks => "team: 200 new tasks on which 20 of 10,000 come to depend each",
            Case::Forced => "team: one run of a shutdown by force, 50 members with 1,000 claims",
        }
    }
}

struct Team<'a> {
    store: &'a dyn Store,
    repo: RepoId,
    name: TeamName,
    branch: Branch,
}

fn person(number: usize) -> Holder {
    Holder {
        user_id: UserId::parse(&format!("person{number}")).expect("a login"),
        user_name: "Mona Lisa".to_owned(),
        agent_id: None,
    }
}

fn handle(number: usize) -> Handle {
    Handle::parse(&format!("h{number}")).expect("a handle")
}

fn id(number: usize) -> TaskId {
    TaskId::parse(&format!("t{number}")).expect("an id")
}

fn titled() -> NewTask {
    NewTask {
        title: "Rework the session handling so that it uses tokens".to_owned(),
        ..NewTask::default()
    }
}

/// Runs a call of the state as this person; the rules must accept it, or the result is what they say.
macro_rules! ask {
    ($team:expr, $person:expr, $call:path $(, $argument:expr)* $(,)?) => {{
        let holder = person($person);
        let terms = $team.terms(&holder);
        match $call($team.store, &terms $(, $argument)*).await.expect("an answer") {
            Admitted::Outcome(Ok((outcome, _))) => Ok(outcome),
            Admitted::Outcome(Err(refused)) => Err(refused.refusal),
            Admitted::Denied(denial) => panic!("{denial:?}"),
        }
    }};
}

impl Team<'_> {
    fn terms<'t>(&'t self, holder: &'t Holder) -> TeamTerms<'t> {
        TeamTerms {
            admission: AdmissionTerms {
                work_branch: None,
                repo: &self.repo,
                branch: &self.branch,
                holder,
                rates: Rates::NONE,
                head: HeadTerms::Any,
                known_commits: &[],
                uses: &USES_EVERYTHING,
            },
            team: &self.name,
            is_assumed: false,
        }
    }

    /// The team, led by the first of its members.
    async fn begins(&self, members: usize) {
        for number in 0..members {
            let member = NewMember {
                handle: &handle(number),
                name: "worker",
                kind: "agent",
            };
            if number == 0 {
                ask!(self, number, create_team, &member, false, "").expect("a new team");
            } else {
                ask!(self, number, join_team, &member).expect("a new member");
            }
        }
    }

    /// Adds tasks in one order, `new` by their numbers; 200 at a time.
    async fn adds(&self, numbers: std::ops::Range<usize>, new: impl Fn(usize) -> NewTask) {
        let all: Vec<usize> = numbers.collect();
        for some in all.chunks(200) {
            let some: Vec<NewTask> = some.iter().map(|number| new(*number)).collect();
            ask!(self, 0, tasks::create_tasks, RequestKey::NONE, &some).expect("new tasks");
        }
    }

    /// The members claim 20 tasks each.
    async fn claim_all(&self, members: usize, each: usize) {
        self.adds(0..members * each, |_| titled()).await;
        for number in 0..members {
            for _ in 0..each {
                let next = ask!(
                    self,
                    number,
                    tasks::next_task,
                    RequestKey::NONE,
                    900,
                    &[],
                    &ClaimedFiles::Unchanged
                )
                .expect("the next task");
                assert!(matches!(next, TaskClaim::Claimed(_)));
            }
        }
    }

    async fn prepare(&self, case: Case) {
        let after = |dependencies: Vec<usize>| NewTask {
            dependencies: dependencies
                .into_iter()
                .map(|number| TaskReference::Task(id(number)))
                .collect(),
            ..titled()
        };
        self.begins(if matches!(case, Case::Forced) { 51 } else { 2 }).await;
        match case {
            Case::Cascade => {
                self.adds(1..2, |_| titled()).await;
                self.adds(2..10_002, |_| after(vec![1])).await;
                ask!(self, 0, tasks::claim_task, &id(1), 900, &ClaimedFiles::Unchanged).expect("claimed");
            }
            Case::Cycle => {
                // Of 200 tasks of a request, each names the one before.
                let link = |number: usize| match (number - 1) % 200 {
                    0 if number == 1 => titled(),
                    0 => after(vec![number - 1]),
                    place => NewTask {
                        dependencies: vec![TaskReference::New(place - 1)],
                        ..titled()
                    },
                };
                self.adds(1..10_001, link).await;
            }
            Case::NewTasks => self.adds(1..10_001, |_| titled()).await,
            Case::Forced => {
                self.claim_all(51, 20).await;
                ask!(self, 0, departures::request_shutdown, None, "The day is over", 0).expect("a shutdown");
            }
        }
    }

    /// The outcome, in a word.
    async fn act(&self, case: Case) -> String {
        match case {
            Case::Cascade => {
                let release = &ReleasedFiles::Unchanged;
                let done = ask!(self, 0, tasks::complete_task, &id(1), None, "Done", release).expect("completed");
                let TaskEnd::Completed(done) = done else {
                    panic!("{done:?}");
                };
                format!("{} became ready", done.unblocked.count)
            }
            Case::Cycle => {
                let changes = TaskChanges {
                    dependencies: Some(vec![id(10_000)]),
                    ..TaskChanges::default()
                };
                match ask!(self, 0, tasks::update_task, &id(1), &changes) {
                    Ok(_) => "changed".to_owned(),
                    Err(refusal @ TeamRefusal::TooMany { .. }) => refusal.to_string(),
                    Err(refusal) => format!("{} tasks in the cycle", refusal.to_string().matches(" -> ").count()),
                }
            }
            Case::NewTasks => {
                let new: Vec<NewTask> = (0..200)
                    .map(|number| NewTask {
                        blocks: (1..21)
                            .map(|place| TaskReference::Task(id(20 * number + place)))
                            .collect(),
                        ..titled()
                    })
                    .collect();
                match ask!(self, 0, tasks::create_tasks, RequestKey::NONE, &new) {
                    Ok(created) => format!("{} tasks", created.ids.len()),
                    Err(refusal) => refusal.to_string(),
                }
            }
            Case::Forced => {
                let step = ask!(self, 0, departures::force_shutdown, "s1").expect("closed");
                format!("{} tasks given back", step.given_back.len())
            }
        }
    }
}

pub async fn measure(store: &dyn Store, process: u32, case: Case, rounds: usize) -> Measurement {
    let (mut times, mut processor, mut outcome) = (Vec::new(), Vec::new(), String::new());
    let mut prepared = None;
    // A refused request leaves the state as it was.
    let is_reading = matches!(case, Case::Cycle);
    // A case that changes the state uses a new team each time. The first round of the others loads the script.
    for round in usize::from(!is_reading)..=rounds {
        if prepared.is_none() || !is_reading {
            let team = Team {
                store,
                repo: RepoId::parse(&format!("https://github.com/acme/{case:?}{round}")).expect("a repository"),
                name: TeamName::parse("alpha").expect("a name"),
                branch: Branch::parse("main").expect("a branch"),
            };
            team.prepare(case).await;
            prepared = Some(team);
        }
        let Some(team) = &prepared else { continue };
        let (begin, before) = (Instant::now(), processor_time(process));
        outcome = team.act(case).await;
        if round > 0 {
            times.push(begin.elapsed());
            processor.extend(before.and_then(|before| processor_time(process)?.checked_sub(before)));
        }
        if !is_reading {
            forget(team).await;
        }
    }
    Measurement::of(times, processor, outcome)
}

/// Removes the team, so that the store does not grow from round to round.
async fn forget(team: &Team<'_>) {
    let pattern = format!("*{{{}}}*", team.repo.as_str());
    let names = team.store.run(vec![Request::command(["KEYS", &pattern])]).await;
    let names = names.expect("an answer").remove(0);
    for name in names
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(coord_store::Value::as_str)
    {
        team.store
            .run(vec![Request::command(["UNLINK", name])])
            .await
            .expect("an answer");
    }
}
