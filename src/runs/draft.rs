//! A request as it is typed or sent: words that may be wrong. One reading for the page and the API.

use super::{
    CODE_BYTES_MAX, Drill, Egress, Language, Request, TIMEOUT_MS_DEFAULT, TIMEOUT_MS_MAX,
    TIMEOUT_MS_MIN,
};
use crate::catalog::claim::Tier;
use crate::money::Usd;

/// Providers that a request can name, at most.
pub const PROVIDERS_MAX: usize = 10;

/// What somebody asks for, unread. What is left out takes its default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// `python`, `javascript` or `bash`.
    pub language: String,
    /// The code.
    pub code: String,
    /// Wall clock of the code, milliseconds.
    pub timeout_ms: Option<u64>,
    /// Slugs of the only providers that may be tried, in order.
    pub providers: Option<Vec<String>>,
    /// Whether another may be tried where one fails.
    pub fallback: Option<bool>,
    /// The weakest wall that may be used.
    pub isolation_at_least: Option<String>,
    /// What the code may reach.
    pub egress: Option<String>,
    /// What the run may cost at most, a decimal.
    pub max_cost_usd: Option<String>,
    /// The fault that comes first.
    pub drill: Option<String>,
}

/// What is wrong with a field, and what is allowed.
pub type Slip = (&'static str, String);

impl Draft {
    /// Reads it; an error names every field that is wrong. `known` are the slugs of providers that can be named.
    pub fn read(&self, known: &[&str]) -> Result<Request, Vec<Slip>> {
        let mut slips = Vec::new();
        let mut read = |name: &'static str, result: Result<(), String>| {
            if let Err(message) = result {
                slips.push((name, message));
            }
        };
        let language = Language::parse(&self.language);
        let tier = self.isolation_at_least.as_deref().map(Tier::parse).transpose();
        let egress = self.egress.as_deref().map_or(Ok(Egress::None), Egress::parse);
        let most = self.max_cost_usd.as_deref().map(Usd::parse).transpose();
        let drill = self.drill.as_deref().map(Drill::parse).transpose();
        let timeout_ms = self.timeout_ms.unwrap_or(TIMEOUT_MS_DEFAULT);
        read("language", language.as_ref().map(|_| ()).map_err(Clone::clone));
        read("code", code(&self.code));
        read("timeout_ms", timeout(timeout_ms));
        read(
            "providers",
            self.providers.as_deref().map_or(Ok(()), |named| providers(named, known)),
        );
        read("isolation_at_least", tier.as_ref().map(|_| ()).map_err(Clone::clone));
        read("egress", egress.as_ref().map(|_| ()).map_err(Clone::clone));
        let said = |error: &crate::money::MoneyError| {
            format!("{error}; a decimal such as 0.01 is allowed")
        };
        read("max_cost_usd", most.as_ref().map(|_| ()).map_err(said));
        read("drill", drill.as_ref().map(|_| ()).map_err(Clone::clone));
        let (Ok(language), Ok(isolation_at_least), Ok(egress), Ok(max_cost_usd), Ok(drill), true) =
            (language, tier, egress, most, drill, slips.is_empty())
        else {
            return Err(slips);
        };
        Ok(Request {
            language,
            code: self.code.clone(),
            timeout_ms,
            providers: self.providers.clone(),
            fallback: self.fallback.unwrap_or(true),
            isolation_at_least,
            egress,
            max_cost_usd,
            drill,
        })
    }
}

fn code(code: &str) -> Result<(), String> {
    if code.trim().is_empty() {
        return Err("is empty: write some code".to_owned());
    }
    if code.len() > CODE_BYTES_MAX {
        return Err(format!("has {} bytes; at most {CODE_BYTES_MAX} are allowed", code.len()));
    }
    Ok(())
}

/// What is allowed for a wall clock.
pub fn timeout_words() -> String {
    format!("must be {TIMEOUT_MS_MIN} to {TIMEOUT_MS_MAX} milliseconds")
}

fn timeout(timeout_ms: u64) -> Result<(), String> {
    if (TIMEOUT_MS_MIN..=TIMEOUT_MS_MAX).contains(&timeout_ms) {
        return Ok(());
    }
    Err(timeout_words())
}

fn providers(named: &[String], known: &[&str]) -> Result<(), String> {
    let allowed = known.join(", ");
    if named.is_empty() || named.len() > PROVIDERS_MAX {
        return Err(format!("must name one to {PROVIDERS_MAX} of {allowed}"));
    }
    for (place, one) in named.iter().enumerate() {
        if !known.contains(&one.as_str()) {
            let one: String = one.chars().take(64).collect();
            return Err(format!("names {one:?}, which is not one of {allowed}"));
        }
        if named[..place].contains(one) {
            return Err(format!("names {one} twice"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> Draft {
        Draft { language: "python".to_owned(), code: "print(1)".to_owned(), ..Draft::default() }
    }

    fn slips(draft: &Draft) -> Vec<&'static str> {
        draft.read(&["e2b", "local"]).unwrap_err().into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn what_is_left_out_takes_its_default() {
        let request = draft().read(&[]).unwrap();
        assert_eq!((request.timeout_ms, request.fallback), (10_000, true));
        assert_eq!((request.egress, request.isolation_at_least), (Egress::None, None));
    }

    #[test]
    fn every_field_that_is_wrong_is_named() {
        let wrong = Draft {
            language: "perl".to_owned(),
            code: " \n".to_owned(),
            timeout_ms: Some(0),
            providers: Some(vec!["acme".to_owned()]),
            fallback: None,
            isolation_at_least: Some("vault".to_owned()),
            egress: Some("some".to_owned()),
            max_cost_usd: Some("1e9".to_owned()),
            drill: Some("explodes".to_owned()),
        };
        let all = [
            "language",
            "code",
            "timeout_ms",
            "providers",
            "isolation_at_least",
            "egress",
            "max_cost_usd",
            "drill",
        ];
        assert_eq!(slips(&wrong), all);
    }

    #[test]
    fn code_and_providers_are_bounded() {
        let long = Draft { code: "x".repeat(CODE_BYTES_MAX + 1), ..draft() };
        assert_eq!(slips(&long), ["code"]);
        assert!(Draft { code: "x".repeat(CODE_BYTES_MAX), ..draft() }.read(&[]).is_ok());
        for named in [vec![], vec!["e2b"; 2], vec!["e2b"; 11]] {
            let named = Some(named.into_iter().map(str::to_owned).collect());
            assert_eq!(slips(&Draft { providers: named, ..draft() }), ["providers"]);
        }
        let named = Some(vec!["local".to_owned(), "e2b".to_owned()]);
        assert!(Draft { providers: named, ..draft() }.read(&["e2b", "local"]).is_ok());
    }
}
