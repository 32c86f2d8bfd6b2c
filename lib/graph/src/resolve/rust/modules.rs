//! The tree of modules: the files that declare each other as modules.
//!
//! It consists of the `mod`s of all files, starting at the crate roots: with `#[path]` and conditions, a path alone
//! does not show where a module belongs. Several files may declare the same file (`tests/common`), and a name may mean
//! several files (one for each platform). All of them count.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use coord_scan::{ImportKind, Specifier};

use crate::file::FileId;
use crate::record::{Record, specifiers_of};
use crate::resolve::keys::{KeySpace, Keys};
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{folder, joined};

/// Most files with one name, most declarations of one file, and most crates with one file. Real code stays far below.
/// The bound limits the work for hostile code.
const MAX_MEANINGS: usize = 32;

/// One file as a module.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// Name of a module, after the names of inline modules around it -> its files.
    children: BTreeMap<String, Vec<FileId>>,
    /// The files that declare it, each with the inline modules around the declaration. `::` follows each inline name.
    pub(crate) parents: Vec<(FileId, String)>,
    /// The roots of the crates that contain it, by path.
    pub(crate) roots: Vec<FileId>,
}

/// The meaning of a name in a module.
pub(crate) enum Child<'a> {
    Files(&'a [FileId]),
    /// A module in braces that contains modules with files.
    Inline,
}

#[derive(Debug, Default)]
pub(crate) struct Modules {
    nodes: HashMap<FileId, Node>,
}

/// The folder of a file's modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ModuleFolder {
    /// The file's own folder: for a crate's root, a `mod.rs`, and a file that `#[path]` names.
    Folder,
    /// The folder next to the file that has the file's name.
    Beside,
}

impl Modules {
    pub(crate) fn new<'a>(
        table: &PathTable,
        records: &[Option<Arc<Record>>],
        roots: impl Iterator<Item = &'a String>,
    ) -> Self {
        let mut modules = Modules::default();
        let mut seen = HashSet::new();
        let roots: Vec<FileId> = roots.filter_map(|path| table.file_untraced(path)).collect();
        for root in &roots {
            modules.declare_from(table, records, (*root, ModuleFolder::Folder), &mut seen);
        }
        // Files outside any crate can have modules too.
        for id in (0..records.len() as FileId).filter(|id| declarations(records, *id).next().is_some()) {
            if !modules.nodes.contains_key(&id) {
                let folder = module_folder(table.path(id));
                modules.declare_from(table, records, (id, folder), &mut seen);
            }
        }
        for root in roots {
            modules.add_root(root);
        }
        modules
    }

    /// Follows the `mod`s of a file, of its modules, and so on.
    fn declare_from(
        &mut self,
        table: &PathTable,
        records: &[Option<Arc<Record>>],
        first: (FileId, ModuleFolder),
        seen: &mut HashSet<(FileId, ModuleFolder)>,
    ) {
        let mut queue = vec![first];
        while let Some((file, folder)) = queue.pop() {
            if !seen.insert((file, folder)) {
                continue;
            }
            self.nodes.entry(file).or_default();
            for specifier in declarations(records, file) {
                let Some((child, child_folder)) = locate(table, table.path(file), folder, specifier) else {
                    continue;
                };
                let node = self.nodes.entry(file).or_default();
                let files = node.children.entry(specifier.text.clone()).or_default();
                push_new(files, child);
                let name = specifier.text.rsplit("::").next().unwrap_or_default();
                let inline = specifier.text[..specifier.text.len() - name.len()].to_owned();
                push_new(&mut self.nodes.entry(child).or_default().parents, (file, inline));
                queue.push((child, child_folder));
            }
        }
    }

    fn add_root(&mut self, root: FileId) {
        let mut queue = vec![root];
        while let Some(file) = queue.pop() {
            let Some(node) = self.nodes.get_mut(&file) else {
                continue;
            };
            if node.roots.len() < MAX_MEANINGS && node.roots.last() != Some(&root) {
                node.roots.push(root);
                queue.extend(node.children.values().flatten());
            }
        }
    }

    pub(crate) fn node(&self, file: FileId) -> Option<&Node> {
        self.nodes.get(&file)
    }

    /// The meaning of `name`, after the names of inline modules, in the module `file`.
    pub(crate) fn child(&self, file: FileId, name: &str) -> Option<Child<'_>> {
        let children = &self.nodes.get(&file)?.children;
        if let Some(files) = children.get(name) {
            return Some(Child::Files(files));
        }
        let inside = format!("{name}::");
        let (next, _) = children.range(inside.clone()..).next()?;
        next.starts_with(&inside).then_some(Child::Inline)
    }

    /// The keys of lookups whose results differ from `older`'s.
    pub(crate) fn changed_keys(
        &self,
        table: &PathTable,
        older: &Self,
        older_table: &PathTable,
        sink: &mut impl FnMut(u32),
    ) {
        let keys = table.keys();
        let nothing = Node::default();
        for (mine, mine_table, theirs, theirs_table) in
            [(self, table, older, older_table), (older, older_table, self, table)]
        {
            let are_same = |one: &[FileId], other: &[FileId]| {
                let paths = one.iter().map(|id| mine_table.path(*id));
                paths.eq(other.iter().map(|id| theirs_table.path(*id)))
            };
            for (file, node) in &mine.nodes {
                let path = mine_table.path(*file);
                let other = theirs_table
                    .file_untraced(path)
                    .and_then(|id| theirs.nodes.get(&id))
                    .unwrap_or(&nothing);
                for (name, files) in &node.children {
                    if !other.children.get(name).is_some_and(|others| are_same(files, others)) {
                        let ends = name.match_indices("::").map(|(at, _)| at).chain([name.len()]);
                        ends.for_each(|end| sink(child_key(keys, path, &name[..end])));
                    }
                }
                let parents = |node: &Node| -> Vec<FileId> { node.parents.iter().map(|(file, _)| *file).collect() };
                let inlines = node.parents.iter().map(|(_, inline)| inline);
                if !are_same(&node.roots, &other.roots)
                    || !are_same(&parents(node), &parents(other))
                    || inlines.ne(other.parents.iter().map(|(_, inline)| inline))
                {
                    sink(declarations_key(keys, path));
                }
            }
        }
    }
}

