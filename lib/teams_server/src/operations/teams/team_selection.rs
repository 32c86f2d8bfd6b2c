//! The team of a request: the team that it names, or the caller's only team.

use std::collections::BTreeMap;

use crate::registered::Teams;
use coord_domain::team::TeamName;
use coord_server::admission::Admission;
use coord_server::error::ApiError;
use coord_state::admission::{AdmissionTerms, Question};
use coord_teams_state::teams::{TeamQuestion, TeamTerms, handles};

/// # Errors
/// The documented refusal.
pub(super) fn team_name(field: &'static str, text: &str) -> Result<TeamName, ApiError> {
    TeamName::parse(text).map_err(|invalid| ApiError::invalid_field(field, format!("is refused: {invalid}")))
}

/// The team of a request.
#[derive(Clone)]
pub(super) struct SelectedTeam {
    name: TeamName,
    /// Whether the name is from this process's cache, so that the script must check it.
    is_assumed: bool,
}

impl SelectedTeam {
    /// The team `name`, or else the caller's only team. That team is read from the store once. Later, the script of the
    /// operation checks the cached name.
    pub async fn of(admission: &Admission<'_>, name: Option<&str>) -> Result<Self, ApiError> {
        if let Some(name) = name {
            return Ok(SelectedTeam::named(team_name("team", name)?));
        }
        let Admission { app, repo, .. } = admission;
        let agent = admission.holder();
        let cache = &Teams::of(app).only_teams;
        if let Some(name) = cache.get(repo, agent) {
            return Ok(SelectedTeam { name, is_assumed: true });
        }
        let name = only_team(&handles(repo, agent).run(&*app.store).await?)?;
        cache.set(repo, agent, Some(&name));
        Ok(SelectedTeam::named(name))
    }

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

    /// Answers a question of the script. If the assumed team is wrong, selects the caller's only team.
    ///
    /// # Errors
    /// When the caller is in no team, or in several.
    pub async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
        match question.of_extension(TeamQuestion::NAME) {
            Ok(TeamQuestion { handles }) if self.is_assumed => {
                let name = only_team(&handles);
                let cache = &Teams::of(admission.app).only_teams;
                cache.set(admission.repo, admission.holder(), name.as_ref().ok());
                *self = SelectedTeam::named(name?);
                Ok(())
            }
            Ok(_) => Err(ApiError::Internal),
            Err(question) => admission.answer(question).await,
        }
    }
}

/// Whether `question` is about the team.
pub(super) fn is_about_team(question: &Question) -> bool {
    matches!(question, Question::Extension { name, .. } if name == TeamQuestion::NAME)
}

/// The only team in `handles`, which has handles by team.
fn only_team(handles: &BTreeMap<String, String>) -> Result<TeamName, ApiError> {
    let problem = match handles.keys().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [name] => return team_name("team", name),
        [] => "is required: you are in no team of this repository".to_owned(),
        names => format!("is required: you are in {}", names.join(", ")),
    };
    Err(ApiError::invalid_field("team", problem))
}
