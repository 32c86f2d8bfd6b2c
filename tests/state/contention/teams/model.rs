//! Goes through the log of events with the requests of the clients, and reports impossible ones, by the rules of [`Tasks`].

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::acts::{Act, Ask, Named, Reply};
use super::files::Files;
use super::judge::Tally;
use super::members::{Members, Sent};
use crate::team_model::{MAX_EXPIRIES, Task, Tasks};

#[derive(Default)]
pub struct Model<'a> {
    pub asks: BTreeMap<usize, &'a Ask>,
    /// Id of a task -> the request that made it, and its place there.
    pub origins: BTreeMap<String, (usize, usize)>,
    pub tasks: Tasks,
    /// Request -> its tasks.
    pub created: BTreeMap<usize, BTreeMap<usize, String>>,
    pub updated: BTreeSet<usize>,
    /// Token -> task and owner.
    pub claims: BTreeMap<i64, (String, String)>,
    pub completed_by: BTreeMap<String, String>,
    pub deleted: BTreeSet<String>,
    pub members: Members,
    pub messages: Vec<Sent>,
    /// An idle message finds the claims that expire now; its answer may name their tasks.
    pub is_after_idle: bool,
    /// The event that has to be next: what a completion or a deletion has freed.
    due: Option<(String, BTreeSet<String>)>,
    pub files: Files,
    pub tally: Tally,
}

/// Request and place of a title `m7.1`, whatever is behind it.
pub fn origin(title: &str) -> Option<(usize, usize)> {
    let (mark, place) = title.split(' ').next()?.strip_prefix('m')?.split_once('.')?;
    Some((mark.parse().ok()?, place.parse().ok()?))
}

/// The last request that has changed a title.
fn update(title: &str) -> Option<usize> {
    title.rsplit_once(" u")?.1.parse().ok()
}

impl<'a> Model<'a> {
    pub fn of(asks: &'a [Ask]) -> Model<'a> {
        Model {
            asks: asks.iter().map(|ask| (ask.mark, ask)).collect(),
            ..Model::default()
        }
    }
}

impl Model<'_> {
    fn assert_no_ring(&self) -> Result<(), String> {
        match self.tasks.ring() {
            Some(ring) => Err(format!("it closes a ring among {ring:?}")),
            None => Ok(()),
        }
    }

    pub fn nothing_is_due(&self) -> Result<(), String> {
        match &self.due {
            Some((id, freed)) => Err(format!("{id} has freed {freed:?}, and no event tells of it")),
            None => Ok(()),
        }
    }

    /// The request with this mark, which must not have been refused.
    fn ask(&self, mark: usize) -> Result<&Ask, String> {
        let ask = self.asks.get(&mark).ok_or("nobody has asked for it")?;
        match &ask.reply {
            Reply::Refused(code) => Err(format!("it was refused with {code}")),
            _ => Ok(ask),
        }
    }

    pub fn follow(&mut self, event: &Json) -> Result<(), String> {
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
        if kind == "lock_reserved" {
            return Ok(());
        }
        self.nothing_is_due()?;
        self.no_end_is_due(&kind)?;
        if !matches!(kind.as_str(), "task_lapsed" | "lock_renewed") {
            self.is_after_idle = false;
        }
        if kind.starts_with("task_") && kind != "task_lapsed" {
            self.must_be_member(&handle)?;
        }
        match kind.as_str() {
            "lock_granted" | "lock_renewed" | "lock_released" | "lock_expired" => return self.lock(&kind, event),
            "task_claimed" => {
                let token = event["token"].as_i64().unwrap_or_default();
                self.take_files(&task, &handle, token)?;
                return self.claim(&task, &handle, token);
            }
            _ => self.settle_files()?,
        }
        match kind.as_str() {
            "task_created" => self.create(&texts(&event["tasks"]).collect::<Vec<_>>(), &handle),
            "task_updated" => self.update(&task, &text("title"), &handle),
            "task_released" | "task_lapsed" => self.end_claim(&task, &handle, kind == "task_lapsed"),
            "task_completed" => self.complete(&task, &handle),
            "task_deleted" => self.delete(&task),
            "message_sent" => self.message_sent(event),
            "shutdown_changed" => self.shutdown_changed(event),
            "team_changed" => self.team_changed(&text("change"), &handle, &text("user")),
            "head_moved" | "lock_refused" => Ok(()),
            other => Err(format!("{other} is no event of a team")),
        }
    }

    /// Token and owner of the claim of a task.
    pub fn claim_of(&self, id: &str) -> Option<(i64, String)> {
        let owner = self.tasks.0.get(id)?.owner.clone()?;
        let claim = self.claims.iter().rev().find(|(_, (task, _))| task == id);
        claim.map(|(token, _)| (*token, owner))
    }

