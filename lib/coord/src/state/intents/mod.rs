//! Intents: their registry, the files that they own, and the handshake of holders.

pub mod keys;
