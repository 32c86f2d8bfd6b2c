//! Additions of extensions to the operations. A build registers the extensions that it links in [`Extensions`]; no
//! operation names an extension.

use std::any::Any;
use std::sync::Arc;

use coord_protocol::{AgentSession, Orchestration, ToolCall};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use crate::error::ApiError;
use coord_domain::{Branch, FilePaths, Holder, RepoId};
use coord_state::admission::Question;
use coord_state::extension::{Extension as StoredExtension, register};
use coord_state::locks::{GateFindings, GateTerms};
use coord_store::{Store, StoreError};

pub trait Extension: Any + Send + Sync {
    fn state(&self) -> &'static StoredExtension;

    /// The extension's gate before checks and claims, if it has one.
    fn gate(&self) -> Option<&dyn Gate> {
        None
    }

    /// Drops and announces up to `most` expired records in each part of `repo` that a sweep has found `due`. Returns
    /// the number of expired records.
    fn settle<'a>(
        &'a self,
        _store: &'a dyn Store,
        _repo: &'a RepoId,
        _due: &'a [String],
        _most: usize,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        ready(Ok(0)).boxed()
    }

    /// Finishes the extension's work in `repo` at the end of a sweep.
    fn finish<'a>(&'a self, _store: &'a dyn Store, _repo: &'a RepoId) -> BoxFuture<'a, Result<(), StoreError>> {
        ready(Ok(())).boxed()
    }
}

/// The gate before checks and claims.
pub trait Gate: Send + Sync {
    /// Parses the tool call that a request is for, and the agent's session.
    ///
    /// # Errors
    /// When a text is missing or too long.
    fn tool_use(&self, call: Option<&ToolCall>, session: Option<&AgentSession>) -> Result<ToolUse, ApiError>;

    /// Begins to judge the files in `request` of `holder`.
    fn begin<'a>(&'a self, request: GatedFiles<'a>, holder: Holder, tool_use: &'a ToolUse)
    -> Box<dyn GateRequest + 'a>;

    /// Notes that a claim in `repo` was refused.
    fn note_refusal(&self, store: &Arc<dyn Store>, repo: &RepoId);
}

/// The files of a check or a claim.
#[derive(Clone, Copy, Debug)]
pub struct GatedFiles<'a> {
    pub repo: &'a RepoId,
    pub branch: &'a Branch,
    pub paths: &'a FilePaths,
    /// The intent that the request cites.
    pub intent_id: Option<&'a str>,
}

/// A tool call that may change something, and the origin of the records about it. Only the gate reads it.
#[derive(Clone, Debug, Default)]
pub struct ToolUse {
    /// Name of the tool; empty without a call.
    pub tool: String,
    /// Digest of the tool and its input; empty without a call.
    pub digest: String,
    /// The origin of records, as an argument of scripts.
    pub origin: String,
}

pub trait GateRequest: Send + Sync {
    /// The terms of the next run of the script.
    fn terms(&self) -> GateTerms<'_>;

    /// Answers a question of the script.
    ///
    /// # Errors
    /// Returns a question that is not for this gate.
    fn answer(&mut self, question: Question) -> Result<(), Question>;

    /// Puts the findings into words.
    fn end(self: Box<Self>, findings: &GateFindings) -> GateVerdict;
}

/// The findings of the gate, in words.
#[derive(Clone, Debug, Default)]
pub struct GateVerdict {
    /// The command of a refusal.
    pub refusal: Option<Orchestration>,
    /// Warnings besides the refusal.
    pub warnings: Vec<String>,
}

/// The extensions of a server.
#[derive(Clone, Default)]
pub struct Extensions(Arc<[Arc<dyn Extension>]>);

impl Extensions {
    /// Collects `extensions`, and registers their state.
    pub fn of(extensions: impl IntoIterator<Item = Arc<dyn Extension>>) -> Self {
        let extensions: Arc<[_]> = extensions.into_iter().collect();
        extensions.iter().for_each(|extension| register(extension.state()));
        Extensions(extensions)
    }

    /// The same extensions, with `extension` in place of the one that has its type.
    #[must_use]
    pub fn with<T: Extension>(&self, extension: T) -> Self {
        let others = self.iter().filter(|other| !is_a::<T>(other)).cloned();
        Extensions::of(others.chain([Arc::new(extension) as Arc<dyn Extension>]))
    }

    pub fn get<T: Extension>(&self) -> Option<&T> {
        self.iter().find_map(|extension| {
            let extension: &dyn Any = &**extension;
            extension.downcast_ref()
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Extension>> {
        self.0.iter()
    }

    /// The gate before checks and claims, if there is one.
    pub(crate) fn gate(&self) -> Option<&dyn Gate> {
        self.iter().find_map(|extension| extension.gate())
    }
}

fn is_a<T: Extension>(extension: &Arc<dyn Extension>) -> bool {
    let extension: &dyn Any = &**extension;
    extension.is::<T>()
}
