//! Whether nothing has changed since the last sync, without a comparison of records: the files have the same names,
//! sizes and times, the log has no event of the team, and no claim has expired.

use std::collections::BTreeMap;

use coord_protocol::{ActivityFilter, ClientError};
use serde::{Deserialize, Serialize};

use super::disk::Fingerprint;
use super::report::Report;
use super::server::{LEASE_SECONDS, ServerTeam, TeamReference, digest_of, retry_rate_limited};

/// Seconds by which clocks may differ, and within which two writes of a file may leave the same time.
const MARGIN_SECONDS: i64 = 5;

/// The number of new events from which on both sides are compared.
const MAX_EVENTS: usize = 100;

/// The state after a sync that found both sides equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnchangedState {
    /// The newest event before the sync.
    cursor: String,
    /// The digest of the team as the server shows it, because reads by members have no event.
    team: String,
    /// The digest of names, sizes and times of the files.
    files: String,
    /// The time until which no claim expires or needs renewal, in Unix seconds.
    until: i64,
}

impl UnchangedState {
    /// The state after a sync that found nothing to do; `None` for any other sync.
    pub fn of(
        report: &Report,
        fingerprint: &Fingerprint,
        cursor: String,
        server: &ServerTeam,
        claims: &BTreeMap<String, i64>,
    ) -> Option<UnchangedState> {
        if !report.is_quiet() || fingerprint.newest > fingerprint.taken_at - MARGIN_SECONDS {
            return None;
        }
        let deadlines = server.leases.iter().filter_map(|(id, lease)| {
            let expires = chrono::DateTime::parse_from_rfc3339(lease.expires.as_deref()?)
                .ok()?
                .timestamp();
            let is_renewed = claims.contains_key(id.as_str());
            Some(expires - if is_renewed { i64::from(LEASE_SECONDS / 2) } else { 0 })
        });
        Some(UnchangedState {
            cursor,
            team: server.digest.clone(),
            files: fingerprint.digest.clone(),
            until: deadlines.min().map_or(i64::MAX, |first| first - MARGIN_SECONDS),
        })
    }

    /// Whether both sides are still in this state.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn is_current(
        &self,
        fingerprint: &Fingerprint,
        team_reference: &TeamReference,
    ) -> Result<bool, ClientError> {
        if self.files != fingerprint.digest || fingerprint.taken_at >= self.until {
            return Ok(false);
        }
        let filter = ActivityFilter {
            after: Some(self.cursor.clone()),
            limit: Some(MAX_EVENTS),
            ..ActivityFilter::default()
        };
        let (client, repo_url) = (&team_reference.client, &team_reference.repo_url);
        let team = team_reference.team.as_str();
        let activity = retry_rate_limited(async || client.activity(repo_url, &filter).await);
        let response = retry_rate_limited(async || client.team(repo_url, team).await);
        let (activity, response) = match futures::try_join!(activity, response) {
            // The team is gone, or the cursor is of another log.
            Err(ClientError::Refused { status: 400 | 404, .. }) => return Ok(false),
            result => result?,
        };
        let is_same_team = |name: &str| name.eq_ignore_ascii_case(team);
        let mut names = activity.events.iter().filter_map(|event| event.event.team());
        // Events of later versions are not listed, but move the cursor.
        let is_complete = !activity.events.is_empty() || activity.cursor == self.cursor;
        let is_quiet =
            is_complete && activity.events.len() < MAX_EVENTS && !activity.is_cut && !names.any(is_same_team);
        Ok(is_quiet && digest_of(response.team) == self.team)
    }
}

/// The newest event of the repository, after which [`UnchangedState::is_current`] looks for events.
pub(super) async fn newest_cursor(team_reference: &TeamReference) -> Result<String, ClientError> {
    let filter = ActivityFilter {
        limit: Some(1),
        ..ActivityFilter::default()
    };
    let activity =
        retry_rate_limited(async || team_reference.client.activity(&team_reference.repo_url, &filter).await).await?;
    Ok(activity.cursor)
}
