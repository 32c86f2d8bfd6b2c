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
