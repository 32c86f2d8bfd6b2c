//! Random programs against [`Tasks`], an independent model: after every step, what is stored is what the model says.

use std::collections::{BTreeMap, BTreeSet};

use coord_teams_state::tasks::{
    LeaseState, Priority, TaskChanges, TaskClaim, TaskFilter, TaskReference, TaskStatus, TaskView,
};

use super::tasks::{clearing, depends_on};
use crate::team_model::{Task, Tasks};
use crate::world::World;
use crate::world::team::{Mate, nothing, task_id, titled};

const MATES: [&str; 3] = ["lead", "bob", "eve"];
const PRIORITIES: [Priority; 3] = [Priority::High, Priority::Normal, Priority::Low];

#[derive(Default)]
struct Model {
    tasks: Tasks,
    made: usize,
    completions: usize,
    /// Reader -> texts in order: those that it should get, and those that it got.
    sent: BTreeMap<String, Vec<String>>,
    got: BTreeMap<String, Vec<String>>,
    cursors: BTreeMap<String, u64>,
}

impl Model {
    /// A message that the reader should get.
    fn sends(&mut self, to: &str, text: String) {
        self.sent.entry(to.to_owned()).or_default().push(text);
    }
}

struct Run<'w> {
    mates: [Mate<'w>; 3],
    model: Model,
    random: fastrand::Rng,
}

