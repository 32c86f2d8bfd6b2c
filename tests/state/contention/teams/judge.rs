//! A model of a team of its own, which goes through the log of events with what the clients asked and were told, and says what
//! cannot be. It shares nothing with the scripts, and knows the rules as they are documented.
//!
//! Files of tasks belong here once a claim takes them: the events of their locks then have to come with those of the task.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::stored::{Stored, ring};

/// One request that the judge has to know of.
#[derive(Clone, Debug)]
pub struct Ask {
    pub handle: String,
    /// A number of its own, which stands in the titles that it writes.
    pub mark: usize,
    pub asked: Asked,
    pub told: Told,
}

#[derive(Clone, Debug)]
pub enum Asked {
    /// New tasks; that in place 1 of request 7 has the title `m7.1`.
    Create(Vec<Wanted>),
    /// What is set; the title has ` u7` behind it then.
    Update {
        id: String,
        dependencies: Option<Vec<String>>,
        blocks: Option<Vec<String>>,
    },
    /// A claim, or the next task.
    Take,
    Complete(String),
    Send(String),
}

/// The edges of a new task.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub dependencies: Vec<Named>,
    pub blocks: Vec<Named>,
}

#[derive(Clone, Debug)]
pub enum Named {
    Task(String),
    New(usize),
}

#[derive(Clone, Debug)]
pub enum Told {
    Done(Json),
    /// The code.
    Refused(String),
    /// The client or the server was killed: it may have been done or not.
    Nothing,
}

/// What each reader was given, in the order in which it accepted it.
pub type Inboxes = BTreeMap<String, Vec<(u64, String)>>;

/// How much there was to judge.
#[derive(Debug, Default)]
pub struct Tally {
    pub created: usize,
    pub updated: usize,
    pub claimed: usize,
    pub lapsed: usize,
    pub released: usize,
    pub completed: usize,
    pub completed_after_lapse: usize,
    pub unblocked: usize,
    pub deleted: usize,
    pub messages: usize,
    pub received: usize,
    pub rings_refused: usize,
    pub taken: usize,
    pub stopped: usize,
    pub handles_taken_over: usize,
    pub unanswered: usize,
    pub unanswered_but_done: usize,
}

#[derive(Clone, Debug, Default)]
struct Task {
    dependencies: BTreeSet<String>,
    was_claimed: bool,
    is_completed: bool,
    owner: Option<String>,
    /// Whose claim lapsed last, while nobody else has had one since.
    lapsed_from: Option<String>,
    lapses: u64,
}

#[derive(Debug)]
struct Sent {
    from: Option<String>,
    to: String,
    recipients: Vec<String>,
}

#[derive(Default)]
struct Model<'a> {
    asks: BTreeMap<usize, &'a Ask>,
    /// Id of a task -> the request that made it, and its place there.
    origins: BTreeMap<String, (usize, usize)>,
    tasks: BTreeMap<String, Task>,
    /// Request -> its tasks.
    created: BTreeMap<usize, BTreeMap<usize, String>>,
    updated: BTreeSet<usize>,
    /// Token -> task and owner.
    claims: BTreeMap<i64, (String, String)>,
    completed_by: BTreeMap<String, String>,
    deleted: BTreeSet<String>,
    /// Who has to answer a shutdown, and who has approved one.
    asked_to_stop: BTreeSet<String>,
    stopped: BTreeSet<String>,
    messages: Vec<Sent>,
    /// The event that has to be next: what a completion or a deletion has freed.
    due: Option<(String, BTreeSet<String>)>,
    tally: Tally,
}

/// Goes through all that happened; the sentence names what cannot be.
pub fn judge(asks: &[Ask], inboxes: &Inboxes, stored: &Stored) -> Result<Tally, String> {
    let mut model = Model {
        asks: asks.iter().map(|ask| (ask.mark, ask)).collect(),
        ..Model::default()
    };
    let titles = stored.tasks.iter().map(|(id, task)| (id.as_str(), &task["title"]));
    let of_events = stored
        .events
        .iter()
        .filter_map(|event| Some((event["task"].as_str()?, &event["title"])));
    for (id, title) in titles.chain(of_events) {
        if let Some(origin) = title.as_str().and_then(origin) {
            model.origins.insert(id.to_owned(), origin);
        }
    }
    for event in &stored.events {
        model.follow(event).map_err(|why| format!("{why}: {event}"))?;
    }
    model.nothing_is_due()?;
    stored.check()?;
    model.compare(stored)?;
    model.answers(stored)?;
    model.read(inboxes)?;
    Ok(model.tally)
}

