//! Holds operations, log and store against each other.

mod answers;

use std::collections::{BTreeMap, BTreeSet};

use crate::history::log::{Event, Kind, Locks, Neighbors, Stored};
use crate::history::model::Model;
use crate::history::operation::{Act, Answer, Operation, id_in};
use crate::history::queue::Queue;
use crate::history::rule::{Rule, Violation, require};

/// How often each thing happened, so that a test can show that it was not about nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub grants: usize,
    pub renewals: usize,
    pub releases: usize,
    pub expiries: usize,
    pub conflicts: usize,
    pub lost: usize,
    pub not_pushed: usize,
    pub checks: usize,
    pub unanswered: usize,
    /// Operations without an answer that were still carried out.
    pub unanswered_but_done: usize,
}

/// The judge's facts about the arena.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub neighbors: Neighbors,
    /// Files that several may write at once.
    pub shared: BTreeSet<String>,
    /// Seconds that a lock may be held, whole: to the millisecond.
    pub ttls: BTreeSet<i64>,
}

/// Whether `operations`, the log and the locks in the store can be true together.
pub fn judge(operations: &[Operation], stored: &Stored, rules: &Rules) -> Result<Tally, Violation> {
    let states = replay(operations, stored, rules)?;
    let trial = Trial {
        operations,
        stored,
        rules,
        states,
        places: places(operations, stored)?,
    };
    trial.final_state()?;
    let mut tally = Tally::default();
    for operation in operations {
        let place = trial.places.get(&operation.id);
        trial.clock(operation, place)?;
        trial.answer(operation, place)?;
        trial.count(operation, place, &mut tally);
    }
    trial.real_time()?;
    tally.expiries = stored
        .events
        .iter()
        .filter(|event| event.kind == Kind::Expired)
        .map(|event| event.files.len())
        .sum();
    Ok(tally)
}

/// The state before the first event, and after each.
fn replay(operations: &[Operation], stored: &Stored, rules: &Rules) -> Result<Vec<Model>, Violation> {
    let mut states = vec![Model {
        queue: Queue::with(operations, &rules.shared),
        shared: rules.shared.clone(),
        ..Model::default()
    }];
    for event in &stored.events {
        let mut state = states[states.len() - 1].clone();
        state.apply(event, &rules.neighbors)?;
        if matches!(event.kind, Kind::Granted | Kind::Renewed) {
            let ttl = event.expiry - event.time;
            let is_whole = ttl % 1000 == 0 && rules.ttls.contains(&(ttl / 1000));
            require(is_whole, Rule::Expiry, || format!("held for {ttl} ms: {event:?}"))?;
        }
        states.push(state);
    }
    Ok(states)
}

/// First and last event of each operation, by its number.
fn places(operations: &[Operation], stored: &Stored) -> Result<BTreeMap<u64, LogSpan>, Violation> {
    let known: BTreeMap<u64, &Operation> = operations.iter().map(|operation| (operation.id, operation)).collect();
    let mut places: BTreeMap<u64, LogSpan> = BTreeMap::new();
    for (index, event) in stored.events.iter().enumerate() {
        // These have the message of the claim that expired, or waits; no caller caused them.
        if matches!(event.kind, Kind::Expired | Kind::Reserved) {
            continue;
        }
        let operation = id_in(&event.message).and_then(|id| known.get(&id));
        let is_its_own = operation.is_some_and(|operation| {
            let is_of_kind = match operation.act {
                Act::Claim(_) => event.kind != Kind::Released,
                Act::Release => matches!(event.kind, Kind::Released | Kind::Refused),
                Act::Check => false,
            };
            let is_known = event.files.iter().all(|file| operation.files.contains(file));
            is_of_kind && is_known && event.holder == operation.holder && event.branch == operation.branch
        });
        let operation = operation.filter(|_| is_its_own);
        let operation = operation.ok_or_else(|| Violation {
            rule: Rule::AnswerAndLog,
            text: format!("belongs to no request: {event:?}"),
        })?;
        let place = places.entry(operation.id).or_insert(LogSpan {
            first: index,
            last: index,
            events: Vec::new(),
        });
        place.last = index;
        place.events.push(index);
    }
    Ok(places)
}

