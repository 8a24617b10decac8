//! Tests that need more than one module.

mod data;
mod exposure;
mod migrations;
