//! The files that the server serves as they are: the browser half, the stylesheet, `public/`, and their compressed
//! twins. Nothing is compiled here.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use lightningcss::stylesheet::{ParserOptions, PrinterOptions, StyleSheet};

use crate::browser_half::NAME;
use crate::build::Effort;
use crate::project::Project;

/// What a compression is worth trying on; pictures and fonts are compressed already.
const COMPRESSIBLE: [&str; 9] =
    ["css", "html", "js", "json", "svg", "txt", "wasm", "webmanifest", "xml"];
const COMPRESSED: [&str; 2] = ["br", "gz"];

const BROTLI_QUALITY: u32 = 11;
const BROTLI_WINDOW: u32 = 22;
const BROTLI_BUFFER_BYTES: usize = 4096;

/// Every file below the site's folder, by its path there.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

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

/// Every file below the site's folder, twins included.
pub fn read(site: &Path) -> Result<Files> {
    let mut files = Files::new();
    collect(site, Path::new(""), &mut files)?;
    Ok(files)
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

/// Whether a file is the compressed twin of another.
pub fn is_twin(path: &Path) -> bool {
    has_extension(path, &COMPRESSED)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| extensions.contains(&extension))
}

/// `a.css` has the twin `a.css.br`.
pub fn twin(path: &Path, extension: &str) -> PathBuf {
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
