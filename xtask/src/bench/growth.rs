//! How the site bears a larger catalog: today's provider files and copies of them, ten and a
//! hundred times as many. What is timed is the first answer to a question, which is rendered.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use ureq::Agent;

use crate::bench::milliseconds;
use crate::progress::step;
use crate::project::Project;
use crate::temporary_server::TemporaryServer;

/// How many times today's catalog.
const FACTORS: [usize; 3] = [1, 10, 100];
/// More provider files than this are not made: the server reads no more of them.
const PROVIDERS_MAX: usize = 10_000;

/// Starts for each size of the catalog.
const STARTS: usize = 5;
/// Requests for each row, unless [`ROW_LIMIT`] is over before.
const REQUESTS: usize = 100;
/// How long a row may take; the request that is under way then is the last one.
const ROW_LIMIT: Duration = Duration::from_secs(10);
/// A server that keeps us waiting longer, for an answer to begin or to end, has failed.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// The largest answer.
const ANSWER_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Where the site says that it is well.
const HEALTH: &str = "/healthz";
/// The page that has a limit.
const HOME: &str = "/";
/// What the first answer of [`HOME`] may take with today's catalog.
const HOME_LIMIT: Duration = Duration::from_millis(5);

/// What is asked for at each size. Only [`HOME`] compressed too, which shows what that costs;
/// copies compress better than other providers would.
const QUESTIONS: [Question; 6] = [
    Question { path: HOME, accepted: "identity", requests: REQUESTS, vary: by_ignored },
    Question { path: HOME, accepted: "br", requests: REQUESTS, vary: by_ignored },
    Question { path: "/sandboxes/e2b", accepted: "identity", requests: REQUESTS, vary: by_ignored },
    Question {
        path: "/compare/e2b-vs-daytona",
        accepted: "identity",
        requests: REQUESTS,
        vary: by_ignored,
    },
    Question { path: "/api/v1/prices", accepted: "identity", requests: REQUESTS, vary: by_vcpu },
    // Takes no parameter that would leave the answer as it is, so it is asked for once.
    Question { path: "/api/v1/providers", accepted: "identity", requests: 1, vary: not_at_all },
];

/// One path, asked for so that no answer is kept from before.
struct Question {
    path: &'static str,
    accepted: &'static str,
    requests: usize,
    /// The query of the request with this number.
    vary: fn(usize) -> String,
}

/// Pages ignore parameters that they do not know.
fn by_ignored(number: usize) -> String {
    format!("?n={number}")
}

/// The API refuses them, so the question itself differs a little.
fn by_vcpu(number: usize) -> String {
    format!("?vcpu=1.{number:03}")
}

fn not_at_all(_: usize) -> String {
    String::new()
}

/// Measures every size of the catalog and gives the table and a verdict.
pub fn measure(project: &Project, program: &Path) -> Result<String> {
    let originals = read_providers(&project.root.join("catalog"))?;
    let mut rows = Vec::new();
    for factor in FACTORS {
        let providers = originals.len() * factor;
        step(&format!("Measuring a catalog of {providers} providers"));
        let catalog = tempfile::tempdir()?;
        write_providers(catalog.path(), &grown(&originals, providers)?)?;
        let measured = measure_size(project, program, catalog.path(), providers);
        rows.extend(measured.with_context(|| format!("with {providers} providers"))?);
    }
    Ok(table(&rows) + "\n" + &verdict(&rows) + "\n")
}

/// The rows of one size of the catalog.
fn measure_size(
    project: &Project,
    program: &Path,
    catalog: &Path,
    providers: usize,
) -> Result<Vec<Row>> {
    let mut starts = Vec::new();
    let (server, healthy) = loop {
        let started = Instant::now();
        let server = TemporaryServer::start_with_catalog(project, program, catalog)?;
        // Listens before it answers, so this waits for the rest of the start.
        let healthy = ask(&agent(), server.address, HEALTH, "identity")?;
        starts.push(started.elapsed());
        if starts.len() == STARTS {
            break (server, healthy);
        }
    };
    let what = format!("start until `{HEALTH}`");
    let mut rows = vec![Row { providers, what, last: healthy, times: Times::of(starts) }];
    for question in &QUESTIONS {
        rows.push(measure_question(question, server.address, providers)?);
    }
    Ok(rows)
}

fn measure_question(question: &Question, address: SocketAddr, providers: usize) -> Result<Row> {
    let Question { path, accepted, requests, vary } = question;
    let agent = agent();
    let mut times = Vec::new();
    let started = Instant::now();
    let last = loop {
        let target = format!("{path}{}", vary(times.len()));
        let asked = Instant::now();
        let answer = ask(&agent, address, &target, accepted)?;
        times.push(asked.elapsed());
        if times.len() == *requests || started.elapsed() > ROW_LIMIT {
            break answer;
        }
    };
    Ok(Row { providers, what: format!("`{path}`"), last, times: Times::of(times) })
}

