//! Cost of an update of the import graph: `cargo bench -p coord-graph --bench update`.
//!
//! The repository has 10,000 TypeScript files in memory, so that only the update itself is measured: comparing the tree,
//! scanning and resolving changed files, and assembling the new graph. Reading the tree, the blobs and the stored scans
//! is extra, and depends on where they are.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use coord_graph::{Blob, EntryKind, Limits, Previous, Snapshot, TreeEntry, Update};

const FILES: usize = 10_000;
const ROUNDS: usize = 21;

type Files = BTreeMap<String, (String, String)>;

fn path(number: usize) -> String {
    format!("packages/p{}/src/f{}/file{number}.ts", number % 40, number % 400)
}

/// A file of about 4 kB with four imports at its head. Another `version` gives other content, and so another blob.
fn file(number: usize, version: usize) -> (String, String) {
    let import = |of: usize| {
        let other = path((number * of + version) % FILES);
        format!(
            "import {{ f{of} }} from '../../../../{}'\n",
            other.trim_end_matches(".ts")
        )
    };
    let body =
        "export function f(text: string) {\n  return text.split(/[,;]/).map((part) => `<${part}>`) // joined\n}\n";
    let text = format!("{}{}", [1, 3, 7, 11].map(import).concat(), body.repeat(38));
    (format!("{:040x}", number * 1000 + version), text)
}

/// Builds the graph of `files` after `previous`, and measures the time.
fn update(previous: Previous, files: &Files) -> (Arc<Snapshot>, Duration) {
    let contents: BTreeMap<&str, &str> = files
        .values()
        .map(|(blob, text)| (blob.as_str(), text.as_str()))
        .collect();
    let tree = files.iter().map(|(path, (blob, _))| TreeEntry {
        path: path.clone(),
        blob: blob.clone(),
        kind: EntryKind::File,
    });
    let tree: Vec<TreeEntry> = tree.collect();
    let started = Instant::now();
    let update = Update::begin(previous, tree, Limits::default());
    loop {
        let wanted = update.wanted();
        if wanted.is_empty() {
            break;
        }
        for one in wanted {
            let content = contents.get(one.blob.as_str());
            update.supply(
                one.file,
                content.map_or(Blob::Unreadable, |text| Blob::Content(text.as_bytes())),
            );
        }
    }
    let snapshot = Arc::new(update.finish());
    (snapshot, started.elapsed())
}

fn main() {
    let mut files: Files = (0..FILES).map(|number| (path(number), file(number, 0))).collect();
    let (mut snapshot, cold) = update(Previous::Nothing, &files);
    println!("{:<34}{:>9} edges", "", snapshot.graph().edge_count());
    println!("{:<34}{cold:>9.1?}, on one thread", "cold");
    for changed in [1, 300] {
        let mut times = Vec::new();
        for version in 1..=ROUNDS {
            for number in 0..changed {
                let number = (number * 31 + version * 7) % FILES;
                files.insert(path(number), file(number, changed + version));
            }
            let (next, took) = update(Previous::Snapshot(Arc::clone(&snapshot)), &files);
            snapshot = next;
            times.push(took);
        }
        print(&format!("{changed} edited"), times);
    }
    let cold = update(Previous::Nothing, &files).0;
    let edges = |snapshot: &Snapshot| snapshot.graph().edges().collect::<Vec<_>>();
    assert!(
        edges(&snapshot) == edges(&cold),
        "the updated graph is not the cold one"
    );
}

fn print(label: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "{label:<34}{median:>9.1?} at the median of {}, {most:.1?} at most",
        times.len()
    );
}
