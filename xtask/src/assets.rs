//! The files that the server serves as they are: the browser half, the stylesheet, `public/`; their compressed
//! twins; their sizes against the budgets. Nothing is compiled here.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use lightningcss::stylesheet::{ParserOptions, PrinterOptions, StyleSheet};

use crate::browser_half::NAME;
use crate::build::Effort;
use crate::project::Project;

/// The page budgets of the house. Bytes as a visitor's connection counts them: brotli for wasm; for CSS
/// what the browser has to read.
const BUDGETS: [Budget; 2] = [
    Budget { file: "pkg/thud.wasm", measure: Measure::Brotli, limit_bytes: 150_000 },
    Budget { file: "pkg/thud.css", measure: Measure::Raw, limit_bytes: 15_000 },
];

/// What a compression is worth trying on; pictures and fonts are compressed already.
const COMPRESSIBLE: [&str; 9] =
    ["css", "html", "js", "json", "svg", "txt", "wasm", "webmanifest", "xml"];
const COMPRESSED: [&str; 2] = ["br", "gz"];

const BROTLI_QUALITY: u32 = 11;
const BROTLI_WINDOW: u32 = 22;
const BROTLI_BUFFER_BYTES: usize = 4096;

/// Every file below the site's folder, by its path there.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Lays the site's folder anew, touching only files that differ.
pub fn lay(project: &Project, browser_half: &Path, effort: Effort) -> Result<()> {
    let mut files = Files::new();
    collect(&project.root.join("public"), Path::new(""), &mut files)?;
    collect(browser_half, Path::new("pkg"), &mut files)?;
    files.insert(PathBuf::from("pkg").join(format!("{NAME}.css")), stylesheet(project)?);

    let site = project.site();
    fs::create_dir_all(&site)?;
    remove_strangers(&site, &site, &files)?;
    for (path, content) in &files {
        let target = site.join(path);
        let unchanged = fs::read(&target).is_ok_and(|earlier| earlier == *content);
        if !unchanged {
            fs::create_dir_all(target.parent().context("a file lies in a folder")?)?;
            // First: no twin may outlive what it is a twin of.
            remove_twins(&target)?;
            fs::write(&target, content)?;
        }
        if effort == Effort::Release && is_compressible(path) {
            write_twins(&target, content)?;
        }
    }
    Ok(())
}

/// Prints every asset's sizes and fails if one is over its budget.
pub fn check_budgets(site: &Path) -> Result<()> {
    let mut files = Files::new();
    collect(site, Path::new(""), &mut files)?;
    let rows = measure(&files);
    println!("\n{}", table(&rows));
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

/// The whole stylesheet, smaller by all that a browser does not need; a mistake in it ends the build.
fn stylesheet(project: &Project) -> Result<Vec<u8>> {
    let path = project.root.join("style/main.css");
    let source =
        fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(minify(&source).map_err(|problem| anyhow!("style/main.css: {problem}"))?.into_bytes())
}

fn minify(source: &str) -> Result<String, String> {
    let sheet = StyleSheet::parse(source, ParserOptions::default())
        .map_err(|problem| problem.to_string())?;
    let options = PrinterOptions { minify: true, ..PrinterOptions::default() };
    let printed = sheet.to_css(options).map_err(|problem| problem.to_string())?;
    Ok(printed.code)
}

/// Reads every file below a folder; a missing folder has none.
fn collect(folder: &Path, prefix: &Path, files: &mut Files) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = prefix.join(entry.file_name());
        if entry.path().is_dir() {
            collect(&entry.path(), &path, files)?;
        } else {
            files.insert(path, fs::read(entry.path())?);
        }
    }
    Ok(())
}

/// Removes what an earlier build left and this one does not have.
fn remove_strangers(folder: &Path, site: &Path, files: &Files) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_strangers(&path, site, files)?;
            continue;
        }
        let relative = path.strip_prefix(site)?;
        let original =
            if is_twin(relative) { relative.with_extension("") } else { relative.to_owned() };
        if !files.contains_key(relative) && !files.contains_key(&original) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn is_compressible(path: &Path) -> bool {
    has_extension(path, &COMPRESSIBLE)
}

fn is_twin(path: &Path) -> bool {
    has_extension(path, &COMPRESSED)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| extensions.contains(&extension))
}

/// `a.css` has the twin `a.css.br`.
fn twin(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

fn remove_twins(path: &Path) -> Result<()> {
    for extension in COMPRESSED {
        let twin = twin(path, extension);
        if twin.exists() {
            fs::remove_file(twin)?;
        }
    }
    Ok(())
}

/// Writes the compressed twins, unless they are there: `lay` has removed those of a file that changed.
fn write_twins(path: &Path, content: &[u8]) -> Result<()> {
    let [brotli_twin, gzip_twin] = COMPRESSED.map(|extension| twin(path, extension));
    if !brotli_twin.exists() {
        let mut compressed = Vec::new();
        brotli::CompressorReader::new(content, BROTLI_BUFFER_BYTES, BROTLI_QUALITY, BROTLI_WINDOW)
            .read_to_end(&mut compressed)?;
        fs::write(brotli_twin, compressed)?;
    }
    if !gzip_twin.exists() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(content)?;
        fs::write(gzip_twin, encoder.finish()?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn modern_css_survives_minifying() {
        let source = "@layer a, b; @layer b { .t { container: p / inline-size; & th { width: clamp(1rem, 2vw + 1rem, 3rem) } } \
                      @container p (inline-size > 30rem) and (inline-size <= 60rem) { :where(.t, .u) > td { \
                      color: color-mix(in oklch, var(--x) 60%, transparent) } } }";
        let expected = "@layer a,b;@layer b{.t{container:p/inline-size;& th{width:clamp(1rem,2vw + 1rem,3rem)}}\
                        @container p (inline-size>30rem) and (inline-size<=60rem){:where(.t,.u)>td{\
                        color:color-mix(in oklch, var(--x) 60%, transparent)}}}";
        assert_eq!(minify(source).as_deref(), Ok(expected));
    }

    #[test]
    fn a_mistake_in_css_is_an_error() {
        assert!(minify("a { color: red").is_ok(), "an open block at the end is legal CSS");
        assert!(minify("a { color red } }").is_err());
    }
}
