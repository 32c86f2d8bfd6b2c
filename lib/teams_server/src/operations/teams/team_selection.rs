//! The team of a request: the one that it names, or the only one of the caller.

use std::collections::BTreeMap;

use crate::registered::Teams;
use coord_domain::team::TeamName;
use coord_server::admission::Admission;
use coord_server::error::ApiError;
use coord_state::admission::{AdmissionTerms, Question};
use coord_teams_state::teams::{TeamQuestion, TeamTerms, handles};

/// The name of a team, or the documented refusal.
pub(super) fn team_name(field: &'static str, text: &str) -> Result<TeamName, ApiError> {
    TeamName::parse(text).map_err(|invalid| ApiError::InvalidField {
        field,
        problem: format!("is refused: {invalid}"),
    })
}

/// The team of a request.
#[derive(Clone)]
pub(super) struct SelectedTeam {
    name: TeamName,
    /// It is the team that this process saw last, and the script checks it.
    is_assumed: bool,
}

impl SelectedTeam {
    /// The team that is named, or else the only one in which the caller is. That is asked of the store once; later it is a guess,
    /// which the script of the operation checks.
    pub async fn of(admission: &Admission<'_>, named: Option<&str>) -> Result<Self, ApiError> {
        if let Some(name) = named {
            return Ok(SelectedTeam::named(team_name("team", name)?));
        }
        let Admission { app, repo, .. } = admission;
        let agent = admission.holder();
        if let Some(name) = Teams::of(app).only_teams.get(repo, agent) {
            return Ok(SelectedTeam { name, is_assumed: true });
        }
        let only = only(&handles(repo, agent).run(&*app.store).await?)?;
        Teams::of(app).only_teams.set(repo, agent, Some(&only));
        Ok(SelectedTeam::named(only))
    }

    /// The team that the request names.
    pub fn named(name: TeamName) -> Self {
        SelectedTeam {
            name,
            is_assumed: false,
        }
    }

    pub fn name(&self) -> &TeamName {
        &self.name
    }

    /// The terms of a script in this team.
    pub fn terms<'t>(&'t self, admission: &AdmissionTerms<'t>) -> TeamTerms<'t> {
        TeamTerms {
            admission: *admission,
            team: &self.name,
            is_assumed: self.is_assumed,
        }
    }

    /// Whether `question` is about the team.
    pub fn is_asked(&self, question: &Question) -> bool {
        matches!(question, Question::OfExtension { name, .. } if name == TeamQuestion::NAME)
    }

    /// Chooses the only team of the caller, where the assumed one is not it; other questions are the source's.
    ///
    /// # Errors
    /// When the caller is in no team, or in several.
    pub async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
        match question.of_extension(TeamQuestion::NAME) {
            Ok(TeamQuestion { handles }) if self.is_assumed => {
                let only = only(&handles);
                let known = &Teams::of(admission.app).only_teams;
                known.set(admission.repo, admission.holder(), only.as_ref().ok());
                *self = SelectedTeam::named(only?);
                Ok(())
            }
            Ok(_) => Err(ApiError::Internal),
            Err(question) => admission.answer(question).await,
        }
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
