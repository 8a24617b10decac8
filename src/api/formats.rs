//! Tables as CSV and Markdown. The same answer as JSON is made by `views`.

use csv::{QuoteStyle, WriterBuilder};

use crate::catalog::claim::Address;

/// A value of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Datum {
    /// Words.
    Text(String),
    /// A plain decimal, which a spreadsheet may add up.
    Number(String),
    /// A web address.
    Address(String),
    /// No value.
    None,
}

impl Datum {
    /// Words, or no value.
    pub fn text(words: Option<impl Into<String>>) -> Self {
        words.map_or(Self::None, |words| Self::Text(words.into()))
    }

    /// A plain decimal, or no value.
    pub fn number(number: Option<impl ToString>) -> Self {
        number.map_or(Self::None, |number| Self::Number(number.to_string()))
    }

    /// An address if it looks like one, else words; or no value.
    pub fn reference(reference: Option<&str>) -> Self {
        match reference {
            Some(text) => match Address::parse_text(text) {
                Ok(Address(url)) => Self::Address(url),
                Err(_) => Self::from(text),
            },
            None => Self::None,
        }
    }
}

impl From<&str> for Datum {
    fn from(words: &str) -> Self {
        Self::Text(words.to_owned())
    }
}

impl From<String> for Datum {
    fn from(words: String) -> Self {
        Self::Text(words)
    }
}

/// Rows under a header, which names the units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it is about, where there are several.
    pub title: Option<String>,
    /// What is to be known of it, or why it is empty.
    pub remark: Option<String>,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Values, one for each column.
    pub rows: Vec<Vec<Datum>>,
}

impl Table {
    /// Rows under a header.
    pub fn new<'a>(
        header: impl IntoIterator<Item = &'a str>,
        rows: impl IntoIterator<Item = Vec<Datum>>,
    ) -> Self {
        Self {
            title: None,
            remark: None,
            header: header.into_iter().map(str::to_owned).collect(),
            rows: rows.into_iter().collect(),
        }
    }

    /// The same under a title.
    #[must_use]
    pub fn titled(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }
}

/// An answer for people and spreadsheets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// Its title.
    pub title: String,
    /// What is to be known of all of it.
    pub remarks: Vec<String>,
    /// As data: one table with one fact a row or one provider a row.
    pub data: Table,
    /// As the page shows it.
    pub shown: Vec<Table>,
}

