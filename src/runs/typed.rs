//! A run as it is typed into a form: texts that may be wrong, and stay what they are until somebody mends them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::draft::{Draft, Slip, timeout_words};
use super::{Asked, CODE_BYTES_MAX, Language, Request};

/// The longest text of a field other than the code that is kept, characters.
const FIELD_CHARS_MAX: usize = 200;

/// The fields of the form, by the names that the API has for them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Typed {
    /// `python`, `javascript` or `bash`.
    pub language: String,
    /// The code.
    pub code: String,
    /// Wall clock of the code, milliseconds.
    pub timeout_ms: String,
    /// Slugs with commas between them, in the order in which they are tried.
    pub providers: String,
    /// `true` or `false`.
    pub fallback: String,
    /// The weakest wall.
    pub isolation_at_least: String,
    /// What the code may reach.
    pub egress: String,
    /// The most that it may cost.
    pub max_cost_usd: String,
    /// The fault that comes first.
    pub drill: String,
}

/// A text that is never shown: not on a page, not in a log.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

impl Typed {
    /// What a run was asked for, to be changed and asked again.
    pub fn of(asked: &Asked, code: String) -> Self {
        let is_asked = asked.isolation_from == super::Choice::Asked;
        let floor = is_asked.then(|| asked.isolation_at_least.word().to_owned());
        Self {
            language: asked.language.word().to_owned(),
            code,
            timeout_ms: asked.timeout_ms.to_string(),
            providers: asked.providers.as_deref().unwrap_or_default().join(", "),
            fallback: asked.fallback.to_string(),
            isolation_at_least: floor.unwrap_or_default(),
            egress: asked.egress.word().to_owned(),
            max_cost_usd: asked.max_cost_usd.map(|most| most.to_string()).unwrap_or_default(),
            drill: asked.drill.map_or_else(String::new, |drill| drill.word().to_owned()),
        }
    }

    /// The same without what a browser adds to it: forms send the ends of lines as two characters, and whoever fills
    /// in a field adds spaces.
    #[must_use]
    pub fn tidied(mut self) -> Self {
        self.code = self.code.replace("\r\n", "\n");
        for (name, text) in self.fields_mut() {
            if name != "code" {
                *text = text.trim().chars().take(FIELD_CHARS_MAX).collect();
            }
        }
        self
    }