/// Where an operation is in the log.
struct LogSpan {
    first: usize,
    last: usize,
    events: Vec<usize>,
}

struct Trial<'a> {
    operations: &'a [Operation],
    stored: &'a Stored,
    rules: &'a Rules,
    states: Vec<Model>,
    places: BTreeMap<u64, LogSpan>,
}

impl Trial<'_> {
    fn events<'s>(&'s self, place: &'s LogSpan) -> impl Iterator<Item = &'s Event> {
        place.events.iter().map(|&index| &self.stored.events[index])
    }

    fn final_state(&self) -> Result<(), Violation> {
        let last = &self.states[self.states.len() - 1];
        let sorted = |locks: &Locks| {
            let mut locks = locks.clone();
            for entries in locks.values_mut() {
                entries.sort_by(|one, other| one.holder.cmp(&other.holder));
            }
            locks
        };
        let (logged, kept) = (sorted(&last.locks), sorted(&self.stored.locks));
        require(logged == kept, Rule::FinalState, || {
            format!("the log gives {logged:#?}, the store has {kept:#?}")
        })?;
        let (logged, kept) = (last.newest_token, self.stored.token);
        require(logged == kept, Rule::FinalState, || {
            format!("the log ends with token {logged}, the store has {kept}")
        })?;
        let mut earliest: BTreeMap<String, i64> = BTreeMap::new();
        for ((_, file), entries) in &self.stored.locks {
            for entry in entries {
                let expiry = earliest.entry(file.clone()).or_insert(i64::MAX);
                // No sweep is too early.
                *expiry = (entry.expiry + 999).div_euclid(1000).min(*expiry);
            }
        }
        require(earliest == self.stored.expiries, Rule::FinalState, || {
            format!(
                "the index of expiries has {:?}, the locks {earliest:?}",
                self.stored.expiries
            )
        })
    }

    fn clock(&self, operation: &Operation, place: Option<&LogSpan>) -> Result<(), Violation> {
        let until = operation.returned.map_or(i64::MAX, |moment| moment.millisecond);
        let mut times = place
            .into_iter()
            .flat_map(|place| self.events(place))
            .map(|event| event.time);
        require(
            times.all(|time| (operation.invoked.millisecond..=until).contains(&time)),
            Rule::Clock,
            || format!("the store's clock was outside of {operation:?}"),
        )
    }

    /// The log has no operation before another that had ended when it began.
    fn real_time(&self) -> Result<(), Violation> {
        let mut ended: Vec<(u64, usize)> = Vec::new();
        for operation in self.operations {
            if let (Some(place), Some(returned)) = (self.places.get(&operation.id), operation.returned) {
                ended.push((returned.tick, place.last));
            }
        }
        ended.sort_unstable();
        // The latest place of all that had ended by then.
        let mut latest = 0;
        for (_, place) in &mut ended {
            latest = latest.max(*place);
            *place = latest;
        }
        for operation in self.operations {
            let Some(place) = self.places.get(&operation.id) else {
                continue;
            };
            let before = ended.partition_point(|(tick, _)| *tick < operation.invoked.tick);
            let after = before.checked_sub(1).map(|index| ended[index].1);
            require(after.is_none_or(|latest| latest < place.first), Rule::RealTime, || {
                format!(
                    "in the log at {}, after something that ended before it began: {operation:?}",
                    place.first
                )
            })?;
        }
        Ok(())
    }

    fn count(&self, operation: &Operation, place: Option<&LogSpan>, tally: &mut Tally) {
        for event in place.into_iter().flat_map(|place| self.events(place)) {
            match event.kind {
                Kind::Granted => tally.grants += 1,
                Kind::Renewed => tally.renewals += 1,
                Kind::Released => tally.releases += 1,
                Kind::Expired | Kind::Reserved => {}
                Kind::Refused => match event.reason.as_str() {
                    "CONFLICT" => tally.conflicts += 1,
                    "LOST" => tally.lost += 1,
                    "NOT_PUSHED" => tally.not_pushed += 1,
                    _ => {}
                },
            }
        }
        tally.checks += usize::from(matches!(operation.answer, Some(Answer::Seen { .. })));
        tally.unanswered += usize::from(operation.answer.is_none());
        tally.unanswered_but_done += usize::from(operation.answer.is_none() && place.is_some());
    }
}