/// Characters with which a spreadsheet begins a formula, and those that it skips before one.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// RFC 4180. A text that a spreadsheet would take for a formula is led by an apostrophe, as OWASP recommends.
pub fn csv(table: &Table) -> String {
    let mut writer =
        WriterBuilder::new().quote_style(QuoteStyle::Necessary).from_writer(Vec::new());
    let mut write = |record: Vec<String>| {
        // Writing to memory does not fail, and every row is as long as the header.
        let _ = writer.write_record(record);
    };
    write(table.header.clone());
    for row in &table.rows {
        write(row.iter().map(csv_value).collect());
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn csv_value(datum: &Datum) -> String {
    match datum {
        Datum::None => String::new(),
        Datum::Number(number) if is_plain_number(number) => number.clone(),
        Datum::Text(text) | Datum::Address(text) | Datum::Number(text) => {
            if text.trim_start().starts_with(FORMULA) || text.starts_with(FORMULA) {
                format!("'{text}")
            } else {
                text.clone()
            }
        }
    }
}

fn is_plain_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Markdown with tables, as GitHub and its kin read it.
pub fn markdown(sheet: &Sheet, foot: &str) -> String {
    let mut blocks = vec![format!("# {}", md_text(&sheet.title))];
    blocks.extend(sheet.remarks.iter().map(|remark| md_text(remark)));
    for table in &sheet.shown {
        blocks.extend(table.title.iter().map(|title| format!("## {}", md_text(title))));
        if !table.rows.is_empty() {
            blocks.push(md_table(table));
        }
        blocks.extend(table.remark.iter().map(|remark| md_text(remark)));
    }
    blocks.push(md_text(foot));
    blocks.join("\n\n") + "\n"
}

fn md_table(table: &Table) -> String {
    let columns = 0..table.header.len();
    let mut lines = vec![
        md_row(table.header.iter().map(|name| md_text(name))),
        md_row(columns.map(|column| if is_figures(table, column) { "---:" } else { "---" })),
    ];
    lines.extend(table.rows.iter().map(|row| md_row(row.iter().map(md_value))));
    lines.join("\n")
}

/// Whether a column holds nothing but figures, which stand at its end.
fn is_figures(table: &Table, column: usize) -> bool {
    let values = || table.rows.iter().filter_map(|row| row.get(column));
    values().any(|value| matches!(value, Datum::Number(_)))
        && values().all(|value| matches!(value, Datum::Number(_) | Datum::None))
}

fn md_row(values: impl Iterator<Item = impl AsRef<str>>) -> String {
    values.fold("|".to_owned(), |row, value| format!("{row} {} |", value.as_ref()))
}

fn md_value(datum: &Datum) -> String {
    match datum {
        Datum::None => String::new(),
        Datum::Number(number) => number.clone(),
        Datum::Text(text) => md_text(text),
        Datum::Address(url) => format!("<{}>", url.replace('|', "%7C")),
    }
}

/// Words of others as plain text: nothing in them is a mark, a table's end or HTML.
fn md_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let text = text.trim_start();
    // A dash, a plus or a number with a point begins a list, where it begins a line.
    let digits = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if text.starts_with(['-', '+', '=']) {
        plain.push('\\');
    } else if digits.len() < text.len() && digits.starts_with(['.', ')']) {
        let number = text.len() - digits.len();
        plain.push_str(&text[..number]);
        plain.push('\\');
        return plain + &md_text(&text[number..]);
    }
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => plain.push(' '),
            '\\' | '|' | '*' | '_' | '[' | ']' | '<' | '>' | '`' | '~' | '#' | '&' => {
                plain.push('\\');
                plain.push(letter);
            }
            _ => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(row: Vec<Datum>) -> Table {
        let names = ["a", "b", "c"];
        Table::new(names.into_iter().take(row.len()), [row])
    }

    #[test]
    fn a_formula_is_only_text_to_a_spreadsheet() {
        for text in ["=1+1", "+1", "-1", "@sum(a1)", "\t=1", " =1", "\r=1"] {
            let written = csv(&table(vec![Datum::from(text), Datum::from("b")]));
            let line = written.lines().nth(1).unwrap().trim_start_matches('"');
            assert!(line.starts_with('\''), "{text:?} became {line:?}");
        }
        let written =
            csv(&table(vec![Datum::Number("0.0504".to_owned()), Datum::Number("-1".to_owned())]));
        assert_eq!(written.lines().nth(1).unwrap(), "0.0504,'-1");
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let written = csv(&table(vec![Datum::from("a, \"b\"\nc"), Datum::None]));
        assert_eq!(written, "a,b\n\"a, \"\"b\"\"\nc\",\n");
    }

    #[test]
    fn markdown_takes_nobodys_words_for_marks() {
        let sheet = Sheet {
            title: "A | <b>".to_owned(),
            remarks: Vec::new(),
            data: table(Vec::new()),
            shown: vec![table(vec![
                Datum::from("x | y\n[z](javascript:1)"),
                Datum::Number("1".to_owned()),
            ])],
        };
        let text = markdown(&sheet, "foot");
        assert!(text.starts_with("# A \\| \\<b\\>\n"), "{text}");
        assert!(text.contains("| x \\| y \\[z\\](javascript:1) | 1 |"), "{text}");
        assert!(text.contains("| --- | ---: |"), "{text}");
    }
}
