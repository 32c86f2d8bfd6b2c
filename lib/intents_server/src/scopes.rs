//! Which files an intent may change, judged here, because scripts match no patterns. Scopes are kept by their digest, so that a
//! claim that cites an intent is one round trip: the script compares digests, and asks only where they differ.

use std::sync::Arc;

use coord_intents::intent::Intent;
use coord_scopes::{IntentIgnore, Judge, Scope, Verdict};
use quick_cache::sync::Cache;

use coord_builds::stored_ignore::StoredIgnore;
use coord_domain::{Branch, FilePath, Holder, RepoId};
use coord_intents_state::intents::ScopeQuestion;
use coord_state::locks::Judgement;

/// Most scopes that a process remembers; a scope takes some kilobytes.
const MOST_SCOPES: usize = 1_024;
/// Most `.intentignore` files.
const MOST_IGNORES: usize = 64;
/// Most holders, and most branches.
const MOST_NAMES: usize = 4_096;

/// The scopes that a process knows. It is only a guess: the script compares.
pub struct ScopeCache {
    /// The latest scope of an intent, by repository and id.
    scopes: Cache<(RepoId, String), Arc<KnownScope>>,
    /// By digest.
    ignores: Cache<String, Arc<IntentIgnore>>,
    /// The latest digest of `.intentignore`.
    of_branches: Cache<(RepoId, Branch), String>,
    /// The intent that a holder was seen to have selected.
    selected: Cache<(RepoId, String), String>,
}

impl Default for ScopeCache {
    fn default() -> Self {
        ScopeCache {
            scopes: Cache::new(MOST_SCOPES),
            ignores: Cache::new(MOST_IGNORES),
            of_branches: Cache::new(MOST_NAMES),
            selected: Cache::new(MOST_NAMES),
        }
    }
}

struct KnownScope {
    digest: String,
    /// None where the intent has no valid scope: then it covers nothing.
    scope: Option<Scope>,
}

/// The files that are to be judged, and their holder.
#[derive(Clone, Copy)]
pub struct ScopeCheck<'a> {
    pub repo: &'a RepoId,
    pub branch: &'a Branch,
    pub holder: &'a Holder,
    pub cited: Option<&'a str>,
    pub paths: &'a [FilePath],
}

impl ScopeCheck<'_> {
    fn holder(&self) -> (RepoId, String) {
        // No login has a blank.
        let name = format!("{} {}", self.holder.user_id, self.holder.agent_or_empty());
        (self.repo.clone(), name)
    }
}

/// A judgement, with what it was made of.
pub struct ScopeVerdicts {
    pub judgement: Judgement,
    /// For each file, in their order.
    pub verdicts: Vec<Verdict>,
    scope: Arc<KnownScope>,
    ignore: Arc<IntentIgnore>,
}

impl ScopeCache {
    /// The judgement by what was seen last; none where too little is known.
    pub fn guess(&self, files: &ScopeCheck<'_>) -> Option<ScopeVerdicts> {
        let intent = match files.cited {
            Some(cited) => cited.to_owned(),
            None => self.selected.get(&files.holder())?,
        };
        let scope = self.scopes.get(&(files.repo.clone(), intent.clone()))?;
        let digest = self.of_branches.get(&(files.repo.clone(), files.branch.clone()));
        let digest = digest.unwrap_or_default();
        let ignore = self.ignores.get(&digest).unwrap_or_default();
        // An unknown digest has no rules here, and the judgement says so.
        let digest = if self.ignores.get(&digest).is_some() {
            digest
        } else {
            String::new()
        };
        Some(judge(files.paths, intent, scope, digest, ignore))
    }

    /// The judgement that `question` asks for, after `last` was not the one.
    pub fn answer(
        &self,
        files: &ScopeCheck<'_>,
        question: ScopeQuestion,
        last: Option<&ScopeVerdicts>,
    ) -> ScopeVerdicts {
        let known = |digest: &str| {
            last.filter(|last| last.scope.digest == digest)
                .map(|last| Arc::clone(&last.scope))
        };
        let scope = match known(&question.scope).filter(|_| question.text.is_empty()) {
            Some(scope) => scope,
            None => Arc::new(KnownScope {
                scope: scope_of(&question.text),
                digest: question.scope,
            }),
        };
        let ignore =
            match last.filter(|last| question.ignore_text.is_empty() && last.judgement.ignore == question.ignore) {
                Some(last) => Arc::clone(&last.ignore),
                None => Arc::new(StoredIgnore::rules(&question.ignore, &question.ignore_text)),
            };
        let of_intent = (files.repo.clone(), question.intent.clone());
        self.scopes.insert(of_intent, Arc::clone(&scope));
        self.ignores.insert(question.ignore.clone(), Arc::clone(&ignore));
        let of_branch = (files.repo.clone(), files.branch.clone());
        self.of_branches.insert(of_branch, question.ignore.clone());
        judge(files.paths, question.intent, scope, question.ignore, ignore)
    }

    /// Notes the intent that the holder has selected, as far as a script has reported it.
    pub fn note_selected(&self, files: &ScopeCheck<'_>, intent: &str) {
        self.selected.insert(files.holder(), intent.to_owned());
    }
}

/// The scope of an intent, as stored.
fn scope_of(text: &str) -> Option<Scope> {
    let intent: Intent = serde_json::from_str(text).ok()?;
    Scope::parse(&intent.owned_scope).ok()
}

fn judge(
    paths: &[FilePath],
    intent: String,
    scope: Arc<KnownScope>,
    digest: String,
    ignore: Arc<IntentIgnore>,
) -> ScopeVerdicts {
    let verdicts: Vec<Verdict> = match &scope.scope {
        Some(scope) => {
            let mut judge = Judge::new(scope, [&*ignore]);
            paths.iter().map(|path| judge.judge(path.as_str())).collect()
        }
        None => vec![Verdict::Outside; paths.len()],
    };
    let letter = |verdict: &Verdict| match verdict {
        Verdict::Covered => 'C',
        Verdict::Outside => 'O',
        Verdict::Ignored(_) => 'I',
        Verdict::Reserved(_) => 'R',
    };
    ScopeVerdicts {
        judgement: Judgement {
            intent,
            scope: scope.digest.clone(),
            ignore: digest,
            letters: verdicts.iter().map(letter).collect(),
            files: Vec::new(),
        },
        verdicts,
        scope,
        ignore,
    }
}
