//! Output as it is read: capped, counted and decoded, whatever it holds.

use std::fmt::Write;

use super::{Output, Stream};

/// What is kept of each output where nothing else is said, bytes.
pub const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// Both outputs of a run while they arrive.
#[derive(Debug, Default)]
pub struct Collected {
    stdout: Kept,
    stderr: Kept,
}

#[derive(Debug, Default)]
struct Kept {
    text: String,
    /// Bytes that were taken, before decoding.
    taken: usize,
    dropped: u64,
    /// The beginning of a character whose rest has not arrived.
    tail: Vec<u8>,
}

impl Collected {
    /// Takes some bytes; what is beyond `max` bytes of a stream is counted and dropped.
    pub fn push(&mut self, stream: Stream, bytes: &[u8], max: usize) {
        self.of(stream).push(bytes, max);
    }

    /// Counts what was dropped before it came here.
    pub fn dropped(&mut self, stream: Stream, bytes: u64) {
        let kept = self.of(stream);
        kept.dropped = kept.dropped.saturating_add(bytes);
    }

    fn of(&mut self, stream: Stream) -> &mut Kept {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }

    /// What there is so far: whole characters only.
    pub fn text(&self, stream: Stream) -> &str {
        match stream {
            Stream::Stdout => &self.stdout.text,
            Stream::Stderr => &self.stderr.text,
        }
    }

    /// All of it, now that no more comes.
    pub fn end(&mut self) -> Output {
        self.stdout.end();
        self.stderr.end();
        Output {
            stdout: self.stdout.text.clone(),
            stderr: self.stderr.text.clone(),
            stdout_dropped_bytes: self.stdout.dropped,
            stderr_dropped_bytes: self.stderr.dropped,
        }
    }
}

impl Kept {
    fn push(&mut self, bytes: &[u8], max: usize) {
        let room = max.saturating_sub(self.taken).min(bytes.len());
        let (kept, beyond) = bytes.split_at(room);
        self.taken += kept.len();
        self.dropped = self.dropped.saturating_add(beyond.len() as u64);
        let mut pending = std::mem::take(&mut self.tail);
        pending.extend_from_slice(kept);
        let mut rest: &[u8] = &pending;
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.text.push_str(text);
                    return;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.text.push_str(&String::from_utf8_lossy(valid));
                    let Some(wrong) = error.error_len() else {
                        self.tail = after.to_vec();
                        return;
                    };
                    self.text.push(char::REPLACEMENT_CHARACTER);
                    rest = &after[wrong..];
                }
            }
        }
    }

    fn end(&mut self) {
        if !std::mem::take(&mut self.tail).is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// A text that nothing can come of when it is shown: what controls terminals, directions or widths becomes a sign. Line ends
/// and tabs stay.
pub fn inert(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\t' => shown.push(letter),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\0'..='\u{1f}' => {
                shown.push(char::from_u32(PICTURES + u32::from(letter)).unwrap_or(letter));
            }
            '\u{7f}' => shown.push('\u{2421}'),
            letter if is_hidden(letter) => {
                // A string takes all that is written to it.
                let _ = write!(shown, "⟨U+{:04X}⟩", u32::from(letter));
            }
            letter => shown.push(letter),
        }
    }
    shown
}

/// Where the pictures of control characters begin.
const PICTURES: u32 = 0x2400;

/// Whether a character is not seen itself, but changes how others are.
fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{180b}'..='\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_beyond_the_cap_is_counted_and_dropped() {
        let mut collected = Collected::default();
        collected.push(Stream::Stdout, b"abc", 4);
        collected.push(Stream::Stdout, b"def", 4);
        collected.push(Stream::Stderr, b"x", 4);
        let output = collected.end();
        assert_eq!((output.stdout.as_str(), output.stdout_dropped_bytes), ("abcd", 2));
        assert_eq!((output.stderr.as_str(), output.stderr_dropped_bytes), ("x", 0));
    }

    #[test]
    fn a_character_that_is_cut_off_is_told_at_the_end() {
        let mut collected = Collected::default();
        collected.push(Stream::Stdout, &[b'a', 0xe2, 0x82], 100);
        assert_eq!(collected.text(Stream::Stdout), "a");
        assert_eq!(collected.end().stdout, "a\u{fffd}");
    }

    #[test]
    fn what_controls_how_text_is_shown_becomes_a_sign() {
        let check = |text: &str, expected: &str| assert_eq!(inert(text), expected);
        check("plain ä 漢 😀\ttab\nline\r\nend", "plain ä 漢 😀\ttab\nline\nend");
        check("\u{1b}[2J\u{1b}]0;title\u{7}", "␛[2J␛]0;title␇");
        check("a\rb\u{0}\u{7f}\u{9b}1m", "a␍b␀␡⟨U+009B⟩1m");
        check("\u{202e}gpj\u{2066}.exe\u{200b}\u{feff}", "⟨U+202E⟩gpj⟨U+2066⟩.exe⟨U+200B⟩⟨U+FEFF⟩");
        check("\u{e0041}<script>", "⟨U+E0041⟩<script>");
    }

    proptest! {
        #[test]
        fn pieces_decode_as_the_whole_does(bytes: Vec<u8>, cuts: Vec<usize>) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let mut collected = Collected::default();
            let mut from = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                collected.push(Stream::Stdout, &bytes[from..cut], bytes.len());
                from = cut;
            }
            prop_assert_eq!(collected.end().stdout, String::from_utf8_lossy(&bytes));
        }
    }
}
