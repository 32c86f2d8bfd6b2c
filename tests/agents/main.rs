//! What runs on an agent's machine: the working copy, the session, and the commands that ask a server.

mod working_copy;
mod world;
