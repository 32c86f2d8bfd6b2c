//! Queries on the graph. Each visits every file and every edge once at most.

use crate::file::FileId;
use crate::import_graph::ImportGraph;

/// The direction in which a query follows edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To imported files and to importers.
    Both,
    /// To imported files.
    Imports,
    Importers,
}

impl Direction {
    /// Every direction, in order.
    pub const ALL: [Direction; 3] = [Direction::Both, Direction::Imports, Direction::Importers];

    /// Lower-case name, as on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Both => "both",
            Direction::Imports => "imports",
            Direction::Importers => "importers",
        }
    }
}

/// A part of the graph around some files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighborhood {
    /// The files and their distance from the focus in steps, nearest first, then by path.
    pub files: Vec<(FileId, u32)>,
    /// Whether more files were in reach than the limit allows.
    pub is_cut: bool,
}

impl ImportGraph {
    /// The files within `depth` steps of `focus` in `direction`, at most `max_files`.
    pub fn neighborhood(&self, focus: &[FileId], direction: Direction, depth: u32, max_files: usize) -> Neighborhood {
        let mut seen = vec![false; self.len()];
        let mut neighborhood = Neighborhood::default();
        let mut layer: Vec<FileId> = focus.iter().copied().filter(|id| (*id as usize) < self.len()).collect();
        let mut steps = 0;
        while !layer.is_empty() {
            layer.sort_unstable();
            layer.dedup();
            layer.retain(|id| !std::mem::replace(&mut seen[*id as usize], true));
            let room = max_files - neighborhood.files.len();
            neighborhood.is_cut |= layer.len() > room;
            layer.truncate(room);
            neighborhood.files.extend(layer.iter().map(|id| (*id, steps)));
            if steps == depth || neighborhood.is_cut {
                break;
            }
            steps += 1;
            let mut next = Vec::new();
            for id in layer {
                if direction != Direction::Importers {
                    next.extend(self.imports(id).iter().map(|(to, _)| *to));
                }
                if direction != Direction::Imports {
                    next.extend(self.importers(id));
                }
            }
            next.retain(|other: &FileId| !seen[*other as usize]);
            layer = next;
        }
        neighborhood
    }

    /// The groups of files that import each other in a circle. Each is sorted, and the groups are sorted by their first
    /// file.
    pub fn cycles(&self) -> Vec<Vec<FileId>> {
        let mut search = CycleSearch {
            graph: self,
            number: vec![0; self.len()],
            lowest: vec![0; self.len()],
            is_open: vec![false; self.len()],
            open: Vec::new(),
            visited: 0,
            cycles: Vec::new(),
        };
        for id in 0..self.len() as FileId {
            if search.number[id as usize] == 0 {
                search.visit(id);
            }
        }
        let mut cycles = search.cycles;
        cycles.sort_unstable();
        cycles
    }
}

/// Tarjan's strongly connected components, with an explicit stack: import chains can be deeper than a thread's stack.
struct CycleSearch<'a> {
    graph: &'a ImportGraph,
    number: Vec<u32>,
    lowest: Vec<u32>,
    is_open: Vec<bool>,
    open: Vec<FileId>,
    visited: u32,
    cycles: Vec<Vec<FileId>>,
}

impl CycleSearch<'_> {
    fn enter(&mut self, id: FileId) {
        self.visited += 1;
        self.number[id as usize] = self.visited;
        self.lowest[id as usize] = self.visited;
        self.is_open[id as usize] = true;
        self.open.push(id);
    }

    fn visit(&mut self, root: FileId) {
        self.enter(root);
        let mut path = vec![(root, 0)];
        while let Some((id, next)) = path.last_mut() {
            let id = *id;
            if let Some((to, _)) = self.graph.imports(id).get(*next) {
                *next += 1;
                let at = *to as usize;
                if self.number[at] == 0 {
                    self.enter(*to);
                    path.push((*to, 0));
                } else if self.is_open[at] {
                    self.lowest[id as usize] = self.lowest[id as usize].min(self.number[at]);
                }
                continue;
            }
            path.pop();
            let lowest = self.lowest[id as usize];
            if let Some((parent, _)) = path.last() {
                let parent = &mut self.lowest[*parent as usize];
                *parent = (*parent).min(lowest);
            }
            if lowest == self.number[id as usize] {
                self.close(id);
            }
        }
    }

    fn close(&mut self, id: FileId) {
        let start = self.open.iter().rposition(|open| *open == id).unwrap_or(0);
        let mut group = self.open.split_off(start);
        for member in &group {
            self.is_open[*member as usize] = false;
        }
        if group.len() > 1 {
            group.sort_unstable();
            self.cycles.push(group);
        }
    }
}
