//! `catalog/*.toml` to [`Catalog`]: every problem of every file is reported at once, with file, line and key.
//!
//! Tables are walked by hand rather than by serde, which would stop at the first problem of a file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use include_dir::{Dir, include_dir};
use jiff::civil::Date;
use sha2::{Digest, Sha256};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub mod keys;
mod rows;

use rows::attach;

use super::Catalog;
use super::claim::{Address, Claim, Dispute, Evidence, Raw, Rival, Seen, Source, Stated, Value};
use super::freshness;
use super::plan::Plan;
use super::price::{Allowance, Assumption, Fee, Preset, Price};
use super::provider::{
    Api, Billing, Change, Compliance, Concurrency, Credit, Deploy, Detail, Egress, Identity,
    Isolation, Lifecycle, Placement, Provider, ProviderSlug, ReadClaims, Size, Sla, Start, Time,
    Variant,
};
use super::score::{Measurement, Score, Statistic};
use super::word::{
    Basis, Beginning, By, Component, Confidence, Kind, PriceKind, Scope, ScoreKind, Status,
};
use crate::hash::hexadecimal;
use crate::money::{Measured, Quantity, Rate, RateUnit, Usd};

/// The catalog that is built in.
static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/catalog");
/// The version of the file format that is read.
const SCHEMA_VERSION: i64 = 1;
/// Larger files are refused unread.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// More files than this are no catalog.
const FILES_MAX: usize = 10_000;

/// One provider file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogFile {
    /// The file name without its ending.
    pub slug: String,
    /// Its text.
    pub text: String,
}

/// Something that is wrong in a file, and what is allowed there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 where it is about the file as a whole.
    pub line: usize,
    /// The key, with dots.
    pub key: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.file)?;
        if self.line > 0 {
            write!(formatter, ":{}", self.line)?;
        }
        if self.key.is_empty() {
            write!(formatter, ": {}", self.message)
        } else {
            write!(formatter, ": {} {}", self.key, self.message)
        }
    }
}

/// The files that are built in, by name.
pub fn embedded_files() -> Vec<CatalogFile> {
    let mut files: Vec<CatalogFile> = EMBEDDED
        .files()
        .filter(|file| file.path().extension().is_some_and(|ending| ending == "toml"))
        .filter_map(|file| {
            let slug = file.path().file_stem()?.to_str()?.to_owned();
            Some(CatalogFile { slug, text: file.contents_utf8()?.to_owned() })
        })
        .collect();
    files.sort_by(|left, right| left.slug.cmp(&right.slug));
    files
}

/// The files of a contributor's folder, by name. What cannot be read is a problem like any other.
pub fn files_in(folder: &Path) -> Result<Vec<CatalogFile>, Vec<Problem>> {
    let about = |file: &Path, message: String| Problem {
        file: file.display().to_string(),
        line: 0,
        key: String::new(),
        message,
    };
    let entries = std::fs::read_dir(folder)
        .map_err(|error| vec![about(folder, format!("cannot be read: {error}"))])?;
    let mut files = Vec::new();
    let mut problems = Vec::new();
    for (number, entry) in entries.enumerate() {
        if number >= FILES_MAX {
            problems.push(about(folder, format!("has more than {FILES_MAX} files")));
            break;
        }
        let path = match entry {
            Ok(entry) => entry.path(),
            Err(error) => {
                problems.push(about(folder, format!("cannot be read: {error}")));
                continue;
            }
        };
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let size = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        if size > FILE_BYTES_MAX {
            problems.push(about(&path, format!("is larger than {FILE_BYTES_MAX} bytes")));
            continue;
        }
        match (path.file_stem().and_then(|stem| stem.to_str()), std::fs::read_to_string(&path)) {
            (Some(slug), Ok(text)) => files.push(CatalogFile { slug: slug.to_owned(), text }),
            (None, _) => problems.push(about(&path, "has a name that is not UTF-8".to_owned())),
            (_, Err(error)) => problems.push(about(&path, format!("cannot be read: {error}"))),
        }
    }
    files.sort_by(|left, right| left.slug.cmp(&right.slug));
    if problems.is_empty() { Ok(files) } else { Err(problems) }
}

