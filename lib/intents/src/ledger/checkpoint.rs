use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::hash::ChainHash;
use super::note::{SIGNATURE, SigningKey, VerifyingKey};
use super::point::{Point, parse_seq};
use super::timestamp::Timestamp;

/// A statement about a ledger, to be kept outside the store: repository, number of lines, last hash, and time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// `host/owner/name`.
    pub repository: String,
    /// The end of the ledger at `time`.
    pub point: Point,
    pub time: Timestamp,
}

/// A parsed checkpoint, with signatures that are not verified yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    pub checkpoint: Checkpoint,
    text: String,
    signatures: Vec<String>,
}

/// Why a checkpoint proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// It does not have the form of a checkpoint.
    #[error("not a checkpoint: {0}")]
    Form(&'static str),
    /// It has no signature at all.
    #[error("the checkpoint is not signed")]
    NotSigned,
    /// No signature is by the key.
    #[error("the checkpoint is not signed by {0}")]
    OtherKey(String),
    /// The key signed a different text.
    #[error("the signature by {0} does not match the checkpoint: one of them was changed or forged")]
    BadSignature(String),
}

const ORIGIN: &str = "coord-ledger-v1/";
const MAX_NOTE_BYTES: usize = 16 * 1024;

impl Checkpoint {
    pub fn text(&self) -> String {
        let Checkpoint {
            repository,
            point,
            time,
        } = self;
        format!(
            "{ORIGIN}{repository}\n{}\n{}\n{time}\n",
            point.seq,
            STANDARD.encode(point.hash.bytes())
        )
    }

    pub fn sign(&self, key: &SigningKey) -> String {
        let text = self.text();
        format!("{text}\n{}", key.sign(&text))
    }

    fn parse(text: &str) -> Result<Self, CheckpointError> {
        let lines: Vec<&str> = text.split('\n').collect();
        let [origin, seq, hash, time, ""] = lines[..] else {
            return Err(CheckpointError::Form("four lines are expected"));
        };
        let repository = origin.strip_prefix(ORIGIN).filter(|name| !name.is_empty());
        let repository = repository.ok_or(CheckpointError::Form(
            "the first line has to be coord-ledger-v1/REPOSITORY",
        ))?;
        let hash = STANDARD
            .decode(hash)
            .ok()
            .and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        Ok(Checkpoint {
            repository: repository.to_owned(),
            point: Point {
                seq: parse_seq(seq.as_bytes()).ok_or(CheckpointError::Form("the second line has to be a count"))?,
                hash: ChainHash::from(
                    hash.ok_or(CheckpointError::Form("the third line has to be 32 bytes in base64"))?,
                ),
            },
            time: time
                .parse()
                .map_err(|_| CheckpointError::Form("the fourth line has to be a time"))?,
        })
    }
}

impl SignedCheckpoint {
    /// Reads a checkpoint with or without signatures.
    pub fn read(note: &str) -> Result<Self, CheckpointError> {
        if note.len() > MAX_NOTE_BYTES {
            return Err(CheckpointError::Form("it is longer than 16 KiB"));
        }
        if note.contains(|letter: char| letter.is_control() && letter != '\n') {
            return Err(CheckpointError::Form(
                "it has control characters, such as those of CRLF",
            ));
        }
        let (text, signatures) = match note.rfind("\n\n") {
            Some(end) => (&note[..=end], &note[end + 2..]),
            None => (note, ""),
        };
        let form = "each line after the empty one has to be a signature";
        if !signatures.is_empty() && !signatures.ends_with('\n') || note.ends_with("\n\n") {
            return Err(CheckpointError::Form(form));
        }
        let signatures: Vec<String> = signatures.lines().map(str::to_owned).collect();
        if !signatures.iter().all(|line| line.starts_with(SIGNATURE)) {
            return Err(CheckpointError::Form(form));
        }
        Ok(SignedCheckpoint {
            checkpoint: Checkpoint::parse(text)?,
            text: text.to_owned(),
            signatures,
        })
    }

    /// Whether it has any signature.
    pub fn is_signed(&self) -> bool {
        !self.signatures.is_empty()
    }

