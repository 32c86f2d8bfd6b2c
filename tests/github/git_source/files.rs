use std::collections::BTreeMap;
use std::sync::Arc;

use coord_domain::{FilePath, RepoId};
use coord_git::GitSource;
use coord_sources::{EntryKind, Source, Sources};
use tempfile::tempdir;

use crate::git_source::{serve, sha};
use crate::{blobs, commit_all};
use coord_test_support::git::Repo;

type Contents = BTreeMap<usize, Option<Vec<u8>>>;

/// The contents of the blobs, by index.
pub(crate) async fn read(source: &dyn Source, repo: &RepoId, blobs: Vec<String>, max_bytes: u64) -> Contents {
    let mut contents = Contents::new();
    for (index, content) in crate::read(source, repo, blobs, max_bytes).await {
        if let Err(Some(size)) = content {
            assert!(size > max_bytes, "{index} of {size} bytes, refused at {max_bytes}");
        }
        contents.insert(index, content.ok());
    }
    contents
}

#[tokio::test]
async fn a_tree_lists_all_files_sorted_with_their_kinds() {
    let temp = tempdir().unwrap();
    let library = Repo::init(temp.path().join("library"), &[]);
    let linked = library.commit(&[("l", "1")]);
    let repo = Repo::init(temp.path().join("repo"), &[]);
    repo.commit(&[
        ("src/a.ts", "a"),
        ("src.ts", "b"),
        ("src-x/a.ts", "c"),
        ("src/deep/er/ü.py", "d"),
        ("z", "e"),
    ]);
    repo.git(&["submodule", "--quiet", "add", "../library", "vendor/library"]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("src/a.ts", repo.path().join("link")).unwrap();
    repo.git(&["update-index", "--chmod=+x", "z"]);
    let head = repo.commit(&[]);
    let (source, id) = serve(repo.path());
    let entries = source.tree(&id, &sha(&head)).await.unwrap();
    let seen: Vec<_> = entries.iter().map(|entry| (entry.path.as_str(), entry.kind)).collect();
    assert_eq!(
        seen,
        [
            (".gitmodules", EntryKind::File),
            ("link", EntryKind::Symlink),
            ("src-x/a.ts", EntryKind::File),
            ("src.ts", EntryKind::File),
            ("src/a.ts", EntryKind::File),
            ("src/deep/er/ü.py", EntryKind::File),
            ("vendor/library", EntryKind::Submodule),
            ("z", EntryKind::File),
        ]
    );
    let submodule = entries.iter().find(|entry| entry.path == "vendor/library").unwrap();
    assert_eq!(submodule.blob, linked);
    let wanted: Vec<String> = ["link", "src/a.ts"]
        .iter()
        .map(|path| repo.git(&["rev-parse", &format!("HEAD:{path}")]))
        .collect();
    let got = read(&source, &id, wanted, 100).await;
    assert_eq!(got[&0].as_deref(), Some(&b"src/a.ts"[..]));
    assert_eq!(got[&1].as_deref(), Some(&b"a"[..]));
}

#[tokio::test]
async fn a_file_is_found_in_every_spelling_of_its_name() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    // Decomposed in both parts, composed in the first, and one letter that Unicode knows under two numbers.
    let tracked = ["o\u{308}/u\u{308}.ts", "\u{f6}/a\u{308}.ts", "\u{212a}.ts", "a.ts"];
    let contents = |text: &'static str| tracked.map(|path| (path, text));
    let base = repo.commit(&contents("1"));
    let tip = repo.commit(&contents("2"));
    let gone = repo.commit(&[("b.ts", "1")]);
    let (source, id) = serve(repo.path());
    let paths = ["\u{f6}/\u{fc}.ts", "\u{f6}/\u{e4}.ts", "K.ts", "a.ts"].map(|path| FilePath::parse(path).unwrap());
    let compared = source.compare(&id, &sha(&base), &sha(&tip), &paths).await.unwrap();
    assert_eq!(compared.same, [Some(false); 4]);
    let compared = source.compare(&id, &sha(&tip), &sha(&gone), &paths).await.unwrap();
    assert_eq!(compared.same, [Some(true); 4]);
    let blobs = source.blobs_at(&id, &sha(&tip), &paths).await.unwrap();
    let expected = tracked.map(|path| Some(repo.git(&["rev-parse", &format!("HEAD:{path}")])));
    assert_eq!(blobs, expected);
    let missing = ["o.ts", "\u{fc}.ts", "\u{f6}/\u{fc}.ts/a"].map(|path| FilePath::parse(path).unwrap());
    let blobs = source.blobs_at(&id, &sha(&tip), &missing).await.unwrap();
    assert_eq!(blobs, [None, None, None]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn names_that_are_not_utf8_are_left_out() {
    use std::os::unix::ffi::OsStrExt;
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    for name in [&b"bad-\xff.ts"[..], b"dir-\xfe/a.ts"] {
        let path = repo.path().join(std::ffi::OsStr::from_bytes(name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    let head = repo.commit(&[("good.ts", "y")]);
    let (source, id) = serve(repo.path());
    let entries = source.tree(&id, &sha(&head)).await.unwrap();
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0].path, "good.ts");
}

#[tokio::test]
async fn names_that_lead_out_of_the_repository_are_left_out() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    repo.commit(&[("a", "1")]);
    let blob = repo.git(&["rev-parse", "HEAD:a"]);
    let blob: Vec<u8> = (0..20)
        .map(|byte| u8::from_str_radix(&blob[byte * 2..byte * 2 + 2], 16).unwrap())
        .collect();
    let mut tree = Vec::new();
    // Out of order as well: git itself writes no such tree.
    for name in ["good", "..", ".", "a/b", "also"] {
        tree.extend_from_slice(format!("100644 {name}\0").as_bytes());
        tree.extend_from_slice(&blob);
    }
    std::fs::write(temp.path().join("tree"), tree).unwrap();
    let tree = repo.git(&["hash-object", "-t", "tree", "-w", "--literally", "tree"]);
    let commit = repo.git(&["commit-tree", "-m", "Odd", &tree]);
    let (source, id) = serve(repo.path());
    let entries = source.tree(&id, &sha(&commit)).await.unwrap();
    let paths: Vec<_> = entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["also", "good"]);
}

#[tokio::test]
async fn every_wanted_blob_is_answered_once_and_large_ones_with_nothing() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let file = |number: usize| {
        (
            format!("d{}/f{number}", number % 7),
            format!("{number}\n").repeat(number),
        )
    };
    let contents: BTreeMap<String, String> = (0..500).map(file).collect();
    let head = commit_all(&repo, contents.clone());
    let (source, id) = serve(repo.path());
    for _ in 0..2 {
        let entries = source.tree(&id, &sha(&head)).await.unwrap();
        assert_eq!(entries.len(), 500);
        let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
        let mut wanted = blobs(&entries);
        let strange = [
            tree,
            head.clone(),
            "0".repeat(40),
            "abc1234".to_owned(),
            "no id".to_owned(),
        ];
        wanted.extend(strange);
        wanted.push(entries[3].blob.clone());
        let got = read(&source, &id, wanted, 1000).await;
        assert_eq!(got.len(), 506);
        for (index, entry) in entries.iter().enumerate() {
            let content = contents[&entry.path].as_bytes();
            let expected = (content.len() <= 1000).then_some(content);
            assert_eq!(got[&index].as_deref(), expected, "{}", entry.path);
        }
        assert!((500..505).all(|index| got[&index].is_none()));
        assert_eq!(got[&505], got[&3]);
        assert!(read(&source, &id, Vec::new(), 1000).await.is_empty());
        repo.git(&["gc", "--quiet"]);
    }
}

