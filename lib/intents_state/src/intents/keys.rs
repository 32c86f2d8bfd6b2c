//! Intents, the files that they own, and the sessions of holders.

use coord_domain::{Holder, RepoId};
use coord_state::keys::of;
pub use coord_state::locks::keys::governed;

/// hash: intent id -> its record, JSON; see `modules/records.lua`.
pub fn intents(repo: &RepoId) -> String {
    of("coord:intents:", repo, &[])
}

/// hash: intent id -> the whole intent, JSON.
pub fn intent_texts(repo: &RepoId) -> String {
    of("coord:intent_text:", repo, &[])
}

/// hash: intent id -> turns, tokens, turns of other logins (absent for none), and the time of a holder's last call (Unix milliseconds),
/// separated by blanks.
pub fn intent_use(repo: &RepoId) -> String {
    of("coord:intent_use:", repo, &[])
}

/// hash: file path -> its owners and its recorded content, JSON; see `modules/owners.lua`.
pub fn owners(repo: &RepoId) -> String {
    of("coord:owners:", repo, &[])
}

/// hash: agent of a person, or empty -> its handshake; see `modules/session.lua`. A handshake is forgotten a day after its last change.
pub fn sessions(repo: &RepoId, holder: &Holder) -> String {
    let person = coord_store::script::sha1_hex(holder.user_id.as_str());
    of("coord:sessions:", repo, &[":", &person])
}