    /// Checks that `key` signed it. Ignores signatures by other keys.
    pub fn verify(&self, key: &VerifyingKey) -> Result<&Checkpoint, CheckpointError> {
        let mut checks = self.signatures.iter().filter_map(|line| key.check(&self.text, line));
        match checks.next() {
            Some(true) => Ok(&self.checkpoint),
            Some(false) => Err(CheckpointError::BadSignature(key.name().to_owned())),
            None if self.is_signed() => Err(CheckpointError::OtherKey(key.name().to_owned())),
            None => Err(CheckpointError::NotSigned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "PRIVATE+KEY+coord.example+b4c58000+AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB";
    /// Another key of the same name.
    const OTHER_KEY: &str = "PRIVATE+KEY+coord.example+210c0e89+AQICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC";

    fn key(text: &str) -> SigningKey {
        SigningKey::parse(text).unwrap()
    }

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            repository: "github.com/acme/shop".to_owned(),
            point: "3:43768ac6081e13da4cf31dc3b650d5377ac8e85e329299b131a00c1d75720e45"
                .parse()
                .unwrap(),
            time: "2026-11-22T09:02:00.001Z".parse().unwrap(),
        }
    }

    #[test]
    fn a_checkpoint_is_read_and_verified_as_it_was_written() {
        let checkpoint = checkpoint();
        assert_eq!(
            checkpoint.text(),
            "coord-ledger-v1/github.com/acme/shop\n3\nQ3aKxggeE9pM8x3DtlDVN3rI6F4ykpmxMaAMHXVyDkU=\n2026-11-22T09:02:00.001Z\n"
        );
        let unsigned = SignedCheckpoint::read(&checkpoint.text()).unwrap();
        assert_eq!(unsigned.checkpoint, checkpoint);
        let public = key(KEY).verifying_key();
        assert_eq!(unsigned.verify(&public), Err(CheckpointError::NotSigned));
        let note = checkpoint.sign(&key(KEY));
        let signed = SignedCheckpoint::read(&note).unwrap();
        assert_eq!(signed.verify(&public), Ok(&checkpoint));
        let other = SignedCheckpoint::read(&checkpoint.sign(&key(OTHER_KEY))).unwrap();
        assert_eq!(
            other.verify(&public),
            Err(CheckpointError::OtherKey("coord.example".to_owned()))
        );
        let cosigned = SignedCheckpoint::read(&format!("{note}— witness AAAAAAAA\n")).unwrap();
        assert_eq!(cosigned.verify(&public), Ok(&checkpoint));
    }

    #[test]
    fn no_byte_of_a_signed_checkpoint_can_be_changed() {
        let note = checkpoint().sign(&key(KEY));
        let public = key(KEY).verifying_key();
        for index in 0..note.len() {
            let mut bytes = note.clone().into_bytes();
            bytes[index] ^= 1;
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let read = SignedCheckpoint::read(&text);
            assert!(
                read.and_then(|read| read.verify(&public).cloned()).is_err(),
                "{index}: {text}"
            );
        }
    }

    #[test]
    fn forged_texts_are_no_checkpoints() {
        let (text, note) = (checkpoint().text(), checkpoint().sign(&key(KEY)));
        for wrong in [
            String::new(),
            text.replace("\n3\n", "\n03\n"),
            text.replace("coord-ledger-v1/github.com/acme/shop", "coord-ledger-v1/"),
            text.replace("coord-ledger-v1", "coord-ledger-v2"),
            text.replace("Q3aK", "Q3a"),
            text.replace("09:02", "9:02"),
            text.replace('\n', "\r\n"),
            text.trim_end().to_owned(),
            format!("{text}one more\n"),
            note.trim_end().to_owned(),
            format!("{note}\n"),
            format!("{note}no signature\n"),
            "x".repeat(1 << 20),
        ] {
            assert!(
                matches!(SignedCheckpoint::read(&wrong), Err(CheckpointError::Form(_))),
                "{wrong}"
            );
        }
        let forged = SignedCheckpoint::read(&note.replace("\n3\n", "\n2\n")).unwrap();
        let bad = CheckpointError::BadSignature("coord.example".to_owned());
        assert_eq!(forged.verify(&key(KEY).verifying_key()), Err(bad));
    }
}