/// The files of `commit`, as `source` lists and reads them.
async fn files(source: &GitSource, commit: &str) -> Vec<(String, Option<Vec<u8>>)> {
    let repo = source.repositories().remove(0);
    let tree = source.tree(&repo, &sha(commit)).await.unwrap();
    let contents = read(source, &repo, blobs(&tree), 1 << 20).await;
    let paths = tree.into_iter().map(|entry| entry.path);
    paths.zip(contents.into_values()).collect()
}

#[tokio::test]
async fn a_repository_opened_for_one_commit_reads_the_same() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path().join("repo"), &[]);
    // Enough for the index to pay.
    let first = commit_all(
        &repo,
        (0..300).map(|number| (format!("d{}/{number}.ts", number % 7), number.to_string())),
    );
    let second = repo.commit(&[("d0/0.ts", "changed"), ("more.ts", "m")]);
    let linked = temp.path().join("linked");
    repo.git(&["worktree", "add", "--quiet", linked.to_str().unwrap(), &first]);
    let bare = temp.path().join("bare");
    repo.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    for path in [repo.path(), &repo.path().join("d0"), &linked, &bare] {
        let (usual, _) = serve(path);
        for commit in [&first, &second] {
            let once = GitSource::open_once(path).unwrap();
            assert_eq!(once.opened(), usual.opened(), "{}", path.display());
            let read = files(&once, commit).await;
            assert_eq!(read, files(&usual, commit).await, "{} in {}", commit, path.display());
            let again = files(&once, commit).await;
            assert_eq!(read, again, "{commit} again in {}", path.display());
        }
    }
}

