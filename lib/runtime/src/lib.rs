//! Shared by all requests, whatever they ask.

pub mod after_response;
pub mod logging;
pub mod retry;
pub mod root_cause;
pub mod root_certificates;
pub mod single_flight;
pub mod timing;
