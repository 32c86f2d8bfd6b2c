//! Circular dependencies.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// The shortest ring that the new edge "`task` depends on `dependency`" closes. It goes from `task` through its
/// dependencies back to `task`, and contains both ends. `dependencies_of` gives the edges without the new one. No task
/// is visited twice, and nothing recurses.
pub fn ring<T, I>(task: T, dependency: T, mut dependencies_of: impl FnMut(T) -> I) -> Option<Vec<T>>
where
    T: Copy + Eq + Hash,
    I: IntoIterator<Item = T>,
{
    let mut reached_from = HashMap::from([(dependency, task)]);
    let mut queue = VecDeque::from([dependency]);
    while let Some(current) = queue.pop_front() {
        if current == task {
            let mut ring = vec![task];
            let mut back = reached_from[&task];
            // A task that depends on itself was reached from itself.
            while back != task {
                ring.push(back);
                back = reached_from[&back];
            }
            ring.push(task);
            ring.reverse();
            return Some(ring);
        }
        for next in dependencies_of(current) {
            reached_from.entry(next).or_insert_with(|| {
                queue.push_back(next);
                current
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_ring_is_named() {
        let edges = |task: u32| match task {
            4 => vec![7, 1],
            7 => vec![4],
            _ => vec![],
        };
        assert_eq!(ring(1, 4, edges), Some(vec![1, 4, 1]));
        assert_eq!(ring(1, 7, edges), Some(vec![1, 7, 4, 1]));
        assert_eq!(ring(1, 1, edges), Some(vec![1, 1]));
        assert_eq!(ring(4, 1, edges), None);
        assert_eq!(ring(9, 4, edges), None);
    }

    #[test]
    fn a_chain_of_ten_thousand_is_searched_without_recursion() {
        let chain = |task: u32| (task < 10_000).then_some(task + 1);
        assert_eq!(ring(10_000, 0, chain).map(|ring| ring.len()), Some(10_002));
    }
}
