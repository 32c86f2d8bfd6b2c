//! Registers intents and their ledger in a server.

use std::sync::Arc;

use coord_protocol::{AgentSession, ToolCall};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::gate::IntentGate;
use crate::ledger::seal_lines;
use crate::operations::intents::{counted_call, origin::origin};
use crate::registered::Intents;
use coord_domain::{Holder, RepoId};
use coord_server::error::ApiError;
use coord_server::extension::{Extension, Gate, GateRequest, GatedFiles, ToolUse};
use coord_state::extension::Extension as StoredExtension;
use coord_store::{Store, StoreError};

impl Extension for Intents {
    fn state(&self) -> &'static StoredExtension {
        &coord_intents_state::EXTENSION
    }

    fn gate(&self) -> Option<&dyn Gate> {
        Some(self)
    }

    fn finish<'a>(&'a self, store: &'a dyn Store, repo: &'a RepoId) -> BoxFuture<'a, Result<(), StoreError>> {
        async move { seal_lines(store, repo, self.config.ledger_max_lines).await.map(drop) }.boxed()
    }
}

impl Gate for Intents {
    fn tool_use(&self, call: Option<&ToolCall>, session: Option<&AgentSession>) -> Result<ToolUse, ApiError> {
        let (tool, digest) = call.map(counted_call).transpose()?.unwrap_or_default();
        Ok(ToolUse {
            tool,
            digest,
            origin: origin(session)?,
        })
    }

    fn begin<'a>(
        &'a self,
        request: GatedFiles<'a>,
        holder: Holder,
        tool_use: &'a ToolUse,
    ) -> Box<dyn GateRequest + 'a> {
        Box::new(IntentGate::new(self, request, holder, tool_use))
    }

    fn note_refusal(&self, store: &Arc<dyn Store>, repo: &RepoId) {
        self.seal_later(store, repo);
    }
}
