use quick_cache::sync::Cache;

use coord_domain::team::TeamName;
use coord_domain::{Holder, RepoId};

/// Maximum number of agents whose team a process remembers.
const MAX_AGENTS: usize = 4_096;

/// For agents that sent requests without a team: the only team of each, as this process last saw it. It is a guess: scripts check it
/// ([`super::TeamTerms::is_assumed`]).
pub struct OnlyTeams(Cache<(RepoId, String), TeamName>);

impl Default for OnlyTeams {
    fn default() -> Self {
        OnlyTeams(Cache::new(MAX_AGENTS))
    }
}

fn key(repo: &RepoId, agent: &Holder) -> (RepoId, String) {
    // No login has a blank.
    (repo.clone(), format!("{} {}", agent.user_id, agent.agent_or_empty()))
}

impl OnlyTeams {
    pub fn get(&self, repo: &RepoId, agent: &Holder) -> Option<TeamName> {
        self.0.get(&key(repo, agent))
    }

    /// Remembers that `team` is the only one of `agent`, or that it has none or several.
    pub fn set(&self, repo: &RepoId, agent: &Holder, team: Option<&TeamName>) {
        let key = key(repo, agent);
        match team {
            Some(team) => self.0.insert(key, team.clone()),
            None => {
                self.0.remove(&key);
            }
        }
    }
}
