//! One sync.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context, anyhow};
use coord_agent::workplace::Failure;
use coord_protocol::ClientError;
use coord_protocol::tasks::ClaimTaskRequest;
use coord_protocol::teams::{MemberFields, NewTeamRequest, TeamActor};
use coord_teams::compare::{
    AgreedState, AppliedChange, Change, ComparisonInput, FileExport, FileImport, Finding, FindingKind, agreed_before,
    agreed_state, export_files, import_files,
};
use coord_teams::layout::Entry;
use coord_teams::names::{Handle, TaskId};
use coord_teams::refusal::Refusal;
use coord_teams::status::Status;
use coord_teams::team::ConfigFile;

use super::apply::{ChangeApplier, without_files};
use super::disk::{Disk, Files, Fingerprint, size_message};
use super::report::{RejectedChange, Report};
use super::server::{LEASE_SECONDS, Messages, ServerTeam, TeamReference, retry_rate_limited};
use super::sync_state::{LockedSyncState, SyncState};
use super::unchanged::{UnchangedState, newest_cursor};

/// Time for which files have to be missing before a sync deletes their tasks.
const DELETION_DELAY: Duration = Duration::from_millis(300);

/// The direction in which a sync applies changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncDirection {
    Both,
    /// From the files to the server; no file is written.
    In,
    /// From the server to the files; the server is not changed.
    Out,
}

/// A team, its files, and the last seen state of both.
pub(super) struct Sync {
    pub team_reference: TeamReference,
    pub disk: Disk,
    pub sync_state: LockedSyncState,
    pub direction: SyncDirection,
    /// Messages from earlier reads.
    pub messages: Messages,
}

/// The files and the server as one sync finds and changes them.
struct Comparison {
    files: Files,
    server: ServerTeam,
    /// The last seen records of this team.
    seen: Option<AgreedState>,
    import: FileImport,
    claims: BTreeMap<String, i64>,
}

impl Sync {
    /// Makes the files and the server equal, in the direction of the sync.
    ///
    /// # Errors
    /// When the server returns an error or no response, or a folder cannot be read or written. `report` has the steps
    /// before the failure.
    pub async fn once(&mut self, report: &mut Report) -> Result<(), Failure> {
        let fingerprint = self.disk.fingerprint(&self.team_reference.team)?;
        if self.is_unchanged(&fingerprint).await? {
            return Ok(());
        }
        let cursor = newest_cursor(&self.team_reference).await?;
        let files = self.disk.read(&self.team_reference.team)?;
        let Some(server) = self.read_or_create_team(&files, report).await? else {
            return Ok(());
        };
        let mut comparison = self.compare(files, server, report).await?;
        note_old_entries(&comparison.import, report);
        if self.direction != SyncDirection::Out && !comparison.import.changes.is_empty() {
            self.import(&mut comparison, report).await?;
        }
        let seen = self.export(&mut comparison, report)?;
        if self.direction == SyncDirection::Out {
            note_left_changes(&comparison.import, report);
        }
        self.set_refused(&comparison.files, &comparison.import.findings, report);
        let mut state = SyncState {
            created: comparison.server.created.clone(),
            seen,
            claims: comparison.claims,
            unchanged: None,
        };
        if self.direction == SyncDirection::Both {
            state.unchanged = UnchangedState::of(report, &fingerprint, cursor, &comparison.server, &state.claims);
        }
        self.sync_state.save(state)?;
        Ok(())
    }

    /// Compares the files, the server and the last seen records. Renews the claims.
    async fn compare(
        &mut self,
        mut files: Files,
        server: ServerTeam,
        report: &mut Report,
    ) -> Result<Comparison, Failure> {
        let mut seen = self.seen_records(&server, report);
        let since = seen.as_ref().map(|seen| seen.after(&self.sync_state.applied));
        let mut import = import_files(since.as_ref(), &files.folder, &server.team);
        if import.vanished && self.direction == SyncDirection::Out {
            seen = None;
            import = import_files(None, &files.folder, &server.team);
        }
        if self.direction != SyncDirection::Out && import.has_deletions() {
            files = self
                .confirm_deletions(&mut import, since.as_ref(), &server, report)
                .await?;
        }
        let claims = self.renew_claims(&server, &files).await?;
        Ok(Comparison {
            files,
            server,
            seen,
            import,
            claims,
        })
    }

