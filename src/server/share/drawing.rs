//! A card as SVG: pure, so that what an image says can be read in a test. Every text is escaped.
//!
//! Not here: how an SVG becomes pixels. That is `raster`.

use std::fmt::Write as _;

use quick_xml::escape::escape;

use super::facts::{Card, Fact, Value};
use crate::catalog::shape::Exactness;
use crate::parts::preview::{IMAGE_HEIGHT as HEIGHT, IMAGE_WIDTH as WIDTH};

/// Nothing is drawn nearer to the edges.
const MARGIN: u32 = 72;
/// Lines of a title, at most; what is longer ends with an ellipsis.
const TITLE_LINES_MAX: usize = 2;
/// Sizes of a title, the first that fits.
const TITLE_SIZES: [u32; 4] = [72, 60, 50, TITLE_SIZE_LEAST];
/// What a title has to fit in, else it is cut.
const TITLE_SIZE_LEAST: u32 = 44;
/// The largest size of a title in two lines.
const TITLE_SIZE_OF_TWO: u32 = 50;
/// Sizes of a value, the first that fits; in a table, from the third on.
const VALUE_SIZES: [u32; 5] = [42, 36, 30, 25, 21];
/// The size of everything else.
const TEXT_SIZE: u32 = 25;
/// The size of what stands at the edges.
const SMALL_SIZE: u32 = 22;
/// Where the facts begin.
const FACTS_TOP: u32 = 348;
/// Where the last line stands.
const FOOT: u32 = 588;
/// The space between two columns.
const GAP: u32 = 32;
/// The space between a value and how firm it is.
const MARK_GAP: u32 = 14;
/// How wide the questions of a table are.
const LABELS_WIDTH: u32 = 300;

// The site's light palette: the tokens of the stylesheet, in the only notation that SVG 1.1 knows.
const PAPER: &str = "#fcfcf9";
const INK: &str = "#1b1f29";
const INK_SOFT: &str = "#505561";
const RULE: &str = "#ced1d8";
const BLUE: &str = "#1d49a0";
const AMBER: &str = "#744200";

/// One line of text: where, how large, how it looks.
#[derive(Clone, Copy)]
struct Line {
    x: u32,
    y: u32,
    size: u32,
    colour: &'static str,
    is_strong: bool,
    is_at_end: bool,
}

/// The whole image.
pub fn draw(card: &Card) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"Inter\">\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"{PAPER}\"/>"
    );
    brand(&mut svg);
    title(&mut svg, card);
    rule(&mut svg, FACTS_TOP - 44);
    if card.columns.is_empty() {
        grid(&mut svg, &card.facts);
    } else {
        table(&mut svg, card);
    }
    let small = Line { size: SMALL_SIZE, ..soft(MARGIN, FOOT) };
    text(&mut svg, small, &card.remark);
    let end = Line { x: WIDTH - MARGIN, is_at_end: true, ..small };
    text(&mut svg, end, &card.day.to_string());
    svg.push_str("</svg>");
    svg
}

/// The mark of `public/favicon.svg`, the name, and what it is.
fn brand(svg: &mut String) {
    push(
        svg,
        format_args!(
            "<g transform=\"translate({MARGIN} 52) scale(1.625)\">\
             <rect width=\"32\" height=\"32\" rx=\"6\" fill=\"{BLUE}\"/>\
             <path d=\"M7 8h18v4h-7v9h-4v-9H7zM6 25h20v2H6z\" fill=\"{PAPER}\"/></g>"
        ),
    );
    text(svg, Line { size: 38, ..strong(MARGIN + 70, 92) }, "Thud");
    let end = Line { x: WIDTH - MARGIN, is_at_end: true, ..soft(0, 90) };
    text(svg, end, "The open catalog of code sandboxes");
}

fn title(svg: &mut String, card: &Card) {
    let width = WIDTH - 2 * MARGIN;
    let fits = |size: u32, lines: &[String]| {
        let lines_max = if size > TITLE_SIZE_OF_TWO { 1 } else { TITLE_LINES_MAX };
        lines.len() <= lines_max && lines.iter().all(|line| wide(line, size) <= width)
    };
    let (size, lines) = TITLE_SIZES
        .iter()
        .map(|size| (*size, wrapped(&card.title, *size, width)))
        .find(|(size, lines)| fits(*size, lines))
        .unwrap_or_else(|| (TITLE_SIZE_LEAST, shortened(&card.title, TITLE_SIZE_LEAST, width)));
    let top = if lines.len() < TITLE_LINES_MAX { 142 } else { 126 };
    let mut y = top + size;
    for line in &lines {
        text(svg, Line { size, ..strong(MARGIN, y) }, line);
        y += size + size / 6;
    }
    text(svg, soft(MARGIN, y - size + TEXT_SIZE + 12), &card.lead);
}

