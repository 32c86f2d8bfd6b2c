//! `coord graph` as people run it: the built binary, on real repositories.

mod checkout;
mod checkout_conversions;
mod checkout_world;
mod explanation;
mod formats;
mod incomplete;
mod interface;
mod limits;
mod parts;
mod places;
mod revisions;
mod running;
