//! The endpoints of intents and of the ledger: their rows of the table of routes.

mod intents;
mod ledger;

use coord_http::{Route, endpoints};

use intents::acts::{
    intent_abandon, intent_allow, intent_block, intent_complete, intent_select, intent_take_over, intent_unblock,
};
use intents::{intent, usage as intent_usage};
use ledger::{checkpoint as ledger_checkpoint, map as ledger_map, verify as ledger_verify};
pub use {intents::IntentsQuery, ledger::LedgerQuery};

const AGENTS: Route = Route::FOR_AGENTS;

endpoints! {
    INTENTS = intents { methods: "GET, HEAD, POST", ..AGENTS };
    INTENT = intent at "/api/intents/{id}" { methods: "GET, HEAD, PATCH", served_with: Some("intents"), ..AGENTS };
    INTENT_SELECT = intent_select at "/api/intents/{id}/select" { served_with: Some("intents"), ..AGENTS };
    INTENT_COMPLETE = intent_complete at "/api/intents/{id}/complete" { served_with: Some("intents"), ..AGENTS };
    INTENT_ABANDON = intent_abandon at "/api/intents/{id}/abandon" { served_with: Some("intents"), ..AGENTS };
    INTENT_BLOCK = intent_block at "/api/intents/{id}/block" { served_with: Some("intents"), ..AGENTS };
    INTENT_UNBLOCK = intent_unblock at "/api/intents/{id}/unblock" { served_with: Some("intents"), ..AGENTS };
    INTENT_ALLOW = intent_allow at "/api/intents/{id}/allow" { served_with: Some("intents"), ..AGENTS };
    INTENT_TAKE_OVER = intent_take_over at "/api/intents/{id}/take_over" { served_with: Some("intents"), ..AGENTS };
    INTENT_USAGE = intent_usage at "/api/intents/{id}/usage" { served_with: Some("intents"), ..AGENTS };
    LEDGER = ledger { methods: "GET, HEAD, POST", served_with: Some("intents"), is_compressed: true, ..AGENTS };
    LEDGER_CHECKPOINT = ledger_checkpoint at "/api/ledger/checkpoint" {
        methods: "GET, HEAD", served_with: Some("intents"), ..AGENTS
    };
    LEDGER_VERIFY = ledger_verify at "/api/ledger/verify" { served_with: Some("intents"), ..AGENTS };
    LEDGER_MAP = ledger_map at "/api/ledger/map" {
        methods: "GET, HEAD", served_with: Some("intents"), is_compressed: true, ..AGENTS
    };
}
