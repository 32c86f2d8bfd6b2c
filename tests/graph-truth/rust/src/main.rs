//! Edges between the files of Cargo packages, by Cargo's own tools: `cargo metadata` says which crates there are and which
//! names they have for each other, `rustc --emit=dep-info` which files a crate is made of, and `syn` what each file says.
//!
//! `graph-truth FOLDER MANIFEST... > truth.tsv`, the manifests in the folder. A line is `edge<TAB>file<TAB>file`, or
//! `source<TAB>file` for each file that a crate reaches. Ends with 1 where the compiler takes a file that the tree of
//! modules made here does not reach.

mod collect;
mod crates;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use collect::Tree;
use crates::{Package, compiled_files, packages};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().expect("a folder"))
        .canonicalize()
        .expect("the folder exists");
    let mut all: BTreeMap<PathBuf, Package> = BTreeMap::new();
    for manifest in arguments {
        all.extend(
            packages(&folder.join(manifest))
                .into_iter()
                .map(|package| (package.folder.clone(), package)),
        );
    }
    let mut trees: BTreeMap<PathBuf, Tree> = BTreeMap::new();
    for package in all.values() {
        for root in &package.roots {
            trees.insert(root.clone(), Tree::read(root));
        }
    }
    let mut lines = BTreeSet::new();
    let mut strays = 0;
    for package in all.values() {
        // Name in the code -> the root of the library, for those that are in the folder.
        let crates: BTreeMap<String, PathBuf> = package
            .dependencies
            .iter()
            .filter_map(|(name, folder)| {
                let (lib_name, lib) = all.get(folder)?.lib.clone()?;
                Some((name.clone().unwrap_or(lib_name), lib))
            })
            .chain(package.lib.clone())
            .collect();
        for root in &package.roots {
            let tree = &trees[root];
            // Tests and examples are many and have few modules; their time is better spent elsewhere.
            let is_main = package.main_roots.contains(root);
            for file in is_main.then(|| compiled_files(root, package)).into_iter().flatten() {
                if file.starts_with(&folder) && !tree.has_file(&file) {
                    eprintln!("{} is made of {}", relative(&folder, root), relative(&folder, &file));
                    strays += 1;
                }
            }
            for file in tree.files() {
                lines.insert(format!("source\t{}", relative(&folder, file)));
            }
            for (from, to) in tree.edges(package.is_2015, &crates, &trees) {
                if from != to {
                    lines.insert(format!(
                        "edge\t{}\t{}",
                        relative(&folder, &from),
                        relative(&folder, &to)
                    ));
                }
            }
        }
    }
    for line in lines {
        println!("{line}");
    }
    std::process::exit(i32::from(strays > 0));
}

fn relative(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}
