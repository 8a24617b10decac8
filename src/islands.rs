//! What a browser runs. Every island stands on a form or table that works without it, and carries only what it
//! reckons with.

#[expect(missing_docs, reason = "the macro declares items of its own beside each island")]
pub mod calculator;
pub mod form;
#[expect(missing_docs, reason = "the macro declares items of its own beside each island")]
pub mod workload;
