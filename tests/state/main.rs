//! State: every script on every connection to a store, the connections themselves, and what many clients do at once.

mod contention;
mod differential;
mod durability;
mod stores;
mod team_model;
mod upstash;
mod watched;
mod world;
