//! Names for sandboxes and their tokens: none is given twice.

use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;

use crate::hash::{hexadecimal, sha256};

/// Characters of a sandbox id of E2B behind its first.
const E2B_ID_CHARACTERS: usize = 20;
/// Characters of a token.
const TOKEN_CHARACTERS: usize = 40;

/// 64 hexadecimal digits that were never given before.
fn fresh() -> String {
    static GIVEN: AtomicU64 = AtomicU64::new(0);
    let number = GIVEN.fetch_add(1, Ordering::Relaxed);
    let now = Timestamp::now().as_nanosecond();
    hexadecimal(&sha256(format!("{number} {now} {}", std::process::id())))
}

/// An id as E2B gives them: `i` and lower-case letters and digits.
pub fn e2b_id() -> String {
    format!("i{}", &fresh()[..E2B_ID_CHARACTERS])
}

/// A UUID of version 4.
pub fn uuid() -> String {
    let hex = fresh();
    format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}

/// A secret with a prefix that says whose it is.
pub fn token(prefix: &str) -> String {
    format!("{prefix}{}", &fresh()[..TOKEN_CHARACTERS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_providers_form_and_differ() {
        assert_ne!(e2b_id(), e2b_id());
        assert_eq!((e2b_id().len(), uuid().len()), (21, 36));
        assert_eq!(uuid().as_bytes()[14], b'4');
    }
}
