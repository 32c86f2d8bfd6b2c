//! Random programs against an independent model: after every step, what is stored is what the model says.

use std::collections::{BTreeMap, BTreeSet};

use coord_teams_state::tasks::{
    LeaseState, MOST_LAPSES, Priority, TaskChanges, TaskClaim, TaskFilter, TaskReference, TaskStatus, TaskView,
};

use crate::world::World;
use crate::world::team::{Mate, nothing, task_id, titled};

const MATES: [&str; 3] = ["lead", "bob", "eve"];
const PRIORITIES: [Priority; 3] = [Priority::High, Priority::Normal, Priority::Low];

#[derive(Clone, Debug, Default)]
struct Task {
    number: usize,
    /// 0 for what is urgent.
    rank: usize,
    is_completed: bool,
    was_claimed: bool,
    owner: Option<&'static str>,
    had: Option<&'static str>,
    has_lapsed: bool,
    lapses: u32,
    by: &'static str,
    assignee: Option<&'static str>,
    /// The member that it is kept for, until anyone has claimed it.
    kept_for: Option<&'static str>,
    dependencies: BTreeSet<String>,
}

#[derive(Default)]
struct Model {
    tasks: BTreeMap<String, Task>,
    made: usize,
    completions: usize,
    /// Reader -> texts in order: those that it should get, and those that it got.
    sent: BTreeMap<&'static str, Vec<String>>,
    got: BTreeMap<&'static str, Vec<String>>,
    cursors: BTreeMap<&'static str, u64>,
}

impl Model {
    fn unmet(&self, id: &str) -> Vec<String> {
        let open = |other: &&String| !self.tasks[*other].is_completed;
        self.tasks[id].dependencies.iter().filter(open).cloned().collect()
    }

    fn is_ready(&self, id: &str) -> bool {
        let task = &self.tasks[id];
        !task.is_completed && task.owner.is_none() && task.lapses < MOST_LAPSES && self.unmet(id).is_empty()
    }

    fn next(&self, me: &str) -> Option<String> {
        let ready = self.tasks.iter().filter(|(id, _)| self.is_ready(id));
        let ready = ready.filter(|(_, task)| task.kept_for.is_none_or(|handle| handle == me));
        let first = ready.min_by_key(|(_, task)| (task.kept_for.is_none(), task.rank, task.number));
        first.map(|(id, _)| id.clone())
    }

    /// Whether a task that is not completed depends on itself.
    fn has_ring(&self) -> bool {
        let mut left: BTreeMap<&String, BTreeSet<String>> = self
            .tasks
            .iter()
            .filter(|(_, task)| !task.is_completed)
            .map(|(id, _)| (id, self.unmet(id).into_iter().collect()))
            .collect();
        loop {
            let Some(free) = left
                .iter()
                .find(|(_, rest)| rest.is_empty())
                .map(|(id, _)| (*id).clone())
            else {
                return !left.is_empty();
            };
            left.remove(&free);
            for rest in left.values_mut() {
                rest.remove(&free);
            }
        }
    }
}

struct Run<'w> {
    mates: [Mate<'w>; 3],
    model: Model,
    random: fastrand::Rng,
}

