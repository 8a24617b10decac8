//! What a browser runs. Every island stands on a form or table that works without it, and carries only what it
//! reckons with.

pub mod calculator;
