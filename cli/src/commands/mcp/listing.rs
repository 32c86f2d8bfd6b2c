//! The tools that a repository has a use for, and its events, for clients that subscribe. Tools of intents and teams
//! are listed if the repository has any.

use std::time::Duration;

use coord_git::WorkingCopy;
use coord_mcp::{Outcome, ToolGroup};
use coord_protocol::stream::StreamMessage;
use coord_protocol::{ErrorCode, IntentsView, Metadata, StreamItem};
use futures::future::pending;
use tokio::time::{sleep, timeout};

use super::backend::Failure;
use super::proxy::{Proxy, RepositoryUse};

/// How long the list of tools may wait for the server.
const LIST_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a stream may be silent before it counts as broken: the server sends a message every 15 seconds.
const MAX_SILENCE: Duration = Duration::from_secs(45);

/// Time between two attempts to open a stream of events.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

impl Proxy {
    /// The groups of tools to list: the default ones while the repository's use is unknown. `is_anew` fetches it again.
    pub(super) async fn groups(&self, is_anew: bool) -> Vec<ToolGroup> {
        let repository_use = *self.repository_use.lock();
        let repository_use = match is_anew || repository_use.is_none() {
            true => timeout(LIST_TIMEOUT, self.fetch_use()).await.ok().flatten(),
            false => repository_use,
        };
        *self.repository_use.lock() = repository_use;
        repository_use.map_or_else(|| ToolGroup::defaults(coord_tools::SETS), RepositoryUse::groups)
    }

    async fn fetch_use(&self) -> Option<RepositoryUse> {
        let working_copy = WorkingCopy::containing(&self.folder.get()).ok()?;
        let (root, repo_url) = (working_copy.root(), self.args.repo_url(&working_copy));
        let intents = self.backend.ask(root, async |client| {
            let response = client.intents(&repo_url, IntentsView::Context).await?;
            Ok(response.is_required || !response.intents.is_empty())
        });
        let teams = self.backend.ask(root, async |client| {
            let response = client.teams(&repo_url).await?;
            Ok(response.teams.iter().any(|team| team.closed_at.is_none()))
        });
        let (intents, teams) = tokio::join!(intents, teams);
        Some(RepositoryUse {
            intents: is_used(intents)?,
            teams: is_used(teams)?,
        })
    }

    /// Notes intents and teams in an outcome.
    pub(super) fn note_use(&self, outcome: &Outcome) {
        let cites = |metadata: &Option<Metadata>| metadata.as_ref().is_some_and(|about| about.intent_id.is_some());
        let (teams, intents) = match outcome {
            Outcome::Check(response) => (!response.your_teams.is_empty(), cites(&response.orchestration.metadata)),
            Outcome::Post(response) => {
                let code = response.error.as_ref().map(|error| error.error);
                let is_of_intents = matches!(code, Some(ErrorCode::IntentRequired | ErrorCode::FileOwned));
                let is_cited = cites(&response.orchestration.metadata);
                (!response.your_teams.is_empty(), is_of_intents || is_cited)
            }
            Outcome::Intent(response) => (false, response.success),
            Outcome::Team(_) => (true, false),
            Outcome::Refused(_) | Outcome::Malformed(_) => (false, false),
        };
        if let Some(repository_use) = self.repository_use.lock().as_mut() {
            repository_use.teams |= teams;
            repository_use.intents |= intents;
        }
    }

    /// Waits until the number of events in the repository of the current folder differs from `seen`, and returns it.
    pub(super) async fn wait_for_event(&self, seen: Option<u64>) -> u64 {
        self.has_listener.send_replace(true);
        let mut event_count = self.event_count.subscribe();
        let count = event_count
            .wait_for(|count| seen != Some(*count))
            .await
            .map(|count| *count);
        match count {
            Ok(count) => count,
            // The sender lives as long as this process.
            Err(_) => pending().await,
        }
    }

    /// Counts events, from the first listener on.
    pub async fn follow_events(&self) {
        let mut has_listener = self.has_listener.subscribe();
        if has_listener.wait_for(|has_listener| *has_listener).await.is_err() {
            return;
        }
        let mut is_reopened = false;
        loop {
            self.count_events(is_reopened).await;
            is_reopened = true;
            sleep(RETRY_INTERVAL).await;
        }
    }

    /// Counts events until the stream ends. Events between two streams are lost, so a reopened stream counts as one.
    async fn count_events(&self, is_reopened: bool) -> Option<()> {
        let working_copy = WorkingCopy::containing(&self.folder.get()).ok()?;
        let connection = self.backend.connection(working_copy.root()).await.ok()?;
        let mut stream = connection
            .client
            .events(&self.args.repo_url(&working_copy))
            .await
            .ok()?;
        loop {
            let item = timeout(MAX_SILENCE, stream.next()).await.ok()?.ok()??;
            let is_event = match item {
                StreamItem::Event(_) | StreamItem::Message(StreamMessage::Resync(_)) => true,
                StreamItem::Message(StreamMessage::StreamOpened(_)) => is_reopened,
                StreamItem::Message(_) | StreamItem::Unknown => false,
            };
            if is_event {
                self.event_count.send_modify(|count| *count += 1);
            }
        }
    }
}

/// Whether the repository uses an extension; `None` if the server did not answer.
fn is_used(result: Result<bool, Failure>) -> Option<bool> {
    match result {
        Ok(is_used) => Some(is_used),
        // An older server lacks the extension.
        Err(Failure::Refused(error)) if error.error.error == ErrorCode::UnknownRoute => Some(false),
        Err(_) => None,
    }
}
