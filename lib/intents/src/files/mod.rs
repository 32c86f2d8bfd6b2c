//! The files of a repository: `active_intents.yaml` and `intent_map.md`.
