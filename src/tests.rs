//! Tests that need more than one module.

mod data;
mod migrations;
