//! The most expensive requests of teams: large graphs of tasks, many members, full inboxes, lists of these.

use std::time::Instant;

use coord_domain::team::{Handle, TaskId, TeamName};
use coord_domain::{Branch, Holder, RepoId, UserId};
use coord_protocol::team_event::MessageType;
use coord_settings::Rates;
use coord_state::admission::{AdmissionTerms, Admitted, Denial, HeadTerms, USES_EVERYTHING};
use coord_state::messages::{MessageFilter, NewMessage, list_messages, read_messages, send_message};
use coord_state::tasks::{
    ClaimedFiles, NewTask, ReleasedFiles, TaskChanges, TaskClaim, TaskEnd, TaskFilter, TaskReference,
};
use coord_state::teams::{NewMember, RequestKey, TeamRefusal, TeamTerms, create_team, join_team, show_team};
use coord_state::{departures, tasks};
use coord_store::{Request, Store};

use crate::run::{Measurement, processor_time};
use crate::team_cases::Case;

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
            Admitted::Outcome((outcome, _)) => Ok(outcome),
            Admitted::Denied(Denial::Refused(refused)) => Err(refused.refusal),
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

    async fn depends(&self, task: usize, on: usize) -> String {
        let changes = TaskChanges {
            dependencies: Some(vec![id(on)]),
            ..TaskChanges::default()
        };
        match ask!(self, 0, tasks::update_task, &id(task), &changes) {
            Ok(_) => "changed".to_owned(),
            Err(refusal @ TeamRefusal::TooMany { .. }) => refusal.to_string(),
            Err(refusal) => format!("{} tasks in the ring", refusal.to_string().matches(" -> ").count()),
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
                    &ClaimedFiles::LeftAlone
                )
                .expect("the next task");
                assert!(matches!(next, TaskClaim::Claimed(_)));
            }
        }
    }

    async fn tells(&self, sender: usize, to: &[Handle], text: &str) {
        let message = NewMessage {
            kind: MessageType::Plain,
            text,
            summary: "",
            task: None,
            reply_to: None,
            to,
        };
        ask!(self, sender, send_message, RequestKey::NONE, &message).expect("a message");
    }

    /// Lets the claims of `t1` to `tCOUNT` expire.
    async fn lapse(&self, count: usize) {
        let (tasks, leases) = (
            tasks::keys::tasks(&self.repo, &self.name),
            tasks::keys::leases(&self.repo, &self.name),
        );
        for number in 1..=count {
            let name = format!("t{number}");
            let stored = self.store.run(vec![Request::command(["HGET", &tasks, &name])]).await;
            let stored = stored.expect("an answer").remove(0);
            let mut task: serde_json::Value =
                serde_json::from_str(stored.as_str().expect("a task")).expect("a task as JSON");
            task["expires"] = 1_000_000_000_000_i64.into();
            let batch = vec![
                Request::command(["HSET", &tasks, &name, &task.to_string()]),
                Request::command(["ZADD", &leases, "1000000000000", &name]),
            ];
            self.store.run(batch).await.expect("an answer");
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
        // A chain whose tasks have the numbers `from` to `to`; of 200 tasks of a request, each names the one before.
        let link = |number: usize, from: usize| match (number - from) % 200 {
            0 if number == from => titled(),
            0 => after(vec![number - 1]),
            place => NewTask {
                dependencies: vec![TaskReference::New(place - 1)],
                ..titled()
            },
        };
        self.begins(match case {
            Case::CascadeThatIsTold | Case::Team => 1000,
            Case::Forced => 51,
            Case::Recipients => 101,
            Case::Lapsed => 12,
            Case::Inbox | Case::History | Case::Messages | Case::Leaving => 6,
            _ => 2,
        })
        .await;
        match case {
            Case::Cascade | Case::CascadeThatIsTold | Case::Unlinking => {
                self.adds(1..2, |_| titled()).await;
                self.adds(2..10_002, |_| after(vec![1])).await;
                if matches!(case, Case::CascadeThatIsTold) {
                    for number in 0..1000 {
                        ask!(self, 0, tasks::assign_task, &id(number + 2), Some(&handle(number))).expect("assigned");
                    }
                }
                ask!(self, 0, tasks::claim_task, &id(1), 900, &ClaimedFiles::LeftAlone).expect("claimed");
            }
            Case::Ring => self.adds(1..10_001, |number| link(number, 1)).await,
            Case::Joined => {
                self.adds(1..5_001, |number| link(number, 1)).await;
                self.adds(5_001..10_001, |number| link(number, 5_001)).await;
            }
            Case::Layers => {
                self.adds(1..10_001, |number| match (number - 1) / 200 {
                    0 => titled(),
                    layer => {
                        let place = number - 1 - layer * 200;
                        let before = (0..20).map(|step| (layer - 1) * 200 + (place + step * 7) % 200 + 1);
                        after(before.collect())
                    }
                })
                .await;
            }
            Case::Apart => {
                // 256 tasks, 64 that depend on all of these, and one on all of those; beside it one on which such layers depend.
                let layer = |from: usize, count: usize| (from..from + count).collect::<Vec<_>>();
                self.adds(1..258, |_| titled()).await;
                self.adds(258..322, |_| after(layer(1, 256))).await;
                self.adds(322..323, |_| after(layer(258, 64))).await;
                self.adds(323..387, |_| after(vec![257])).await;
                self.adds(387..643, |_| after(layer(323, 64))).await;
            }
            Case::ManyEdges => self.adds(1..257, |_| titled()).await,
            Case::ManyBlocked => self.adds(1..10_001, |_| titled()).await,
            Case::Hubs => {
                self.adds(1..257, |_| titled()).await;
                self.adds(257..1_257, |_| after((1..257).collect())).await;
            }
            Case::Page | Case::Filter => self.adds(0..20_000, |_| titled()).await,
            Case::Lapsed => {
                self.claim_all(12, 50).await;
                self.lapse(600).await;
            }
            Case::Team => self.claim_all(1000, 20).await,
            Case::Forced => {
                self.claim_all(51, 20).await;
                ask!(self, 0, departures::request_shutdown, None, "The day is over", 0).expect("a shutdown");
            }
            Case::Inbox | Case::History | Case::Messages | Case::Leaving => {
                let words = if matches!(case, Case::Leaving) { 600 } else { 20 };
                for number in 0..1000 {
                    // One login may leave 250 unread messages to a member.
                    let sender = 2 + number / 250;
                    self.tells(sender, &[handle(1)], &"A word of the measurement. ".repeat(words))
                        .await;
                }
            }
            Case::Recipients => {}
        }
    }

    /// The outcome, in a word.
    async fn act(&self, case: Case) -> String {
        match case {
            Case::Cascade | Case::CascadeThatIsTold => {
                let done = ask!(
                    self,
                    0,
                    tasks::complete_task,
                    &id(1),
                    None,
                    "Done",
                    &ReleasedFiles::LeftAlone
                )
                .expect("completed");
                let TaskEnd::Completed(done) = done else {
                    panic!("{done:?}");
                };
                format!("{} became ready", done.unblocked.count)
            }
            Case::Unlinking => {
                let unblocked = ask!(self, 0, tasks::delete_task, &id(1), true).expect("deleted");
                format!("{} became ready", unblocked.count)
            }
            Case::Ring | Case::Layers => self.depends(1, 10_000).await,
            Case::Joined => self.depends(5_001, 5_000).await,
            Case::Apart => self.depends(257, 322).await,
            Case::ManyEdges | Case::ManyBlocked => {
                let named =
                    |numbers: std::ops::Range<usize>| numbers.map(|number| TaskReference::Task(id(number))).collect();
                let new: Vec<NewTask> = match case {
                    Case::ManyEdges => vec![
                        NewTask {
                            dependencies: named(1..257),
                            ..titled()
                        };
                        16
                    ],
                    _ => (0..200)
                        .map(|number| NewTask {
                            blocks: named(20 * number + 1..20 * number + 21),
                            ..titled()
                        })
                        .collect(),
                };
                match ask!(self, 0, tasks::create_tasks, RequestKey::NONE, &new) {
                    Ok(created) => format!("{} tasks", created.ids.len()),
                    Err(refusal) => refusal.to_string(),
                }
            }
            Case::Page | Case::Filter | Case::Hubs => {
                let text = if matches!(case, Case::Filter) { "nothing" } else { "" };
                let filter = TaskFilter {
                    text,
                    ..TaskFilter::default()
                };
                let page = ask!(self, 1, tasks::list_tasks, 0, 500, &filter).expect("a page");
                format!("{} tasks", page.tasks.len())
            }
            Case::Lapsed => {
                let next = ask!(
                    self,
                    0,
                    tasks::next_task,
                    RequestKey::NONE,
                    900,
                    &[],
                    &ClaimedFiles::LeftAlone
                );
                next.map_or_else(|refusal| refusal.to_string(), |_| "a task".to_owned())
            }
            Case::Team => {
                let team = ask!(self, 1, show_team).expect("a team");
                format!("{} members", team.members.len())
            }
            Case::Forced => {
                let step = ask!(self, 0, departures::force_shutdown, "s1").expect("closed");
                format!("{} tasks given back", step.given_back.len())
            }
            Case::Inbox => {
                let inbox = ask!(self, 1, read_messages, None, 500, 256 * 1024, false).expect("an inbox");
                format!("{} messages", inbox.messages.len())
            }
            Case::Recipients => {
                let to: Vec<Handle> = (1..101).map(handle).collect();
                self.tells(0, &to, "A word of the measurement").await;
                "sent".to_owned()
            }
            Case::Messages => {
                let page = ask!(self, 0, list_messages, 500, 256 * 1024, MessageFilter::default()).expect("a page");
                format!("{} messages", page.messages.len())
            }
            Case::Leaving => {
                let given_back = ask!(self, 1, departures::leave_team).expect("left");
                format!("{} tasks given back", given_back.len())
            }
            Case::History => {
                let filter = MessageFilter {
                    task: Some(&id(7)),
                    ..MessageFilter::default()
                };
                let page = ask!(self, 0, list_messages, 500, 256 * 1024, filter).expect("a page");
                format!("{} messages", page.messages.len())
            }
        }
    }
}

pub async fn measure(store: &dyn Store, process: u32, case: Case, rounds: usize) -> Measurement {
    let (mut times, mut processor, mut said) = (Vec::new(), Vec::new(), String::new());
    let mut prepared = None;
    // A case that changes the state uses a new team each time. The first round of the others loads the script.
    for round in usize::from(!case.is_reading())..=rounds {
        if prepared.is_none() || !case.is_reading() {
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
        said = team.act(case).await;
        if round > 0 {
            times.push(begin.elapsed());
            processor.extend(before.and_then(|before| processor_time(process)?.checked_sub(before)));
        }
        if !case.is_reading() {
            forget(team).await;
        }
    }
    Measurement::of(times, processor, said)
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
