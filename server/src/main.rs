//! `coord`: Coord on one machine.

fn main() {}
