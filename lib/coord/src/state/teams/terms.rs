//! What every script of a team is given, and its outcome.

use serde::Serialize;

use super::refusal::{Refused, read_refusal};
use super::waiting::Waiting;
use crate::domain::team::TeamName;
use crate::state::admission::{AdmissionTerms, Admitted, Denial, Kind, denied};
use crate::state::reply::{Reply, call};
use crate::state::request_keys::Keys;
use crate::state::team_keys::team_keys;
use crate::store::{Script, Store, StoreError};

/// The caller and the team.
#[derive(Clone, Copy, Debug)]
pub struct TeamTerms<'a> {
    /// The admission; only what concerns files needs a head ([`crate::state::admission::HeadTerms::Any`] for all else).
    pub admission: AdmissionTerms<'a>,
    /// The team.
    pub team: &'a TeamName,
    /// The request names no team: this one has to be the only one of the caller ([`crate::state::admission::Question::Team`]).
    pub is_assumed: bool,
}

/// What a script of a team answers, with what waits for the caller in the team after it; or why the request was not admitted.
pub type TeamOutcome<T> = Result<Admitted<(T, Waiting)>, StoreError>;

/// A key under which a request may be repeated for ten minutes.
#[derive(Clone, Copy, Debug)]
pub struct RequestKey<'a> {
    /// The key; empty for none.
    pub key: &'a str,
    /// The request, in any form that differs for different ones.
    pub content: &'a str,
}

impl RequestKey<'static> {
    /// No key.
    pub const NONE: RequestKey<'static> = RequestKey { key: "", content: "" };
}

impl RequestKey<'_> {
    /// The key, and the digest of the content; `script` keeps requests of different kinds apart.
    pub(in crate::state) fn arguments(&self, script: &Script) -> [Vec<u8>; 2] {
        let digest = match self.key {
            "" => String::new(),
            _ => crate::store::script::sha1_hex(self.content),
        };
        let key = match self.key {
            "" => String::new(),
            key => format!("{} {key}", script.name),
        };
        [key.into_bytes(), digest.into_bytes()]
    }
}

/// Runs a script of a team; `read` reads what is neither a denial nor a refusal.
pub(in crate::state) async fn run<T>(
    store: &dyn Store,
    script: &'static Script,
    terms: &TeamTerms<'_>,
    kind: Kind,
    own_arguments: Vec<Vec<u8>>,
    read: impl FnOnce(Reply) -> Result<T, StoreError>,
) -> TeamOutcome<T> {
    run_as_many(store, script, terms, (kind, 1), own_arguments, read).await
}

/// The same for a request that costs as much of the limits as one with so many paths.
pub(in crate::state) async fn run_as_many<T>(
    store: &dyn Store,
    script: &'static Script,
    terms: &TeamTerms<'_>,
    (kind, paths): (Kind, usize),
    own_arguments: Vec<Vec<u8>>,
    read: impl FnOnce(Reply) -> Result<T, StoreError>,
) -> TeamOutcome<T> {
    let keys = team_keys(&terms.admission, terms.team);
    let args = arguments_as_many(terms, (kind, paths), &keys, &NoFiles {}, own_arguments);
    outcome(call(store, script, keys, args).await?, read)
}

/// A request that says nothing of the files of a task.
#[derive(Serialize)]
struct NoFiles {}

/// ARGV of a function of a team; `files`: what the request says of the files of a task.
pub(in crate::state) fn team_arguments(
    terms: &TeamTerms<'_>,
    kind: Kind,
    keys: &Keys,
    files: &impl Serialize,
    own: Vec<Vec<u8>>,
) -> Vec<Vec<u8>> {
    arguments_as_many(terms, (kind, 1), keys, files, own)
}

fn arguments_as_many(
    terms: &TeamTerms<'_>,
    (kind, paths): (Kind, usize),
    keys: &Keys,
    files: &impl Serialize,
    own: Vec<Vec<u8>>,
) -> Vec<Vec<u8>> {
    let mut args = terms.admission.request(kind, paths, keys, files);
    let name = if terms.is_assumed { "" } else { terms.team.as_str() };
    args.extend([terms.team.key().into(), name.into()]);
    args.extend(own);
    args
}

/// The outcome of a script of a team, which ends with what waits for the caller; `read` reads what is neither a denial nor a refusal.
pub(in crate::state) fn outcome<T>(reply: Reply, read: impl FnOnce(Reply) -> Result<T, StoreError>) -> TeamOutcome<T> {
    let mut reply = match denied(reply)? {
        Ok(denial) => return Ok(Admitted::Denied(denial)),
        Err(reply) => reply,
    };
    let waiting = Waiting::take(&mut reply)?;
    if reply.outcome == "REFUSED" {
        let refusal = read_refusal(reply)?;
        return Ok(Admitted::Denied(Denial::Refused(Box::new(Refused {
            refusal,
            waiting,
        }))));
    }
    let outcome = read(reply)?;
    Ok(Admitted::Outcome((outcome, waiting)))
}

/// The error of an outcome that no version of the script has.
pub(in crate::state) fn unknown<T>(reply: &Reply) -> Result<T, StoreError> {
    Err(reply.malformed("an unknown outcome"))
}
