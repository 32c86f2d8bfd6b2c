//! Graphs built into a store: what is read again, what is seen meanwhile, what a limit or a failure leaves.

mod background;
mod deferred;
mod ignored;
mod memory;
mod policy;
mod published;
mod scale;
mod server_memory;
mod world;