    /// The files that a task was made with.
    pub fn files_of(&self, id: &str) -> BTreeSet<String> {
        let origin = self.origins.get(id);
        let ask = origin.and_then(|(mark, place)| Some((&self.asks.get(mark)?.act, *place)));
        match ask {
            Some((Act::Create(wanted), place)) if place < wanted.len() => wanted[place].files.iter().cloned().collect(),
            _ => BTreeSet::new(),
        }
    }

    fn create(&mut self, ids: &[String], handle: &str) -> Result<(), String> {
        let mut mark = None;
        let mut made = BTreeMap::new();
        for id in ids {
            let (of, place) = self.origins.get(id).copied().ok_or("a task without a title")?;
            if *mark.get_or_insert(of) != of || self.tasks.0.contains_key(id) || self.deleted.contains(id) {
                return Err(format!("{id} is of another request, or was there before"));
            }
            made.insert(place, id.clone());
            let task = Task {
                by: handle.to_owned(),
                ..Task::default()
            };
            self.tasks.0.insert(id.clone(), task);
        }
        let mark = mark.ok_or("no task")?;
        let ask = self.ask(mark)?;
        let Act::Create(wanted) = &ask.act else {
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
        self.tasks.depend(edges)?;
        self.tally.created += made.len();
        self.created.insert(mark, made);
        self.assert_no_ring()
    }

    fn update(&mut self, id: &str, title: &str, handle: &str) -> Result<(), String> {
        // Another change than that of the title.
        let Some(mark) = update(title).filter(|mark| !self.updated.contains(mark)) else {
            return Ok(());
        };
        let ask = self.ask(mark)?;
        let Act::Update {
            id: of,
            dependencies,
            blocks,
            clears,
        } = ask.act.clone()
        else {
            return Err("nobody has asked for a change".to_owned());
        };
        if of != id {
            return Err(format!("the change is of {of}"));
        }
        if let Some(wanted) = dependencies {
            self.tasks.depends_on(id, wanted)?;
        }
        if let Some(wanted) = blocks {
            self.tasks.blocks(id, wanted)?;
        }
        if clears {
            let task = self.tasks.0.get_mut(id).ok_or("there is no such task")?;
            if task.by != handle && self.members.leader != handle {
                return Err(format!("{handle} does not lead, and {} has made it", task.by));
            }
            self.tally.cleared += usize::from(!task.is_completed && task.lapses >= MAX_EXPIRIES);
            task.lapses = 0;
        }
        self.updated.insert(mark);
        self.tally.updated += 1;
        self.assert_no_ring()
    }

    fn claim(&mut self, id: &str, handle: &str, token: i64) -> Result<(), String> {
        self.may_claim(handle)?;
        if self.claims.last_key_value().is_some_and(|(newest, _)| *newest >= token) {
            return Err("a token of before".to_owned());
        }
        self.tasks.claim(id, handle)?;
        self.claims.insert(token, (id.to_owned(), handle.to_owned()));
        self.tally.claimed += 1;
        Ok(())
    }

    fn end_claim(&mut self, id: &str, handle: &str, is_lapsed: bool) -> Result<(), String> {
        self.tasks.end_claim(id, handle, is_lapsed)?;
        if is_lapsed {
            self.tally.lapsed += 1;
            self.tally.held_back += usize::from(self.tasks.0[id].lapses == MAX_EXPIRIES);
            if self.is_after_idle && self.tasks.is_ready(id) {
                let idle = self.messages.last_mut().expect("the idle message");
                idle.ready.insert(id.to_owned());
            }
        } else {
            self.tally.released += 1;
        }
        Ok(())
    }

    fn complete(&mut self, id: &str, handle: &str) -> Result<(), String> {
        let (is_late, freed) = self.tasks.complete(id, handle)?;
        self.tally.completed_after_lapse += usize::from(is_late);
        self.tally.completed += 1;
        self.completed_by.insert(id.to_owned(), handle.to_owned());
        self.free(id, freed);
        Ok(())
    }

    fn delete(&mut self, id: &str) -> Result<(), String> {
        let (_, freed) = self.tasks.delete(id)?;
        self.deleted.insert(id.to_owned());
        self.tally.deleted += 1;
        self.free(id, freed);
        Ok(())
    }

    /// The next event has to name the tasks that become ready.
    fn free(&mut self, id: &str, freed: BTreeSet<String>) {
        if !freed.is_empty() {
            self.due = Some((id.to_owned(), freed));
        }
    }
}

pub fn texts(list: &Json) -> impl Iterator<Item = String> + '_ {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned))
}
