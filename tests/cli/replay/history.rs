//! The tasks that a history is made of.

use std::time::Duration;

use coord_test_support::git::Repo;
use coord_test_worlds::replay::history::{History, MAX_FILES};

#[test]
fn tasks_are_the_commits_of_the_first_parents_with_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let repo = Repo::init(folder.path(), &[]);
    let root = repo.commit(&[("a", "1\n"), ("name with blank", "1\n")]);
    let second = repo.commit(&[("a", "2\n"), ("b", "1\n")]);
    // A commit without a change, and one with too many files, are no tasks.
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", "nothing"]);
    let names: Vec<String> = (0..=MAX_FILES).map(|number| format!("many/{number}")).collect();
    repo.commit(&names.iter().map(|name| (name.as_str(), "1\n")).collect::<Vec<_>>());
    repo.git(&["mv", "name with blank", "c"]);
    repo.git(&["commit", "--quiet", "-m", "rename"]);
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.commit(&[("side", "1\n")]);
    repo.commit(&[("side", "2\n")]);
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);

    let history = History::read(folder.path(), "main", 9).unwrap();
    let files: Vec<Vec<&str>> = history
        .tasks
        .iter()
        .map(|task| task.files.keys().map(String::as_str).collect())
        .collect();
    assert_eq!(files, [vec!["a", "b"], vec!["c", "name with blank"], vec!["side"]]);
    assert_eq!(history.left_out, 3, "the root has no parent");
    let task = &history.tasks[0];
    assert_eq!((&task.commit, &task.parent), (&second, &root));
    let (before, after) = &task.files["a"];
    assert_ne!(before.as_ref().unwrap().blob, after.as_ref().unwrap().blob);
    assert_eq!(task.files["b"].0, None);
    assert_eq!(history.tasks[1].files["name with blank"].1, None);
    assert_eq!(task.length(), Duration::from_secs_f64(60.0 * (1.0 + 2.0_f64.sqrt())));

    let last = History::read(folder.path(), "main", 1).unwrap();
    assert_eq!(last.tasks.len(), 1);
    assert!(last.tasks[0].files.contains_key("side"), "the newest are taken");
}

#[test]
fn an_unknown_revision_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    Repo::init(folder.path(), &[]).commit(&[("a", "1\n")]);
    let error = History::read(folder.path(), "nothing", 1).err().unwrap();
    assert!(error.to_string().starts_with("git log nothing: "), "{error}");
}
