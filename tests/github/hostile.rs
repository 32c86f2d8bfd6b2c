//! Archives that an attacker made to do harm. Each has all wanted files as well, or none.

use std::io::Write;
use std::time::{Duration, Instant};

use coord_sources::Source;
use coord_sources::github::GithubSource;
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use crate::{blobs, collector, commit_all, config, id, sha};
use coord_test_support::git::Repo;
use coord_test_support::github::Fake;

const FILES: usize = 60;

fn content(number: usize) -> String {
    format!("export const x = {number};\n")
}

fn path(number: usize) -> String {
    format!("d{}/f{number:02}.ts", number / 10)
}

type Archive = Builder<GzEncoder<Vec<u8>>>;

/// The folder of all files in an archive.
const TOP: &str = "acme-widgets-1234567";

fn append(archive: &mut Archive, kind: EntryType, path: &str, target: &str, content: &[u8]) {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    // Written by hand: the crate would refuse what this is about.
    let fields = header.as_old_mut();
    fields.name[..path.len()].copy_from_slice(path.as_bytes());
    fields.linkname[..target.len()].copy_from_slice(target.as_bytes());
    header.set_cksum();
    archive.append(&header, content).unwrap();
}

fn entry(archive: &mut Archive, kind: EntryType, path: &str, content: &[u8]) {
    append(archive, kind, path, "", content);
}

fn file(archive: &mut Archive, path: &str, content: &str) {
    entry(
        archive,
        EntryType::Regular,
        &format!("{TOP}/{path}"),
        content.as_bytes(),
    );
}

fn link(archive: &mut Archive, kind: EntryType, path: &str, target: &str) {
    append(archive, kind, &format!("{TOP}/{path}"), target, b"");
}

fn good(archive: &mut Archive) {
    for number in 0..FILES {
        file(archive, &path(number), &content(number));
    }
}

fn packed(fill: impl FnOnce(&mut Archive)) -> Vec<u8> {
    let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    fill(&mut archive);
    archive.into_inner().unwrap().finish().unwrap()
}

/// Reads [`FILES`] files of a repository whose archive is `archive`. Returns the numbers of files read and of downloads.
async fn read(archive: Vec<u8>) -> (usize, usize) {
    let temp = tempfile::tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let head = commit_all(&repo, (0..FILES).map(|number| (path(number), content(number))));
    let fake = Fake::serve(temp.path()).await;
    fake.behave(|behavior| behavior.archive = Some(archive));
    let mut config = config(&fake);
    // With this limit, files missing from the archive are left out, and the test sees that.
    config.limits.single_blobs = 0;
    let source = GithubSource::new(config).unwrap();
    let entries = source.tree(&id(), &sha(&head)).await.unwrap();
    let (got, sink) = collector();
    let answer = source.read_blobs(&id(), blobs(&entries), 1 << 20, sink).await;
    let got = got.lock();
    for (index, found) in got.iter() {
        if let Ok(found) = found {
            assert_eq!(found, content(*index).as_bytes());
        }
    }
    let count = got.values().filter(|found| found.is_ok()).count();
    assert!(answer.is_ok() || count < FILES);
    (count, fake.download_count())
}

#[tokio::test]
async fn entries_that_lead_elsewhere_are_passed_over() {
    let archive = packed(|archive| {
        let secret = b"export const stolen = 1;\n";
        for path in [
            "/etc/passwd",
            "../../outside",
            "acme-widgets-1234567/../../outside",
            "alone",
            "/",
            "acme/",
            "a//d0/f00.ts",
            "\u{1}",
        ] {
            entry(archive, EntryType::Regular, path, secret);
        }
        // Links to themselves, to each other, and out.
        link(archive, EntryType::Symlink, "loop", "loop");
        link(archive, EntryType::Symlink, "d0", "../d0");
        link(archive, EntryType::Link, "d0/f00.ts", "/etc/passwd");
        link(archive, EntryType::Symlink, "d0/f01.ts", "/etc/passwd");
        for kind in [
            EntryType::Char,
            EntryType::Block,
            EntryType::Fifo,
            EntryType::Directory,
            EntryType::new(b'Z'),
        ] {
            link(archive, kind, "d0/f02.ts", "");
        }
        // Under the right name, but not what git has there.
        file(archive, "d0/f03.ts", "export const x = 4;\n");
        file(archive, "d0/f04.ts", "export");
        good(archive);
    });
    assert_eq!(read(archive).await, (FILES, 1));
}

#[tokio::test]
async fn a_decompression_bomb_ends_at_a_bound_that_follows_from_the_tree() {
    // 4 GiB of zeros in 4 MB.
    let chunk = vec![0_u8; 1 << 20];
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(4 << 30);
    header.set_path("acme-widgets-1234567/bomb").unwrap();
    header.set_cksum();
    let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
    bomb.write_all(header.as_bytes()).unwrap();
    for _ in 0..64 {
        bomb.write_all(&chunk).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    let started = Instant::now();
    assert_eq!(read(bomb).await, (0, 2));
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn extended_headers_and_entries_have_a_bound() {
    let zeros = vec![b'0'; 1 << 20];
    for kind in [EntryType::XHeader, EntryType::GNULongName] {
        let archive = packed(|archive| {
            entry(archive, kind, "acme-widgets-1234567/x", &zeros);
            good(archive);
        });
        assert_eq!(read(archive).await.0, 0, "{kind:?}");
    }
    // Many entries without content: each takes 512 bytes of what may be unpacked.
    let archive = packed(|archive| {
        for _ in 0..40_000 {
            link(archive, EntryType::Symlink, "x", "y");
        }
        good(archive);
    });
    assert_eq!(read(archive).await.0, 0);
    // Malformed extensions say nothing.
    let archive = packed(|archive| {
        entry(archive, EntryType::XHeader, "x", b"\xff\xfe 99 path=\n\n1 p");
        entry(archive, EntryType::GNULongName, "x", b"\xff\0\0");
        entry(archive, EntryType::XGlobalHeader, "x", b"52 comment=1234567\n");
        good(archive);
    });
    assert_eq!(read(archive).await.0, FILES - 1);
}

#[tokio::test]
async fn a_broken_archive_gives_no_content() {
    let whole = packed(good);
    let truncated = whole[..whole.len() / 2].to_vec();
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    let mut plain = GzEncoder::new(Vec::new(), Compression::fast());
    plain.write_all(&[b'x'; 4_000]).unwrap();
    for (archive, all) in [
        (whole, true),
        (truncated, false),
        (flipped, false),
        (plain.finish().unwrap(), false),
        (Vec::new(), false),
        (b"<html>".to_vec(), false),
    ] {
        assert_eq!(read(archive).await.0 == FILES, all);
    }
}
