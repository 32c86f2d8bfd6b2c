//! Points of a ledger that are kept outside of it: checkpoints in files, and trailers of commits.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use coord_agent::file_content::open_named;
use coord_agent::git;
use coord_agent::terminal::output::short;
use coord_intents::ledger::{Anchor, SignedCheckpoint, Source, Trailers, VerifyingKey};

/// The points of the checkpoints in `files`. With keys, each has to be signed by one of them.
///
/// # Errors
/// When a file is no checkpoint of `repository`, or is not signed as it has to be.
pub(super) fn of_checkpoints(
    files: &[PathBuf],
    keys: &[VerifyingKey],
    repository: &str,
) -> anyhow::Result<Vec<Anchor>> {
    files.iter().map(|file| of_checkpoint(file, keys, repository)).collect()
}

/// Most bytes of a checkpoint that are read.
const MOST_BYTES: u64 = 1 << 20;

fn of_checkpoint(file: &Path, keys: &[VerifyingKey], repository: &str) -> anyhow::Result<Anchor> {
    let shown = file.display().to_string();
    let mut note = String::new();
    let read = open_named(file)?.take(MOST_BYTES).read_to_string(&mut note);
    read.with_context(|| format!("{shown} cannot be read"))?;
    of_note(&note, &shown, keys, repository)
}

/// The point of the checkpoint `note`, which is called `shown`. With keys, it has to be signed by one of them.
///
/// # Errors
/// When it is no checkpoint of `repository`, or is not signed as it has to be.
pub(super) fn of_note(note: &str, shown: &str, keys: &[VerifyingKey], repository: &str) -> anyhow::Result<Anchor> {
    let read = SignedCheckpoint::read(note).with_context(|| shown.to_owned())?;
    let mut name = shown.to_owned();
    if !keys.is_empty() {
        let verified: Vec<_> = keys.iter().map(|key| (key, read.verify(key))).collect();
        match verified.iter().find(|(_, result)| result.is_ok()) {
            Some((key, _)) => name = format!("{shown}, signed by {}", key.name()),
            None => match verified.into_iter().find_map(|(_, result)| result.err()) {
                Some(error) => return Err(error).context(shown.to_owned()),
                None => bail!("{shown} is not signed by a known key"),
            },
        }
    }
    let checkpoint = &read.checkpoint;
    ensure!(
        checkpoint.repository == repository,
        "{shown} is a checkpoint of {}, and this is the ledger of {repository}",
        checkpoint.repository
    );
    Ok(Anchor {
        point: checkpoint.point,
        source: Source::Checkpoint(name),
    })
}

/// A public key, or the file that has it.
///
/// # Errors
/// When it is neither.
pub(super) fn key(text: &str) -> anyhow::Result<VerifyingKey> {
    if let Ok(key) = VerifyingKey::parse(text) {
        return Ok(key);
    }
    let about = || format!("{text:?} is no public key, and no file of one");
    let mut file = String::new();
    let opened = open_named(Path::new(text)).with_context(about)?;
    opened.take(MOST_BYTES).read_to_string(&mut file).with_context(about)?;
    VerifyingKey::parse(file.trim()).with_context(|| text.to_owned())
}

/// The points in the messages of the commits that are checked out.
///
/// # Errors
/// When git fails.
pub(super) async fn of_commits(root: &Path) -> anyhow::Result<Vec<Anchor>> {
    // Before the first commit there is none to look at.
    if git::output(root, ["rev-parse", "--verify", "--quiet", "HEAD"])
        .await
        .is_err()
    {
        return Ok(Vec::new());
    }
    let arguments = ["log", "-z", "-i", "--grep=^Coord-Ledger:", "--format=%H%n%B", "HEAD"];
    let listed = git::output(root, arguments).await?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let commits = listed.split('\0').filter_map(|commit| commit.split_once('\n'));
    let anchors = commits.flat_map(|(id, message)| {
        let points = Trailers::read(message).points.into_iter();
        points.map(|point| Anchor {
            point,
            source: Source::Commit(short(id).to_owned()),
        })
    });
    Ok(anchors.collect())
}

#[cfg(test)]
mod tests {
    use coord_intents::ledger::{Checkpoint, Point, SigningKey};
    use coord_test_support::git::Repo;

    use super::*;

    const REPOSITORY: &str = "github.com/acme/shop";

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            repository: REPOSITORY.to_owned(),
            point: Point {
                seq: 3,
                ..Point::start(REPOSITORY)
            },
            time: "2026-11-22T09:02:00.001Z".parse().unwrap(),
        }
    }

    #[test]
    fn a_checkpoint_has_to_be_of_the_repository_and_signed_by_a_key_that_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let (key, other) = (
            SigningKey::new("one", [1; 32]).unwrap(),
            SigningKey::new("two", [2; 32]).unwrap(),
        );
        let file = folder.path().join("checkpoint");
        let of = |note: &str, keys: &[VerifyingKey], repository: &str| {
            std::fs::write(&file, note).unwrap();
            of_checkpoints(std::slice::from_ref(&file), keys, repository).map_err(|error| format!("{error:#}"))
        };
        let (unsigned, signed) = (checkpoint().text(), checkpoint().sign(&key));
        let (one, two) = (key.verifying_key(), other.verifying_key());
        assert_eq!(of(&unsigned, &[], REPOSITORY).unwrap()[0].point, checkpoint().point);
        assert!(of(&signed, &[two.clone(), one.clone()], REPOSITORY).is_ok());
        let refused = [
            of(&unsigned, std::slice::from_ref(&one), REPOSITORY),
            of(&signed, &[two], REPOSITORY),
            of(
                &signed.replace("\n3\n", "\n2\n"),
                std::slice::from_ref(&one),
                REPOSITORY,
            ),
            of(&signed, &[one], "github.com/acme/other"),
            of("something", &[], REPOSITORY),
        ];
        let words = [
            "not signed",
            "not signed by two",
            "changed or forged",
            "is a checkpoint of",
            "not a checkpoint",
        ];
        for (refused, words) in refused.into_iter().zip(words) {
            let refused = refused.unwrap_err();
            assert!(refused.contains(words), "{refused}");
        }
    }

    #[tokio::test]
    async fn every_trailer_of_every_commit_is_an_anchor() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path().join("repo"), &[]);
        assert_eq!(of_commits(repo.path()).await.unwrap(), []);
        let point = |seq| Point {
            seq,
            ..Point::start(REPOSITORY)
        };
        let commit = |message: &str| {
            repo.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        };
        commit(&format!("One\n\ncoord-ledger: {}", point(1)));
        commit("Two: no Coord-Ledger: here");
        commit(&format!(
            "Three\n\nCoord-Ledger: {}\n\nCoord-Ledger: {}\n",
            point(2),
            point(3)
        ));
        let found = of_commits(repo.path()).await.unwrap();
        let mut found: Vec<u64> = found.iter().map(|anchor| anchor.point.seq).collect();
        found.sort_unstable();
        assert_eq!(found, [1, 2, 3]);
    }
}
