//! The one decision: what an agent is told to do next.
