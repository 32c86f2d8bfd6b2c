//! The HTTP contract, from outside: whole answers of a server on a port, over a real git repository.

mod activity;
mod answer;
mod api;
mod contract;

mod api_key;
mod attacks;
mod bad_bodies;
mod bad_fields;
mod bounds;
mod check_status;
mod client;
mod connections;
mod cors;
mod cron_cleanup;
mod edge;
mod events;
#[cfg(unix)]
mod functions;
mod gate;
mod graph;
mod heads;
mod health;
mod identity;
mod intents;
mod issuer;
mod key_fetches;
mod key_sets;
mod ledger;
mod locks;
mod logs;
mod mcp;
mod openapi;
mod openapi_document;
mod policy;
mod post_status;
mod release;
mod repositories;
mod routes;
mod serve;
mod shapes;
mod teams;
mod token_limits;
mod token_settings;
mod tokens;
mod unreachable;
