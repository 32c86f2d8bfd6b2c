use coord_graph::{Direction, FileId, ImportGraph};

use super::repository::{cold, repository};

/// a -> b -> c -> a, c -> d, e -> d, f alone.
fn graph() -> std::sync::Arc<ImportGraph> {
    let files = repository(&[
        ("a.ts", "import './b'"),
        ("b.ts", "import './c'"),
        ("c.ts", "import './a'; import './d'"),
        ("d.ts", ""),
        ("e.ts", "import './d'"),
        ("f.ts", ""),
    ]);
    std::sync::Arc::clone(cold(&files).graph())
}

const A: FileId = 0;
const B: FileId = 1;
const C: FileId = 2;
const D: FileId = 3;
const E: FileId = 4;
const F: FileId = 5;

#[test]
fn neighbors_are_imports_and_importers() {
    assert_eq!(graph().neighbors(C), [A, B, D]);
    assert_eq!(graph().neighbors(F), [] as [FileId; 0]);
    assert_eq!(graph().neighbors(99), [] as [FileId; 0]);
}

#[test]
fn the_blast_radius_is_what_imports_it_through_any_number_of_files() {
    assert_eq!(graph().blast_radius(&[D]), [(C, 1), (E, 1), (B, 2), (A, 3)]);
    assert_eq!(graph().blast_radius(&[D, B]), [(A, 1), (C, 1), (E, 1)]);
    assert_eq!(graph().blast_radius(&[F, 99]), []);
}

#[test]
fn the_import_chain_is_the_shortest() {
    assert_eq!(graph().import_chain(A, D), Some(vec![A, B, C, D]));
    assert_eq!(graph().import_chain(D, A), None);
    assert_eq!(graph().import_chain(F, F), Some(vec![F]));
    assert_eq!(graph().import_chain(F, 99), None);
}

#[test]
fn a_circle_of_imports_is_found_however_long() {
    assert_eq!(graph().cycles(), [vec![A, B, C]]);
    let mut files = repository(&[("z.ts", "import './0'")]);
    for number in 0..20_000 {
        let next = if number == 19_999 {
            "z".to_owned()
        } else {
            (number + 1).to_string()
        };
        files.insert(format!("{number}.ts"), format!("import './{next}'"));
    }
    let cycles = cold(&files).graph().cycles();
    assert_eq!(cycles.len(), 1);
    assert_eq!(cycles[0].len(), 20_001);
}

#[test]
fn a_neighborhood_is_bounded_in_steps_and_in_files() {
    let near = graph().neighborhood(&[D], Direction::Both, 1, 100);
    assert_eq!(near.files, [(D, 0), (C, 1), (E, 1)]);
    assert!(!near.is_cut);
    let cut = graph().neighborhood(&[D], Direction::Both, 5, 4);
    assert_eq!(cut.files, [(D, 0), (C, 1), (E, 1), (A, 2)]);
    assert!(cut.is_cut);
    assert_eq!(graph().neighborhood(&[D], Direction::Both, 0, 100).files, [(D, 0)]);
}
