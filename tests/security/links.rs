//! Links and special files in a working copy.