impl Run<'_> {
    fn any_task(&mut self) -> String {
        let ids: Vec<&String> = self.model.tasks.0.keys().collect();
        match ids.is_empty() || self.random.u32(..30) == 0 {
            true => "t999".to_owned(),
            false => ids[self.random.usize(..ids.len())].clone(),
        }
    }

    fn some_tasks(&mut self) -> Vec<String> {
        (0..self.random.usize(..3)).map(|_| self.any_task()).collect()
    }

    async fn add(&mut self, mate: usize) {
        let count = self.random.usize(1..4);
        let (mut new, mut after) = (Vec::new(), self.model.tasks.clone());
        let id_of = |place: usize, made: usize| format!("t{}", made + place + 1);
        let made = self.model.made;
        let ranks: Vec<usize> = (0..count).map(|_| self.random.usize(..PRIORITIES.len())).collect();
        for (place, rank) in ranks.iter().enumerate() {
            after.0.insert(
                id_of(place, made),
                Task {
                    number: made + place,
                    rank: *rank,
                    by: MATES[mate].to_owned(),
                    ..Task::default()
                },
            );
        }
        for place in 0..count {
            let mut task = titled("x");
            task.priority = PRIORITIES[ranks[place]];
            for id in self.some_tasks() {
                let of_new = self.random.bool().then(|| self.random.usize(..count));
                let other = of_new.map_or(id.clone(), |other| id_of(other, made));
                let named = of_new.map_or_else(|| TaskReference::Task(task_id(&id)), TaskReference::New);
                if self.random.bool() {
                    after.0.get_mut(&id_of(place, made)).unwrap().dependencies.insert(other);
                    task.dependencies.push(named);
                } else {
                    if let Some(blocked) = after.0.get_mut(&other) {
                        blocked.dependencies.insert(id_of(place, made));
                    }
                    task.blocks.push(named);
                }
            }
            new.push(task);
        }
        let names_known = new
            .iter()
            .flat_map(|task| task.dependencies.iter().chain(&task.blocks))
            .all(|named| match named {
                TaskReference::Task(id) => self.model.tasks.0.contains_key(id.as_str()),
                TaskReference::New(_) => true,
            });
        let answer = self.mates[mate].adds(&new).await;
        let before = std::mem::take(&mut self.model.tasks);
        let is_allowed = names_known && {
            self.model.tasks = after;
            self.model.tasks.ring().is_none()
        };
        assert_eq!(answer.is_ok(), is_allowed, "{answer:?} {new:?}");
        if is_allowed {
            self.model.made += count;
        } else {
            self.model.tasks = before;
        }
    }

    /// The leader gives a task another priority, which counts for what is in the queue as well.
    async fn prioritize(&mut self) {
        let (id, rank) = (self.any_task(), self.random.usize(..PRIORITIES.len()));
        let changes = TaskChanges {
            priority: Some(PRIORITIES[rank]),
            ..TaskChanges::default()
        };
        let answer = self.mates[0].updates(&id, &changes).await;
        assert_eq!(answer.is_ok(), self.model.tasks.0.contains_key(&id), "{answer:?}");
        if let Some(task) = self.model.tasks.0.get_mut(&id) {
            task.rank = rank;
        }
    }

    /// Keeps a task for a member, or for nobody any more.
    async fn assign(&mut self, mate: usize) {
        let id = self.any_task();
        let to = MATES.get(self.random.usize(..4)).copied();
        let answer = self.mates[mate].assigns(&id, to).await;
        let may = |task: &Task| (mate == 0 || task.by == MATES[mate]) && !task.is_completed && task.owner.is_none();
        let is_allowed = self.model.tasks.0.get(&id).is_some_and(may);
        assert_eq!(answer.is_ok(), is_allowed, "{} {id}: {answer:?}", MATES[mate]);
        if is_allowed {
            let task = self.model.tasks.0.get_mut(&id).unwrap();
            (task.assignee, task.kept_for) = (to.map(str::to_owned), to.map(str::to_owned));
            if let Some(to) = to {
                self.model.sends(to, "x".to_owned());
            }
        }
    }

    async fn clear(&mut self, mate: usize) {
        let id = self.any_task();
        let answer = self.mates[mate].updates(&id, &clearing()).await;
        let may = |task: &Task| mate == 0 || task.by == MATES[mate];
        let is_allowed = self.model.tasks.0.get(&id).is_some_and(may);
        assert_eq!(answer.is_ok(), is_allowed, "{answer:?}");
        if is_allowed {
            self.model.tasks.0.get_mut(&id).unwrap().lapses = 0;
        }
    }

    async fn depend(&mut self, mate: usize) {
        let (id, wanted) = (self.any_task(), self.some_tasks());
        let names: Vec<&str> = wanted.iter().map(String::as_str).collect();
        let answer = self.mates[mate].updates(&id, &depends_on(&names)).await;
        let mut after = self.model.tasks.clone();
        let is_allowed =
            !wanted.contains(&id) && after.depends_on(&id, wanted.clone()).is_ok() && after.ring().is_none();
        if is_allowed {
            self.model.tasks = after;
        }
        assert_eq!(answer.is_ok(), is_allowed, "{id} on {wanted:?}: {answer:?}");
    }

    async fn claim(&mut self, mate: usize) {
        let id = self.any_task();
        let answer = self.mates[mate].claims(&id).await;
        let me = MATES[mate];
        // A claim again is a renewal.
        let is_own = self.model.tasks.0.get(&id).is_some_and(|task| task.is_out_with(me));
        let is_allowed = is_own || self.model.tasks.claim(&id, me).is_ok();
        assert_eq!(answer.is_ok(), is_allowed, "{me} {id}: {answer:?}");
    }

    async fn next(&mut self, mate: usize) {
        let expected = self.model.tasks.next(MATES[mate]);
        match self.mates[mate].takes_next().await.unwrap() {
            TaskClaim::Claimed(claimed) => {
                let id = &claimed.task.task.id;
                assert_eq!(Some(id), expected.as_ref());
                self.model.tasks.claim(id, MATES[mate]).unwrap();
            }
            claim => {
                let counts = nothing(claim).counts;
                assert_eq!(expected, None);
                let open_here = self.model.tasks.0.values().filter(|task| !task.is_completed).count();
                assert_eq!((counts.open, counts.made), (open_here as u64, self.model.made as u64));
                let ready = self.model.tasks.0.keys().filter(|id| self.model.tasks.is_ready(id));
                assert_eq!(counts.ready, ready.count() as u64);
            }
        }
    }

    async fn end(&mut self, mate: usize, completes: bool) {
        let (mut id, me) = (self.any_task(), MATES[mate]);
        let mut own = self.model.tasks.0.iter().filter(|(_, task)| task.is_out_with(me));
        if let (Some((own, _)), true) = (own.next(), self.random.bool()) {
            id = own.clone();
        }
        if !completes {
            let answer = self.mates[mate].releases(&id, "").await;
            let is_allowed = self.model.tasks.end_claim(&id, me, false).is_ok();
            assert_eq!(answer.is_ok(), is_allowed, "{me} gives {id} back: {answer:?}");
            return;
        }
        let answer = self.mates[mate].completes(&id).await;
        let task = self.model.tasks.0.get(&id);
        // A member that has completed the task may complete it again.
        if task.is_some_and(|task| task.is_completed && task.owner.as_deref() == Some(me)) {
            assert!(answer.is_ok(), "{me} completes {id} again: {answer:?}");
        } else if let Ok((_, freed)) = self.model.tasks.complete(&id, me) {
            self.model.completions += 1;
            let count = answer.unwrap().unblocked.count;
            assert_eq!(count, freed.len() as u64, "the cascade is closed");
            self.notify("Dependencies are met", &freed);
        } else {
            assert!(answer.is_err(), "{me} completes {id}: {answer:?}");
        }
    }

    /// Owners and assignees of what a cascade frees get one message each.
    fn notify(&mut self, words: &str, freed: &BTreeSet<String>) {
        let mut by_owner: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for id in freed {
            let task = &self.model.tasks.0[id];
            for handle in BTreeSet::from([&task.owner, &task.assignee]).into_iter().flatten() {
                by_owner.entry(handle.clone()).or_default().push(id);
            }
        }
        for (owner, ids) in by_owner {
            self.model.sends(&owner, format!("{words}: {}", ids.join(", ")));
        }
    }

    async fn expire_some_claim(&mut self) {
        let held = self.model.tasks.0.iter().filter(|(_, task)| !task.is_completed);
        let held = held.filter_map(|(id, task)| Some((id.clone(), task.owner.clone()?)));
        let held: Vec<(String, String)> = held.collect();
        if let Some((id, owner)) = self.random.choice(held) {
            self.mates[0].expire_claim(&id).await;
            self.model.tasks.end_claim(&id, &owner, true).unwrap();
        }
    }

    async fn delete(&mut self, mate: usize) {
        let (id, is_unlinked, me) = (self.any_task(), self.random.bool(), MATES[mate]);
        let is_free = is_unlinked || !self.model.tasks.is_depended_on(&id);
        let answer = self.mates[mate].deletes(&id, is_unlinked).await;
        let may = |task: &Task| {
            let is_others = task.owner.as_deref().is_some_and(|owner| owner != me);
            task.is_completed || is_free && (mate == 0 || !is_others)
        };
        let is_allowed = self.model.tasks.0.get(&id).is_some_and(may);
        assert_eq!(answer.is_ok(), is_allowed, "{id}: {answer:?}");
        if is_allowed {
            let (gone, freed) = self.model.tasks.delete(&id).unwrap();
            let words = format!("Dependencies are gone with task {id}, which was deleted");
            self.notify(&words, &freed);
            if let Some(owner) = gone.owner.filter(|owner| !gone.is_completed && owner != me) {
                let text = format!("Task {id}, which you had, was deleted by {me}: x");
                self.model.sends(&owner, text);
            }
        }
    }

    async fn write(&mut self, mate: usize) {
        let text = format!("m{}", self.random.u32(..));
        if self.random.bool() {
            self.mates[mate].sends_text(&[], &text).await.unwrap();
            for name in MATES.iter().filter(|name| **name != MATES[mate]) {
                self.model.sends(name, text.clone());
            }
        } else {
            let to = MATES[self.random.usize(..3)];
            self.mates[mate].sends_text(&[to], &text).await.unwrap();
            self.model.sends(to, text);
        }
    }

    /// Reads on from the last cursor; now and then it dies before it has the answer.
    async fn read(&mut self, mate: usize) {
        let me = MATES[mate];
        let cursor = self.model.cursors.get(me).copied();
        let most = self.random.usize(1..5);
        let inbox = self.mates[mate].reads_most(cursor, most).await.unwrap();
        if self.random.u32(..4) > 0 {
            let texts = inbox.messages.iter().map(|message| message.message.clone());
            self.model.got.entry(me.to_owned()).or_default().extend(texts);
            self.model.cursors.insert(me.to_owned(), inbox.cursor);
        }
        let (sent, got) = (self.model.sent.get(me), self.model.got.get(me));
        let (sent, got) = (sent.map_or(&[][..], Vec::as_slice), got.map_or(&[][..], Vec::as_slice));
        assert!(sent.starts_with(got), "{me}: {got:?} of {sent:?}");
    }

    /// Every task, by way of the pages of the list.
    async fn listed(&self) -> (i64, BTreeMap<String, TaskView>) {
        let page = self.mates[0].lists(0, 1000, &TaskFilter::default()).await.unwrap();
        assert_eq!(page.next, None);
        let tasks = page.tasks.into_iter().map(|task| (task.id.clone(), task));
        (page.now * 1000, tasks.collect())
    }

    async fn check(&self) {
        let (now_ms, listed) = self.listed().await;
        let ids: Vec<&String> = listed.keys().collect();
        assert_eq!(ids, self.model.tasks.0.keys().collect::<Vec<_>>());
        for (id, view) in &listed {
            let task = &self.model.tasks.0[id];
            let status = match (task.is_completed, task.was_claimed) {
                (true, _) => TaskStatus::Completed,
                (_, true) => TaskStatus::InProgress,
                _ => TaskStatus::Pending,
            };
            assert_eq!(view.record.status, status, "{id}");
            assert_eq!(view.owner(now_ms), task.owner.as_deref(), "{id}");
            assert_eq!(u64::from(view.lapses(now_ms)), task.lapses, "{id}");
            let is_ready = self.model.tasks.is_ready(id);
            assert_eq!(view.is_ready(now_ms), is_ready, "{id}: {view:?} {task:?}");
            let is_held = task.owner.is_some() && !task.is_completed;
            assert_eq!(view.lease(now_ms) == LeaseState::Held, is_held, "{id}");
            let set = |ids: &[String]| ids.iter().cloned().collect::<BTreeSet<_>>();
            let unmet = self.model.tasks.open_dependencies(id);
            let met: BTreeSet<String> = task.dependencies.difference(&unmet).cloned().collect();
            assert_eq!(set(&view.met_dependencies), met, "{id}");
            // A completed task waits for nothing, and is in nobody's `blocks`.
            let waits_for = if task.is_completed { BTreeSet::new() } else { unmet };
            assert_eq!(set(&view.dependencies), waits_for, "{id}");
            for other in &task.dependencies {
                let is_blocked = listed[other].blocks.contains(id);
                assert_eq!(is_blocked, !task.is_completed, "{id} and {other}");
            }
            for other in &view.blocks {
                assert!(self.model.tasks.0[other].dependencies.contains(id), "{id} and {other}");
            }
        }
        assert_eq!(self.model.tasks.ring(), None);
        self.mates[0].assert_offers_are_exact().await;
    }
}

