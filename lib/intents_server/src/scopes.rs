//! Judges which files an intent may change, because scripts do not match patterns. Caches scopes with their digests, so
//! a claim that cites an intent takes one round trip: the script compares digests, and asks only if they differ.

use std::sync::Arc;

use coord_intents::intent::Intent;
use coord_scopes::{IntentIgnore, Judge, Scope, Verdict};
use quick_cache::sync::Cache;

use coord_builds::stored_ignore::StoredIgnore;
use coord_domain::{Branch, FilePath, Holder, RepoId};
use coord_intents_state::intents::ScopeQuestion;
use coord_state::locks::Judgment;

/// The most scopes in the cache. A scope takes some kilobytes.
const MAX_SCOPES: usize = 1_024;
/// The most `.intentignore` files in the cache.
const MAX_IGNORES: usize = 64;
/// The most holders, and the most branches, in the cache.
const MAX_NAMES: usize = 4_096;

/// The scopes that this process saw last. They may be outdated: the script compares digests.
pub struct ScopeCache {
    /// The latest scope of an intent, by repository and id.
    scopes: Cache<(RepoId, String), Arc<CachedScope>>,
    /// The rules of an `.intentignore`, by digest.
    ignores: Cache<String, Arc<IntentIgnore>>,
    /// The latest digest of the `.intentignore` of a branch.
    ignore_digests: Cache<(RepoId, Branch), String>,
    /// The intent that a holder last had selected.
    selected_intents: Cache<(RepoId, String), String>,
}

impl Default for ScopeCache {
    fn default() -> Self {
        ScopeCache {
            scopes: Cache::new(MAX_SCOPES),
            ignores: Cache::new(MAX_IGNORES),
            ignore_digests: Cache::new(MAX_NAMES),
            selected_intents: Cache::new(MAX_NAMES),
        }
    }
}

struct CachedScope {
    digest: String,
    /// `None` if the intent has no valid scope. Then it covers nothing.
    scope: Option<Scope>,
}

/// The files to judge, and their holder.
#[derive(Clone, Copy)]
pub struct ScopeCheck<'a> {
    pub repo: &'a RepoId,
    pub branch: &'a Branch,
    pub holder: &'a Holder,
    pub cited: Option<&'a str>,
    pub paths: &'a [FilePath],
}

impl ScopeCheck<'_> {
    fn holder_key(&self) -> (RepoId, String) {
        // A login never contains a space.
        let name = format!("{} {}", self.holder.user_id, self.holder.agent_or_empty());
        (self.repo.clone(), name)
    }
}

/// A judgment, with its verdicts and the rules behind them.
pub struct ScopeVerdicts {
    pub judgment: Judgment,
    /// One for each file, in their order.
    pub verdicts: Vec<Verdict>,
    scope: Arc<CachedScope>,
    ignore: Arc<IntentIgnore>,
}

impl ScopeCache {
    /// The verdicts by the cached scope; `None` if the intent or its scope is not in the cache.
    pub fn guess(&self, check: &ScopeCheck<'_>) -> Option<ScopeVerdicts> {
        let intent = match check.cited {
            Some(cited) => cited.to_owned(),
            None => self.selected_intents.get(&check.holder_key())?,
        };
        let scope = self.scopes.get(&(check.repo.clone(), intent.clone()))?;
        let digest = self.ignore_digests.get(&(check.repo.clone(), check.branch.clone()));
        let digest = digest.unwrap_or_default();
        // If the rules are not in the cache, the judgment is without rules, and has no digest.
        let (digest, ignore) = match self.ignores.get(&digest) {
            Some(ignore) => (digest, ignore),
            None => Default::default(),
        };
        Some(judge(check.paths, intent, scope, digest, ignore))
    }

    /// The verdicts that `question` asks for, because the script did not accept `last`.
    pub fn answer(
        &self,
        check: &ScopeCheck<'_>,
        question: ScopeQuestion,
        last: Option<&ScopeVerdicts>,
    ) -> ScopeVerdicts {
        let scope = match last.filter(|last| question.text.is_empty() && last.scope.digest == question.scope) {
            Some(last) => Arc::clone(&last.scope),
            None => Arc::new(CachedScope {
                scope: parse_scope(&question.text),
                digest: question.scope,
            }),
        };
        let ignore =
            match last.filter(|last| question.ignore_text.is_empty() && last.judgment.ignore == question.ignore) {
                Some(last) => Arc::clone(&last.ignore),
                None => Arc::new(StoredIgnore::rules(&question.ignore, &question.ignore_text)),
            };
        let intent_key = (check.repo.clone(), question.intent.clone());
        self.scopes.insert(intent_key, Arc::clone(&scope));
        self.ignores.insert(question.ignore.clone(), Arc::clone(&ignore));
        let branch_key = (check.repo.clone(), check.branch.clone());
        self.ignore_digests.insert(branch_key, question.ignore.clone());
        judge(check.paths, question.intent, scope, question.ignore, ignore)
    }

    /// Notes the intent that the holder has selected, as reported by a script.
    pub fn note_selected(&self, check: &ScopeCheck<'_>, intent: &str) {
        self.selected_intents.insert(check.holder_key(), intent.to_owned());
    }
}

/// The scope of an intent that is stored as JSON.
fn parse_scope(text: &str) -> Option<Scope> {
    let intent: Intent = serde_json::from_str(text).ok()?;
    Scope::parse(&intent.owned_scope).ok()
}

fn judge(
    paths: &[FilePath],
    intent: String,
    scope: Arc<CachedScope>,
    ignore_digest: String,
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
        judgment: Judgment {
            intent,
            scope: scope.digest.clone(),
            ignore: ignore_digest,
            letters: verdicts.iter().map(letter).collect(),
            files: Vec::new(),
        },
        verdicts,
        scope,
        ignore,
    }
}
