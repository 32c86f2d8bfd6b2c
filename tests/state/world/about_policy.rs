//! An agent's knowledge about the policy of a branch.

use std::sync::{Arc, Mutex};

use coord_domain::{FilePath, NeighborPolicy};
use coord_settings::policy::file::PolicyFile;
use coord_settings::policy::{Policy, PolicyText};
use coord_state as state;
use coord_state::admission::PolicyQuestion;
use coord_state::locks::PolicyTerms;

use super::World;

/// An agent's knowledge about the policy of a branch, and the questions of scripts.
#[derive(Clone, Default)]
pub struct AboutPolicy {
    /// The last question, with the files of all before it.
    last_question: Arc<Mutex<Option<PolicyQuestion>>>,
    pub questions: Arc<Mutex<usize>>,
}

impl AboutPolicy {
    /// The rules for `paths`, or for the files that were asked about where there are none.
    pub fn terms(&self, operator: NeighborPolicy, paths: &[FilePath]) -> PolicyTerms {
        let last_question = self.last_question.lock().unwrap();
        let text = last_question
            .as_ref()
            .map(|last_question| PolicyText::from_stored(&last_question.text));
        let policy = Policy::of(text.unwrap_or_default());
        let mut judge = policy.judge();
        let files = match paths {
            [] => last_question
                .as_ref()
                .map(|last_question| last_question.files.clone())
                .unwrap_or_default(),
            paths => paths.iter().map(|path| path.as_str().to_owned()).collect(),
        };
        PolicyTerms {
            neighbors: policy.file().neighbors.unwrap_or(operator),
            digest: last_question
                .as_ref()
                .map(|last_question| last_question.digest.clone())
                .unwrap_or_default(),
            kinds: files.iter().map(|file| judge.kind(file)).collect(),
            files: if paths.is_empty() { files } else { Vec::new() },
            ..PolicyTerms::default()
        }
    }

    pub fn learn(&self, question: PolicyQuestion) {
        *self.questions.lock().unwrap() += 1;
        *self.last_question.lock().unwrap() = Some(question);
    }
}

impl World {
    /// Stores the policy of `main` with its graph, as a build does.
    pub async fn store_policy(&self, toml: &str) {
        self.store_policy_text(&PolicyText {
            file: PolicyFile::parse(toml.as_bytes()).unwrap(),
            ..PolicyText::default()
        })
        .await;
    }

    pub async fn store_policy_text(&self, text: &PolicyText) {
        let key = state::builds::keys::graph(&self.repo, &self.branch);
        match text.to_stored() {
            Some((text, digest)) => {
                self.command(["HSET", &key, "policy", &text, "policy_digest", &digest])
                    .await;
            }
            None => {
                self.command(["HDEL", &key, "policy", "policy_digest"]).await;
            }
        }
    }
}