#[tokio::test]
async fn an_index_that_was_read_early_may_be_out_of_date() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path().join("repo"), &[]);
    repo.commit(&[("a.ts", "1"), ("b.ts", "2")]);
    let once = GitSource::open_once(repo.path()).unwrap();
    let later = repo.commit(&[("a.ts", "changed"), ("c/d.ts", "3")]);
    let expected = [("a.ts", "changed"), ("b.ts", "2"), ("c/d.ts", "3")]
        .map(|(path, text)| (path.to_owned(), Some(text.as_bytes().to_vec())));
    assert_eq!(files(&once, &later).await, expected);
}

#[test]
fn a_repository_can_be_opened_for_one_commit_without_a_runtime() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path().join("repo"), &[]);
    let commit = repo.commit(&[("a.ts", "1")]);
    let once = GitSource::open_once(repo.path()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let expected = [("a.ts".to_owned(), Some(b"1".to_vec()))];
    assert_eq!(runtime.block_on(files(&once, &commit)), expected);
}

/// Two waves of files. Between them all of the repository but the files themselves goes, so that the second wave is read only where
/// the index was kept from the first.
#[tokio::test]
async fn an_index_is_read_once_for_all_waves_while_it_is_held() {
    const WAVE: usize = 300;
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path().join("repo"), &[]);
    let files = (0..2 * WAVE).map(|number| (format!("{number:03}.ts"), format!("file {number}")));
    let head = commit_all(&repo, files);
    let (source, id) = serve(repo.path());
    let source = Sources::of([Arc::new(source) as Arc<dyn Source>]);
    let entries = source.tree(&id, &sha(&head)).await.unwrap();
    let wave = |number: usize| blobs(&entries[number * WAVE..(number + 1) * WAVE]);
    let hold = source.hold(&id);
    let first = read(&source, &id, wave(0), 1 << 20).await;
    assert_eq!(first[&7].as_deref(), Some(&b"file 7"[..]));
    std::fs::remove_file(repo.path().join(".git/index")).unwrap();
    for entry in &entries[WAVE..] {
        let (folder, name) = entry.blob.split_at(2);
        std::fs::remove_file(repo.path().join(".git/objects").join(folder).join(name)).unwrap();
    }
    let second = read(&source, &id, wave(1), 1 << 20).await;
    for (number, content) in &second {
        assert_eq!(content.as_deref(), Some(format!("file {}", WAVE + number).as_bytes()));
    }
    assert_eq!(second.len(), WAVE);
    drop(hold);
    let third = read(&source, &id, wave(1), 1 << 20).await;
    assert!(third.values().all(Option::is_none), "nobody holds it any more");
}
