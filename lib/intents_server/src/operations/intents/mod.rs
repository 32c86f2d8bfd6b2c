//! Operations on intents: their registry, their acts, and their costs.
//!
//! - [`list_intents`], [`read_intent`]: reads; `view`: an intent on the wire; `context`: the facts that an agent needs
//! - [`new_intent`], [`edit_intent`]: writes; `members`: the rules for members; `edit`: the rules for changes
//! - [`act`]: changes of the status, overlaps or files of an intent; `select`: its selection; `overlap`: whether it may
//!   begin
//! - [`use_intent()`] counts costs
//! - `intent_caller`, `origin`: the caller, and its record in the ledger; `rounds`: repeated attempts at a change

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
pub(crate) use intent_caller::IntentCaller;
pub use list::{IntentsRequest, list_intents, read_intent};
pub use usage::{counted_call, use_intent};
pub use write::{edit_intent, new_intent};
