//! The remote stores, against real Redis servers and against a server that misbehaves.

mod fake;
mod faults;
mod functions;
mod log;
mod over_redis;
mod promises;
mod redis_store;
mod scripts;
