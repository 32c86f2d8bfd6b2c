//! Text of other people in what a model or a terminal gets.
