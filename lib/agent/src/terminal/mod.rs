//! Terminal output for people: colors, tables, times, and a spinner while they wait.
//!
//! - [`output`]: standard output, with colors where they are wanted (`NO_COLOR` is honored)
//! - [`table`]: columns that fit the width; [`locks`], [`intents`]: locks and intents in them
//! - [`times`]: how long ago, how long still, at what time
//! - [`wrap`]: sentences in lines
//! - [`spinner`]: a line on standard error while something takes more than a second

pub mod intents;
pub mod locks;
pub mod output;
pub mod spinner;
pub mod table;
pub mod times;
pub mod wrap;
