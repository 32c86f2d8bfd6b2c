//! Common arguments of the scripts of teams, and their outcome.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::refusal::Refused;
use crate::teams::team_keys;
use coord_domain::team::TeamName;
use coord_state::admission::{AdmissionTerms, Admitted, RequestKind, decode_admission};
use coord_state::reply::{Reply, call};
use coord_state::request_keys::Keys;
use coord_state::seams::Waiting;
use coord_store::{Script, Store, StoreError};

/// The caller and the team.
#[derive(Clone, Copy, Debug)]
pub struct TeamTerms<'a> {
    /// The admission; only requests about files need a head (`HeadTerms::Any` for all others).
    pub admission: AdmissionTerms<'a>,
    pub team: &'a TeamName,
    /// Whether the request names no team: then this has to be the only one of the caller ([`super::TeamQuestion`]).
    pub is_assumed: bool,
}

/// The answer of a team's script, with pending items for the caller in the team; or the refusal by the rules of the team.
pub type TeamCallResponse<T> = Result<(T, Waiting), Box<Refused>>;

/// A [`TeamCallResponse`], or why the request was not admitted.
pub type TeamOutcome<T> = Result<Admitted<TeamCallResponse<T>>, StoreError>;

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
    pub(crate) fn args(&self, script: &Script) -> RequestKeyArgs {
        let is_given = !self.key.is_empty();
        RequestKeyArgs {
            request_key: is_given.then(|| format!("{} {}", script.name, self.key)),
            request_digest: is_given.then(|| coord_store::script::sha1_hex(self.content)),
        }
    }
}

/// The fields of a request that may be repeated, as `modules/answers.lua` reads them.
#[derive(Serialize)]
pub(crate) struct RequestKeyArgs {
    #[serde(skip_serializing_if = "Option::is_none")]
    request_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_digest: Option<String>,
}

/// Arguments of `modules/team.lua`, and the fields of the request's own function.
#[derive(Serialize)]
struct TeamRequest<'a, T> {
    team: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    team_name: Option<&'a str>,
    #[serde(flatten)]
    own: &'a T,
}

impl TeamTerms<'_> {
    /// ARGV of a request with the fields of `own`; it counts against the limits like a request with `paths` paths.
    pub(crate) fn args<T: Serialize>(&self, (kind, paths): (RequestKind, usize), keys: &Keys, own: &T) -> Vec<Vec<u8>> {
        let request = TeamRequest {
            team: self.team.key(),
            team_name: (!self.is_assumed).then(|| self.team.as_str()),
            own,
        };
        self.admission.args(kind, paths, keys, &request)
    }
}

/// Runs a script of a team with the fields of `own`; `read` decodes what is neither a denial nor a refusal.
pub(crate) async fn run<T>(
    store: &dyn Store,
    script: &'static Script,
    terms: &TeamTerms<'_>,
    kind: RequestKind,
    own: &impl Serialize,
    read: impl FnOnce(&Reply) -> Result<T, StoreError>,
) -> TeamOutcome<T> {
    run_with_cost(store, script, terms, (kind, 1), own, read).await
}

/// As [`run`], for a request that counts against the limits like one of this kind with this number of paths.
pub(crate) async fn run_with_cost<T>(
    store: &dyn Store,
    script: &'static Script,
    terms: &TeamTerms<'_>,
    cost: (RequestKind, usize),
    own: &impl Serialize,
    read: impl FnOnce(&Reply) -> Result<T, StoreError>,
) -> TeamOutcome<T> {
    let keys = team_keys(&terms.admission, terms.team);
    let args = terms.args(cost, &keys, own);
    outcome(&call(store, script, keys, args).await?, read)
}

/// Reads the answer of a script whose only outcome is `only`.
pub(crate) fn answer_of<T: DeserializeOwned>(only: &'static str) -> impl FnOnce(&Reply) -> Result<T, StoreError> {
    move |reply| reply.object_of(only)
}

/// The outcome of a script of a team, with pending items for the caller; `read` decodes what is neither a denial nor a refusal.
pub(crate) fn outcome<T>(reply: &Reply, read: impl FnOnce(&Reply) -> Result<T, StoreError>) -> TeamOutcome<T> {
    decode_admission(reply, |reply| {
        let waiting = Waiting::of(reply)?;
        if reply.outcome == "REFUSED" {
            let refusal = reply.object()?;
            return Ok(Err(Box::new(Refused { refusal, waiting })));
        }
        Ok(Ok((read(reply)?, waiting)))
    })
}