/// Request and place of a title `m7.1`, whatever is behind it.
fn origin(title: &str) -> Option<(usize, usize)> {
    let (mark, place) = title.split(' ').next()?.strip_prefix('m')?.split_once('.')?;
    Some((mark.parse().ok()?, place.parse().ok()?))
}

/// The last request that has changed a title.
fn update(title: &str) -> Option<usize> {
    title.rsplit_once(" u")?.1.parse().ok()
}

impl Model<'_> {
    fn open_dependencies(&self, id: &str) -> BTreeSet<String> {
        let is_open = |other: &&String| !self.tasks[*other].is_completed;
        self.tasks[id].dependencies.iter().filter(is_open).cloned().collect()
    }

    fn assert_no_ring(&self) -> Result<(), String> {
        let open = self.tasks.iter().filter(|(_, task)| !task.is_completed);
        match ring(open.map(|(id, _)| (id.clone(), self.open_dependencies(id))).collect()) {
            Some(ring) => Err(format!("it closes a ring among {ring:?}")),
            None => Ok(()),
        }
    }

    fn nothing_is_due(&self) -> Result<(), String> {
        match &self.due {
            Some((id, freed)) => Err(format!("{id} has freed {freed:?}, and no event tells of it")),
            None => Ok(()),
        }
    }

    /// The request with this mark, which must not have been refused.
    fn ask(&self, mark: usize) -> Result<&Ask, String> {
        let ask = self.asks.get(&mark).ok_or("nobody has asked for it")?;
        match &ask.told {
            Told::Refused(code) => Err(format!("it was refused with {code}")),
            _ => Ok(ask),
        }
    }

    fn follow(&mut self, event: &Json) -> Result<(), String> {
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        let (kind, task, handle) = (text("type"), text("task"), text("handle"));
        if kind == "task_unblocked" {
            let named: BTreeSet<String> = texts(&event["tasks"]).collect();
            self.tally.unblocked += named.len();
            return match self.due.take() {
                Some((id, freed)) if id == task && freed == named => Ok(()),
                due => Err(format!("due is {due:?}")),
            };
        }
        self.nothing_is_due()?;
        match kind.as_str() {
            "task_created" => self.create(&texts(&event["tasks"]).collect::<Vec<_>>(), &handle),
            "task_updated" => self.update(&task, &text("title")),
            "task_claimed" => self.claim(&task, &handle, event["token"].as_i64().unwrap_or_default()),
            "task_released" | "task_lapsed" => self.end_claim(&task, &handle, kind == "task_lapsed"),
            "task_completed" => self.complete(&task, &handle),
            "task_deleted" => self.delete(&task),
            "message_sent" => {
                self.messages.push(Sent {
                    from: event["from"].as_str().map(str::to_owned),
                    to: text("to"),
                    recipients: texts(&event["recipients"]).collect(),
                });
                match event["number"] == self.messages.len() {
                    true => Ok(()),
                    false => Err(format!("message {} is next", self.messages.len())),
                }
            }
            "shutdown_changed" => {
                let target = text("target");
                match text("state").as_str() {
                    "requested" => drop(self.asked_to_stop.insert(target)),
                    "approved" if handle == target => {
                        self.asked_to_stop.remove(&target);
                        self.tally.stopped += usize::from(self.stopped.insert(target));
                    }
                    _ => drop(self.asked_to_stop.remove(&target)),
                }
                Ok(())
            }
            "team_changed" => {
                self.stopped.remove(&handle);
                self.tally.handles_taken_over += usize::from(event["change"] == "taken_over");
                Ok(())
            }
            // From the beginning, when the repository was made known.
            "head_moved" => Ok(()),
            other => Err(format!("{other} is no event of a team")),
        }
    }

    fn create(&mut self, ids: &[String], handle: &str) -> Result<(), String> {
        let mut mark = None;
        let mut made = BTreeMap::new();
        for id in ids {
            let (of, place) = self.origins.get(id).copied().ok_or("a task without a title")?;
            if *mark.get_or_insert(of) != of || self.tasks.contains_key(id) || self.deleted.contains(id) {
                return Err(format!("{id} is of another request, or was there before"));
            }
            made.insert(place, id.clone());
            self.tasks.insert(id.clone(), Task::default());
        }
        let mark = mark.ok_or("no task")?;
        let ask = self.ask(mark)?;
        let Asked::Create(wanted) = &ask.asked else {
            return Err("nobody has asked for tasks".to_owned());
        };
        if ask.handle != handle || made.len() != wanted.len() || self.created.contains_key(&mark) {
            return Err(format!("{} asked for {} tasks, once", ask.handle, wanted.len()));
        }
        let id_of = |named: &Named| match named {
            Named::Task(id) => id.clone(),
            Named::New(place) => made[place].clone(),
        };
        let mut edges = Vec::new();
        for (place, wanted) in wanted.iter().enumerate() {
            edges.extend(
                wanted
                    .dependencies
                    .iter()
                    .map(|other| (made[&place].clone(), id_of(other))),
            );
            edges.extend(wanted.blocks.iter().map(|other| (id_of(other), made[&place].clone())));
        }
        self.depend(edges)?;
        self.tally.created += made.len();
        self.created.insert(mark, made);
        self.assert_no_ring()
    }

    /// Adds edges: a task, and what it depends on.
    fn depend(&mut self, edges: Vec<(String, String)>) -> Result<(), String> {
        for (id, other) in edges {
            if !self.tasks.contains_key(&other) {
                return Err(format!("there is no task {other}"));
            }
            let task = self
                .tasks
                .get_mut(&id)
                .ok_or_else(|| format!("there is no task {id}"))?;
            task.dependencies.insert(other);
        }
        Ok(())
    }

    fn update(&mut self, id: &str, title: &str) -> Result<(), String> {
        // Another change than that of the title.
        let Some(mark) = update(title).filter(|mark| !self.updated.contains(mark)) else {
            return Ok(());
        };
        let ask = self.ask(mark)?;
        let Asked::Update {
            id: of,
            dependencies,
            blocks,
        } = ask.asked.clone()
        else {
            return Err("nobody has asked for a change".to_owned());
        };
        if of != id {
            return Err(format!("the change is of {of}"));
        }
        let completed: BTreeSet<String> = self
            .tasks
            .iter()
            .filter(|(_, task)| task.is_completed)
            .map(|(id, _)| id.clone())
            .collect();
        let mut edges = Vec::new();
        if let Some(wanted) = dependencies {
            let task = self.tasks.get_mut(id).ok_or("there is no such task")?;
            task.dependencies.retain(|other| completed.contains(other));
            edges.extend(wanted.into_iter().map(|other| (id.to_owned(), other)));
        }
        if let Some(wanted) = blocks {
            for (other, task) in &mut self.tasks {
                if !completed.contains(other) {
                    task.dependencies.remove(id);
                }
            }
            edges.extend(wanted.into_iter().map(|other| (other, id.to_owned())));
        }
        self.depend(edges)?;
        self.updated.insert(mark);
        self.tally.updated += 1;
        self.assert_no_ring()
    }

    fn claim(&mut self, id: &str, handle: &str, token: i64) -> Result<(), String> {
        if self.asked_to_stop.contains(handle) || self.stopped.contains(handle) {
            return Err(format!("{handle} is to stop"));
        }
        if self.claims.last_key_value().is_some_and(|(newest, _)| *newest >= token) {
            return Err("a token of before".to_owned());
        }
        let task = self.tasks.get_mut(id).ok_or("there is no such task")?;
        if task.is_completed || task.lapses >= 3 {
            return Err("it cannot be claimed any more".to_owned());
        }
        if let Some(owner) = &task.owner {
            return Err(format!("{owner} has it"));
        }
        (task.owner, task.was_claimed, task.lapsed_from) = (Some(handle.to_owned()), true, None);
        self.claims.insert(token, (id.to_owned(), handle.to_owned()));
        self.tally.claimed += 1;
        Ok(())
    }

    fn end_claim(&mut self, id: &str, handle: &str, is_lapsed: bool) -> Result<(), String> {
        let task = self.tasks.get_mut(id).ok_or("there is no such task")?;
        let owner = task.owner.take();
        if owner.as_deref() != Some(handle) || task.is_completed {
            return Err(format!("{owner:?} had it"));
        }
        if is_lapsed {
            task.lapses += 1;
            task.lapsed_from = owner;
            self.tally.lapsed += 1;
        } else {
            self.tally.released += 1;
        }
        Ok(())
    }

    fn complete(&mut self, id: &str, handle: &str) -> Result<(), String> {
        let task = self.tasks.get_mut(id).ok_or("there is no such task")?;
        if task.is_completed || !task.was_claimed {
            return Err("it is completed, or was never claimed".to_owned());
        }
        let is_late = task.owner.is_none() && task.lapsed_from.as_deref() == Some(handle);
        if task.owner.as_deref() != Some(handle) && !is_late {
            return Err(format!("{:?} has it", task.owner));
        }
        self.tally.completed_after_lapse += usize::from(is_late);
        self.tally.completed += 1;
        (task.owner, task.is_completed) = (Some(handle.to_owned()), true);
        self.completed_by.insert(id.to_owned(), handle.to_owned());
        let dependents = self.tasks.iter().filter(|(_, task)| task.dependencies.contains(id));
        let dependents = dependents.map(|(id, _)| id.clone()).collect();
        self.free(id, dependents);
        Ok(())
    }

    fn delete(&mut self, id: &str) -> Result<(), String> {
        let gone = self.tasks.remove(id).ok_or("there is no such task")?;
        self.deleted.insert(id.to_owned());
        self.tally.deleted += 1;
        let mut dependents = Vec::new();
        for (other, task) in &mut self.tasks {
            if task.dependencies.remove(id) {
                dependents.push(other.clone());
            }
        }
        if !gone.is_completed {
            self.free(id, dependents);
        }
        Ok(())
    }

    /// Of those that have lost a dependency, the ones that have no other open one have to be told of.
    fn free(&mut self, id: &str, mut dependents: Vec<String>) {
        dependents.retain(|other| !self.tasks[other].is_completed && self.open_dependencies(other).is_empty());
        if !dependents.is_empty() {
            self.due = Some((id.to_owned(), dependents.into_iter().collect()));
        }
    }

    /// The store has what the events have told.
    fn compare(&self, stored: &Stored) -> Result<(), String> {
        if stored.tasks.keys().ne(self.tasks.keys()) {
            return Err(format!(
                "the store has the tasks {:?}, the events told {:?}",
                stored.tasks.keys(),
                self.tasks.keys()
            ));
        }
        let dependencies = stored.dependencies();
        for (id, task) in &self.tasks {
            let record = &stored.tasks[id];
            let status = match (task.is_completed, task.was_claimed) {
                (true, _) => "completed",
                (_, true) => "in_progress",
                _ => "pending",
            };
            let is_alike = record["status"] == status
                && record["owner"].as_str() == task.owner.as_deref()
                && record["lapses"].as_u64().unwrap_or_default() == task.lapses;
            if !is_alike {
                return Err(format!("the store has {record}, the events told {id}: {task:?}"));
            }
            let none = BTreeSet::new();
            let found = dependencies.get(id.as_str()).unwrap_or(&none);
            if !found.iter().copied().eq(task.dependencies.iter().map(String::as_str)) {
                return Err(format!("the store has {id} on {found:?}, the requests said {task:?}"));
            }
        }
        if stored.sequence != self.messages.len() as u64 {
            return Err(format!("the store counts {} messages", stored.sequence));
        }
        Ok(())
    }

    /// What the clients were told is what has happened, and nothing has happened that nobody asked for.
    fn answers(&mut self, stored: &Stored) -> Result<(), String> {
        let (mut answered, mut unanswered): (BTreeSet<i64>, BTreeMap<&str, usize>) = Default::default();
        for (mark, ask) in &self.asks {
            let wrong = |what: &str| Err(format!("{what}: {ask:?}"));
            self.tally.unanswered += usize::from(matches!(ask.told, Told::Nothing));
            match (&ask.asked, &ask.told) {
                (Asked::Create(_), Told::Done(answer)) => {
                    let made = self
                        .created
                        .get(mark)
                        .map(|made| made.values().cloned().collect::<Vec<_>>());
                    if made.unwrap_or_default() != texts(&answer["ids"]).collect::<Vec<_>>() {
                        return wrong("no event tells of these tasks");
                    }
                }
                (Asked::Update { .. }, Told::Done(_)) if !self.updated.contains(mark) => {
                    return wrong("no event tells of this change");
                }
                (Asked::Create(_) | Asked::Update { .. }, Told::Refused(code)) => {
                    self.tally.rings_refused += usize::from(code == "CIRCULAR_DEPENDENCY");
                }
                (Asked::Create(_), Told::Nothing) => {
                    self.tally.unanswered_but_done += usize::from(self.created.contains_key(mark));
                }
                (Asked::Take, Told::Done(answer)) if answer["task"].is_object() => {
                    let token = answer["task"]["lease"]["token"].as_i64().unwrap_or_default();
                    let claim = answer["task"]["id"]
                        .as_str()
                        .map(|id| (id.to_owned(), ask.handle.clone()));
                    if self.claims.get(&token) != claim.as_ref() {
                        return wrong("no event tells of this claim");
                    }
                    answered.insert(token);
                    self.tally.taken += 1;
                }
                (Asked::Take, Told::Nothing) => *unanswered.entry(&ask.handle).or_default() += 1,
                (Asked::Complete(id), Told::Done(_))
                    if !self.deleted.contains(id) && !self.completed_by.contains_key(id) =>
                {
                    return wrong("no event tells of this completion");
                }
                (Asked::Send(text), Told::Done(answer)) => {
                    let number = answer["id"].as_u64().unwrap_or_default();
                    let sent = self.messages.get((number as usize).wrapping_sub(1));
                    let is_alike = sent.is_some_and(|sent| sent.from.as_ref() == Some(&ask.handle));
                    if !is_alike || stored.bodies.get(&number) != Some(text) {
                        return wrong("no event tells of this message");
                    }
                }
                (Asked::Send(text), told) => {
                    let times = stored.bodies.values().filter(|body| *body == text).count();
                    if times > usize::from(matches!(told, Told::Nothing)) {
                        return wrong("this message was sent");
                    }
                }
                _ => {}
            }
        }
        for (token, (id, handle)) in &self.claims {
            if answered.contains(token) {
                continue;
            }
            match unanswered.get_mut(handle.as_str()) {
                Some(count) if *count > 0 => *count -= 1,
                _ => return Err(format!("{handle} got {id} with {token}, and has not asked for it")),
            }
        }
        Ok(())
    }

    /// What each reader got are the messages to it, once and in order.
    fn read(&mut self, inboxes: &Inboxes) -> Result<(), String> {
        self.tally.messages = self.messages.len();
        for (reader, got) in inboxes {
            let is_for = |sent: &Sent| match sent.to.as_str() {
                "broadcast" => sent.from.as_ref() != Some(reader),
                to => to == reader || sent.recipients.contains(reader),
            };
            let numbers = (1..).zip(&self.messages);
            let expected: Vec<u64> = numbers
                .filter(|(_, sent)| is_for(sent))
                .map(|(number, _)| number)
                .collect();
            let numbers: Vec<u64> = got.iter().map(|(number, _)| *number).collect();
            if numbers != expected {
                let lost: Vec<_> = expected.iter().filter(|number| !numbers.contains(number)).collect();
                return Err(format!("{reader} got {numbers:?}, without {lost:?} of those to it"));
            }
            self.tally.received += got.len();
        }
        Ok(())
    }
}

fn texts(list: &Json) -> impl Iterator<Item = String> + '_ {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned))
}
