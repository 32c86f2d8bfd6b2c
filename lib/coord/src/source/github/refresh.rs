//! Heads that are remembered elsewhere: asked for with the ETag from there, by one for all who ask with the same ETag at the
//! same time, and never taken out of memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::header::HeaderValue;

use super::address::Slug;
use super::client::{Client, ETAG_BYTES};
use super::error::GithubError;
use super::flights::Flights;
use super::heads::{Heads, Known, Told};
use crate::domain::{Branch, CommitSha, RepoId};
use crate::source::{KnownHead, RefreshedHead, SourceError};

/// How long a branch that is not there is not asked for again: not so long that who then pushes it has to wait.
const MISSING_FOR: Duration = Duration::from_secs(2);

/// Questions under way. What is known belongs to the question: who asks without an ETag wants a whole answer.
pub(super) type Refreshing = Flights<(RepoId, Branch, Option<Before>), RefreshedHead>;

/// A head and the ETag that stands for it, both checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Before {
    commit: CommitSha,
    etag: HeaderValue,
}

impl Before {
    /// `None` where there is nothing to ask by: no ETag, none that a header may carry, or an abbreviated id.
    fn of(known: &KnownHead) -> Option<Self> {
        let etag = known.etag.as_deref().filter(|etag| is_entity_tag(etag))?;
        let is_whole = matches!(known.commit.as_str().len(), 40 | 64);
        Some(Before {
            commit: known.commit.clone(),
            etag: HeaderValue::from_str(etag).ok().filter(|_| is_whole)?,
        })
    }
}

impl Heads {
    /// The commit at the tip of `branch`, as GitHub says now.
    pub(super) async fn refresh(
        self: &Arc<Self>,
        client: &Arc<Client>,
        slug: &Slug,
        repo: &RepoId,
        branch: &Branch,
        known: Option<&KnownHead>,
    ) -> Result<RefreshedHead, SourceError> {
        let key = (repo.clone(), branch.clone());
        // Nobody knows the branch: a caller who asks again and again for one that is not there gets the answer of before.
        let missing = self
            .known(&key)
            .filter(|own| known.is_none() && own.asked.elapsed() < MISSING_FOR);
        if let Some(Known { answer: Err(error), .. }) = missing {
            return Err(error);
        }
        let before = known.and_then(Before::of);
        let is_known = known.is_some();
        let flight = (repo.clone(), branch.clone(), before.clone());
        let (heads, client, slug) = (Arc::clone(self), Arc::clone(client), slug.clone());
        let ask = move || async move { heads.ask_with(&client, &slug, key, before, is_known).await };
        self.refreshing.join(flight, ask).await
    }

    async fn ask_with(
        &self,
        client: &Client,
        slug: &Slug,
        key: (RepoId, Branch),
        before: Option<Before>,
        is_known: bool,
    ) -> Result<RefreshedHead, SourceError> {
        let asked = Instant::now();
        let etag = before.as_ref().map(|before| &before.etag);
        let (answer, etag, is_whole) = match (self.told(client, slug, &key, etag, is_known).await?, before) {
            (Told::Same, Some(before)) => (Ok(before.commit), Some(before.etag), false),
            (Told::Same, None) => return Err(GithubError::Unexpected(304).about(&key.0)),
            (Told::Head(commit, etag), _) => (Ok(commit), etag, true),
            (Told::Nothing(error), _) => (Err(error), None, true),
        };
        // When GitHub said it in whole is known of an answer in whole. Of another only who remembers it elsewhere knows, so
        // that this process asks without an ETag next, unless it knows that head by itself.
        let own = self.known(&key).filter(|own| is_of(own, &answer) && !is_whole);
        let known = match own {
            Some(own) => Known { asked, ..own },
            None => Known {
                answer: answer.clone(),
                etag: etag.clone().filter(|_| is_whole),
                asked,
                read: asked,
            },
        };
        self.remember(key, known);
        let etag = etag.as_ref().and_then(|etag| etag.to_str().ok());
        Ok(RefreshedHead {
            commit: answer?,
            etag: etag.filter(|etag| is_entity_tag(etag)).map(str::to_owned),
            is_whole,
        })
    }
}

fn is_of(known: &Known, answer: &Result<CommitSha, SourceError>) -> bool {
    matches!((&known.answer, answer), (Ok(known), Ok(commit)) if known == commit)
}

/// Whether `text` is one ETag, <https://www.rfc-editor.org/rfc/rfc9110#field.etag>, in ASCII: not a list of them, and not
/// the `*` that stands for all.
fn is_entity_tag(text: &str) -> bool {
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
    fn an_abbreviated_commit_is_nothing_to_ask_by() {
        let of = |commit: &str| {
            Before::of(&KnownHead {
                commit: CommitSha::parse(commit).unwrap(),
                etag: Some("\"a\"".to_owned()),
            })
        };
        assert!(of(&"1".repeat(40)).is_some() && of(&"1".repeat(64)).is_some());
        assert!(of("1234567").is_none() && of(&"1".repeat(41)).is_none());
    }
}
