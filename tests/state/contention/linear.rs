//! Linearizability of one lock from the answers alone, without the log: the search of Wing and Gong, with Lowe's memory of
//! what was tried. A history is linearizable if every operation can be given one instant between its invocation and its
//! return, so that, one after the other, they give the answers that were given. One without an answer may have happened
//! at any time after its invocation, or never.
//!
//! One file is looked at, and only operations on that file alone: linearizability is a property of each object by itself
//! (Herlihy and Wing), as long as nobody has or wants another one: who waits for whom is not of one file. Locks and tickets must
//! not expire during the history.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use coord_test_support::history::operation::{Act, Answer, Holder, Mode, Operation};

/// The holders of the file, with their modes; the holders that released it and have not claimed it since, who get the
/// same answer again; and the refused claims, in order, each with whether the file is reserved for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Register {
    held: BTreeMap<Holder, Mode>,
    released: BTreeSet<Holder>,
    queue: Vec<(Holder, Mode, bool)>,
}

/// An order of the operations that explains every answer, as indices; `None` where there is none.
pub fn linearize(operations: &[Operation]) -> Option<Vec<usize>> {
    let mut search = Search {
        operations,
        tried: HashSet::new(),
        order: Vec::new(),
    };
    let done = vec![0; operations.len().div_ceil(64)];
    search.extend(done, &Register::default()).then_some(search.order)
}

struct Search<'a> {
    operations: &'a [Operation],
    /// Sets of operations that were done, and the register after them, from which no order leads on.
    tried: HashSet<(Vec<u64>, Register)>,
    order: Vec<usize>,
}

impl Search<'_> {
    /// Whether the operations that are not `done` can follow on `register`.
    fn extend(&mut self, done: Vec<u64>, register: &Register) -> bool {
        let is_done = |index: usize| done[index / 64] >> (index % 64) & 1 == 1;
        let open: Vec<usize> = (0..self.operations.len()).filter(|&index| !is_done(index)).collect();
        let returns = open
            .iter()
            .filter_map(|&index| self.operations[index].returned)
            .map(|moment| moment.tick);
        // An operation without an answer need not have happened.
        let Some(first_return) = returns.min() else { return true };
        for index in open {
            let operation = &self.operations[index];
            // Nothing comes before an operation that had ended when it began.
            if operation.invoked.tick > first_return {
                continue;
            }
            let Some(next) = step(register, operation) else {
                continue;
            };
            let mut done = done.clone();
            done[index / 64] |= 1 << (index % 64);
            if !self.tried.insert((done.clone(), next.clone())) {
                continue;
            }
            self.order.push(index);
            if self.extend(done, &next) {
                return true;
            }
            self.order.pop();
        }
        false
    }
}

impl Register {
    /// Whether a claim of `holder` in `mode` and one of the other exclude each other.
    fn excludes((holder, mode): (&Holder, Mode), (other, wanted): (&Holder, Mode)) -> bool {
        holder != other && (mode == Mode::Writing || wanted == Mode::Writing)
    }

    fn is_locked(&self, holder: &Holder, mode: Mode) -> bool {
        let mut held = self.held.iter();
        held.any(|(other, theirs)| Self::excludes((holder, mode), (other, *theirs)))
    }

    fn is_reserved(&self, holder: &Holder, mode: Mode) -> bool {
        let mut reserved = self.queue.iter().filter(|(_, _, is_reserved)| *is_reserved);
        reserved.any(|(other, wanted, _)| Self::excludes((holder, mode), (other, *wanted)))
    }

    /// The place of such a claim in the queue.
    fn place_of(&self, holder: &Holder, mode: Mode) -> Option<usize> {
        let mut queue = self.queue.iter();
        queue.position(|(other, wanted, _)| other == holder && *wanted == mode)
    }

    /// Reserves the file for the claim at `place`, if it waits for nobody.
    fn notice(&mut self, place: usize) {
        let (holder, mode, _) = self.queue[place].clone();
        if !self.is_locked(&holder, mode) && !self.is_reserved(&holder, mode) {
            self.queue[place].2 = true;
        }
    }

    /// Whether the file is reserved before a claim of `holder`, who has less than that.
    fn comes_after(&mut self, holder: &Holder, mode: Mode) -> bool {
        for place in 0..self.place_of(holder, mode).unwrap_or(self.queue.len()) {
            let (other, wanted, _) = &self.queue[place];
            if Self::excludes((holder, mode), (other, *wanted)) {
                self.notice(place);
            }
        }
        self.is_reserved(holder, mode)
    }
}

/// The register after `operation`, if it answers what was answered.
fn step(register: &Register, operation: &Operation) -> Option<Register> {
    let holder = &operation.holder;
    let mut next = register.clone();
    let mut others = register.held.iter().filter(|(other, _)| *other != holder);
    let (file, answer) = (&operation.files[0], operation.answer.as_ref());
    let is_right = match operation.act {
        Act::Claim(mode) => {
            // A writer that asks to read remains a writer.
            let had = register.held.get(holder).copied();
            let is_renewal = had.is_some_and(|had| had >= mode);
            let is_reserved = !is_renewal && next.comes_after(holder, mode);
            let is_blocked = is_reserved || register.is_locked(holder, mode);
            let own = next.place_of(holder, mode);
            if !is_blocked {
                next.held.insert(holder.clone(), mode.max(had.unwrap_or(mode)));
                next.released.remove(holder);
                next.queue
                    .retain(|(other, wanted, _)| other != holder || *wanted > mode);
            } else if let Some(own) = own {
                next.queue[own].2 = false;
            } else {
                next.queue.push((holder.clone(), mode, false));
            }
            match answer {
                None => true,
                Some(Answer::Granted(locks)) => {
                    !is_blocked && locks.get(file).map(|held| held.mode) == next.held.get(holder).copied()
                }
                Some(Answer::Refused(code)) => is_blocked && code == "LOCK_CONFLICT",
                Some(_) => false,
            }
        }
        Act::Release => {
            let had = next.held.remove(holder);
            if had.is_some() {
                next.released.insert(holder.clone());
            }
            let is_known = had.is_some() || register.released.contains(holder);
            let is_taken = !is_known && others.any(|(_, mode)| *mode == Mode::Writing);
            next.queue.retain(|(other, ..)| other != holder);
            for place in 0..next.queue.len() {
                next.notice(place);
            }
            match answer {
                None => true,
                Some(Answer::Released(not_held)) => !is_taken && not_held.all().contains(file) != is_known,
                Some(Answer::Refused(code)) => is_taken && code == "LOCK_LOST",
                Some(_) => false,
            }
        }
        Act::Check => match answer {
            None => true,
            Some(Answer::Seen { held, others: seen }) => {
                let seen: BTreeMap<Holder, Mode> = seen.get(file).into_iter().flatten().cloned().collect();
                held.get(file).map(|held| held.mode) == register.held.get(holder).copied()
                    && seen
                        == others
                            .map(|(other, mode)| (other.clone(), *mode))
                            .collect::<BTreeMap<_, _>>()
            }
            Some(_) => false,
        },
    };
    is_right.then_some(next)
}