async fn the_stored_state_matches_the_model(world: World) {
    for seed in 0..3 {
        let name = format!("team{seed}");
        let mates = MATES.map(|mate| world.mate(mate, &name));
        mates[0].creates("lead").await.unwrap();
        mates[1].joins("bob").await.unwrap();
        mates[2].joins("eve").await.unwrap();
        let mut run = Run {
            mates,
            model: Model::default(),
            random: fastrand::Rng::with_seed(seed),
        };
        for _ in 0..500 {
            let mate = run.random.usize(..3);
            match run.random.u32(..24) {
                21..23 => run.assign(mate).await,
                23 => run.clear(mate).await,
                20 => run.prioritize().await,
                0..2 => run.add(mate).await,
                2..4 => run.depend(mate).await,
                4..6 => run.claim(mate).await,
                6..9 => run.next(mate).await,
                9..13 => run.end(mate, true).await,
                13 => run.end(mate, false).await,
                14 => run.expire_some_claim().await,
                15 => run.delete(mate).await,
                16..18 => run.write(mate).await,
                _ => run.read(mate).await,
            }
            run.check().await;
        }
        // The program was about something.
        let (completions, got) = (run.model.completions, run.model.got.values().map(Vec::len));
        let got: usize = got.sum();
        assert!(completions > 5 && got > 5, "{completions}, {got}");
    }
}

on_every_store!(the_stored_state_matches_the_model);
