//! KEYS of the functions of a team.

use crate::{mail, tasks, teams};
use coord_domain::team::TeamName;
use coord_state::admission::AdmissionTerms;
use coord_state::request_keys::{Keys, lock_keys};
use coord_state::{events, locks};

/// KEYS of every function of a team.
pub(crate) fn team_keys(terms: &AdmissionTerms<'_>, name: &TeamName) -> Keys {
    let mut keys = terms.keys();
    add_team(&mut keys, terms, name);
    keys
}

/// KEYS of a function of a team that claims or releases files.
pub(crate) fn team_and_lock_keys(terms: &AdmissionTerms<'_>, name: &TeamName) -> Keys {
    let mut keys = lock_keys(terms);
    add_team(&mut keys, terms, name);
    keys
}

fn add_team(keys: &mut Keys, terms: &AdmissionTerms<'_>, name: &TeamName) {
    let (repo, holder) = (terms.repo, terms.holder);
    let person = coord_store::script::sha1_hex(holder.user_id.as_str());
    keys.add([
        ("status_log", events::keys::status_log(repo)),
        ("events", events::keys::events(repo)),
        ("teams", teams::keys::teams(repo)),
        ("members", teams::keys::members(repo)),
        ("team", teams::keys::team(repo, name)),
        ("seen", teams::keys::seen(repo, name)),
        ("answers", teams::keys::answers(repo, &person)),
        ("mail", mail::keys::mail(repo, name)),
        ("bodies", mail::keys::bodies(repo, name)),
        ("tasks", tasks::keys::tasks(repo, name)),
        ("texts", tasks::keys::texts(repo, name)),
        ("order", tasks::keys::order(repo, name)),
        ("done", tasks::keys::done(repo, name)),
        ("edges", tasks::keys::edges(repo, name)),
        ("unmet", tasks::keys::unmet(repo, name)),
        ("ready", tasks::keys::ready(repo, name)),
        ("leases", tasks::keys::leases(repo, name)),
        ("token", locks::keys::token(repo)),
        ("locks", locks::keys::locks(repo)),
        ("expiries", locks::keys::expiries(repo)),
        ("held", locks::keys::held(repo)),
        ("lapses", tasks::keys::lapses(repo)),
        ("shares", events::keys::shares(repo)),
    ]);
}
