//! Answers about reachability that hold for ever, remembered.

use std::collections::HashMap;

use gix::ObjectId;

/// Most pairs in each of the two halves; a pair takes about 100 bytes.
const HALF: usize = 8192;

/// What is known about (ancestor, descendant). Two halves: the older is dropped when the younger is full, and an answer
/// that is asked for again moves to the younger.
#[derive(Debug, Default)]
pub(super) struct Answers {
    young: HashMap<(ObjectId, ObjectId), bool>,
    old: HashMap<(ObjectId, ObjectId), bool>,
}

impl Answers {
    pub(super) fn get(&mut self, ancestor: ObjectId, descendant: ObjectId) -> Option<bool> {
        let pair = (ancestor, descendant);
        if let Some(&answer) = self.young.get(&pair) {
            return Some(answer);
        }
        let answer = self.old.remove(&pair)?;
        self.put(ancestor, descendant, answer);
        Some(answer)
    }

    pub(super) fn put(&mut self, ancestor: ObjectId, descendant: ObjectId, answer: bool) {
        if self.young.len() >= HALF {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert((ancestor, descendant), answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> ObjectId {
        ObjectId::from_hex(format!("{number:040x}").as_bytes()).unwrap()
    }

    #[test]
    fn it_stays_small_and_keeps_what_is_used() {
        let mut answers = Answers::default();
        answers.put(id(0), id(0), true);
        for number in 1..HALF * 10 {
            answers.put(id(number), id(0), false);
            assert_eq!(answers.get(id(0), id(0)), Some(true), "{number}");
            assert!(answers.young.len() + answers.old.len() <= 2 * HALF);
        }
        assert_eq!(answers.get(id(1), id(0)), None);
        assert_eq!(answers.get(id(HALF * 10 - 1), id(0)), Some(false));
    }
}