/// Two facts beside two.
fn grid(svg: &mut String, facts: &[Fact]) {
    let width = (WIDTH - 2 * MARGIN - GAP) / 2;
    let places = [(0, 0), (1, 0), (0, 1), (1, 1)];
    for (fact, (column, row)) in facts.iter().zip(places) {
        let (x, y) = (MARGIN + column * (width + GAP), FACTS_TOP + row * 100);
        text(svg, soft(x, y), &fact.label);
        if let Some(one) = fact.values.first() {
            value(svg, one, (x, y + 48), &VALUE_SIZES, width);
        }
    }
}

/// A row for each fact, a column for each provider.
fn table(svg: &mut String, card: &Card) {
    let columns = u32::try_from(card.columns.len()).unwrap_or(1).max(1);
    let width = (WIDTH - 2 * MARGIN - LABELS_WIDTH) / columns;
    let place = |column: usize| {
        MARGIN + LABELS_WIDTH + u32::try_from(column).unwrap_or(0).min(columns) * width
    };
    for (column, name) in card.columns.iter().enumerate() {
        let size = fitting(name, &[TEXT_SIZE, SMALL_SIZE], width - GAP);
        let name = cut(name, size, width - GAP);
        text(svg, Line { size, ..strong(place(column), FACTS_TOP) }, &name);
    }
    let mut y = FACTS_TOP;
    for fact in &card.facts {
        y += 45;
        text(svg, soft(MARGIN, y), &fact.label);
        for (column, one) in fact.values.iter().enumerate() {
            value(svg, one, (place(column), y), &VALUE_SIZES[2..], width - GAP);
        }
    }
}

/// A value and, right behind it, how firm it is, in a space of some width.
fn value(svg: &mut String, value: &Value, (x, y): (u32, u32), sizes: &[u32], width: u32) {
    let mark = value.mark.map_or(0, |mark| MARK_GAP + wide(mark, SMALL_SIZE));
    let width = width.saturating_sub(mark);
    let size = fitting(&value.text, sizes, width);
    let line = if value.is_known { strong(x, y) } else { soft(x, y) };
    let beside = value.mark.map(|mark| {
        let colour = if mark == Exactness::Exact.label() { INK_SOFT } else { AMBER };
        format!(
            "<tspan dx=\"{MARK_GAP}\" font-size=\"{SMALL_SIZE}\" font-weight=\"400\" \
             fill=\"{colour}\">{}</tspan>",
            escaped(mark)
        )
    });
    let words = escaped(&cut(&value.text, size, width)) + &beside.unwrap_or_default();
    markup(svg, Line { size, ..line }, &words);
}

fn rule(svg: &mut String, y: u32) {
    let width = WIDTH - 2 * MARGIN;
    push(
        svg,
        format_args!(
            "<rect x=\"{MARGIN}\" y=\"{y}\" width=\"{width}\" height=\"2\" fill=\"{RULE}\"/>"
        ),
    );
}

fn strong(x: u32, y: u32) -> Line {
    Line { x, y, size: TEXT_SIZE, colour: INK, is_strong: true, is_at_end: false }
}

fn soft(x: u32, y: u32) -> Line {
    Line { colour: INK_SOFT, is_strong: false, ..strong(x, y) }
}

fn text(svg: &mut String, line: Line, words: &str) {
    markup(svg, line, &escaped(words));
}

/// A line of words that are escaped already.
fn markup(svg: &mut String, line: Line, words: &str) {
    let Line { x, y, size, colour, .. } = line;
    let weight = if line.is_strong { 600 } else { 400 };
    let anchor = if line.is_at_end { "end" } else { "start" };
    push(
        svg,
        format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" font-weight=\"{weight}\" \
             text-anchor=\"{anchor}\" fill=\"{colour}\">{words}</text>"
        ),
    );
}

/// Words as XML; it has no way at all to write control characters.
fn escaped(words: &str) -> String {
    let words: String = words.chars().filter(|letter| !letter.is_control()).collect();
    escape(words.as_str()).into_owned()
}

fn push(svg: &mut String, markup: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = svg.write_fmt(markup);
}