/// A client that keeps its connection.
fn agent() -> Agent {
    Agent::config_builder()
        .proxy(None)
        .http_status_as_error(false)
        // Not one limit for all: that would start a thread for each request.
        .timeout_connect(Some(ANSWER_LIMIT))
        .timeout_recv_response(Some(ANSWER_LIMIT))
        .timeout_recv_body(Some(ANSWER_LIMIT))
        .build()
        .into()
}

/// What is of interest in an answer.
struct Answer {
    bytes: u64,
    /// `Content-Encoding`, or "plain".
    encoding: String,
}

/// Asks for a path and reads the whole answer, which must be a good one.
fn ask(agent: &Agent, address: SocketAddr, target: &str, accepted: &str) -> Result<Answer> {
    let mut answer = agent
        .get(format!("http://{address}{target}"))
        .header("accept-encoding", accepted)
        .call()
        .with_context(|| format!("{target} does not answer"))?;
    if answer.status() != 200 {
        bail!("{target} answers {} (asked for as {accepted})", answer.status());
    }
    let mut body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).reader();
    let bytes = io::copy(&mut body, &mut io::sink());
    let bytes = bytes.with_context(|| format!("{target} breaks off"))?;
    let encoding = answer.headers().get("content-encoding").map(|value| value.to_str());
    Ok(Answer { bytes, encoding: encoding.transpose()?.unwrap_or("plain").to_owned() })
}

/// The middle of some times, and what the slowest twentieth took at least.
#[derive(Debug, PartialEq)]
struct Times {
    count: usize,
    median: Duration,
    p95: Duration,
}

impl Times {
    /// At least one time is needed.
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort();
        let count = times.len();
        Self { count, median: times[count / 2], p95: times[(count * 95).div_ceil(100) - 1] }
    }
}

/// One line of the table.
struct Row {
    providers: usize,
    what: String,
    last: Answer,
    times: Times,
}

fn table(rows: &[Row]) -> String {
    let seconds = ROW_LIMIT.as_secs();
    let mut lines = vec![
        format!(
            "First answers, none of them kept from before, one after the other on one connection: \
             at most {REQUESTS} or {seconds} s of them a row, {STARTS} starts. \
             What is more than today's catalog are copies of it:"
        ),
        String::new(),
        "| providers | path | bytes | encoding | requests | median ms | p95 ms |".to_owned(),
        "|---:|---|---:|---|---:|---:|---:|".to_owned(),
    ];
    for Row { providers, what, last, times } in rows {
        lines.push(format!(
            "| {providers} | {what} | {} | {} | {} | {:.2} | {:.2} |",
            last.bytes,
            last.encoding,
            times.count,
            milliseconds(times.median),
            milliseconds(times.p95),
        ));
    }
    lines.join("\n") + "\n"
}

/// Whether [`HOME`] is fast enough with today's catalog, in its slower encoding.
fn verdict(rows: &[Row]) -> String {
    let today = rows.iter().map(|row| row.providers).min();
    let what = format!("`{HOME}`");
    let homes = rows.iter().filter(|row| Some(row.providers) == today && row.what == what);
    let Some(slowest) = homes.max_by_key(|row| row.times.p95) else {
        return format!("{what} was not measured.");
    };
    let word = if slowest.times.p95 < HOME_LIMIT { "within" } else { "over" };
    format!(
        "{what} with today's {} providers: {word} {} ms (p95 {:.2} ms, {}).",
        slowest.providers,
        HOME_LIMIT.as_millis(),
        milliseconds(slowest.times.p95),
        slowest.last.encoding,
    )
}

/// A provider file.
struct ProviderFile {
    slug: String,
    text: String,
}

/// Every provider file of a folder, by name.
fn read_providers(folder: &Path) -> Result<Vec<ProviderFile>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let slug = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            files.push(ProviderFile { slug, text: fs::read_to_string(&path)? });
        }
    }
    files.sort_by(|left, right| left.slug.cmp(&right.slug));
    Ok(files)
}

/// Writes provider files to a folder that has none of them yet.
fn write_providers(folder: &Path, files: &[ProviderFile]) -> Result<()> {
    for ProviderFile { slug, text } in files {
        let mut file = File::create_new(folder.join(format!("{slug}.toml")))
            .with_context(|| format!("{slug} cannot be written"))?;
        file.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// The originals, then copies of them, `count` in all. A copy differs in slug, name and position.
fn grown(originals: &[ProviderFile], count: usize) -> Result<Vec<ProviderFile>> {
    if count > PROVIDERS_MAX {
        bail!("{count} providers are more than the {PROVIDERS_MAX} that a catalog may have");
    }
    let mut last_position = 0;
    for file in originals {
        let position: usize = value(file, "position")?.parse()?;
        last_position = last_position.max(position);
    }
    let mut files = Vec::new();
    for (number, original) in originals.iter().cycle().take(count).enumerate() {
        let ProviderFile { slug, text } = original;
        if number < originals.len() {
            files.push(ProviderFile { slug: slug.clone(), text: text.clone() });
            continue;
        }
        let nth = number / originals.len() + 1;
        let slug = format!("{slug}-{nth}");
        let name = format!("{} {nth}", value(original, "name")?.trim_matches('"'));
        // The first copy stands right after the last original.
        let position = last_position + number - originals.len() + 1;
        let mut copy = ProviderFile { slug: slug.clone(), text: text.clone() };
        replace(&mut copy, "slug", &format!("\"{slug}\""))?;
        replace(&mut copy, "name", &format!("\"{name}\""))?;
        replace(&mut copy, "position", &position.to_string())?;
        files.push(copy);
    }
    Ok(files)
}

/// What stands behind `key = ` in the first such line, which is the provider's own.
fn value<'a>(file: &'a ProviderFile, key: &str) -> Result<&'a str> {
    let start = format!("{key} = ");
    let value = file.text.lines().find_map(|line| line.strip_prefix(&start));
    value.with_context(|| format!("{}.toml has no line that begins with {start:?}", file.slug))
}

