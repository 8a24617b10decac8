//! Settings of hosted providers. The vendors' own variables are read under the vendors' own names.

use std::env::VarError;
use std::time::Duration;

use secrecy::SecretString;

use super::number;
use crate::catalog::claim::Tier;
use crate::catalog::shape::Shape;
use crate::money::Quantity;
use crate::router::{daytona, e2b};

/// The longest share of a run's time to start in, milliseconds.
const START_MS_MAX: u64 = 120_000;
/// The largest part of a size.
const SIZE_MAX: u64 = 1024;

/// E2B, with a key or without.
#[derive(Debug, Clone)]
pub struct E2b {
    /// The size of its sandboxes. `THUD_E2B_SIZE`: vCPU, GiB of memory and GiB of disk that a sandbox of the template has;
    /// `2/2/10` if left out. Quotes rest on it; a sandbox that turns out dearer is not used.
    pub shape: Shape,
    /// `THUD_E2B_START_MS`: its share of a run's time to start in, milliseconds; 10000 if left out.
    pub start_slice: Duration,
    /// How it is reached; `None` without a key.
    ///
    /// `E2B_API_KEY`: the team's key. `E2B_DOMAIN`: the domain below which everything is; `e2b.app` if left out.
    /// `E2B_API_URL`: the control plane; `https://api.` and the domain if left out. `E2B_SANDBOX_URL`: one address for all
    /// sandboxes; an address each below the domain if left out. `THUD_E2B_TEMPLATE`: what sandboxes are made from;
    /// `code-interpreter-v1` if left out.
    pub settings: Option<e2b::Settings>,
}

/// Daytona, with a key or without.
#[derive(Debug, Clone)]
pub struct Daytona {
    /// `THUD_DAYTONA_CLASS`: `vm` or `container`, the class of the snapshot; `vm` if left out.
    pub tier: Tier,
    /// `THUD_DAYTONA_SIZE`: as `THUD_E2B_SIZE`; `1/1/3` if left out.
    pub shape: Shape,
    /// `THUD_DAYTONA_START_MS`: as `THUD_E2B_START_MS`; 35000 if left out.
    pub start_slice: Duration,
    /// How it is reached; `None` without a key.
    ///
    /// `DAYTONA_API_KEY`: the organisation's key. `DAYTONA_API_URL`: the API; `https://app.daytona.io/api` if left out.
    /// `DAYTONA_TARGET`: the region; the organisation's own if left out. `THUD_DAYTONA_SNAPSHOT`: what sandboxes are made
    /// from; `daytona-vm-small` if left out, or `daytona-small` for containers. `THUD_DAYTONA_TOOLBOX_URL`: the toolbox, where
    /// it is neither at the API's host nor below it.
    pub settings: Option<daytona::Settings>,
}

impl E2b {
    /// Reads the environment.
    pub fn from_env() -> Result<Self, String> {
        let shape = shape("THUD_E2B_SIZE", "2/2/10")?;
        let start_slice = start_slice("THUD_E2B_START_MS", 10_000)?;
        let domain = text("E2B_DOMAIN")?.unwrap_or_else(|| "e2b.app".to_owned());
        let settings = key("E2B_API_KEY")?.map(|api_key| -> Result<_, String> {
            Ok(e2b::Settings {
                api_key,
                api_url: address("E2B_API_URL")?.unwrap_or_else(|| format!("https://api.{domain}")),
                sandbox_url: address("E2B_SANDBOX_URL")?,
                template: text("THUD_E2B_TEMPLATE")?
                    .unwrap_or_else(|| "code-interpreter-v1".to_owned()),
                domain,
                shape,
                start_slice,
            })
        });
        Ok(Self { shape, start_slice, settings: settings.transpose()? })
    }
}

