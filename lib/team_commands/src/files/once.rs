//! One synchronization.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context, anyhow};
use coord_agent::workplace::Failure;
use coord_protocol::tasks::ClaimTaskRequest;
use coord_protocol::teams::{MemberFields, NewTeamRequest, TeamActor};
use coord_teams::compare::{
    AgreedState, AppliedChange, Change, ComparisonInput, FileImport, Finding, Folder, Kind, agreed_before,
    agreed_state, export_files, import_files,
};
use coord_teams::layout::Entry;
use coord_teams::names::{Handle, TaskId};
use coord_teams::refusal::Refusal;
use coord_teams::status::Status;
use coord_teams::team::ConfigFile;

use super::apply::{ChangeApplier, files_left_alone};
use super::disk::{Disk, Files, Fingerprint};
use super::report::{RejectedChange, Report};
use super::server::{LEASE_SECONDS, Messages, ServerTeam, TeamReference, patiently};
use super::sync_state::{LockedSyncState, SyncState};
use super::unchanged::{UnchangedState, cursor};

/// How long files have to be gone before their tasks are deleted.
const SETTLED: Duration = Duration::from_millis(300);

/// Which way changes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SyncDirection {
    /// Both ways.
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
    pub kept: LockedSyncState,
    pub way: SyncDirection,
    /// Messages that were read before.
    pub messages: Messages,
}

impl Sync {
    /// Brings files and server together.
    ///
    /// # Errors When the server returns an error or no response, or a folder cannot be read or written. Steps before the
    /// failure are in `report`.
    pub async fn once(&mut self, report: &mut Report) -> Result<(), Failure> {
        let fingerprint = self.disk.fingerprint(&self.team_reference.team)?;
        if self.is_unchanged(&fingerprint).await? {
            return Ok(());
        }
        let cursor = cursor(&self.team_reference).await?;
        let mut files = self.disk.read(&self.team_reference.team)?;
        let Some(mut server) = self.server(&files, report).await? else {
            return Ok(());
        };
        let mut seen = self.seen(&server, report);
        let way = self.way;
        let since = seen.as_ref().map(|seen| seen.after(&self.kept.done));
        let mut taken = import_files(since.as_ref(), &files.folder, &server.team);
        if taken.vanished && way == SyncDirection::Out {
            seen = None;
            taken = import_files(None, &files.folder, &server.team);
        }
        if way != SyncDirection::Out && taken.has_deletions() {
            files = self.read_settled(&mut taken, since.as_ref(), &server, report).await?;
        }
        let folder = &files.folder;
        let mut claims = self.renewed(&server, &files).await?;
        if !taken.old.is_empty() {
            let count = taken.old.len();
            report.notes.push(format!(
                "{count} messages of files stand before some that the server has: they are not sent again"
            ));
        }
        if !taken.old_approvals.is_empty() {
            let names = taken.old_approvals.join(", ");
            report.notes.push(format!(
                "shutdownApprovals ({names}) was there before the first sync, so it asks for no shutdown; add a name again to ask for one"
            ));
        }
        if way != SyncDirection::Out && !taken.changes.is_empty() {
            if seen.is_none() {
                seen = Some(self.keep_before(folder, &server, &taken, &claims)?);
            }
            let changes = taken.changes.clone();
            self.apply(&changes, &server, &files, &mut claims, &mut taken, report)
                .await?;
            server = self.read_again().await?;
            // A message that was sent just now has a number only now, and a read mark names the number.
            let since = seen.clone().map(|seen| seen.with_created(&self.kept.done));
            let sent = AppliedChange::sent(&self.kept.done);
            let numbered = export_files(since.as_ref(), folder, &server.team, &taken, &sent).seen;
            let mut marks = import_files(Some(&numbered), folder, &server.team).changes;
            marks.retain(|change| matches!(change, Change::ReadTo(..)));
            if !marks.is_empty() {
                self.apply(&marks, &server, &files, &mut claims, &mut taken, report)
                    .await?;
                server = self.read_again().await?;
            }
        }
        let seen = seen.map(|seen| seen.with_created(&self.kept.done));
        let sent = AppliedChange::sent(&self.kept.done);
        let given = export_files(seen.as_ref(), folder, &server.team, &taken, &sent);
        let all = || given.writes.keys().chain(&given.removals).cloned().collect();
        let mut stay: BTreeSet<Entry> = match way {
            SyncDirection::Both => BTreeSet::new(),
            SyncDirection::In => all(),
            SyncDirection::Out => taken.touched(&self.team_reference.team),
        };
        if way != SyncDirection::In {
            taken.findings.extend(given.findings.iter().cloned());
            for entry in files.more_than_is_read(&given, &stay) {
                taken.findings.push(Finding {
                    kind: Kind::Bounds,
                    refusal: Refusal::of_file(entry.path(), super::disk::too_much()),
                });
                stay.insert(entry);
            }
            let changed = self.disk.write(&self.team_reference.team, &files, &given, &stay)?;
            report.changed_meanwhile.extend(changed.iter().map(Entry::path));
            stay.extend(changed);
            let written = |entry: &&Entry| !stay.contains(entry);
            report.written = given.writes.keys().filter(written).map(Entry::path).collect();
            report.removed = given.removals.iter().filter(written).map(Entry::path).collect();
        }
        if way == SyncDirection::Out {
            let kept = taken.changes.len();
            if kept > 0 {
                let note = format!("{kept} changes of files were left for coord team sync or import");
                report.notes.push(note);
            }
        }
        self.refused(&files, &taken.findings, report);
        let seen = match stay.is_empty() {
            true => given.seen,
            false => {
                let round = ComparisonInput {
                    seen: seen.as_ref(),
                    done: &self.kept.done,
                    folder,
                    store: &server.team,
                    taken: &taken,
                };
                agreed_state(round, &given, &stay)
            }
        };
        let mut state = SyncState {
            created: server.created.clone(),
            seen,
            claims,
            unchanged: None,
        };
        if way == SyncDirection::Both {
            state.unchanged = UnchangedState::of(report, &fingerprint, cursor, &server, &state.claims);
        }
        self.kept.keep(state)?;
        Ok(())
    }