    /// Applies the changes in the files, and reads the team again.
    async fn import(&mut self, comparison: &mut Comparison, report: &mut Report) -> Result<(), Failure> {
        if comparison.seen.is_none() {
            comparison.seen = Some(self.save_first_state(comparison)?);
        }
        let changes = comparison.import.changes.clone();
        self.apply(&changes, comparison, report).await?;
        comparison.server = self.reread_team().await?;
        // A read mark is the number of a message, and the messages just sent have their numbers only now.
        let numbered = self.compare_applied(comparison).seen;
        let mut read_marks = import_files(Some(&numbered), &comparison.files.folder, &comparison.server.team).changes;
        read_marks.retain(|change| matches!(change, Change::ReadTo(..)));
        if !read_marks.is_empty() {
            self.apply(&read_marks, comparison, report).await?;
            comparison.server = self.reread_team().await?;
        }
        Ok(())
    }

    /// Applies `changes`. Adds refusals to the import and to `report`.
    async fn apply(
        &mut self,
        changes: &[Change],
        comparison: &mut Comparison,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let Comparison {
            files,
            server,
            import,
            claims,
            ..
        } = comparison;
        let mut applier = ChangeApplier::new(
            &self.team_reference,
            server,
            &mut self.sync_state,
            std::mem::take(claims),
        );
        let result = applier.apply_all(changes).await;
        *claims = applier.claims;
        report.applied.extend(applier.applied);
        import.held.extend(applier.held);
        for digest in &applier.unsendable {
            import.settle(&files.folder, digest);
        }
        import.findings.extend(applier.refused);
        let changed = applier.changed_meanwhile.iter().map(Entry::path);
        report.changed_meanwhile.extend(changed);
        if result.is_err() {
            self.set_refused(files, &import.findings, report);
        }
        result
    }

    /// The differences of the files from the server, after the applied changes.
    fn compare_applied(&self, comparison: &mut Comparison) -> FileExport {
        let applied = &self.sync_state.applied;
        comparison.seen = comparison.seen.take().map(|seen| seen.with_created(applied));
        export_files(
            comparison.seen.as_ref(),
            &comparison.files.folder,
            &comparison.server.team,
            &comparison.import,
            &AppliedChange::sent(applied),
        )
    }

    /// Makes the files match the server, if the direction allows it. Returns the records on which both sides agree now.
    fn export(&self, comparison: &mut Comparison, report: &mut Report) -> Result<AgreedState, Failure> {
        let export = self.compare_applied(comparison);
        let skipped: BTreeSet<Entry> = match self.direction {
            SyncDirection::Both => self.write_files(comparison, &export, BTreeSet::new(), report)?,
            SyncDirection::In => export.writes.keys().chain(&export.removals).cloned().collect(),
            SyncDirection::Out => {
                let touched = comparison.import.touched(&self.team_reference.team);
                self.write_files(comparison, &export, touched, report)?
            }
        };
        if skipped.is_empty() {
            return Ok(export.seen);
        }
        let input = ComparisonInput {
            seen: comparison.seen.as_ref(),
            applied: &self.sync_state.applied,
            folder: &comparison.files.folder,
            store: &comparison.server.team,
            import: &comparison.import,
        };
        Ok(agreed_state(input, &export, &skipped))
    }

    /// Writes the files of `export`, except `skipped`. Returns all entries that were not written.
    fn write_files(
        &self,
        comparison: &mut Comparison,
        export: &FileExport,
        mut skipped: BTreeSet<Entry>,
        report: &mut Report,
    ) -> Result<BTreeSet<Entry>, Failure> {
        let Comparison { files, import, .. } = comparison;
        import.findings.extend(export.findings.iter().cloned());
        for entry in files.exceeding_bounds(export, &skipped) {
            import.findings.push(Finding {
                kind: FindingKind::Bounds,
                refusal: Refusal::of_file(entry.path(), size_message()),
            });
            skipped.insert(entry);
        }
        let changed = self.disk.write(&self.team_reference.team, files, export, &skipped)?;
        report.changed_meanwhile.extend(changed.iter().map(Entry::path));
        skipped.extend(changed);
        let is_written = |entry: &&Entry| !skipped.contains(entry);
        report.written = export.writes.keys().filter(is_written).map(Entry::path).collect();
        report.removed = export.removals.iter().filter(is_written).map(Entry::path).collect();
        Ok(skipped)
    }

    pub fn new_report(&self) -> Report {
        Report {
            team: self.team_reference.team.to_string(),
            folder: self.disk.root.display().to_string(),
            ..Report::default()
        }
    }

