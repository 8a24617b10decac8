//! JSON as Python writes it, since clients may have grown used to its blanks: `{"a": 1, "b": "\u00fc"}`.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

struct Python;

impl Formatter for Python {
    fn begin_array_value<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for character in fragment.chars() {
            if character.is_ascii() {
                write!(writer, "{character}")?;
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }
}

/// A value and the end of its line.
pub fn line(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What is written here are structures with texts for keys into a vector: neither can fail.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, Python));
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_python_writes() {
        let value = serde_json::json!({"a": [1, "ü🐍\n"], "b": null});
        let expected = "{\"a\": [1, \"\\u00fc\\ud83d\\udc0d\\n\"], \"b\": null}\n";
        assert_eq!(String::from_utf8(line(&value)).unwrap(), expected);
    }
}
