//! Pieces of the OpenAPI document: what no attribute of a handler can say.
//!
//! - `answers`: what each operation answers; `errors`: the errors among that
//! - `fields`, and [`coord_protocol::schema`]: fields and headers
//! - `examples`: requests and answers that a test plays through

mod answers;
mod errors;
pub mod examples;
pub(crate) mod fields;

pub(super) use answers::{
    CheckAnswers, GraphAnswers, HealthAnswers, LocksAnswers, PostAnswers, SweepAnswers, WebhookAnswers,
};
