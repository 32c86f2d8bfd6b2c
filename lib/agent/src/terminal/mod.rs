//! Terminal output for people: colors, tables, times, and a spinner while they wait.
//!
//! - [`output`]: standard output, with colors unless `NO_COLOR` is set
//! - [`table`]: columns that fit the width; [`locks`], [`intents`]: locks and intents in tables
//! - [`times`]: durations, remaining times and times of day
//! - [`wrap`]: text in lines
//! - [`question`]: questions to the person at the terminal
//! - [`spinner`]: a line on standard error while an operation takes more than a second

pub mod intents;
pub mod locks;
pub mod output;
pub mod question;
pub mod spinner;
pub mod table;
pub mod times;
pub mod wrap;