/// SHA-256 of all files, in hexadecimal: the identity of a revision.
pub fn digest(files: &[CatalogFile]) -> String {
    let mut hasher = Sha256::new();
    for file in files {
        // Lengths keep two different lists of files from having one digest.
        hasher.update(file.slug.len().to_le_bytes());
        hasher.update(&file.slug);
        hasher.update(file.text.len().to_le_bytes());
        hasher.update(&file.text);
    }
    hexadecimal(&hasher.finalize())
}

/// Reads every file. Either all of them are right, or every problem of all of them comes back.
///
/// `today` is the last day that a date may name.
pub fn load(files: &[CatalogFile], today: Date) -> Result<Catalog, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut providers = Vec::new();
    for file in files {
        let mut reader = FileReader::new(file, today);
        let provider = reader.provider();
        if reader.problems.is_empty() {
            providers.extend(provider);
        }
        problems.append(&mut reader.problems);
    }
    let about = |file: String, key: &str, message: String| Problem {
        file,
        line: 0,
        key: key.to_owned(),
        message,
    };
    if files.is_empty() {
        problems.push(about(
            "catalog".to_owned(),
            "",
            "is empty: at least one <slug>.toml is needed".to_owned(),
        ));
    }
    providers.sort_by_key(|provider: &Provider| provider.position);
    for pair in providers.windows(2) {
        if pair[0].position == pair[1].position {
            problems.push(about(
                format!("{}.toml", pair[1].slug),
                "position",
                format!(
                    "is {} at {} as well; each provider has its own",
                    pair[0].position, pair[0].slug
                ),
            ));
        }
    }
    if problems.is_empty() { Ok(Catalog::new(providers)) } else { Err(problems) }
}

/// What can be read of files that an older program wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readable {
    /// The providers of those that can be read.
    pub catalog: Catalog,
    /// The slugs of the others.
    pub refused: Vec<String>,
}

/// Reads every file by itself and leaves out those that are refused.
pub fn load_readable(files: &[CatalogFile], today: Date) -> Readable {
    let mut providers = Vec::new();
    let mut refused = Vec::new();
    for file in files {
        match load(std::slice::from_ref(file), today) {
            Ok(catalog) => providers.extend(catalog.providers().iter().cloned()),
            Err(_) => refused.push(file.slug.clone()),
        }
    }
    providers.sort_by_key(|provider: &Provider| provider.position);
    Readable { catalog: Catalog::new(providers), refused }
}

/// A table being read: which keys were asked for, so that the others can be reported.
struct Table<'a> {
    /// The dotted path of the table.
    path: String,
    /// Where it begins.
    offset: usize,
    entries: BTreeMap<&'a str, (&'a Spanned<DeValue<'a>>, bool)>,
}

impl<'a> Table<'a> {
    fn new(path: String, offset: usize, table: &'a DeTable<'a>) -> Self {
        let entries =
            table.iter().map(|(key, value)| (key.get_ref().as_ref(), (value, false))).collect();
        Self { path, offset, entries }
    }

    fn take(&mut self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.entries.get_mut(key).map(|(value, taken)| {
            *taken = true;
            *value
        })
    }

