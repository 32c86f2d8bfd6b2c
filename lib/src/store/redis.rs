//! Redis and Valkey over `redis://` and `rediss://`.
