//! The effect of `.coord.toml` on the files of a claim or a check.

use std::sync::Arc;

use super::sentences::list_paths;
use super::work_request::WorkRequest;
use crate::app::App;
use coord_domain::FilePath;
use coord_settings::policy::{FileKind, Policy};
use coord_state::admission::PolicyQuestion;
use coord_state::builds::stored_policy;
use coord_state::locks::PolicyTerms;

/// The rules of the branch for the files of a request. Until a script asks about them, they are those of the last known
/// policy.
pub(super) struct PolicyRequest<'a> {
    app: &'a App,
    request: &'a WorkRequest,
    policy: Arc<Policy>,
    /// The terms of the next run of the script.
    pub terms: PolicyTerms,
}

impl<'a> PolicyRequest<'a> {
    pub fn new(app: &'a App, request: &'a WorkRequest) -> Self {
        let (digest, policy) = app.policies.guess(&request.repo, &request.branch);
        let paths = request.paths.iter().map(FilePath::as_str);
        PolicyRequest {
            app,
            request,
            terms: PolicyTerms {
                neighbors: policy.neighbors(&app.locks),
                digest,
                kinds: judge_files(&policy, paths),
                files: Vec::new(),
                interface: request.interface.clone(),
                patience_seconds: app.locks.queue_patience_seconds,
            },
            policy,
        }
    }

    /// Seconds until a lock expires.
    pub fn ttl_seconds(&self) -> u32 {
        self.policy.ttl_seconds(&self.app.locks)
    }

    /// Judges the files as `question` asks: those of the request, or those that only the store knows.
    pub fn judge(&mut self, question: PolicyQuestion) {
        let WorkRequest {
            repo, branch, paths, ..
        } = self.request;
        self.policy = self.app.policies.learn(repo, branch, &question.digest, &question.text);
        self.terms.neighbors = self.policy.neighbors(&self.app.locks);
        self.terms.kinds = judge_files(&self.policy, question.files.iter().map(String::as_str));
        self.terms.digest = question.digest;
        if paths.is_everything() {
            self.terms.files = question.files;
        }
    }

    /// The verdict on the files that were judged last.
    pub fn end(self) -> PolicyVerdict {
        let files: Vec<&str> = match self.terms.files.as_slice() {
            [] => self.request.paths.iter().map(FilePath::as_str).collect(),
            files => files.iter().map(String::as_str).collect(),
        };
        let judged = files.iter().zip(&self.terms.kinds);
        let ignored = judged.filter(|(_, kind)| **kind == FileKind::Ignored);
        PolicyVerdict {
            ignored: ignored.map(|(path, _)| (*path).to_owned()).collect(),
            policy: self.policy,
        }
    }
}

fn judge_files<'p>(policy: &Policy, paths: impl Iterator<Item = &'p str>) -> Vec<FileKind> {
    let mut judge = policy.judge();
    paths.map(|path| judge.kind(path)).collect()
}

/// A policy's effect on a request.
pub(super) struct PolicyVerdict {
    policy: Arc<Policy>,
    /// Files of the request without locks.
    ignored: Vec<String>,
}

impl PolicyVerdict {
    /// The effect of the last known policy.
    pub fn of_last_known(app: &App, request: &WorkRequest) -> Self {
        PolicyVerdict {
            policy: app.policies.guess(&request.repo, &request.branch).1,
            ignored: Vec::new(),
        }
    }

    /// The effect of the policy with `digest` on a release that is done. A process that does not know the policy reads
    /// it from the store.
    pub async fn of_release(app: &App, request: &WorkRequest, digest: &str) -> Self {
        let WorkRequest { repo, branch, .. } = request;
        let policy = match app.policies.get(digest) {
            Some(policy) => policy,
            None => match stored_policy(&*app.store, repo, branch).await {
                Ok((digest, text)) => app.policies.learn(repo, branch, &digest, &text),
                Err(error) => {
                    tracing::debug!(%error, %repo, %branch, "the policy could not be read");
                    return Self::of_last_known(app, request);
                }
            },
        };
        PolicyVerdict {
            policy,
            ignored: Vec::new(),
        }
    }

    /// Removes the ignored files from `files`.
    pub fn remove_ignored(&mut self, files: &mut Vec<String>) {
        let mut judge = self.policy.judge();
        let ignored = files.extract_if(.., |file| judge.kind(file) == FileKind::Ignored);
        self.ignored = ignored.collect();
    }

    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.policy.warning().into_iter().collect();
        match self.ignored.as_slice() {
            [] => {}
            [file] => warnings.push(format!("IGNORED_FILE: .coord.toml ignores '{file}': it has no lock.")),
            files => warnings.push(format!(
                "IGNORED_FILE: .coord.toml ignores {}: they have no locks.",
                list_paths(files)
            )),
        }
        warnings
    }
}