    fn key(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

/// One file being read.
struct FileReader<'a> {
    file: &'a CatalogFile,
    today: Date,
    sources: BTreeMap<String, Arc<Source>>,
    /// Keys declared as unknown or not applicable, and whether something asked for them.
    declared: BTreeMap<String, (bool, bool)>,
    problems: Vec<Problem>,
}

impl<'a> FileReader<'a> {
    fn new(file: &'a CatalogFile, today: Date) -> Self {
        Self {
            file,
            today,
            sources: BTreeMap::new(),
            declared: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    /// Notes a problem at an offset of the text, or of the file as a whole.
    fn problem(
        &mut self,
        offset: impl Into<Option<usize>>,
        key: impl Into<String>,
        message: impl Into<String>,
    ) {
        let before = offset.into().and_then(|offset| self.file.text.get(..offset));
        let line = |before: &str| before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        self.problems.push(Problem {
            file: format!("{}.toml", self.file.slug),
            line: before.map_or(0, line),
            key: key.into(),
            message: message.into(),
        });
    }

    /// Reports every key that nothing asked for.
    fn close(&mut self, table: &Table<'_>, allowed: &[&str]) {
        let allowed = allowed.join(", ");
        let unknown: Vec<(String, usize)> = table
            .entries
            .iter()
            .filter(|(_, (_, taken))| !taken)
            .map(|(key, (value, _))| (table.key(key), value.span().start))
            .collect();
        for (key, offset) in unknown {
            self.problem(
                offset,
                key,
                format!("is not a key that is known here; allowed: {allowed}"),
            );
        }
    }

    fn text(&mut self, table: &mut Table<'a>, key: &str) -> Option<&'a str> {
        let value = table.take(key)?;
        match value.get_ref().as_str() {
            Some(text) if !text.trim().is_empty() => Some(text),
            _ => {
                self.problem(value.span().start, table.key(key), "is not a text between quotes");
                None
            }
        }
    }

    fn required_text(&mut self, table: &mut Table<'a>, key: &str) -> Option<&'a str> {
        if !table.entries.contains_key(key) {
            self.problem(table.offset, table.key(key), "is missing");
            return None;
        }
        self.text(table, key)
    }

    /// Reads a text by a function whose error says what is allowed.
    fn parsed<T>(
        &mut self,
        table: &mut Table<'a>,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let offset = table.entries.get(key)?.0.span().start;
        let text = self.text(table, key)?;
        parse(text).map_err(|message| self.problem(offset, table.key(key), message)).ok()
    }

    fn required<T>(
        &mut self,
        table: &mut Table<'a>,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        if !table.entries.contains_key(key) {
            self.problem(table.offset, table.key(key), "is missing");
            return None;
        }
        self.parsed(table, key, parse)
    }

    fn number(&mut self, table: &mut Table<'a>, key: &str) -> Option<u32> {
        let Some(value) = table.take(key) else {
            self.problem(table.offset, table.key(key), "is missing");
            return None;
        };
        let number = value
            .get_ref()
            .as_integer()
            .and_then(|integer| u32::from_str_radix(integer.as_str(), integer.radix()).ok());
        if number.is_none() {
            self.problem(
                value.span().start,
                table.key(key),
                "is not a whole number that is zero or more",
            );
        }
        number
    }

    fn texts(&mut self, table: &mut Table<'a>, key: &str) -> Vec<(&'a str, usize)> {
        let Some(value) = table.take(key) else { return Vec::new() };
        if let Some(text) = value.get_ref().as_str() {
            return vec![(text, value.span().start)];
        }
        let texts = value.get_ref().as_array().and_then(|array| {
            array
                .iter()
                .map(|item| item.get_ref().as_str().map(|text| (text, item.span().start)))
                .collect()
        });
        texts.unwrap_or_else(|| {
            self.problem(value.span().start, table.key(key), "is not a text or a list of texts");
            Vec::new()
        })
    }

    fn tables(&mut self, table: &mut Table<'a>, key: &str) -> Vec<Table<'a>> {
        let Some(value) = table.take(key) else { return Vec::new() };
        let path = table.key(key);
        let tables: Option<Vec<Table<'a>>> = value.get_ref().as_array().and_then(|array| {
            array
                .iter()
                .enumerate()
                .map(|(number, item)| {
                    let inner = item.get_ref().as_table()?;
                    let id = inner.get("id").and_then(|id| id.get_ref().as_str());
                    let name = id.map_or_else(|| (number + 1).to_string(), str::to_owned);
                    Some(Table::new(format!("{path}.{name}"), item.span().start, inner))
                })
                .collect()
        });
        tables.unwrap_or_else(|| {
            self.problem(
                value.span().start,
                path.clone(),
                format!("is not a list of tables: write [[{path}]]"),
            );
            Vec::new()
        })
    }

    fn table(&mut self, table: &mut Table<'a>, key: &str) -> Option<Table<'a>> {
        let value = table.take(key)?;
        if let Some(inner) = value.get_ref().as_table() {
            return Some(Table::new(table.key(key), value.span().start, inner));
        }
        self.problem(value.span().start, table.key(key), "is not a table");
        None
    }

    /// A section that may be left out when each of its keys is declared unknown.
    fn section(&mut self, table: &mut Table<'a>, key: &'static str) -> Table<'a> {
        let offset = table.offset;
        let path = table.key(key);
        self.table(table, key).unwrap_or(Table { path, offset, entries: BTreeMap::new() })
    }

    fn provider(&mut self) -> Option<Provider> {
        let file = self.file;
        let (document, errors) = DeTable::parse_recoverable(&file.text);
        for error in errors {
            let offset = error.span().map_or(0, |span| span.start);
            self.problem(offset, "", format!("is not TOML: {}", error.message()));
        }
        if !self.problems.is_empty() {
            return None;
        }
        // The document must outlive the tables that borrow from it.
        let document = document.into_inner();
        let mut owned = FileReader::new(file, self.today);
        let provider = owned.document(&document);
        self.problems.append(&mut owned.problems);
        provider
    }
}

impl<'a> FileReader<'a> {
    /// The provider of a whole document.
    fn document(&mut self, document: &'a DeTable<'a>) -> Option<Provider> {
        let mut root = Table::new(String::new(), 0, document);
        match root.take("schema_version").map(|value| (value.span().start, value.get_ref())) {
            Some((_, DeValue::Integer(integer)))
                if integer.as_str() == SCHEMA_VERSION.to_string() => {}
            Some((offset, _)) => {
                self.problem(offset, "schema_version", format!("is not {SCHEMA_VERSION}"));
            }
            None => self.problem(None, "schema_version", "is missing"),
        }
        let slug = ProviderSlug::parse(&self.file.slug)
            .map_err(|message| self.problem(None, "the file name", message))
            .ok();
        if let Some(stated) = self.required_text(&mut root, "slug")
            && stated != self.file.slug
        {
            self.problem(
                0,
                "slug",
                format!("is {stated}, but the file is named {}.toml", self.file.slug),
            );
        }
        let name = self.required_text(&mut root, "name").map(str::to_owned);
        let position = self.number(&mut root, "position");
        let status = self.required(&mut root, "status", Status::parse);
        let kind = self.required(&mut root, "kind", Kind::parse);
        let summary = self.required_text(&mut root, "summary").map(str::to_owned);
        let today = self.today;
        let checked_on = self.required(&mut root, "checked_on", |text| day(text, today));
        self.read_sources(&mut root);
        for (key, not_applicable) in [("unknown", false), ("not_applicable", true)] {
            for (name, offset) in self.texts(&mut root, key) {
                if self.declared.insert(name.to_owned(), (not_applicable, false)).is_some() {
                    self.problem(offset, key, format!("names {name} twice"));
                }
            }
        }
        macro_rules! section {
            ($type:ident) => {{
                let table = self.section(&mut root, $type::KEY);
                self.claims(table, |reader| $type::read(reader), $type::KEYS)
            }};
        }
        let identity = section!(Identity);
        let credit = section!(Credit);
        let concurrency = section!(Concurrency);
        let start = section!(Start);
        let egress = section!(Egress);
        let lifecycle = section!(Lifecycle);
        let api = section!(Api);
        let deploy = section!(Deploy);
        let placement = section!(Placement);
        let compliance = section!(Compliance);
        let sla = section!(Sla);
        let variants = self.variants(&mut root);
        let prices = self.prices(&mut root, &variants);
        let fees = self.fees(&mut root);
        let plans = self.plans(&mut root);
        let scores = self.scores(&mut root);
        let measurements = self.measurements(&mut root, &variants);
        let details = self.details(&mut root);
        let history = self.history(&mut root);
        let conflicts = self.conflicts(&mut root);
        self.close(&root, keys::ROOT);
        let undeclared: Vec<String> = self
            .declared
            .iter()
            .filter(|(_, (_, used))| !used)
            .map(|(key, _)| key.clone())
            .collect();
        for key in undeclared {
            self.problem(
                0,
                key,
                "is declared unknown or not applicable, but has a value or is no key",
            );
        }
        let mut provider = Provider {
            slug: slug?,
            name: name?,
            position: position?,
            status: status?,
            kind: kind?,
            summary: summary?,
            checked_on: Some(checked_on?),
            identity,
            credit,
            concurrency,
            start,
            egress,
            lifecycle,
            api,
            deploy,
            placement,
            compliance,
            sla,
            variants,
            prices,
            fees,
            plans,
            scores,
            measurements,
            details,
            history,
            price_disputes: Vec::new(),
            sources: self.sources.values().cloned().collect(),
        };
        for (key, dispute, offset) in conflicts {
            if !attach(&mut provider, &key, dispute) {
                self.problem(offset, key, "is not a key of this file that can be disputed");
            }
        }
        self.check_routed(&provider);
        Some(provider)
    }

    fn read_sources(&mut self, root: &mut Table<'a>) {
        let Some(mut table) = self.table(root, "sources") else {
            self.problem(None, "sources", "is missing: every claim names one");
            return;
        };
        let ids: Vec<&str> = table.entries.keys().copied().collect();
        for id in ids {
            let Some(mut entry) = self.table(&mut table, id) else { continue };
            let today = self.today;
            let url = self.parsed(&mut entry, "url", Address::parse_text).map(|address| address.0);
            let title = self.text(&mut entry, "title").map(str::to_owned);
            let seen_on = self.required(&mut entry, "seen_on", |text| seen(text, today));
            let by = self.required(&mut entry, "by", By::parse);
            let note = self.text(&mut entry, "note").map(str::to_owned);
            if url.is_none() && title.is_none() {
                self.problem(entry.offset, entry.path.clone(), "has neither url nor title");
            }
            self.close(&entry, keys::SOURCE);
            if let (Some(seen_on), Some(by)) = (seen_on, by) {
                let source = Source { id: id.to_owned(), url, title, seen_on, by, note };
                self.sources.insert(id.to_owned(), Arc::new(source));
            }
        }
    }

    /// `source`, `as_of`, `by`, `confidence`, `note` of a table; `None` where no source is named.
    fn evidence(&mut self, table: &mut Table<'a>) -> Option<Evidence> {
        let named = self.texts(table, "source");
        let mut sources = Vec::new();
        for (id, offset) in &named {
            match self.sources.get(*id) {
                Some(source) => sources.push(source.clone()),
                None => self.problem(
                    *offset,
                    table.key("source"),
                    format!("names {id}, which is not in [sources]"),
                ),
            }
        }
        let today = self.today;
        let as_of = self.parsed(table, "as_of", |text| seen(text, today));
        let by = self.parsed(table, "by", By::parse);
        let confidence = self.parsed(table, "confidence", Confidence::parse);
        let note = self.text(table, "note").map(str::to_owned);
        let first = sources.first()?.clone();
        let as_of = as_of.unwrap_or(first.seen_on);
        let evidence = Evidence {
            stale_after: None,
            as_of,
            by: by.unwrap_or(first.by),
            confidence,
            note,
            sources,
        };
        let stale_after =
            evidence.last_seen().and_then(|seen| freshness::stale_after(&table.path, seen));
        Some(Evidence { stale_after, ..evidence })
    }

    fn required_evidence(&mut self, table: &mut Table<'a>) -> Option<Evidence> {
        let evidence = self.evidence(table);
        if evidence.is_none() {
            self.problem(
                table.offset,
                table.key("source"),
                "is missing: name an entry of [sources]",
            );
        }
        evidence
    }

    fn claims<T>(
        &mut self,
        table: Table<'a>,
        read: impl FnOnce(&mut ClaimReader<'_, 'a>) -> T,
        keys: &[&str],
    ) -> T {
        let mut reader = ClaimReader {
            file: self,
            table,
            evidence: None,
            optional: false,
            inherited: BTreeMap::new(),
        };
        let section = read(&mut reader);
        let table = reader.table;
        self.close(&table, keys);
        section
    }
}

/// Reads a day that is not in the future.
fn day(text: &str, today: Date) -> Result<Date, String> {
    match Seen::parse(text) {
        Ok(Seen::Day(day)) if day > today => Err(in_the_future(today)),
        Ok(Seen::Day(day)) => Ok(day),
        Ok(Seen::Month { .. } | Seen::Undated) | Err(_) => {
            Err("is not a day: write 2026-10-09".to_owned())
        }
    }
}

fn in_the_future(today: Date) -> String {
    format!("lies in the future; today is {today}")
}

/// Reads a day, a month or `undated`; what lies in the future is refused.
fn seen(text: &str, today: Date) -> Result<Seen, String> {
    let seen = Seen::parse(text)?;
    match seen.first_day() {
        Some(day) if day > today => Err(in_the_future(today)),
        _ => Ok(seen),
    }
}

/// Reads the claims of one section.
struct ClaimReader<'r, 'a> {
    file: &'r mut FileReader<'a>,
    table: Table<'a>,
    /// The evidence for bare values, where the table as a whole names a source.
    evidence: Option<Evidence>,
    /// Whether a key that is left out is simply unknown.
    optional: bool,
    /// Values of the variant that this one is like.
    inherited: BTreeMap<&'a str, &'a Spanned<DeValue<'a>>>,
}

impl ReadClaims for ClaimReader<'_, '_> {
    fn claim<T: Value>(&mut self, key: &'static str) -> Claim<T> {
        let path = self.table.key(key);
        let stated = self.table.take(key).or_else(|| self.inherited.get(key).copied());
        let Some(value) = stated else {
            // What has no meaning for any plan is declared for all of them at once.
            let declared = if self.optional { format!("plan.*.{key}") } else { path.clone() };
            return Claim::bare(match self.file.declared.get_mut(&declared) {
                Some((not_applicable, used)) => {
                    *used = true;
                    if *not_applicable { Stated::NotApplicable } else { Stated::Unknown }
                }
                None if self.optional => Stated::Unknown,
                None => {
                    let offset = self.table.offset;
                    self.file.problem(
                        offset,
                        path,
                        "is missing: state it, or name it in unknown or not_applicable",
                    );
                    Stated::Unknown
                }
            });
        };
        let offset = value.span().start;
        let Some(inner) = value.get_ref().as_table() else {
            return match (parse_value::<T>(value), self.evidence.clone()) {
                (Ok(value), Some(evidence)) => {
                    Claim { stated: Stated::Value(value), evidence: Some(evidence), dispute: None }
                }
                (Ok(_), None) => {
                    self.file.problem(
                        offset,
                        path,
                        "has no source: write { value = …, source = … }",
                    );
                    Claim::bare(Stated::Unknown)
                }
                (Err(message), _) => {
                    self.file.problem(offset, path, message);
                    Claim::bare(Stated::Unknown)
                }
            };
        };
        let mut table = Table::new(path.clone(), offset, inner);
        let stated = match table.take("value") {
            Some(value) => {
                let detail = self.file.text(&mut table, "detail");
                let parsed = parse_value::<T>(value).and_then(|value| match detail {
                    Some(detail) => value.with_detail(detail),
                    None => Ok(value),
                });
                match parsed {
                    Ok(value) => Stated::Value(value),
                    Err(message) => {
                        self.file.problem(value.span().start, table.key("value"), message);
                        Stated::Unknown
                    }
                }
            }
            None => match self.file.text(&mut table, "state") {
                Some("unknown") => Stated::Unknown,
                Some("not_applicable") => Stated::NotApplicable,
                _ => {
                    self.file.problem(
                        offset,
                        path,
                        "has neither value nor state = \"unknown\" or \"not_applicable\"",
                    );
                    Stated::Unknown
                }
            },
        };
        let evidence = self.file.evidence(&mut table).or_else(|| self.evidence.clone());
        if evidence.is_none() && matches!(stated, Stated::Value(_)) {
            self.file.problem(
                offset,
                table.key("source"),
                "is missing: name an entry of [sources]",
            );
        }
        self.file.close(&table, keys::CLAIM);
        Claim { stated, evidence, dispute: None }
    }
}

fn parse_value<T: Value>(value: &Spanned<DeValue<'_>>) -> Result<T, String> {
    match value.get_ref() {
        DeValue::String(text) => T::parse(&Raw::Text(text)),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .map_err(|_| "is a number out of range".to_owned())
            .and_then(|number| T::parse(&Raw::Number(number))),
        DeValue::Array(array) => array
            .iter()
            .map(|item| item.get_ref().as_str())
            .collect::<Option<Vec<&str>>>()
            .ok_or_else(|| "is a list of something other than texts".to_owned())
            .and_then(|list| T::parse(&Raw::List(list))),
        DeValue::Float(_) => Err("is a float: write the decimal between quotes".to_owned()),
        _ => Err("is neither text, number nor list".to_owned()),
    }
}
