//! What the content of a repository can make Coord do.
