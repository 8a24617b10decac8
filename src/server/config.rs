//! Settings from the environment, read once at start. Those of hosted providers are in `hosted.rs`.

pub mod hosted;

use std::env::VarError;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use axum::http::uri::Authority;
use tracing_subscriber::EnvFilter;

use crate::catalog::claim::Address;
use crate::router::Limits;
use crate::runs::TIMEOUT_MS_MAX;

/// Where the site listens if `THUD_ADDR` says nothing.
const ADDR: &str = "127.0.0.1:3000";
/// The name of the database in the data folder.
const DATABASE_FILE: &str = "thud.sqlite";
/// What is logged if `THUD_LOG` says nothing.
const LOG: &str = "warn";
/// Where the built files are if `THUD_SITE_ROOT` says nothing: where `cargo leptos` lays them too.
const SITE_ROOT: &str = "target/site";

/// Everything that can be set.
#[derive(Debug, Clone)]
pub struct Config {
    /// `THUD_ADDR`: address and port; 127.0.0.1:3000 if left out.
    pub addr: SocketAddr,
    /// `THUD_DATA_DIR`: the folder of the database; the user's data folder if left out.
    pub data_dir: PathBuf,
    /// `THUD_CATALOG_DIR`: a folder of provider files instead of those that are built in.
    pub catalog_dir: Option<PathBuf>,
    /// `THUD_SITE_ROOT`: the folder of stylesheet, browser half and pictures; `target/site` if left out.
    pub site_root: PathBuf,
    /// `THUD_PUBLIC_URL`: scheme and host by which the world reaches the site, such as `https://thud.example`. Other
    /// hosts are then turned away; without it only localhost and address literals are served.
    pub public_url: Option<String>,
    /// `THUD_REPOSITORY_URL`: the web address of the repository that holds the catalog, such as
    /// `https://github.com/name/thud`; corrections are suggested there. Without it a page says how to make one.
    pub repository_url: Option<String>,
    /// `THUD_CACHE_DIR`: the folder of the compiled guests of the embedded sandbox, about 51 MB; the user's cache folder if
    /// left out.
    pub cache_dir: PathBuf,
    /// `THUD_LOCAL_MEMORY_MIB`: what a run in the embedded sandbox may use of memory; 128 if left out.
    pub local_memory_mib: u64,
    /// What bounds runs. `THUD_ANONYMOUS_RUNNING`, `THUD_ANONYMOUS_WAITING`, `THUD_ANONYMOUS_WAIT_MS`,
    /// `THUD_ANONYMOUS_PER_MINUTE` and `THUD_ANONYMOUS_TIMEOUT_MS` are of runs without a token: how many at once on the whole
    /// site, how many wait and for how long, how many a minute of one address, and for how long each; 2, 8, 5000, 20 and
    /// 10000 if left out.
    /// `THUD_DRILLS`: 1 lets a fault be ordered with a run, to see what follows it.
    pub limits: Limits,
    /// E2B.
    pub e2b: hosted::E2b,
    /// Daytona.
    pub daytona: hosted::Daytona,
    /// `THUD_STANDINS`: 1 adds providers that follow a script, where the program was built with them.
    pub standins: bool,
    /// `THUD_LOG`: a filter of tracing, such as `info`, which shows every request; `warn` if left out.
    pub log: String,
}

impl Config {
    /// Reads the environment; an error says which variable is wrong and what is allowed.
    pub fn from_env() -> Result<Self, String> {
        let addr = std::env::var("THUD_ADDR").unwrap_or_else(|_| ADDR.to_owned());
        let addr = addr.parse().map_err(|_| {
            format!("THUD_ADDR is {addr}; an address and a port such as {ADDR} is allowed")
        })?;
        let data_dir = match std::env::var_os("THUD_DATA_DIR") {
            Some(folder) => PathBuf::from(folder),
            None => directories::ProjectDirs::from("", "", "thud")
                .map(|folders| folders.data_dir().to_owned())
                .ok_or("no home folder is known: name a data folder with THUD_DATA_DIR")?,
        };
        let cache_dir = match std::env::var_os("THUD_CACHE_DIR") {
            Some(folder) => PathBuf::from(folder),
            None => directories::ProjectDirs::from("", "", "thud")
                .map(|folders| folders.cache_dir().join("local"))
                .ok_or("no home folder is known: name a cache folder with THUD_CACHE_DIR")?,
        };
        let limits = limits()?;
        let local_memory_mib = number("THUD_LOCAL_MEMORY_MIB", 128, 32, 16_384)?;
        let standins = switch("THUD_STANDINS")?;
        let catalog_dir = std::env::var_os("THUD_CATALOG_DIR").map(PathBuf::from);
        let site_root =
            std::env::var_os("THUD_SITE_ROOT").map_or_else(|| SITE_ROOT.into(), PathBuf::from);
        let public_url = match std::env::var("THUD_PUBLIC_URL") {
            Ok(text) => Some(public_url(&text)?),
            Err(VarError::NotPresent) => None,
            Err(VarError::NotUnicode(_)) => return Err("THUD_PUBLIC_URL is not UTF-8".to_owned()),
        };
        let repository_url = match std::env::var("THUD_REPOSITORY_URL") {
            Ok(text) => Some(repository_url(&text)?),
            Err(VarError::NotPresent) => None,
            Err(VarError::NotUnicode(_)) => {
                return Err("THUD_REPOSITORY_URL is not UTF-8".to_owned());
            }
        };
        let log = match std::env::var("THUD_LOG") {
            Ok(text) => text,
            Err(_) => LOG.to_owned(),
        };
        if let Err(error) = EnvFilter::try_new(&log) {
            return Err(format!("THUD_LOG is {log} ({error}); a filter such as info is allowed"));
        }
        Ok(Self {
            addr,
            data_dir,
            catalog_dir,
            site_root,
            public_url,
            repository_url,
            cache_dir,
            local_memory_mib,
            limits,
            e2b: hosted::E2b::from_env()?,
            daytona: hosted::Daytona::from_env()?,
            standins,
            log,
        })
    }

