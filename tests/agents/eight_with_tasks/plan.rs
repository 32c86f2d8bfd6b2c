//! The graph of tasks: eight chains of six that join with their neighbors twice, then joins of ever more, and one at the end. Files are
//! fewer than tasks, so that many tasks have one in common.

use std::collections::BTreeSet;

use serde_json::{Value, json};

pub const TASKS: usize = 60;
pub const FILES: usize = 13;
const CHAINS: usize = 8;

/// A task, which adds a line to each of its files.
#[derive(Clone, Debug)]
pub struct Planned {
    pub id: String,
    pub dependencies: BTreeSet<String>,
    pub files: BTreeSet<String>,
}

impl Planned {
    pub fn line(&self) -> String {
        format!("{} was here\n", self.id)
    }

    /// The subject of its commit.
    pub fn subject(&self) -> String {
        format!("Do {}", self.id)
    }

    /// The result of the completed task.
    pub fn result(&self) -> String {
        format!("{} is on the branch", self.id)
    }

    /// As an agent adds it.
    pub fn as_new(&self) -> Value {
        json!({
            "ref": self.id, "title": format!("Add the line of {}", self.id), "dependencies": self.dependencies, "files": self.files,
        })
    }
}

pub fn file(number: usize) -> String {
    format!("src/part{}.txt", number % FILES)
}

fn id(number: usize) -> String {
    format!("t{}", number + 1)
}

fn dependencies(number: usize) -> Vec<usize> {
    let (chain, depth) = (number % CHAINS, number / CHAINS);
    let of_row = |row: usize, chain: usize| row * CHAINS + chain % CHAINS;
    match number {
        0..CHAINS => Vec::new(),
        48..56 => vec![of_row(5, chain), of_row(5, chain + 3), of_row(4, chain + 5)],
        56..59 => (0..3).map(|next| of_row(6, (number - 56) * 3 + next)).collect(),
        59.. => vec![56, 57, 58],
        _ if depth % 2 == 0 => vec![of_row(depth - 1, chain), of_row(depth - 1, chain + 1)],
        _ => vec![of_row(depth - 1, chain)],
    }
}

pub fn plan() -> Vec<Planned> {
    let files = |number: usize| {
        let second = number.is_multiple_of(3).then(|| file(number * 5 + 4));
        second.into_iter().chain([file(number)]).collect()
    };
    (0..TASKS)
        .map(|number| Planned {
            id: id(number),
            dependencies: dependencies(number).into_iter().map(id).collect(),
            files: files(number),
        })
        .collect()
}