/// The key of the lookup of `name` in the module at `path`.
pub(crate) fn child_key(keys: &Keys, path: &str, name: &str) -> u32 {
    // No path of the graph has a newline.
    keys.of_named(KeySpace::RustModules, &format!("{path}\n{name}"))
}

/// The key of the lookup of the declarations of the module at `path`.
pub(crate) fn declarations_key(keys: &Keys, path: &str) -> u32 {
    keys.of_named(KeySpace::RustModules, path)
}

/// Adds `item` if it is new and there is room for it.
fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if list.len() < MAX_MEANINGS && !list.contains(&item) {
        list.push(item);
    }
}

/// The `mod`s of a file.
pub(crate) fn declarations(records: &[Option<Arc<Record>>], file: FileId) -> impl Iterator<Item = &Specifier> {
    specifiers_of(records.get(file as usize).and_then(Option::as_deref))
        .iter()
        .filter(|specifier| specifier.kind == ImportKind::Module)
}

fn module_folder(path: &str) -> ModuleFolder {
    match path.rsplit('/').next() {
        Some("mod.rs" | "lib.rs" | "main.rs") => ModuleFolder::Folder,
        _ => ModuleFolder::Beside,
    }
}

/// The file that a `mod` in the file at `path` means by the rules of the Rust reference, and the folder of its modules.
fn locate(table: &PathTable, path: &str, at: ModuleFolder, specifier: &Specifier) -> Option<(FileId, ModuleFolder)> {
    let own = folder(path);
    let modules = match at {
        ModuleFolder::Folder => own,
        ModuleFolder::Beside => path.strip_suffix(".rs").unwrap_or(path),
    };
    let (inline, name) = specifier.text.rsplit_once("::").unwrap_or(("", &specifier.text));
    let inline_folder = || joined(modules, &inline.replace("::", "/"));
    // The path in `#[path]`.
    if let Some(relative) = &specifier.name {
        let base = if inline.is_empty() {
            own.to_owned()
        } else {
            inline_folder()?
        };
        let file = table.file_untraced(&joined(&base, relative)?)?;
        return Some((file, ModuleFolder::Folder));
    }
    let base = inline_folder()?;
    let beside = joined(&base, &format!("{name}.rs"))?;
    if let Some(file) = table.file_untraced(&beside) {
        return Some((file, ModuleFolder::Beside));
    }
    let inside = joined(&base, &format!("{name}/mod.rs"))?;
    Some((table.file_untraced(&inside)?, ModuleFolder::Folder))
}
