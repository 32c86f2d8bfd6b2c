//! The remote stores and the store on a port, against real Redis servers and against a server that misbehaves.

mod fake;
mod faults;
mod listener;
mod promises;
mod redis_store;
mod scripts;
mod through_listener;
