//! What the commands say while they work: one line a step. Errors are said by `main`.

use std::sync::LazyLock;
use std::time::Instant;

static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Says what happens next, with the seconds since the start.
pub fn step(text: &str) {
    println!("[{:>4} s] {text}", STARTED.elapsed().as_secs());
}
