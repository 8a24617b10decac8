//! Thud.
pub mod money;
pub mod catalog;
