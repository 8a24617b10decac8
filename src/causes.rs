//! An error together with what caused it.

use std::iter::successors;

/// An error with its causes, on one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let causes = successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
