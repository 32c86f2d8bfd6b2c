//! The tools that a repository has a use for: those of intents and teams where there are any. And its events, for clients that
//! subscribe.

use std::time::Duration;

use coord_git::WorkingCopy;
use coord_mcp::{Outcome, ToolGroup};
use coord_protocol::stream::StreamMessage;
use coord_protocol::{Client, ClientError, ErrorCode, IntentsView, Metadata, StreamItem};
use futures::future::pending;
use tokio::time::{sleep, timeout};

use super::backend::Failure;
use super::proxy::Proxy;
use super::repository_use::RepositoryUse;

/// Time that the list of tools may wait for the server.
const LIMIT: Duration = Duration::from_secs(3);

/// Time without a message after which a stream is given up: the server sends one every 15 seconds.
const SILENCE: Duration = Duration::from_secs(45);

/// Time after which a stream of events that cannot be had is tried again.
const PAUSE: Duration = Duration::from_secs(5);

impl Proxy {
    /// The groups of tools to list. All of them if the server does not report its tools.
    pub(super) async fn groups(&self, is_anew: bool) -> Vec<ToolGroup> {
        let known = *self.known.lock();
        let known = match is_anew || known.is_none() {
            true => timeout(LIMIT, self.look()).await.ok().flatten(),
            false => known,
        };
        *self.known.lock() = known;
        known.map_or_else(|| ToolGroup::USUAL.to_vec(), RepositoryUse::groups)
    }

    async fn look(&self) -> Option<RepositoryUse> {
        let working_copy = WorkingCopy::containing(&self.folder.get()).ok()?;
        let (root, repo_url) = (working_copy.root(), self.args.repo_url(&working_copy));
        let (intents, teams) = tokio::join!(
            self.backend
                .ask(root, async |client| has_intents(client, &repo_url).await),
            self.backend
                .ask(root, async |client| has_teams(client, &repo_url).await)
        );
        Some(RepositoryUse {
            intents: is_there(intents)?,
            teams: is_there(teams)?,
        })
    }

    /// Notes intents and teams in an answer.
    pub(super) fn note_use(&self, outcome: &Outcome) {
        let cites = |metadata: &Option<Metadata>| metadata.as_ref().is_some_and(|about| about.intent_id.is_some());
        let (teams, intents) = match outcome {
            Outcome::Check(response) => (!response.your_teams.is_empty(), cites(&response.orchestration.metadata)),
            Outcome::Post(response) => {
                let code = response.error.as_ref().map(|error| error.error);
                let of_intents = matches!(code, Some(ErrorCode::IntentRequired | ErrorCode::FileOwned));
                let is_cited = cites(&response.orchestration.metadata);
                (!response.your_teams.is_empty(), of_intents || is_cited)
            }
            Outcome::Intent(response) => (false, response.success),
            Outcome::Team(_) => (true, false),
            Outcome::Refused(_) | Outcome::Malformed(_) => (false, false),
        };
        if let Some(known) = self.known.lock().as_mut() {
            known.teams |= teams;
            known.intents |= intents;
        }
    }

    /// How often something has happened in the repository of the current folder, once that is more than `seen`.
    pub(super) async fn happened_since(&self, seen: Option<u64>) -> u64 {
        self.is_followed.send_replace(true);
        let mut happened = self.happened.subscribe();
        let count = happened
            .wait_for(|count| seen != Some(*count))
            .await
            .map(|count| *count);
        match count {
            Ok(count) => count,
            // The sender is as old as this process.
            Err(_) => pending().await,
        }
    }

    /// Counts events, beginning with the first request.
    pub async fn follow_events(&self) {
        let mut is_followed = self.is_followed.subscribe();
        if is_followed.wait_for(|is_followed| *is_followed).await.is_err() {
            return;
        }
        let mut is_open_again = false;
        loop {
            self.count_events(is_open_again).await;
            is_open_again = true;
            sleep(PAUSE).await;
        }
    }

    /// Until the stream ends. Events between two streams are lost, so a new stream counts as an event.
    async fn count_events(&self, is_open_again: bool) -> Option<()> {
        let working_copy = WorkingCopy::containing(&self.folder.get()).ok()?;
        let connection = self.backend.connection(working_copy.root()).await.ok()?;
        let mut stream = connection
            .client
            .events(&self.args.repo_url(&working_copy))
            .await
            .ok()?;
        loop {
            let message = timeout(SILENCE, stream.next()).await.ok()?.ok()??;
            let is_something = match message {
                StreamItem::Event(_) | StreamItem::Message(StreamMessage::Resync(_)) => true,
                StreamItem::Message(StreamMessage::StreamOpened(_)) => is_open_again,
                StreamItem::Message(_) | StreamItem::Unknown => false,
            };
            if is_something {
                self.happened.send_modify(|count| *count += 1);
            }
        }
    }
}

fn is_there(answer: Result<bool, Failure>) -> Option<bool> {
    match answer {
        Ok(is_there) => Some(is_there),
        // A server of before intents or teams.
        Err(Failure::Refused(error)) if error.error.error == ErrorCode::UnknownRoute => Some(false),
        Err(_) => None,
    }
}

async fn has_intents(client: &Client, repo_url: &str) -> Result<bool, ClientError> {
    let listed = client.intents(repo_url, IntentsView::Context).await?;
    Ok(listed.is_required || !listed.intents.is_empty())
}

async fn has_teams(client: &Client, repo_url: &str) -> Result<bool, ClientError> {
    let listed = client.teams(repo_url).await?;
    Ok(listed.teams.iter().any(|team| team.closed_at.is_none()))
}