    /// Applies `changes`; refusals go to `taken` and `report`.
    async fn apply(
        &mut self,
        changes: &[Change],
        server: &ServerTeam,
        files: &Files,
        claims: &mut BTreeMap<String, i64>,
        taken: &mut FileImport,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let mut applying = ChangeApplier::new(&self.team_reference, server, &mut self.kept, std::mem::take(claims));
        let applied = applying.all(changes).await;
        *claims = applying.claims;
        report.applied.extend(applying.applied);
        taken.held.extend(applying.held);
        for digest in &applying.unsendable {
            taken.settle(&files.folder, digest);
        }
        taken.findings.extend(applying.refused);
        let left = applying.changed_meanwhile.iter().map(Entry::path);
        report.changed_meanwhile.extend(left);
        if applied.is_err() {
            self.refused(files, &taken.findings, report);
        }
        applied
    }

    pub fn report(&self) -> Report {
        Report {
            team: self.team_reference.team.to_string(),
            folder: self.disk.root.display().to_string(),
            ..Report::default()
        }
    }

    /// Keeps the common state of both sides, before the first change is made: a first synchronization that is cut off resumes by
    /// the journal of its steps.
    fn keep_before(
        &mut self,
        folder: &Folder,
        server: &ServerTeam,
        taken: &FileImport,
        claims: &BTreeMap<String, i64>,
    ) -> Result<AgreedState, Failure> {
        let seen = agreed_before(folder, &server.team, taken);
        self.kept.keep(SyncState {
            created: server.created.clone(),
            seen: seen.clone(),
            claims: claims.clone(),
            unchanged: None,
        })?;
        Ok(seen)
    }

    /// Reads the files once more where some are gone: a folder that is being removed deletes nothing. Files that appeared or
    /// vanished between the two reads wait for the next synchronization.
    async fn read_settled(
        &self,
        taken: &mut FileImport,
        since: Option<&AgreedState>,
        server: &ServerTeam,
        report: &mut Report,
    ) -> Result<Files, Failure> {
        let before = taken.deletions();
        tokio::time::sleep(SETTLED).await;
        let files = self.disk.read(&self.team_reference.team)?;
        *taken = import_files(since, &files.folder, &server.team);
        let now = taken.deletions();
        if now != before {
            taken.changes.retain(|change| !matches!(change, Change::DeleteTask(_)));
            let entries = now
                .iter()
                .map(|id| Entry::Task(self.team_reference.team.clone(), id.clone()));
            report.changed_meanwhile.extend(entries.map(|entry| entry.path()));
            taken.held.extend(now);
        }
        Ok(files)
    }

    /// Whether nothing was done since a synchronization that found nothing to do.
    async fn is_unchanged(&self, fingerprint: &Fingerprint) -> Result<bool, Failure> {
        let state = self.kept.state.as_ref().filter(|_| self.kept.done.is_empty());
        match state.and_then(|state| state.unchanged.as_ref()) {
            Some(unchanged) => Ok(unchanged.holds(fingerprint, &self.team_reference).await?),
            None => Ok(false),
        }
    }

