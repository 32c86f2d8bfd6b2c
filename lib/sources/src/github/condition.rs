//! The condition of a conditional request for a head.

use reqwest::header::HeaderValue;

use crate::KnownHead;
use coord_domain::CommitSha;

/// Maximum length of an ETag that is kept and sent back; real ones have tens of bytes.
pub(super) const ETAG_BYTES: usize = 256;

/// A head and its ETag, both checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Condition {
    pub(super) commit: CommitSha,
    pub(super) etag: HeaderValue,
}

impl Condition {
    /// `None` if there is no usable condition: no ETag, an ETag that no header may contain, or an abbreviated id.
    pub(super) fn from_head(known: &KnownHead) -> Option<Self> {
        let etag = known.etag.as_deref().filter(|etag| is_entity_tag(etag))?;
        let is_full_id = matches!(known.commit.as_str().len(), 40 | 64);
        Some(Condition {
            commit: known.commit.clone(),
            etag: HeaderValue::from_str(etag).ok().filter(|_| is_full_id)?,
        })
    }
}

/// Whether `text` is one ETag, <https://www.rfc-editor.org/rfc/rfc9110#field.etag>, in ASCII: no list, and not the
/// wildcard `*`.
pub(super) fn is_entity_tag(text: &str) -> bool {
    let quoted = text.strip_prefix("W/").unwrap_or(text);
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"';
    text.len() <= ETAG_BYTES && inner.is_some_and(|inner| inner.bytes().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_etag_in_its_form_is_sent() {
        for text in [
            "\"\"",
            "\"abc\"",
            "W/\"abc\"",
            "\"W/a,b\"",
            &format!("\"{}\"", "x".repeat(254)),
        ] {
            assert!(is_entity_tag(text), "{text}");
        }
        for text in [
            "",
            "*",
            "\"",
            "abc",
            "w/\"abc\"",
            "\"a\", \"b\"",
            "\"a\"b\"",
            "\"a b\"",
            "\"a\r\nx: 1\"",
            "\"é\"",
            "\"\0\"",
            &format!("\"{}\"", "x".repeat(255)),
        ] {
            assert!(!is_entity_tag(text), "{text:?}");
        }
    }

    #[test]
    fn an_abbreviated_commit_makes_no_condition() {
        let condition = |commit: &str| {
            Condition::from_head(&KnownHead {
                commit: CommitSha::parse(commit).unwrap(),
                etag: Some("\"a\"".to_owned()),
            })
        };
        assert!(condition(&"1".repeat(40)).is_some() && condition(&"1".repeat(64)).is_some());
        assert!(condition("1234567").is_none() && condition(&"1".repeat(41)).is_none());
    }
}
