//! KEYS of the scripts of a team: `teams/includes/team.lua` has their names.

use super::admission::AdmissionTerms;
use super::request_keys::lock_keys;
use super::{events, locks, mail, tasks, teams};
use crate::domain::team::TeamName;

/// KEYS of every script of a team.
pub(super) fn team_keys(terms: &AdmissionTerms<'_>, name: &TeamName) -> Vec<String> {
    let mut keys = terms.keys();
    add_team(&mut keys, terms, name);
    keys
}

/// KEYS of a script of a team that claims or releases files.
pub(super) fn team_and_lock_keys(terms: &AdmissionTerms<'_>, name: &TeamName) -> Vec<String> {
    let mut keys = lock_keys(terms);
    add_team(&mut keys, terms, name);
    keys
}

/// The last ones, as `teams/includes/team.lua` names them.
fn add_team(keys: &mut Vec<String>, terms: &AdmissionTerms<'_>, name: &TeamName) {
    let (repo, holder) = (terms.repo, terms.holder);
    let person = crate::store::script::sha1_hex(holder.user_id.as_str());
    keys.extend([
        events::keys::status_log(repo),
        events::keys::events(repo),
        teams::keys::teams(repo),
        teams::keys::members(repo),
        teams::keys::team(repo, name),
        teams::keys::seen(repo, name),
        teams::keys::answers(repo, &person),
        mail::keys::mail(repo, name),
        mail::keys::bodies(repo, name),
        tasks::keys::tasks(repo, name),
        tasks::keys::texts(repo, name),
        tasks::keys::order(repo, name),
        tasks::keys::done(repo, name),
        tasks::keys::edges(repo, name),
        tasks::keys::unmet(repo, name),
        tasks::keys::ready(repo, name),
        tasks::keys::leases(repo, name),
        locks::keys::token(repo),
        locks::keys::locks(repo),
        locks::keys::expiries(repo),
        locks::keys::held(repo),
        tasks::keys::lapses(repo),
        events::keys::shares(repo),
    ]);
}