    fn refused(&self, files: &Files, findings: &[Finding], report: &mut Report) {
        let names = files.refused.iter().map(|refusal| RejectedChange {
            file: refusal.file.clone(),
            field: refusal.field.clone(),
            reason: "unreadable",
            message: refusal.message.clone(),
        });
        report.refused = names.chain(findings.iter().map(RejectedChange::from)).collect();
        report.refused.sort();
        report.refused.dedup();
    }

    /// The last seen records, if they are of this team.
    fn seen(&mut self, server: &ServerTeam, report: &mut Report) -> Option<AgreedState> {
        let state = self.kept.state.as_ref().filter(|state| state.created == server.created);
        let seen = state.map(|state| state.seen.clone());
        if seen.is_none() && (self.kept.state.is_some() || self.kept.is_lost) {
            let why = if self.kept.is_lost {
                "cannot be read"
            } else {
                "is of another team of this name"
            };
            report
                .notes
                .push(format!("the last seen state {why}: this synchronization only adds"));
            self.kept.forget();
        }
        seen
    }

    /// The team as the server has it, which is made where the files alone have it; `None` where it is gone.
    async fn server(&mut self, files: &Files, report: &mut Report) -> Result<Option<ServerTeam>, Failure> {
        let team = &self.team_reference.team;
        if let Some(server) = self.team_reference.read(&mut self.messages).await? {
            return Ok(Some(server));
        }
        self.messages.clear();
        if self.way == SyncDirection::Out {
            return Err(anyhow!("the server has no team {team}").into());
        }
        if self.way == SyncDirection::Both && self.kept.state.is_some() {
            report.refused.push(RejectedChange {
                file: Entry::Config(team.clone()).path(),
                field: String::new(),
                reason: "vanished",
                message: "the team was deleted on the server; the files stay, and coord team import makes it anew"
                    .to_owned(),
            });
            return Ok(None);
        }
        let Some(config) = files.folder.config.as_ref() else {
            let refusals = files.folder.refused.values().chain(&files.refused);
            let why: Vec<_> = refusals.map(ToString::to_string).take(3).collect();
            let why = if why.is_empty() {
                String::new()
            } else {
                format!(": {}", why.join("; "))
            };
            let root = self.disk.root.display();
            return Err(anyhow!("neither the server nor {root} has a team {team}{why}").into());
        };
        self.kept.forget();
        self.create(config).await?;
        report.applied.push(format!("team {team} created"));
        Ok(Some(self.read_again().await?))
    }

    async fn create(&self, file: &ConfigFile) -> Result<(), Failure> {
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
        patiently(async || self.team_reference.client.new_team(&request).await).await?;
        Ok(())
    }

    async fn read_again(&mut self) -> Result<ServerTeam, Failure> {
        let read = self.team_reference.read(&mut self.messages).await?;
        read.ok_or_else(|| anyhow!("team {} was deleted on the server just now", self.team_reference.team).into())
    }

    /// Renews the claims that were made for files which still say that their owner works, once half of the time is gone; returns
    /// those that are held.
    async fn renewed(&self, server: &ServerTeam, files: &Files) -> Result<BTreeMap<String, i64>, Failure> {
        let state = self.kept.state.as_ref().filter(|state| state.created == server.created);
        let mut claims = state.map(|state| state.claims.clone()).unwrap_or_default();
        claims.retain(|id, token| {
            let lease = TaskId::parse(id).ok().and_then(|id| server.leases.get(&id));
            lease.is_some_and(|lease| lease.token == Some(*token))
        });
        if self.way == SyncDirection::Out {
            return Ok(claims);
        }
        let is_due = |expires: &str| {
            let expires = chrono::DateTime::parse_from_rfc3339(expires).map(|time| time.timestamp());
            let left = expires.unwrap_or_default() - chrono::Utc::now().timestamp();
            left < i64::from(LEASE_SECONDS / 2)
        };
        for id in claims.keys().cloned().collect::<Vec<_>>() {
            let Ok(task) = TaskId::parse(&id) else { continue };
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
                work: files_left_alone(),
            };
            let renewed = patiently(async || self.team_reference.client.claim_task(&id, &request).await).await;
            match renewed {
                Err(error) if !matches!(error, coord_protocol::ClientError::Refused { .. }) => return Err(error.into()),
                // Another process was quicker: the next look shows its owner.
                _ => {}
            }
        }
        Ok(claims)
    }
}
