//! What a runaway costs, what a workload costs: pure functions that pages, API and islands call alike.
//!
//! Not here: how a rate meets a quantity. That is `catalog::shape`.

pub mod explanation;
pub mod exposure;
pub mod input;
pub mod league;
pub mod offer;
pub mod packed;
pub mod workload;
