//! What a stamp or a sum is made of.

use sha2::{Digest, Sha256};

/// SHA-256 in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    let hex = |text, byte: &u8| format!("{text}{byte:02x}");
    Sha256::digest(bytes).iter().fold(String::new(), hex)
}
