//! Whether nothing has changed since the last synchronization, without a comparison: the files have the same names, sizes and
//! times, the log has no event of the team, and no claim has expired.

use std::collections::BTreeMap;

use coord_protocol::{ActivityFilter, ClientError};
use serde::{Deserialize, Serialize};

use super::disk::Fingerprint;
use super::report::Report;
use super::server::{LEASE_SECONDS, ServerTeam, TeamReference, digest_of, patiently};

/// Seconds by which clocks may differ, and in which a file may be written twice with the same time.
const MARGIN: i64 = 5;

/// Events that are looked through.
const MOST_EVENTS: usize = 100;

/// The common state of both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnchangedState {
    /// The event before which it was so.
    cursor: String,
    /// The digest of the team as it is shown, because reads by members have no event.
    team: String,
    /// The digest of names, sizes and times of the files.
    files: String,
    /// Until when no claim expires or needs renewal, Unix seconds.
    until: i64,
}

impl UnchangedState {
    /// The state of a synchronization that found nothing to do; `None` for any other.
    pub fn of(
        report: &Report,
        fingerprint: &Fingerprint,
        cursor: String,
        server: &ServerTeam,
        claims: &BTreeMap<String, i64>,
    ) -> Option<UnchangedState> {
        if !report.is_quiet() || fingerprint.newest > fingerprint.taken - MARGIN {
            return None;
        }
        let lapses = server.leases.iter().filter_map(|(id, lease)| {
            let expires = chrono::DateTime::parse_from_rfc3339(lease.expires.as_deref()?)
                .ok()?
                .timestamp();
            let is_renewed = claims.contains_key(id.as_str());
            Some(expires - if is_renewed { i64::from(LEASE_SECONDS / 2) } else { 0 })
        });
        Some(UnchangedState {
            cursor,
            team: server.shown.clone(),
            files: fingerprint.digest.clone(),
            until: lapses.min().map_or(i64::MAX, |first| first - MARGIN),
        })
    }

    /// Whether all is as it was.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn holds(&self, fingerprint: &Fingerprint, team_reference: &TeamReference) -> Result<bool, ClientError> {
        if self.files != fingerprint.digest || fingerprint.taken >= self.until {
            return Ok(false);
        }
        let filter = ActivityFilter {
            after: Some(self.cursor.clone()),
            limit: Some(MOST_EVENTS),
            ..ActivityFilter::default()
        };
        let news = patiently(async || team_reference.client.activity(&team_reference.repo_url, &filter).await);
        let shown = patiently(async || {
            team_reference
                .client
                .team(&team_reference.repo_url, team_reference.team.as_str())
                .await
        });
        let (news, shown) = match futures::try_join!(news, shown) {
            // A team that is gone, or a cursor of another log.
            Err(ClientError::Refused { status: 400 | 404, .. }) => return Ok(false),
            answered => answered?,
        };
        let is_of_team = |team: &str| team.eq_ignore_ascii_case(team_reference.team.as_str());
        // Events of later versions are not among them.
        let are_known = !news.events.is_empty() || news.cursor == self.cursor;
        let is_quiet = are_known
            && news.events.len() < MOST_EVENTS
            && !news.is_cut
            && !news
                .events
                .iter()
                .any(|event| event.event.team().is_some_and(is_of_team));
        Ok(is_quiet && digest_of(shown.team) == self.team)
    }
}

/// The newest event of the repository, from which [`UnchangedState::holds`] looks on.
pub(super) async fn cursor(team_reference: &TeamReference) -> Result<String, ClientError> {
    let filter = ActivityFilter {
        limit: Some(1),
        ..ActivityFilter::default()
    };
    let newest = patiently(async || team_reference.client.activity(&team_reference.repo_url, &filter).await).await?;
    Ok(newest.cursor)
}
