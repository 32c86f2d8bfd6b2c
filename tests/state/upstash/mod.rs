//! The remote stores and the store on a port, against real Redis servers and against a server that misbehaves.

mod fake;
mod faults;
mod functions;
mod listener;
mod log;
mod promises;
mod redis_store;
mod scripts;
mod through_listener;