    /// Saves the common state of both sides before the first change is made, so that an interrupted first sync can
    /// resume with its journal.
    fn save_first_state(&mut self, comparison: &Comparison) -> Result<AgreedState, Failure> {
        let Comparison { files, server, .. } = comparison;
        let seen = agreed_before(&files.folder, &server.team, &comparison.import);
        self.sync_state.save(SyncState {
            created: server.created.clone(),
            seen: seen.clone(),
            claims: comparison.claims.clone(),
            unchanged: None,
        })?;
        Ok(seen)
    }

    /// Reads the files again, so that a folder that is being removed deletes no tasks. Leaves files that appeared or
    /// vanished between the two reads to the next sync.
    async fn confirm_deletions(
        &self,
        import: &mut FileImport,
        since: Option<&AgreedState>,
        server: &ServerTeam,
        report: &mut Report,
    ) -> Result<Files, Failure> {
        let before = import.deletions();
        tokio::time::sleep(DELETION_DELAY).await;
        let files = self.disk.read(&self.team_reference.team)?;
        *import = import_files(since, &files.folder, &server.team);
        let now = import.deletions();
        if now != before {
            import.changes.retain(|change| !matches!(change, Change::DeleteTask(_)));
            let entries = now
                .iter()
                .map(|id| Entry::Task(self.team_reference.team.clone(), id.clone()));
            report.changed_meanwhile.extend(entries.map(|entry| entry.path()));
            import.held.extend(now);
        }
        Ok(files)
    }

    /// Whether both sides are as they were after a sync that found nothing to do.
    async fn is_unchanged(&self, fingerprint: &Fingerprint) -> Result<bool, Failure> {
        let state = self
            .sync_state
            .state
            .as_ref()
            .filter(|_| self.sync_state.applied.is_empty());
        match state.and_then(|state| state.unchanged.as_ref()) {
            Some(unchanged) => Ok(unchanged.is_current(fingerprint, &self.team_reference).await?),
            None => Ok(false),
        }
    }

    fn set_refused(&self, files: &Files, findings: &[Finding], report: &mut Report) {
        let unreadable = files.refused.iter().map(|refusal| (FindingKind::Unreadable, refusal));
        let findings = findings.iter().map(|finding| (finding.kind, &finding.refusal));
        let rejected = unreadable.chain(findings);
        report.refused = rejected
            .map(|(kind, refusal)| RejectedChange::new(kind, refusal.clone()))
            .collect();
        report.refused.sort();
        report.refused.dedup();
    }

    /// The last seen records, if they are of this team.
    fn seen_records(&mut self, server: &ServerTeam, report: &mut Report) -> Option<AgreedState> {
        let seen = self.state_of(server).map(|state| state.seen.clone());
        if seen.is_none() && (self.sync_state.state.is_some() || self.sync_state.is_lost) {
            let reason = if self.sync_state.is_lost {
                "cannot be read"
            } else {
                "is of another team of this name"
            };
            report
                .notes
                .push(format!("the state of the last sync {reason}: this sync only adds"));
            self.sync_state.forget();
        }
        seen
    }

    /// The stored state, if it is of this team.
    fn state_of(&self, server: &ServerTeam) -> Option<&SyncState> {
        let state = self.sync_state.state.as_ref();
        state.filter(|state| state.created == server.created)
    }

    /// Reads the team from the server. Creates it there if only the files have it. Returns `None` if it was deleted on
    /// the server.
    async fn read_or_create_team(&mut self, files: &Files, report: &mut Report) -> Result<Option<ServerTeam>, Failure> {
        let team = &self.team_reference.team;
        if let Some(server) = self.team_reference.read(&mut self.messages).await? {
            return Ok(Some(server));
        }
        self.messages.clear();
        if self.direction == SyncDirection::Out {
            return Err(anyhow!("the server has no team {team}").into());
        }
        if self.direction == SyncDirection::Both && self.sync_state.state.is_some() {
            let message = "the team was deleted on the server; the files stay, and coord team import creates it again";
            let refusal = Refusal::of_file(Entry::Config(team.clone()).path(), message);
            report.refused.push(RejectedChange::new(FindingKind::Vanished, refusal));
            return Ok(None);
        }
        let Some(config) = files.folder.config.as_ref() else {
            let refusals = files.folder.refused.values().chain(&files.refused);
            let reasons: Vec<_> = refusals.map(ToString::to_string).take(3).collect();
            let reasons = if reasons.is_empty() {
                String::new()
            } else {
                format!(": {}", reasons.join("; "))
            };
            let root = self.disk.root.display();
            return Err(anyhow!("neither the server nor {root} has a team {team}{reasons}").into());
        };
        self.sync_state.forget();
        self.create_team(config).await?;
        report.applied.push(format!("team {team} created"));
        Ok(Some(self.reread_team().await?))
    }

