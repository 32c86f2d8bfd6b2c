use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use coord_sources::github::GithubSource;
use coord_sources::{Source, TreeEntry};

use crate::{Contents, blobs, collector, commit_all, config, id, read, sha, source};
use coord_test_support::git::Repo;
use coord_test_support::github::{Fake, Fault};

const FILES: usize = 300;

/// A repository with [`FILES`] files, among them one of every kind, and the contents that git has.
async fn many() -> (tempfile::TempDir, Repo, String, Fake) {
    let temp = tempfile::tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let numbered = (0..FILES - 9).map(|number| {
        let text = format!("export const x = {number};\n").repeat(number % 40);
        (format!("d{:02}/f{number:03}.ts", number % 11), text)
    });
    commit_all(&repo, numbered);
    let long = format!("{}/{}.ts", "folder".repeat(30), "name".repeat(40));
    let huge = "x".repeat(300_000);
    let attributes = "ignored/* export-ignore\nsubst.ts export-subst\ncrlf.ts text eol=crlf\n";
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    repo.commit(&[
        (".gitattributes", attributes),
        ("ignored/a.ts", "export const ignored = 1;\n"),
        ("ignored/b.ts", "export const ignored = 2;\n"),
        ("subst.ts", "export const v = '$Format:%H$';\n"),
        ("crlf.ts", "import './d00/f000';\n"),
        ("huge.ts", huge.as_str()),
        ("lfs.bin", pointer),
        ("twice/copy.ts", "export const ignored = 1;\n"),
        (long.as_str(), "import '../subst';\n"),
    ]);
    std::fs::write(temp.path().join("binary.ts"), [0_u8, 159, 146, 150]).unwrap();
    let head = repo.commit(&[]);
    let fake = Fake::serve(temp.path()).await;
    (temp, repo, head, fake)
}

