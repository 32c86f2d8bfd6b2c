//! The HTTP contract, from outside: whole answers of a server on a port, over a real git repository.

#[path = "../../server/tests/fixtures/git.rs"]
mod git;

mod api;
mod contract;

mod bad_bodies;
mod bad_fields;
mod check_status;
mod cron_cleanup;
mod graph;
mod identity;
mod issuer;
mod key_fetches;
mod key_sets;
mod openapi;
mod post_status;
mod release;
mod repositories;
mod routes;
mod serve;
mod shapes;
mod signer;
mod token_limits;
mod tokens;
mod unreachable;