impl Run<'_> {
    fn any_task(&mut self) -> String {
        let ids: Vec<&String> = self.model.tasks.keys().collect();
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
            after.insert(
                id_of(place, made),
                Task {
                    number: made + place,
                    rank: *rank,
                    by: MATES[mate],
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
                    after.get_mut(&id_of(place, made)).unwrap().dependencies.insert(other);
                    task.dependencies.push(named);
                } else {
                    if let Some(blocked) = after.get_mut(&other) {
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
                TaskReference::Task(id) => self.model.tasks.contains_key(id.as_str()),
                TaskReference::New(_) => true,
            });
        let answer = self.mates[mate].adds(&new).await;
        let before = std::mem::take(&mut self.model.tasks);
        let is_allowed = names_known && {
            self.model.tasks = after;
            !self.model.has_ring()
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
        assert_eq!(answer.is_ok(), self.model.tasks.contains_key(&id), "{answer:?}");
        if let Some(task) = self.model.tasks.get_mut(&id) {
            task.rank = rank;
        }
    }

    /// Keeps a task for a member, or for nobody any more.
    async fn assign(&mut self, mate: usize) {
        let id = self.any_task();
        let to = MATES.get(self.random.usize(..4)).copied();
        let answer = self.mates[mate].assigns(&id, to).await;
        let may = |task: &Task| (mate == 0 || task.by == MATES[mate]) && !task.is_completed && task.owner.is_none();
        let is_allowed = self.model.tasks.get(&id).is_some_and(may);
        assert_eq!(answer.is_ok(), is_allowed, "{} {id}: {answer:?}", MATES[mate]);
        if is_allowed {
            let task = self.model.tasks.get_mut(&id).unwrap();
            (task.assignee, task.kept_for) = (to, to);
            if let Some(to) = to {
                self.model.sent.entry(to).or_default().push("x".to_owned());
            }
        }
    }

    async fn clear(&mut self, mate: usize) {
        let id = self.any_task();
        let changes = TaskChanges {
            clear_lapses: true,
            ..TaskChanges::default()
        };
        let answer = self.mates[mate].updates(&id, &changes).await;
        let may = |task: &Task| mate == 0 || task.by == MATES[mate];
        assert_eq!(answer.is_ok(), self.model.tasks.get(&id).is_some_and(may), "{answer:?}");
        if answer.is_ok() {
            self.model.tasks.get_mut(&id).unwrap().lapses = 0;
        }
    }

    async fn depend(&mut self, mate: usize) {
        let (id, wanted) = (self.any_task(), self.some_tasks());
        let changes = TaskChanges {
            dependencies: Some(wanted.iter().map(|id| task_id(id)).collect()),
            ..TaskChanges::default()
        };
        let answer = self.mates[mate].updates(&id, &changes).await;
        let mut is_allowed = self.model.tasks.contains_key(&id)
            && wanted.iter().all(|id| self.model.tasks.contains_key(id))
            && !wanted.contains(&id);
        if is_allowed {
            let before = self.model.tasks.clone();
            let met = before[&id]
                .dependencies
                .iter()
                .filter(|other| before[*other].is_completed);
            let dependencies = met.chain(&wanted).cloned().collect();
            self.model.tasks.get_mut(&id).unwrap().dependencies = dependencies;
            if self.model.has_ring() {
                is_allowed = false;
                self.model.tasks = before;
            }
        }
        assert_eq!(answer.is_ok(), is_allowed, "{id} on {wanted:?}: {answer:?}");
    }

    async fn claim(&mut self, mate: usize) {
        let id = self.any_task();
        let answer = self.mates[mate].claims(&id).await;
        let me = MATES[mate];
        let may = |task: &Task| {
            let is_free = task.lapses < MOST_LAPSES && task.kept_for.is_none_or(|handle| handle == me);
            !task.is_completed && (task.owner == Some(me) || (task.owner.is_none() && is_free))
        };
        let is_allowed = self.model.tasks.get(&id).is_some_and(may);
        assert_eq!(answer.is_ok(), is_allowed, "{me} {id}: {answer:?}");
        if is_allowed {
            self.take(&id, me);
        }
    }

    fn take(&mut self, id: &str, me: &'static str) {
        let task = self.model.tasks.get_mut(id).unwrap();
        (task.owner, task.was_claimed, task.has_lapsed) = (Some(me), true, false);
        task.kept_for = None;
    }

    async fn next(&mut self, mate: usize) {
        let expected = self.model.next(MATES[mate]);
        match self.mates[mate].takes_next().await.unwrap() {
            TaskClaim::Claimed(claimed) => {
                let id = &claimed.task.task.id;
                assert_eq!(Some(id), expected.as_ref());
                self.take(id, MATES[mate]);
            }
            claim => {
                let counts = nothing(claim).counts;
                assert_eq!(expected, None);
                let open_here = self.model.tasks.values().filter(|task| !task.is_completed).count();
                assert_eq!((counts.open, counts.made), (open_here as u64, self.model.made as u64));
                let ready = self.model.tasks.keys().filter(|id| self.model.is_ready(id));
                assert_eq!(counts.ready, ready.count() as u64);
            }
        }
    }

    async fn end(&mut self, mate: usize, completes: bool) {
        let (mut id, me) = (self.any_task(), MATES[mate]);
        let is_own = |task: &Task| task.owner == Some(me) && !task.is_completed;
        if let (Some(own), true) = (
            self.model.tasks.iter().find(|(_, task)| is_own(task)),
            self.random.bool(),
        ) {
            id = own.0.clone();
        }
        let is_allowed = self.model.tasks.get(&id).is_some_and(|task| {
            let is_own = task.owner == Some(me) && !task.is_completed;
            let is_last = task.owner.is_none() && task.has_lapsed && task.had == Some(me);
            // A member that has completed the task may complete it again.
            let is_over = task.is_completed && task.owner == Some(me);
            is_own || (completes && (is_over || (is_last && !task.is_completed)))
        });
        let is_ok = if completes {
            let blocked: Vec<String> = self.model.tasks.keys().cloned().collect();
            let was: BTreeSet<String> = blocked
                .iter()
                .filter(|id| !self.model.unmet(id).is_empty())
                .cloned()
                .collect();
            let answer = self.mates[mate].completes(&id).await;
            if let (Ok(done), true) = (&answer, is_allowed) {
                let task = self.model.tasks.get_mut(&id).unwrap();
                if !task.is_completed {
                    (task.is_completed, task.owner) = (true, Some(me));
                    self.model.completions += 1;
                    let freed: Vec<String> = was
                        .into_iter()
                        .filter(|other| self.model.unmet(other).is_empty() && !self.model.tasks[other].is_completed)
                        .collect();
                    assert_eq!(done.unblocked.count, freed.len() as u64, "the cascade is closed");
                    self.notify("Dependencies are met", &freed);
                }
            }
            answer.is_ok()
        } else {
            let answer = self.mates[mate].releases(&id, "").await;
            if is_allowed {
                let task = self.model.tasks.get_mut(&id).unwrap();
                (task.had, task.owner, task.has_lapsed) = (task.owner, None, false);
            }
            answer.is_ok()
        };
        assert_eq!(is_ok, is_allowed, "{me} ends {id}");
    }

    /// Owners and assignees of what a cascade frees get one message each.
    fn notify(&mut self, words: &str, freed: &[String]) {
        let mut by_owner: BTreeMap<&'static str, Vec<(usize, String)>> = BTreeMap::new();
        let mut order: Vec<&String> = freed.iter().collect();
        order.sort();
        for other in order {
            let task = &self.model.tasks[other];
            for handle in BTreeSet::from([task.owner, task.assignee]).into_iter().flatten() {
                by_owner.entry(handle).or_default().push((0, other.clone()));
            }
        }
        for (owner, ids) in by_owner {
            let names: Vec<String> = ids.into_iter().map(|(_, id)| id).collect();
            let text = format!("{words}: {}", names.join(", "));
            self.model.sent.entry(owner).or_default().push(text);
        }
    }

    async fn lapse(&mut self) {
        let held = self
            .model
            .tasks
            .iter()
            .filter(|(_, task)| task.owner.is_some() && !task.is_completed);
        let held: Vec<String> = held.map(|(id, _)| id.clone()).collect();
        if held.is_empty() {
            return;
        }
        let id = &held[self.random.usize(..held.len())];
        self.mates[0].lapses(id).await;
        let task = self.model.tasks.get_mut(id).unwrap();
        (task.had, task.owner, task.has_lapsed) = (task.owner, None, true);
        task.lapses += 1;
    }

    async fn delete(&mut self, mate: usize) {
        let (id, is_unlinked) = (self.any_task(), self.random.bool());
        let depends = |task: &Task| !task.is_completed && task.dependencies.contains(&id);
        let is_depended_on = self.model.tasks.values().any(depends);
        let answer = self.mates[mate].deletes(&id, is_unlinked).await;
        let is_allowed = self.model.tasks.get(&id).is_some_and(|task| {
            task.is_completed
                || ((is_unlinked || !is_depended_on)
                    && (mate == 0 || task.owner.is_none_or(|owner| owner == MATES[mate])))
        });
        assert_eq!(answer.is_ok(), is_allowed, "{id}: {answer:?}");
        if is_allowed {
            let ids: Vec<String> = self.model.tasks.keys().filter(|other| **other != id).cloned().collect();
            let was: Vec<String> = ids
                .into_iter()
                .filter(|other| !self.model.unmet(other).is_empty())
                .collect();
            let owner = self.model.tasks.remove(&id).filter(|task| !task.is_completed);
            let owner = owner.and_then(|task| task.owner).filter(|owner| *owner != MATES[mate]);
            for task in self.model.tasks.values_mut() {
                task.dependencies.remove(&id);
            }
            let freed: Vec<String> = was
                .into_iter()
                .filter(|other| self.model.unmet(other).is_empty() && !self.model.tasks[other].is_completed)
                .collect();
            self.notify(
                &format!("Dependencies are gone with task {id}, which was deleted"),
                &freed,
            );
            if let Some(owner) = owner {
                let text = format!("Task {id}, which you had, was deleted by {}: x", MATES[mate]);
                self.model.sent.entry(owner).or_default().push(text);
            }
        }
    }

    async fn write(&mut self, mate: usize) {
        let text = format!("m{}", self.random.u32(..));
        if self.random.bool() {
            self.mates[mate].tells(&[], &text).await.unwrap();
            for name in MATES.iter().filter(|name| **name != MATES[mate]) {
                self.model.sent.entry(name).or_default().push(text.clone());
            }
        } else {
            let to = MATES[self.random.usize(..3)];
            self.mates[mate].tells(&[to], &text).await.unwrap();
            self.model.sent.entry(to).or_default().push(text);
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
            self.model.got.entry(me).or_default().extend(texts);
            self.model.cursors.insert(me, inbox.cursor);
        }
        let (sent, got) = (self.model.sent.get(me), self.model.got.get(me));
        let (sent, got) = (sent.map_or(&[][..], Vec::as_slice), got.map_or(&[][..], Vec::as_slice));
        assert!(sent.starts_with(got), "{me}: {got:?} of {sent:?}");
    }

    /// Every task, by way of the pages of the list.
    async fn listed(&self) -> (i64, BTreeMap<String, TaskView>) {
        let page = self.mates[0].lists(0, 1000, &TaskFilter::default()).await.unwrap();
        assert_eq!(page.next, None);
        (
            page.now * 1000,
            page.tasks.into_iter().map(|task| (task.id.clone(), task)).collect(),
        )
    }

    async fn check(&self) {
        let (now_ms, listed) = self.listed().await;
        let ids: Vec<&String> = listed.keys().collect();
        assert_eq!(ids, self.model.tasks.keys().collect::<Vec<_>>());
        for (id, view) in &listed {
            let task = &self.model.tasks[id];
            let status = match (task.is_completed, task.was_claimed) {
                (true, _) => TaskStatus::Completed,
                (_, true) => TaskStatus::InProgress,
                _ => TaskStatus::Pending,
            };
            assert_eq!(view.record.status, status, "{id}");
            assert_eq!(view.owner(now_ms), task.owner, "{id}");
            assert_eq!(view.lapses(now_ms), task.lapses, "{id}");
            assert_eq!(
                view.is_ready(now_ms),
                self.model.is_ready(id),
                "{id}: {view:?} {task:?}"
            );
            assert_eq!(
                view.lease(now_ms) == LeaseState::Held,
                task.owner.is_some() && !task.is_completed
            );
            let unmet = self.model.unmet(id);
            let met: BTreeSet<&String> = task
                .dependencies
                .iter()
                .filter(|other| !unmet.contains(other))
                .collect();
            assert_eq!(view.met_dependencies.iter().collect::<BTreeSet<_>>(), met, "{id}");
            // A completed task waits for nothing, and is in nobody's `blocks`.
            match task.is_completed {
                true => assert_eq!(view.dependencies, [""; 0], "{id}"),
                false => assert_eq!(
                    view.dependencies.iter().collect::<BTreeSet<_>>(),
                    unmet.iter().collect(),
                    "{id}"
                ),
            }
            for other in &task.dependencies {
                let is_blocked = listed[other].blocks.contains(id);
                assert_eq!(is_blocked, !task.is_completed, "{id} and {other}");
            }
            for other in &view.blocks {
                assert!(self.model.tasks[other].dependencies.contains(id), "{id} and {other}");
            }
        }
        assert!(!self.model.has_ring());
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
                14 => run.lapse().await,
                15 => run.delete(mate).await,
                16..18 => run.write(mate).await,
                _ => run.read(mate).await,
            }
            run.check().await;
        }
        let (completions, got) = (
            run.model.completions,
            run.model.got.values().map(Vec::len).sum::<usize>(),
        );
        assert!(
            completions > 5 && got > 5,
            "the program was about something: {completions}, {got}"
        );
    }
}

on_every_store!(the_stored_state_matches_the_model);
