//! How large the site's files are, and how large they may be. Nothing is written here.

use std::path::Path;

use anyhow::{Result, bail};

use crate::assets::{self, Files, is_twin, twin};

/// The page budgets of the house. Bytes as a visitor's connection counts them: brotli for wasm; for CSS
/// what the browser has to read.
const BUDGETS: [Budget; 2] = [
    Budget { file: "pkg/thud.wasm", measure: Measure::Brotli, limit_bytes: 150_000 },
    Budget { file: "pkg/thud.css", measure: Measure::Raw, limit_bytes: 15_000 },
];

/// Prints every file's sizes and fails if one is over its budget.
pub fn check(site: &Path) -> Result<()> {
    let rows = measure(&assets::read(site)?);
    print!("\n{}", table(&rows));
    let over: Vec<_> = rows.iter().filter(|row| row.over()).map(|row| row.file.as_str()).collect();
    if !over.is_empty() {
        bail!("over budget: {}", over.join(", "));
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Measure {
    Raw,
    Brotli,
}

#[derive(Clone, Copy)]
struct Budget {
    file: &'static str,
    measure: Measure,
    limit_bytes: usize,
}

struct Row {
    file: String,
    raw_bytes: usize,
    brotli_bytes: Option<usize>,
    budget: Option<Budget>,
}

impl Row {
    fn over(&self) -> bool {
        self.budget.is_some_and(|budget| match budget.measure {
            Measure::Raw => self.raw_bytes > budget.limit_bytes,
            // Not compressed counts as it is.
            Measure::Brotli => self.brotli_bytes.unwrap_or(self.raw_bytes) > budget.limit_bytes,
        })
    }
}

fn measure(files: &Files) -> Vec<Row> {
    let originals = files.iter().filter(|(path, _)| !is_twin(path));
    originals
        .map(|(path, content)| {
            let file = path.to_string_lossy().into_owned();
            Row {
                raw_bytes: content.len(),
                brotli_bytes: files.get(&twin(path, "br")).map(Vec::len),
                budget: BUDGETS.into_iter().find(|budget| budget.file == file),
                file,
            }
        })
        .collect()
}

fn table(rows: &[Row]) -> String {
    let mut text =
        format!("{:<40} {:>10} {:>10} {:>16}  {}\n", "asset", "raw", "brotli", "budget", "verdict");
    for row in rows {
        let brotli = row.brotli_bytes.map_or_else(|| "–".to_owned(), kilobytes);
        let (budget, verdict) = match row.budget {
            None => ("–".to_owned(), ""),
            Some(budget) => {
                let measure = match budget.measure {
                    Measure::Raw => "raw",
                    Measure::Brotli => "brotli",
                };
                let verdict = if row.over() { "OVER" } else { "fits" };
                (format!("{} {measure}", kilobytes(budget.limit_bytes)), verdict)
            }
        };
        let raw = kilobytes(row.raw_bytes);
        let line = format!("{:<40} {raw:>10} {brotli:>10} {budget:>16}  {verdict}", row.file);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Thousands of bytes with one decimal.
fn kilobytes(bytes: usize) -> String {
    let tenths = (bytes + 50) / 100;
    format!("{}.{} kB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn files(list: &[(&str, usize)]) -> Files {
        list.iter().map(|(path, bytes)| (PathBuf::from(path), vec![b'x'; *bytes])).collect()
    }

    #[test]
    fn wasm_is_measured_compressed_and_css_as_it_is() {
        let rows = measure(&files(&[
            ("pkg/thud.css", 15_001),
            ("pkg/thud.css.br", 3_000),
            ("pkg/thud.wasm", 400_000),
            ("pkg/thud.wasm.br", 150_000),
        ]));
        let verdicts: Vec<_> = rows.iter().map(|row| (row.file.as_str(), row.over())).collect();
        assert_eq!(verdicts, [("pkg/thud.css", true), ("pkg/thud.wasm", false)]);
    }

    #[test]
    fn wasm_that_is_not_compressed_counts_as_it_is() {
        assert!(measure(&files(&[("pkg/thud.wasm", 150_001)]))[0].over());
    }

    #[test]
    fn a_file_without_a_budget_is_listed_and_passes() {
        let rows = measure(&files(&[("favicon.svg", 999_999)]));
        assert!(!rows[0].over());
        assert!(table(&rows).contains("favicon.svg"));
    }

    #[test]
    fn sizes_are_rounded_to_a_tenth() {
        assert_eq!(kilobytes(0), "0.0 kB");
        assert_eq!(kilobytes(14_949), "14.9 kB");
        assert_eq!(kilobytes(14_950), "15.0 kB");
    }
}