/// Replaces that.
fn replace(file: &mut ProviderFile, key: &str, new: &str) -> Result<()> {
    let old = format!("\n{key} = {}\n", value(file, key)?);
    file.text = file.text.replacen(&old, &format!("\n{key} = {new}\n"), 1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn catalog() -> Vec<ProviderFile> {
        read_providers(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalog")).unwrap()
    }

    #[test]
    fn the_catalog_stands_before_its_copies() {
        let originals = catalog();
        let files = grown(&originals, originals.len() * 2).unwrap();
        for (original, file) in originals.iter().zip(&files) {
            assert_eq!((&original.slug, &original.text), (&file.slug, &file.text));
        }
    }

    #[test]
    fn every_copy_has_its_own_slug_name_and_position() {
        let originals = catalog();
        for factor in FACTORS {
            let count = originals.len() * factor;
            let files = grown(&originals, count).unwrap();
            for key in ["slug", "name", "position"] {
                let values: BTreeSet<_> =
                    files.iter().map(|file| value(file, key).unwrap()).collect();
                assert_eq!(values.len(), count, "{key}");
            }
            for file in &files {
                assert_eq!(value(file, "slug").unwrap(), format!("\"{}\"", file.slug));
            }
        }
    }

    #[test]
    fn a_copy_differs_in_three_lines() {
        let originals = catalog();
        let files = grown(&originals, originals.len() * 2).unwrap();
        for (original, copy) in originals.iter().zip(&files[originals.len()..]) {
            let lines = || original.text.lines().zip(copy.text.lines());
            let differ: Vec<_> = lines().filter(|(old, new)| old != new).collect();
            assert_eq!(differ.len(), 3, "{}: {differ:?}", copy.slug);
            assert_eq!(original.text.lines().count(), copy.text.lines().count());
        }
    }

    #[test]
    fn copies_can_be_written_beside_the_catalog() {
        let originals = catalog();
        let folder = tempfile::tempdir().unwrap();
        write_providers(folder.path(), &grown(&originals, originals.len() * 2).unwrap()).unwrap();
        assert_eq!(read_providers(folder.path()).unwrap().len(), originals.len() * 2);
    }

    #[test]
    fn more_than_a_catalog_may_have_is_refused() {
        assert!(grown(&catalog(), PROVIDERS_MAX + 1).is_err());
    }

    #[test]
    fn no_question_is_asked_twice() {
        for Question { path, requests, vary, .. } in QUESTIONS {
            let asked: BTreeSet<String> = (0..requests).map(vary).collect();
            assert_eq!(asked.len(), requests, "{path}");
        }
    }

    #[test]
    fn the_middle_and_the_slowest_twentieth_are_shown() {
        let times = Times::of((1..=100).rev().map(Duration::from_millis).collect());
        let (median, p95) = (Duration::from_millis(51), Duration::from_millis(95));
        assert_eq!(times, Times { count: 100, median, p95 });
        let one = Duration::from_millis(7);
        assert_eq!(Times::of(vec![one]), Times { count: 1, median: one, p95: one });
    }

    fn home(providers: usize, encoding: &str, p95_ms: u64) -> Row {
        let p95 = Duration::from_millis(p95_ms);
        let last = Answer { bytes: 20_841, encoding: encoding.to_owned() };
        let times = Times { count: 100, median: Duration::from_micros(1_250), p95 };
        Row { providers, what: "`/`".to_owned(), last, times }
    }

    #[test]
    fn a_row_has_a_cell_for_each_column() {
        let text = table(&[home(27, "plain", 2)]);
        let lines: Vec<&str> = text.lines().rev().take(3).collect();
        assert_eq!(lines[0], "| 27 | `/` | 20841 | plain | 100 | 1.25 | 2.00 |");
        let columns = |line: &str| line.matches('|').count();
        assert!(lines.iter().all(|line| columns(line) == columns(lines[0])), "{text}");
    }

    #[test]
    fn the_slower_encoding_of_today_decides() {
        let within = verdict(&[home(27, "plain", 1), home(27, "br", 4), home(270, "br", 9)]);
        assert_eq!(within, "`/` with today's 27 providers: within 5 ms (p95 4.00 ms, br).");
        let over = verdict(&[home(27, "plain", 5), home(27, "br", 4)]);
        assert_eq!(over, "`/` with today's 27 providers: over 5 ms (p95 5.00 ms, plain).");
    }
}
