//! Providers that are not there: they do what a script says, so that a chain of attempts can be seen and tested. Never part
//! of a release.

pub mod scripted;