/// The first size by which a text fits, else the last.
fn fitting(words: &str, sizes: &[u32], width: u32) -> u32 {
    let fits = sizes.iter().find(|size| wide(words, **size) <= width);
    fits.or(sizes.last()).copied().unwrap_or(TEXT_SIZE)
}

/// A text in lines of some width, broken between words.
fn wrapped(words: &str, size: u32, width: u32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split_whitespace() {
        match lines.last_mut() {
            Some(line) if wide(&format!("{line} {word}"), size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The first lines of a text, with an ellipsis where something is left out.
fn shortened(words: &str, size: u32, width: u32) -> Vec<String> {
    let mut lines = wrapped(words, size, width);
    if lines.len() > TITLE_LINES_MAX {
        lines.truncate(TITLE_LINES_MAX);
        lines.iter_mut().skip(TITLE_LINES_MAX - 1).for_each(|last| last.push('…'));
    }
    lines.iter().map(|line| cut(line, size, width)).collect()
}

/// A text that fits: as it is, or as much of it as leaves room for an ellipsis.
fn cut(words: &str, size: u32, width: u32) -> String {
    let mut kept = words.to_owned();
    while wide(&kept, size) > width && kept != "…" {
        kept.truncate(kept.trim_end_matches('…').len());
        kept.pop();
        kept.push('…');
    }
    kept
}

/// About how wide a text is in the heavier font, rather too much than too little.
fn wide(words: &str, size: u32) -> u32 {
    let thousandths: u32 = words.chars().map(thousandths).sum();
    thousandths * size / 1_000
}

/// The width of a letter in thousandths of its size, by kind.
fn thousandths(letter: char) -> u32 {
    match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 300,
        ' ' => 270,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' | '"' => 400,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '—' => 930,
        'A'..='Z' | '&' => 760,
        '0'..='9' | '$' => 660,
        '\u{20}'..='\u{17f}' => 630,
        _ => 1_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use resvg::usvg::roxmltree::{Document, Node};

    fn card(title: &str, value: &str) -> Card {
        let value = Value { text: value.to_owned(), mark: Some("depends"), is_known: true };
        Card {
            title: title.to_owned(),
            lead: "Hosted, listed".to_owned(),
            columns: Vec::new(),
            facts: vec![Fact { label: "An hour, list".to_owned(), values: vec![value] }],
            remark: "A remark".to_owned(),
            day: date(2026, 11, 30),
        }
    }

    #[test]
    fn a_name_cannot_break_out_of_its_text() {
        let svg = draw(&card("</text><script>&\"'", "\"<&\u{0}\u{1b}"));
        let drawn = roundtrip(&svg);
        assert!(drawn.contains(&"</text><script>&\"'".to_owned()), "{drawn:?}");
        assert!(drawn.contains(&"\"<&".to_owned()), "{drawn:?}");
        assert!(!svg.contains("<script"), "{svg}");
    }

    #[test]
    fn what_is_drawn_is_what_the_card_says() {
        let drawn = roundtrip(&draw(&card("E2B", "$0.0828")));
        for words in ["Thud", "E2B", "An hour, list", "$0.0828", "depends", "2026-11-30"] {
            assert!(drawn.contains(&words.to_owned()), "{words}: {drawn:?}");
        }
    }

    #[test]
    fn a_title_is_never_more_than_two_lines_and_says_where_it_was_cut() {
        let long = "word ".repeat(80);
        let drawn = roundtrip(&draw(&card(&long, "1")));
        let lines: Vec<&String> = drawn.iter().filter(|text| text.contains("word")).collect();
        assert_eq!(lines.len(), TITLE_LINES_MAX, "{lines:?}");
        assert!(!lines[0].contains('…') && lines[1].ends_with('…'), "{lines:?}");
        assert!(!draw(&card("E2B", "1")).contains('…'));
    }

    #[test]
    fn what_cannot_be_broken_is_cut_to_its_space() {
        let long = "W".repeat(200);
        for words in roundtrip(&draw(&card(&long, &long))) {
            assert!(words.chars().count() < 80, "{words}");
        }
        assert_eq!(cut("Daytona", 25, 1_000), "Daytona");
        assert_eq!(cut("Daytona", 25, 0), "…");
    }

    /// Every text of an SVG as an XML reader sees it.
    fn roundtrip(svg: &str) -> Vec<String> {
        let document = Document::parse(svg).unwrap();
        let texts = document.descendants().filter(Node::is_text);
        texts.map(|node| node.text().unwrap_or_default().to_owned()).collect()
    }
}