    /// The database file.
    pub fn database(&self) -> PathBuf {
        self.data_dir.join(DATABASE_FILE)
    }
}

/// Reads what bounds runs without a token.
fn limits() -> Result<Limits, String> {
    let plain = Limits::default();
    let small = |name: &str, default: usize| -> Result<usize, String> {
        let read = number(name, default as u64, 0, 10_000)?;
        Ok(usize::try_from(read).unwrap_or(default))
    };
    let millis = |name: &str, default: Duration, most: u64| -> Result<Duration, String> {
        number(name, crate::moment::millis(default), 0, most).map(Duration::from_millis)
    };
    let per_minute = u64::from(plain.anonymous_per_minute.get());
    let per_minute = number("THUD_ANONYMOUS_PER_MINUTE", per_minute, 1, 10_000)?;
    let per_minute = u32::try_from(per_minute).ok().and_then(NonZeroU32::new);
    let drills = switch("THUD_DRILLS")?;
    Ok(Limits {
        anonymous_running: small("THUD_ANONYMOUS_RUNNING", plain.anonymous_running)?,
        anonymous_waiting: small("THUD_ANONYMOUS_WAITING", plain.anonymous_waiting)?,
        anonymous_wait: millis("THUD_ANONYMOUS_WAIT_MS", plain.anonymous_wait, 60_000)?,
        anonymous_per_minute: per_minute.unwrap_or(plain.anonymous_per_minute),
        anonymous_timeout: millis(
            "THUD_ANONYMOUS_TIMEOUT_MS",
            plain.anonymous_timeout,
            TIMEOUT_MS_MAX,
        )?,
        drills,
        ..plain
    })
}

/// Reads whether something is on.
fn switch(name: &str) -> Result<bool, String> {
    match std::env::var(name).as_deref() {
        Err(VarError::NotPresent) | Ok("" | "0") => Ok(false),
        Ok("1") => Ok(true),
        Ok(text) => Err(format!("{name} is {text}; 1 or 0 is allowed")),
        Err(VarError::NotUnicode(_)) => Err(format!("{name} is not UTF-8; 1 or 0 is allowed")),
    }
}

/// Reads a whole number between two bounds.
fn number(name: &str, default: u64, least: u64, most: u64) -> Result<u64, String> {
    match std::env::var(name) {
        Err(VarError::NotPresent) => Ok(default),
        Ok(text) => whole(&text, least, most).ok_or(text),
        Err(VarError::NotUnicode(text)) => Err(text.to_string_lossy().into_owned()),
    }
    .map_err(|text| format!("{name} is {text}; a whole number from {least} to {most} is allowed"))
}

fn whole(text: &str, least: u64, most: u64) -> Option<u64> {
    text.parse().ok().filter(|number| (least..=most).contains(number))
}

/// Reads the address of the site: scheme and host, no path.
fn public_url(text: &str) -> Result<String, String> {
    let trimmed = text.strip_suffix('/').unwrap_or(text);
    let wrong = || {
        format!(
            "THUD_PUBLIC_URL is {text}; a scheme and a host such as https://thud.example is allowed"
        )
    };
    let host = trimmed
        .strip_prefix("https://")
        .or_else(|| trimmed.strip_prefix("http://"))
        .ok_or_else(wrong)?;
    let authority = host.parse::<Authority>().map_err(|_| wrong())?;
    if authority.as_str().contains('@') {
        return Err(wrong());
    }
    // Browsers leave out the port that goes with the scheme.
    let default_port = if trimmed.starts_with("https") { ":443" } else { ":80" };
    let plain = trimmed.strip_suffix(default_port).unwrap_or(trimmed);
    Ok(plain.to_ascii_lowercase())
}

/// Reads the address of a repository: a web address without a query.
fn repository_url(text: &str) -> Result<String, String> {
    match Address::parse_text(text) {
        Ok(Address(url)) if !url.contains(['?', '#']) => Ok(url.trim_end_matches('/').to_owned()),
        _ => Err(format!(
            "THUD_REPOSITORY_URL is {text}; an address such as https://github.com/name/thud is allowed"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_whole_and_within_its_bounds() {
        assert_eq!(whole("32", 32, 64), Some(32));
        for text in ["31", "65", "-1", "1e2", "", " 40", "40.0"] {
            assert_eq!(whole(text, 32, 64), None, "{text}");
        }
    }

    #[test]
    fn a_repository_is_a_web_address() {
        let url = "https://github.com/name/thud";
        assert_eq!(repository_url(&format!("{url}/")).as_deref(), Ok(url));
        for text in ["", "github.com/name", "javascript:alert(1)", "https://a/b?c", "https://a b"] {
            assert!(repository_url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_public_url_is_a_scheme_and_a_host() {
        for text in ["https://thud.example", "https://thud.example/", "http://127.0.0.1:3000"] {
            assert_eq!(public_url(text), Ok(text.trim_end_matches('/').to_owned()));
        }
        assert_eq!(public_url("https://Thud.example:443/").as_deref(), Ok("https://thud.example"));
        for text in
            ["", "thud.example", "https://", "https://a/b", "ftp://a", "https://u@a", "https://a b"]
        {
            assert!(public_url(text).is_err(), "{text}");
        }
    }
}
