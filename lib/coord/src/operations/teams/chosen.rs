//! The team of a request: the one that it names, or the only one of the caller.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::admission::Admission;
use crate::app::App;
use crate::domain::team::TeamName;
use crate::domain::{Holder, RepoId};
use crate::error::ApiError;
use crate::state::admission::AdmissionTerms;
use crate::state::teams::{OnlyTeams, TeamTerms, handles};

/// The name of a team, or the documented refusal.
pub(super) fn team_name(field: &'static str, text: &str) -> Result<TeamName, ApiError> {
    TeamName::parse(text).map_err(|invalid| ApiError::InvalidField {
        field,
        problem: format!("is refused: {invalid}"),
    })
}

/// The team of a request.
pub(super) struct ChosenTeam<'a> {
    first: TeamName,
    /// Where the first one is a guess.
    guess: Option<Guess<'a>>,
    /// The right one, where the guess was wrong.
    right: OnceLock<TeamName>,
}

/// Where a guess is from.
struct Guess<'a> {
    known: &'a OnlyTeams,
    repo: RepoId,
    agent: Holder,
}

impl<'a> ChosenTeam<'a> {
    /// The team that is named, or else the only one in which the caller is. That is asked of the store once; later it is a guess,
    /// which the script of the operation checks.
    pub async fn of(
        app: &'a App,
        repo: &RepoId,
        admission: &Admission<'_>,
        named: Option<&str>,
    ) -> Result<Self, ApiError> {
        if let Some(name) = named {
            return Ok(ChosenTeam::named(team_name("team", name)?));
        }
        let (known, agent) = (&*app.only_teams, admission.holder());
        if let Some(first) = known.get(repo, agent) {
            return Ok(ChosenTeam {
                first,
                guess: Some(Guess {
                    known,
                    repo: repo.clone(),
                    agent: agent.clone(),
                }),
                right: OnceLock::new(),
            });
        }
        let only = only(&handles(repo, agent).run(&*app.store).await?)?;
        known.set(repo, agent, Some(&only));
        Ok(ChosenTeam::named(only))
    }

    /// The team that the request names.
    pub fn named(name: TeamName) -> Self {
        ChosenTeam {
            first: name,
            guess: None,
            right: OnceLock::new(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &TeamName {
        self.right.get().unwrap_or(&self.first)
    }

    /// The terms of a script in this team.
    pub fn terms<'t>(&'t self, admission: &AdmissionTerms<'t>) -> TeamTerms<'t> {
        TeamTerms {
            admission: *admission,
            team: self.name(),
            is_assumed: self.guess.is_some() && self.right.get().is_none(),
        }
    }

    /// Chooses the only team of the caller, where the guess was wrong. `handles`: those that it has, by team.
    ///
    /// # Errors
    /// When it is in none, or in several.
    pub fn choose(&self, handles: &BTreeMap<String, String>) -> Result<(), ApiError> {
        let Some(Guess { known, repo, agent }) = &self.guess else {
            return Err(ApiError::Internal);
        };
        let only = only(handles);
        known.set(repo, agent, only.as_ref().ok());
        self.right.set(only?).map_err(|_| ApiError::Internal)
    }
}

/// The only team of these.
fn only(handles: &BTreeMap<String, String>) -> Result<TeamName, ApiError> {
    let problem = match handles.keys().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [name] => return team_name("team", name),
        [] => "is required: you are in no team of this repository".to_owned(),
        names => format!("is required: you are in {}", names.join(", ")),
    };
    Err(ApiError::InvalidField { field: "team", problem })
}