/// Returns git's content for each entry.
fn expected(repo: &Repo, entries: &[TreeEntry], max_bytes: u64) -> Contents {
    let mut git = std::process::Command::new("git")
        .args(["cat-file", "--batch"])
        .current_dir(repo.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut asking = git.stdin.take().unwrap();
    let mut answers = BufReader::new(git.stdout.take().unwrap());
    let mut read = |entry: &TreeEntry| {
        writeln!(asking, "{}", entry.blob).unwrap();
        let mut header = String::new();
        answers.read_line(&mut header).unwrap();
        let size: usize = header.split_whitespace().last().unwrap().parse().unwrap();
        let mut content = vec![0; size + 1];
        answers.read_exact(&mut content).unwrap();
        content.pop();
        if size as u64 > max_bytes {
            Err(Some(size as u64))
        } else {
            Ok(content)
        }
    };
    let contents = entries.iter().map(&mut read).enumerate().collect();
    drop(asking);
    git.wait().unwrap();
    contents
}

/// Asserts that `source` reads these files as git does.
async fn reads_as_git(source: &GithubSource, repo: &Repo, entries: &[TreeEntry], max_bytes: u64) {
    let got = read(source, &id(), blobs(entries), max_bytes).await;
    assert_eq!(got, expected(repo, entries, max_bytes));
}

#[tokio::test]
async fn many_blobs_come_out_of_one_archive_and_what_it_lacks_one_by_one() {
    let (_temp, repo, head, fake) = many().await;
    let source = source(&fake);
    let entries = source.tree(&id(), &sha(&head)).await.unwrap();
    assert!(entries.len() > FILES);
    fake.seen();
    reads_as_git(&source, &repo, &entries, 100_000).await;
    let requests = fake.requested_paths();
    // The two that are ignored, the one that is substituted and the one whose line ends differ; one of the ignored has a
    // copy elsewhere.
    let (singles, others): (Vec<_>, Vec<_>) = requests.iter().partition(|path| path.contains("/git/blobs/"));
    assert!((3..=4).contains(&singles.len()), "{requests:?}");
    assert_eq!(others.len(), 2, "{others:?}");
}

#[tokio::test]
async fn waves_in_the_order_of_paths_share_one_download() {
    let (_temp, repo, head, fake) = many().await;
    let source = source(&fake);
    let entries = source.tree(&id(), &sha(&head)).await.unwrap();
    for wave in entries.chunks(70) {
        reads_as_git(&source, &repo, wave, 1 << 20).await;
    }
    assert_eq!(fake.download_count(), 1);
    // From the beginning again: that is another.
    reads_as_git(&source, &repo, &entries[..70], 1 << 20).await;
    assert_eq!(fake.download_count(), 1);
}

#[tokio::test]
async fn a_few_blobs_come_one_by_one_and_one_that_is_too_large_not_at_all() {
    let (_temp, repo, head, fake) = many().await;
    let source = source(&fake);
    let mut few = source.tree(&id(), &sha(&head)).await.unwrap();
    let wanted = ["huge.ts", "lfs.bin", "binary.ts", "d00/f011.ts", "d00/f022.ts"];
    few.retain(|entry| wanted.contains(&entry.path.as_str()));
    fake.seen();
    reads_as_git(&source, &repo, &few, 1_000).await;
    let requests = fake.requested_paths();
    let are_single = requests.iter().all(|path| path.starts_with("/git/blobs/"));
    assert!(requests.len() == 4 && are_single, "{requests:?}");
    // Without a tree, the size is only known from the answer.
    reads_as_git(&crate::source(&fake), &repo, &few, 1_000).await;
}

#[tokio::test]
async fn every_wanted_blob_is_answered_once_whatever_it_is() {
    let (_temp, repo, head, fake) = many().await;
    let source = source(&fake);
    let folder = repo.git(&["rev-parse", "HEAD:d00"]);
    let one = repo.git(&["rev-parse", "HEAD:lfs.bin"]);
    let wanted = vec![
        one.clone(),
        "1".repeat(40),
        "../../etc".to_owned(),
        String::new(),
        folder,
        one,
        head,
    ];
    let got = read(&source, &id(), wanted, 1_000).await;
    let is_content: Vec<bool> = got.values().map(Result::is_ok).collect();
    assert_eq!(is_content, [true, false, false, false, false, true, false]);
    let requests = fake.requested_paths();
    assert!(requests.iter().all(|path| path.starts_with("/git/blobs/")));
}

#[tokio::test]
async fn an_archive_that_breaks_off_is_requested_once_more() {
    let (_temp, repo, head, fake) = many().await;
    for fault in [
        Fault::Cut,
        Fault::Stall,
        Fault::status(502),
        Fault::with(200, &[], "no archive"),
    ] {
        let source = source(&fake);
        let entries = source.tree(&id(), &sha(&head)).await.unwrap();
        fake.fail("legacy.tar.gz", 1, fault.clone());
        reads_as_git(&source, &repo, &entries, 1 << 20).await;
        assert_eq!(fake.download_count(), 2, "{fault:?}");
    }
}

#[tokio::test]
async fn an_archive_that_never_comes_whole_is_an_error() {
    let (_temp, _repo, head, fake) = many().await;
    let mut config = config(&fake);
    config.limits.single_blobs = 10;
    let source = GithubSource::new(config).unwrap();
    let entries = source.tree(&id(), &sha(&head)).await.unwrap();
    fake.fail("legacy.tar.gz", 9, Fault::Cut);
    let answer = source.read_blobs(&id(), blobs(&entries), 1 << 20, collector().1).await;
    assert_fails!(answer, Unreachable);
    assert_eq!(fake.download_count(), 2);
}

#[tokio::test]
async fn a_blob_that_breaks_off_or_is_another_is_never_handed_over() {
    let (_temp, repo, head, fake) = many().await;
    let source = source(&fake);
    source.tree(&id(), &sha(&head)).await.unwrap();
    let blob = repo.git(&["rev-parse", "HEAD:lfs.bin"]);
    fake.fail("/git/blobs/", 1, Fault::Cut);
    let got = read(&source, &id(), vec![blob.clone()], 1_000).await;
    let content = got[&0].as_ref().unwrap();
    assert!(content.starts_with(b"version https"), "{content:?}");
    fake.fail("/git/blobs/", 1, Fault::with(200, &[], "something else"));
    assert_eq!(read(&source, &id(), vec![blob], 1_000).await[&0], Err(None));
}

#[tokio::test]
async fn a_sink_that_fails_is_an_error_and_not_a_crash() {
    let (_temp, _repo, head, fake) = many().await;
    let source = source(&fake);
    let entries = source.tree(&id(), &sha(&head)).await.unwrap();
    for count in [3, entries.len()] {
        let sink = std::sync::Arc::new(|_, _: coord_sources::Blob<'_>| panic!("a defect of the caller"));
        let answer = source.read_blobs(&id(), blobs(&entries[..count]), 1 << 20, sink).await;
        assert_fails!(answer, Unreachable, "{count}");
    }
}
