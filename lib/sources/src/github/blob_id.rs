//! Git's id of a blob: the hash of `blob SIZE`, a zero byte and the content, SHA-1 or SHA-256.

use sha2::Digest;

/// The id of a blob: 20 bytes of SHA-1 or 32 of SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct BlobId {
    bytes: [u8; 32],
    is_sha256: bool,
}

impl BlobId {
    /// Parses 40 or 64 hex digits.
    pub(super) fn parse(hex: &str) -> Option<Self> {
        let is_sha256 = match hex.len() {
            40 => false,
            64 => true,
            _ => return None,
        };
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            let digit = |digit: u8| char::from(digit).to_digit(16);
            *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
        }
        Some(BlobId { bytes, is_sha256 })
    }

    /// Whether this is the id of `content`.
    pub(super) fn matches(&self, content: &[u8]) -> bool {
        let header = format!("blob {}\0", content.len());
        if self.is_sha256 {
            let mut hash = sha2::Sha256::new();
            hash.update(header.as_bytes());
            hash.update(content);
            return self.bytes == *hash.finalize();
        }
        let mut hash = sha1_smol::Sha1::new();
        hash.update(header.as_bytes());
        hash.update(content);
        hash.digest().bytes() == self.bytes[..20]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_git() {
        // `printf 'hello\n' | git hash-object --stdin`, and the same in a repository of SHA-256.
        for hex in [
            "ce013625030ba8dba906f756967f9e9ca394464a",
            "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4",
        ] {
            let id = BlobId::parse(hex).unwrap();
            assert!(id.matches(b"hello\n"), "{hex}");
            assert!(!id.matches(b"hello"), "{hex}");
        }
        for text in ["", "ce01", &"g".repeat(40), &"é".repeat(20), &"a".repeat(41)] {
            assert_eq!(BlobId::parse(text), None, "{text}");
        }
    }
}
