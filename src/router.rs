//! Where code runs. So far the sandbox that comes with the program; not yet the choice among providers.

/// The sandbox that comes with the program.
pub mod embedded;
