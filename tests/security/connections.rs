//! Clients that hold connections, or send slowly.