impl Daytona {
    /// Reads the environment.
    pub fn from_env() -> Result<Self, String> {
        let class = text("THUD_DAYTONA_CLASS")?;
        let (tier, snapshot) = match class.as_deref() {
            None | Some("vm") => (Tier::VirtualMachine, "daytona-vm-small"),
            Some("container") => (Tier::Container, "daytona-small"),
            Some(other) => {
                return Err(format!("THUD_DAYTONA_CLASS is {other}; vm or container is allowed"));
            }
        };
        let shape = shape("THUD_DAYTONA_SIZE", "1/1/3")?;
        let start_slice = start_slice("THUD_DAYTONA_START_MS", 35_000)?;
        let settings = key("DAYTONA_API_KEY")?.map(|api_key| -> Result<_, String> {
            Ok(daytona::Settings {
                api_key,
                api_url: address("DAYTONA_API_URL")?
                    .unwrap_or_else(|| "https://app.daytona.io/api".to_owned()),
                toolbox_url: address("THUD_DAYTONA_TOOLBOX_URL")?,
                target: text("DAYTONA_TARGET")?,
                snapshot: text("THUD_DAYTONA_SNAPSHOT")?.unwrap_or_else(|| snapshot.to_owned()),
                tier,
                shape,
                start_slice,
            })
        });
        Ok(Self { tier, shape, start_slice, settings: settings.transpose()? })
    }
}

/// A text; an empty one is as good as none.
fn text(name: &str) -> Result<Option<String>, String> {
    match std::env::var(name) {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(format!("{name} is not UTF-8")),
    }
}

/// A key. What is wrong with it is said without it.
fn key(name: &str) -> Result<Option<SecretString>, String> {
    let Some(key) = text(name)? else { return Ok(None) };
    if key.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(Some(SecretString::from(key)))
    } else {
        Err(format!("{name} has characters that no key has: letters, digits and signs are allowed"))
    }
}

fn address(name: &str) -> Result<Option<String>, String> {
    let Some(text) = text(name)? else { return Ok(None) };
    checked_address(&text).map(Some).ok_or_else(|| {
        format!("{name} is {text}; an address such as https://api.example.com is allowed")
    })
}

/// An address without a slash at the end, where it is one with a host and without a name, a query or a fragment.
fn checked_address(text: &str) -> Option<String> {
    let url = url::Url::parse(text).ok()?;
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let is_web = matches!(url.scheme(), "http" | "https") && url.host().is_some();
    (is_plain && is_web).then(|| text.trim_end_matches('/').to_owned())
}

fn start_slice(name: &str, default_ms: u64) -> Result<Duration, String> {
    number(name, default_ms, 100, START_MS_MAX).map(Duration::from_millis)
}

fn shape(name: &str, default: &str) -> Result<Shape, String> {
    let text = text(name)?.unwrap_or_else(|| default.to_owned());
    read_shape(&text).ok_or_else(|| {
        format!("{name} is {text}; vCPU/GiB of memory/GiB of disk such as {default} is allowed")
    })
}

fn read_shape(text: &str) -> Option<Shape> {
    let parts: Vec<&str> = text.split('/').map(str::trim).collect();
    let [vcpu, memory, disk] = parts.try_into().ok()?;
    // Halves and quarters are sold too.
    let read = |part: &str| {
        let quantity = Quantity::parse(part).ok()?;
        (quantity <= Quantity::from(SIZE_MAX)).then_some(quantity)
    };
    let shape = Shape { vcpu: read(vcpu)?, memory_gib: read(memory)?, disk_gib: read(disk)? };
    (!shape.vcpu.is_zero() && !shape.memory_gib.is_zero()).then_some(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_three_quantities() {
        let shape = read_shape("2/0.5/10").unwrap();
        assert_eq!(shape.memory_gib, Quantity::parse("0.5").unwrap());
        for text in ["", "2", "2/2", "2/2/2/2", "0/1/1", "1/0/1", "-1/1/1", "a/1/1", "1/1/5000"] {
            assert!(read_shape(text).is_none(), "{text}");
        }
    }

    #[test]
    fn an_address_has_a_host_and_no_name_in_it() {
        let fine = checked_address("https://app.daytona.io/api/");
        assert_eq!(fine.as_deref(), Some("https://app.daytona.io/api"));
        assert!(checked_address("http://127.0.0.1:3986").is_some());
        for text in ["", "app.daytona.io", "ftp://a", "https://u:p@a", "https://a?b", "https://a#b"]
        {
            assert!(checked_address(text).is_none(), "{text}");
        }
    }
}
