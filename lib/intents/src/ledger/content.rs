use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use sha2::{Digest, Sha256};

use super::hash::{ChainHash, InvalidPoint};

/// The recorded content of a file: `sha256:` and the 64 digits of its hash, or `DELETED`. An empty file has a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentHash {
    /// The file exists.
    Sha256(ChainHash),
    /// The file was deleted.
    Deleted,
}

const ALGORITHM: &str = "sha256:";
const DELETED: &str = "DELETED";

impl ContentHash {
    /// The hash of `content`, as git would commit it.
    pub fn of(content: &[u8]) -> Self {
        ContentHash::Sha256(ChainHash::of(&[content]))
    }

    /// The hash of `content`, read as a stream.
    pub fn of_reader(mut content: impl Read) -> io::Result<Self> {
        let mut hash = Sha256::new();
        let mut buffer = [0; 16 * 1024];
        loop {
            match content.read(&mut buffer) {
                Ok(0) => return Ok(ContentHash::Sha256(ChainHash::finish(hash))),
                Ok(bytes) => hash.update(&buffer[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContentHash::Sha256(hash) => write!(out, "{ALGORITHM}{hash}"),
            ContentHash::Deleted => out.write_str(DELETED),
        }
    }
}

impl FromStr for ContentHash {
    type Err = InvalidPoint;

    /// Accepts whole hashes only: a truncated one proves nothing.
    fn from_str(text: &str) -> Result<Self, InvalidPoint> {
        if text == DELETED {
            return Ok(ContentHash::Deleted);
        }
        let digits = text.strip_prefix(ALGORITHM).ok_or(InvalidPoint)?;
        Ok(ContentHash::Sha256(digits.parse()?))
    }
}

impl serde::Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for ContentHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_hashed_as_bytes_and_empty_content_too() {
        let cases: [(&[u8], &str); 2] = [
            (
                b"export const pool = 8\n",
                "5ca890bf2046006ced7f9a4f4e9449d7beb77fc868bba102d34c34fa715078e7",
            ),
            (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ];
        for (content, digits) in cases {
            let hash = ContentHash::of(content);
            assert_eq!(hash.to_string(), format!("sha256:{digits}"));
            assert_eq!(hash.to_string().parse(), Ok(hash));
            assert_eq!(ContentHash::of_reader(content).unwrap(), hash);
        }
        assert_ne!(ContentHash::of(b"\xff"), ContentHash::of(b"\xfe"));
        assert_eq!("DELETED".parse(), Ok(ContentHash::Deleted));
        for wrong in ["", "deleted", "sha256:", "sha256:a1b2...", cases[0].1, "SHA256:5ca8"] {
            assert_eq!(wrong.parse::<ContentHash>(), Err(InvalidPoint), "{wrong}");
        }
    }
}