    async fn create_team(&self, file: &ConfigFile) -> Result<(), Failure> {
        let config = file.config();
        let leader = Handle::parse(&config.leader).context("config.json: leader")?;
        let member = config.members.iter().find(|member| member.agent_id == config.leader);
        let request = NewTeamRequest {
            caller: TeamActor {
                repo_url: Some(self.team_reference.repo_url.clone()),
                agent_id: Some(leader.to_string()),
            },
            name: Some(config.name.clone()),
            member: MemberFields {
                handle: Some(leader.to_string()),
                agent_name: member.map(|member| member.agent_name.clone()),
                agent_type: member.map(|member| member.agent_type.clone()),
            },
            description: config.description.clone(),
            strict: None,
        };
        retry_rate_limited(async || self.team_reference.client.new_team(&request).await).await?;
        Ok(())
    }

    async fn reread_team(&mut self) -> Result<ServerTeam, Failure> {
        let server = self.team_reference.read(&mut self.messages).await?;
        server.ok_or_else(|| anyhow!("team {} was deleted on the server just now", self.team_reference.team).into())
    }

    /// Renews the claims of tasks whose file still says that the owner works on them, once half of their time is over.
    /// Returns the claims that are held.
    async fn renew_claims(&self, server: &ServerTeam, files: &Files) -> Result<BTreeMap<String, i64>, Failure> {
        let state = self.state_of(server);
        let mut claims = state.map(|state| state.claims.clone()).unwrap_or_default();
        claims.retain(|id, token| {
            let lease = TaskId::parse(id).ok().and_then(|id| server.leases.get(&id));
            lease.is_some_and(|lease| lease.token == Some(*token))
        });
        if self.direction == SyncDirection::Out {
            return Ok(claims);
        }
        let is_due = |expires: &str| {
            let expires = chrono::DateTime::parse_from_rfc3339(expires).map(|time| time.timestamp());
            let seconds_left = expires.unwrap_or_default() - chrono::Utc::now().timestamp();
            seconds_left < i64::from(LEASE_SECONDS / 2)
        };
        for id in claims.keys() {
            let Ok(task) = TaskId::parse(id) else { continue };
            let file = files.folder.tasks.get(&task).map(|file| file.task());
            let Some(file) = file.filter(|file| file.status == Status::InProgress) else {
                continue;
            };
            let expires = server.leases.get(&task).and_then(|lease| lease.expires.as_deref());
            let owner = file.owner.as_deref().and_then(|owner| server.agents.get(owner));
            let (Some(agent), true) = (owner, expires.is_some_and(is_due)) else {
                continue;
            };
            let request = ClaimTaskRequest {
                caller: self.team_reference.caller(agent.as_deref()),
                lease_seconds: Some(LEASE_SECONDS),
                work: without_files(),
            };
            let result = retry_rate_limited(async || self.team_reference.client.claim_task(id, &request).await).await;
            match result {
                Err(error) if !matches!(error, ClientError::Refused { .. }) => return Err(error.into()),
                // After a refusal, another process was quicker: the next sync sees its owner.
                _ => {}
            }
        }
        Ok(claims)
    }
}

/// Notes the old messages and approvals in the files, which have no effect.
fn note_old_entries(import: &FileImport, report: &mut Report) {
    if !import.old.is_empty() {
        let count = import.old.len();
        report.notes.push(format!(
            "{count} messages in the files come before messages that the server has: they are not sent again"
        ));
    }
    if !import.old_approvals.is_empty() {
        let names = import.old_approvals.join(", ");
        report.notes.push(format!(
            "shutdownApprovals ({names}) predates the first sync, so it does not request a shutdown; add a name again to request one"
        ));
    }
}

/// Notes the changes in the files that a sync to the files leaves.
fn note_left_changes(import: &FileImport, report: &mut Report) {
    let left = match import.changes.len() {
        0 => return,
        1 => "1 file change was".to_owned(),
        count => format!("{count} file changes were"),
    };
    report.notes.push(format!("{left} left for coord team sync or import"));
}
