//! Folders of scripts below a source root: without `__init__`, and without packages in them.
//!
//! Scripts find each other in their own folder, modules of a namespace by their names from the source root on, and paths
//! alone do not tell which of the two a folder has. An import tells it: whoever imports a module of the folder by its full
//! name has the source root, and not the folder, on Python's path.

use std::collections::{HashMap, HashSet};

use crate::file::FileId;
use crate::resolve::extension::Extension;
use crate::resolve::keys::Trace;
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::folder;
use crate::resolve::python::PythonRoots;
use crate::resolve::python::roots::is_python;
use crate::resolve::read_tree::ReadTree;

impl PythonRoots {
    /// The files of `python` in folders that count as folders of scripts by their paths.
    pub(super) fn find_scripts(&self, table: &PathTable, python: &[FileId]) -> Vec<FileId> {
        if self.sources.is_empty() {
            return Vec::new();
        }
        let mut known = ("", false);
        let is_script = |id: &FileId| {
            let dir = folder(table.path(*id));
            if known.0 != dir {
                known = (dir, self.is_of_scripts(table, dir));
            }
            known.1
        };
        python.iter().copied().filter(is_script).collect()
    }

    fn is_of_scripts(&self, table: &PathTable, dir: &str) -> bool {
        let is_own_root = self.own_root(table, dir, &mut Trace::default()) == dir;
        is_own_root
            && !self.shared.contains_key(dir)
            && !self.projects.contains(dir)
            && self.source_above(dir).is_some()
    }

    /// The folders of [`Self::scripts`] that are namespaces: a file of the same project, which is everything beside the
    /// source root, imports a module of the folder by its name from that root on.
    pub(super) fn imported_folders(&self, tree: ReadTree<'_>) -> HashSet<String> {
        let scripts = self.scripts.iter().map(|id| tree.table.path(*id));
        let scripts = scripts.filter_map(|path| Some((path, self.name_from_source(path)?)));
        let scripts: Vec<(&str, String)> = scripts.collect();
        let mut importers: HashMap<&str, Vec<&str>> =
            scripts.iter().map(|(_, name)| (name.as_str(), Vec::new())).collect();
        if importers.is_empty() {
            return HashSet::new();
        }
        let mut full_name = String::new();
        for (file, record) in tree.table.files().iter().zip(tree.records) {
            let Some(record) = record.as_deref().filter(|_| is_python(&file.path)) else {
                continue;
            };
            for specifier in &record.specifiers {
                full_name.clone_from(&specifier.text);
                if let Some(known) = importers.get_mut(full_name.as_str()) {
                    known.push(&file.path);
                }
                if let Some(name) = &specifier.name {
                    full_name.push('.');
                    full_name.push_str(name);
                    if let Some(known) = importers.get_mut(full_name.as_str()) {
                        known.push(&file.path);
                    }
                }
            }
        }
        let imported = |(path, name): &(&str, String)| {
            let dir = folder(path);
            let project = match folder(self.source_above(dir)?) {
                "" => String::new(),
                project => format!("{project}/"),
            };
            // Importers are sorted, so that the first one past the project's name is in it, if one is.
            let importers = importers.get(name.as_str())?;
            let first = importers.partition_point(|importer| *importer < project.as_str());
            let is_near = importers.get(first)?.starts_with(&project);
            is_near.then(|| dir.to_owned())
        };
        scripts.iter().filter_map(imported).collect()
    }

    /// The dotted name of the module at `path` from the source root above it on.
    fn name_from_source(&self, path: &str) -> Option<String> {
        let (stem, _) = Extension::split(path)?;
        let source = self.source_above(folder(path))?;
        Some(stem.get(source.len() + 1..)?.replace('/', "."))
    }
}
