//! Text out of bytes that arrive in pieces, which may be cut within a character.

/// What waits for the rest of a character.
#[derive(Debug, Default)]
pub struct Text {
    rest: Vec<u8>,
}

impl Text {
    /// The text so far; what is no UTF-8 is replaced, what may become a character waits.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let mut end = 0;
        while let Err(error) = std::str::from_utf8(&self.rest[end..]) {
            end += error.valid_up_to();
            match error.error_len() {
                Some(length) => end += length,
                None => return self.take(end),
            }
        }
        self.take(self.rest.len())
    }

    /// The text of what still waits.
    pub fn end(&mut self) -> String {
        self.take(self.rest.len())
    }

    fn take(&mut self, end: usize) -> String {
        let taken: Vec<u8> = self.rest.drain(..end).collect();
        String::from_utf8_lossy(&taken).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_is_cut_is_put_together() {
        let bytes = "a🐍\u{fc}".as_bytes();
        for length in 1..=bytes.len() {
            let mut text = Text::default();
            let read: String = bytes.chunks(length).map(|piece| text.push(piece)).collect();
            assert_eq!(read + &text.end(), "a🐍\u{fc}", "{length}");
        }
        let mut text = Text::default();
        assert_eq!(text.push(b"a\xffb\xf0\x9f"), "a\u{fffd}b");
        assert_eq!(text.end(), "\u{fffd}");
    }
}
