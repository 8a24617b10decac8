//! Tests that need more than one module.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod api;
mod crawlers;
mod data;
mod doctor;
mod drills;
mod exposure;
mod harness;
mod hosted;
mod migrations;
mod openapi;
mod pages;
mod past;
mod routing;
mod runs;
mod runs_pages;
mod schema;
mod tidy;
mod twins;
mod two_runs;
mod workload;
