//! The start of every script of a request: admitted, or denied.

use super::denial::{Denial, decode_denial};
use super::reported_head::{RawHead, ReportedHead};
use super::scripts::ADMIT;
use super::terms::{AdmissionTerms, RequestKind};
use crate::read::Read;
use crate::reply::{Reply, call_with_reads};
use coord_store::{Request, Store, StoreError};

/// The outcome of a script that begins with an admission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admitted<T> {
    Outcome(T),
    /// Why not; nothing was changed.
    Denied(Denial),
}

impl<T> Admitted<T> {
    /// The same, with `change` applied to an outcome.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Admitted<U> {
        match self {
            Admitted::Outcome(outcome) => Admitted::Outcome(change(outcome)),
            Admitted::Denied(denial) => Admitted::Denied(denial),
        }
    }
}

/// Decodes the outcome by `decode`, unless the request was denied.
pub fn decode_admission<T>(
    reply: &Reply,
    decode: impl FnOnce(&Reply) -> Result<T, StoreError>,
) -> Result<Admitted<T>, StoreError> {
    match decode_denial(reply)? {
        Some(denial) => Ok(Admitted::Denied(denial)),
        None => decode(reply).map(Admitted::Outcome),
    }
}

/// Admits a request that consists of `read`, and runs `read` in the same round trip.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn admit<T: Send + 'static>(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    read: Read<T>,
) -> Result<Admitted<(ReportedHead, T)>, StoreError> {
    run(store, terms, read, |reply, head| {
        head.ok_or_else(|| reply.malformed("no head"))
    })
    .await
}

/// The same for a request that needs no head ([`super::HeadTerms::Any`]).
///
/// # Errors
/// As those of [`admit`].
pub async fn admit_without_head<T: Send + 'static>(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    read: Read<T>,
) -> Result<Admitted<T>, StoreError> {
    let admitted = run(store, terms, read, |_, head| Ok(head)).await?;
    Ok(admitted.map(|(_, value)| value))
}

async fn run<H, T: Send + 'static>(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    read: Read<T>,
    head_of: impl FnOnce(&Reply, Option<ReportedHead>) -> Result<H, StoreError>,
) -> Result<Admitted<(H, T)>, StoreError> {
    let (reads, decode) = read.into_parts();
    let named_keys = terms.keys();
    let args = terms.args(RequestKind::Read, 1, &named_keys, &());
    let mut keys: Vec<String> = named_keys.into();
    keys.extend(reads.iter().filter_map(fully_read_hash));
    let (reply, replies) = call_with_reads(store, &ADMIT, keys, args, reads).await?;
    decode_admission(&reply, |reply| {
        let head: RawHead = reply.object_of("ADMITTED")?;
        Ok((head_of(reply, head.into_reported())?, decode(replies)?))
    })
}

/// The key of the hash that a command reads whole: the cost grows with its number of fields.
fn fully_read_hash(read: &Request) -> Option<String> {
    match read {
        Request::Command(words) => match &words[..] {
            [name, key] if [&b"HGETALL"[..], b"HVALS", b"HKEYS"].contains(&name.as_slice()) => {
                String::from_utf8(key.clone()).ok()
            }
            _ => None,
        },
        Request::Script { .. } => None,
    }
}
