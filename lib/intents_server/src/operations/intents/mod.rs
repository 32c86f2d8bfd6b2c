//! Operations on intents: their registry, their acts, and their costs.
//!
//! - [`list_intents`], [`read_intent`]: reads; `view`: an intent as it is shown; `context`: the facts that an agent needs
//! - [`new_intent`], [`edit_intent`]: writing; `members`: the rules of the members; `edit`: the rules of a change
//! - [`act`]: changes of the status, the overlaps or the files of an intent; `select`: its beginning; `overlap`: whether it
//!   may begin
//! - [`use_intent()`] counts costs
//! - `intent_caller`, `origin`: the caller, and its record in the ledger; `rounds`: changes that others make meanwhile

mod act;
mod context;
mod context_text;
mod edit;
mod intent_caller;
mod list;
mod members;
pub mod origin;
mod overlap;
mod registry_context;
mod rounds;
mod select;
mod usage;
mod view;
mod write;

pub use act::act;
pub use list::{IntentsRequest, IntentsView, list_intents, read_intent};
pub use usage::counted_call;
pub use usage::use_intent;
pub use write::{edit_intent, new_intent};
