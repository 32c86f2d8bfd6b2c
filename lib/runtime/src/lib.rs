//! The parts that every request runs with: timed calls, shared calls, work after the response, mutexes, logs, trusted
//! roots.

pub mod after_response;
pub mod logging;
pub mod mutex;
pub mod retry;
pub mod root_cause;
pub mod root_certificates;
pub mod single_flight;
pub mod timing;
