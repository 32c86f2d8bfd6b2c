//! Reads points of a ledger that are kept outside of it: checkpoints in files, and trailers of commits.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use coord_agent::file_content::open_named;
use coord_agent::git;
use coord_agent::terminal::output::short;
use coord_intents::ledger::{Anchor, SignedCheckpoint, Source, Trailers, VerifyingKey};

/// The maximum size of a checkpoint, and of a key.
const MAX_BYTES: u64 = 1 << 20;

/// The points of the checkpoints in `files`. With `keys`, one of them must have signed each checkpoint.
///
/// # Errors
/// When a file is not a checkpoint of `repository`, or lacks a required signature.
pub(super) fn read_checkpoints(
    files: &[PathBuf],
    keys: &[VerifyingKey],
    repository: &str,
) -> anyhow::Result<Vec<Anchor>> {
    let read = |file: &PathBuf| {
        let name = file.display().to_string();
        let mut note = String::new();
        open_named(file)?
            .take(MAX_BYTES)
            .read_to_string(&mut note)
            .with_context(|| format!("{name} cannot be read"))?;
        read_note(&note, &name, keys, repository)
    };
    files.iter().map(read).collect()
}

/// The point of the checkpoint `note`, which errors call `name`. With `keys`, one of them must have signed it.
///
/// # Errors
/// When `note` is not a checkpoint of `repository`, or lacks a required signature.
pub(super) fn read_note(note: &str, name: &str, keys: &[VerifyingKey], repository: &str) -> anyhow::Result<Anchor> {
    let signed = SignedCheckpoint::read(note).with_context(|| name.to_owned())?;
    let mut source = name.to_owned();
    if !keys.is_empty() {
        let results: Vec<_> = keys.iter().map(|key| (key, signed.verify(key))).collect();
        match results.iter().find(|(_, result)| result.is_ok()) {
            Some((key, _)) => source = format!("{name}, signed by {}", key.name()),
            None => match results.into_iter().find_map(|(_, result)| result.err()) {
                Some(error) => return Err(error).context(name.to_owned()),
                None => bail!("{name} is not signed by a known key"),
            },
        }
    }
    let checkpoint = &signed.checkpoint;
    ensure!(
        checkpoint.repository == repository,
        "{name} is a checkpoint of {}, and this is the ledger of {repository}",
        checkpoint.repository
    );
    Ok(Anchor {
        point: checkpoint.point,
        source: Source::Checkpoint(source),
    })
}

/// Parses a public key, or reads it from a file.
///
/// # Errors
/// When `text` is neither a key nor a file with one.
pub(super) fn read_key(text: &str) -> anyhow::Result<VerifyingKey> {
    if let Ok(key) = VerifyingKey::parse(text) {
        return Ok(key);
    }
    let context = || format!("{text:?} is neither a public key nor a file with one");
    let mut content = String::new();
    let file = open_named(Path::new(text)).with_context(context)?;
    file.take(MAX_BYTES)
        .read_to_string(&mut content)
        .with_context(context)?;
    VerifyingKey::parse(content.trim()).with_context(|| text.to_owned())
}

/// The points in the trailers of the commits that are checked out.
///
/// # Errors
/// When git fails.
pub(super) async fn read_commits(root: &Path) -> anyhow::Result<Vec<Anchor>> {
    // There may be no commit yet.
    if git::output(root, ["rev-parse", "--verify", "--quiet", "HEAD"])
        .await
        .is_err()
    {
        return Ok(Vec::new());
    }
    let arguments = ["log", "-z", "-i", "--grep=^Coord-Ledger:", "--format=%H%n%B", "HEAD"];
    let output = git::output(root, arguments).await?;
    let output = String::from_utf8_lossy(&output).into_owned();
    let commits = output.split('\0').filter_map(|commit| commit.split_once('\n'));
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
        let [key, other] = [
            "PRIVATE+KEY+one+93b73cb6+AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB",
            "PRIVATE+KEY+two+8f051e3d+AQICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC",
        ]
        .map(|text| SigningKey::parse(text).unwrap());
        let file = folder.path().join("checkpoint");
        let read = |note: &str, keys: &[VerifyingKey], repository: &str| {
            std::fs::write(&file, note).unwrap();
            read_checkpoints(std::slice::from_ref(&file), keys, repository).map_err(|error| format!("{error:#}"))
        };
        let (unsigned, signed) = (checkpoint().text(), checkpoint().sign(&key));
        let keys = [other.verifying_key(), key.verifying_key()];
        let (two, one) = keys.split_at(1);
        assert_eq!(read(&unsigned, &[], REPOSITORY).unwrap()[0].point, checkpoint().point);
        assert!(read(&signed, &keys, REPOSITORY).is_ok());
        let forged = signed.replace("\n3\n", "\n2\n");
        for (note, keys, repository, words) in [
            (&*unsigned, one, REPOSITORY, "not signed"),
            (&*signed, two, REPOSITORY, "not signed by two"),
            (&*forged, one, REPOSITORY, "changed or forged"),
            (&*signed, one, "github.com/acme/other", "is a checkpoint of"),
            ("something", &keys[..0], REPOSITORY, "not a checkpoint"),
        ] {
            let refused = read(note, keys, repository).unwrap_err();
            assert!(refused.contains(words), "{refused}");
        }
    }

    #[tokio::test]
    async fn every_trailer_of_every_commit_is_an_anchor() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path().join("repo"), &[]);
        assert_eq!(read_commits(repo.path()).await.unwrap(), []);
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
        let anchors = read_commits(repo.path()).await.unwrap();
        let mut numbers: Vec<u64> = anchors.iter().map(|anchor| anchor.point.seq).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2, 3]);
    }
}
