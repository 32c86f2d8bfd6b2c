//! What a cold load costs.

fn main() {}
