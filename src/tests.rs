//! Tests that need more than one module.

mod api;
mod data;
mod exposure;
mod migrations;
