//! A map that stays small: two halves, of which the older is dropped when the younger is full. What is asked for again
//! moves to the younger.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    half: usize,
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K: Hash + Eq, V> Recent<K, V> {
    /// Holds between `half` and twice as many.
    pub(crate) fn of(half: usize) -> Self {
        Recent {
            half,
            young: HashMap::new(),
            old: HashMap::new(),
        }
    }

    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        if let Some((key, value)) = self.old.remove_entry(key) {
            self.put(key, value);
        }
        self.young.get(key)
    }

    pub(crate) fn put(&mut self, key: K, value: V) {
        if self.young.len() >= self.half && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.old.remove(&key);
        self.young.insert(key, value);
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    pub(crate) fn forget<Q: Hash + Eq + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        self.young.remove(key);
        self.old.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_small_and_keeps_what_is_used() {
        let mut recent = Recent::of(10);
        recent.put(0, "kept".to_owned());
        for number in 1..1_000 {
            recent.put(number, number.to_string());
            assert_eq!(recent.get(&0).map(String::as_str), Some("kept"), "{number}");
            assert!(recent.len() <= 20);
        }
        assert_eq!(recent.get(&1), None);
        recent.put(0, "new".to_owned());
        assert_eq!(recent.get(&0).map(String::as_str), Some("new"));
        recent.forget(&0);
        assert_eq!(recent.get(&0), None);
    }
}