    /// Every field by its name.
    pub fn fields(&self) -> [(&'static str, &str); 9] {
        [
            ("language", &self.language),
            ("code", &self.code),
            ("timeout_ms", &self.timeout_ms),
            ("providers", &self.providers),
            ("fallback", &self.fallback),
            ("isolation_at_least", &self.isolation_at_least),
            ("egress", &self.egress),
            ("max_cost_usd", &self.max_cost_usd),
            ("drill", &self.drill),
        ]
    }

    /// The same, to be changed.
    pub fn fields_mut(&mut self) -> [(&'static str, &mut String); 9] {
        [
            ("language", &mut self.language),
            ("code", &mut self.code),
            ("timeout_ms", &mut self.timeout_ms),
            ("providers", &mut self.providers),
            ("fallback", &mut self.fallback),
            ("isolation_at_least", &mut self.isolation_at_least),
            ("egress", &mut self.egress),
            ("max_cost_usd", &mut self.max_cost_usd),
            ("drill", &mut self.drill),
        ]
    }

    /// Whether the code is longer than any that is kept.
    pub fn is_too_long(&self) -> bool {
        self.code.len() > CODE_BYTES_MAX
    }

    /// Reads it; an error names every field that is wrong. An empty field takes its default.
    pub fn read(&self, known: &[&str]) -> Result<Request, Vec<Slip>> {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let timeout_ms = given(&self.timeout_ms).map(|text| text.parse::<u64>()).transpose();
        let fallback = match self.fallback.as_str() {
            "" => Ok(None),
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => Err(("fallback", "is not one of true, false".to_owned())),
        };
        let providers = given(&self.providers).map(|text| {
            text.split([',', ' ']).filter(|slug| !slug.is_empty()).map(str::to_owned).collect()
        });
        let draft = Draft {
            language: self.language.clone(),
            code: self.code.clone(),
            timeout_ms: timeout_ms.as_ref().copied().unwrap_or_default(),
            providers,
            fallback: fallback.as_ref().copied().unwrap_or_default(),
            isolation_at_least: given(&self.isolation_at_least),
            egress: given(&self.egress),
            max_cost_usd: given(&self.max_cost_usd),
            drill: given(&self.drill),
        };
        let unread = timeout_ms.err().map(|_| ("timeout_ms", timeout_words()));
        let slips: Vec<Slip> = unread.into_iter().chain(fallback.err()).collect();
        match draft.read(known) {
            Ok(request) if slips.is_empty() => Ok(request),
            Ok(_) => Err(slips),
            Err(others) => Err(others.into_iter().chain(slips).collect()),
        }
    }

    /// The request that comes nearest to it: what is wrong takes its default, and the code stays what it is.
    pub fn nearest(&self, known: &[&str]) -> Request {
        let mut mended = self.clone();
        for (name, _) in self.read(known).err().unwrap_or_default() {
            for (field, text) in mended.fields_mut() {
                if field == name {
                    text.clear();
                }
            }
        }
        let language = Language::parse(&mended.language).unwrap_or(Language::Python);
        let code = self.code.clone();
        // Only the code can still be wrong, for it may be empty.
        let draft = Typed {
            language: language.word().to_owned(),
            code: "nothing".to_owned(),
            ..mended.clone()
        };
        match draft.read(known) {
            Ok(request) => Request { code, ..request },
            Err(_) => Request {
                language,
                code,
                timeout_ms: super::TIMEOUT_MS_DEFAULT,
                providers: None,
                fallback: true,
                isolation_at_least: None,
                egress: super::Egress::None,
                max_cost_usd: None,
                drill: None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 2] = ["e2b", "local"];

    fn typed() -> Typed {
        let (language, code) = ("python".to_owned(), "print(1)".to_owned());
        Typed { language, code, ..Typed::default() }
    }

    #[test]
    fn empty_fields_take_their_defaults() {
        let request = typed().read(&KNOWN).unwrap();
        assert_eq!((request.timeout_ms, request.fallback, request.providers), (10_000, true, None));
    }

    #[test]
    fn providers_are_tried_in_the_order_in_which_they_are_typed() {
        for text in ["local,e2b", "local, e2b", " local  e2b "] {
            let one = Typed { providers: text.to_owned(), ..typed() }.tidied();
            let named = one.read(&KNOWN).unwrap().providers.unwrap();
            assert_eq!(named, ["local", "e2b"], "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_the_nearest_request_stands_in() {
        let wrong = Typed {
            language: "perl".to_owned(),
            code: String::new(),
            timeout_ms: "ten".to_owned(),
            providers: "acme".to_owned(),
            fallback: "perhaps".to_owned(),
            isolation_at_least: "vault".to_owned(),
            egress: "some".to_owned(),
            max_cost_usd: "much".to_owned(),
            drill: "explodes".to_owned(),
        };
        let named: Vec<_> = wrong.read(&KNOWN).unwrap_err().into_iter().map(|(n, _)| n).collect();
        assert_eq!(named.len(), 9, "{named:?}");
        let nearest = wrong.nearest(&KNOWN);
        assert_eq!((nearest.language, nearest.code.as_str()), (Language::Python, ""));
        let half = Typed { timeout_ms: "2000".to_owned(), egress: "some".to_owned(), ..typed() };
        let nearest = half.nearest(&KNOWN);
        assert_eq!((nearest.timeout_ms, nearest.code.as_str()), (2_000, "print(1)"));
    }

    #[test]
    fn the_ends_of_lines_are_what_was_typed() {
        let sent = Typed { code: "a\r\nb\rc\n".to_owned(), ..typed() };
        assert_eq!(sent.tidied().code, "a\nb\rc\n");
    }

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", Secret("thud_x".to_owned())), "Secret");
    }
}
