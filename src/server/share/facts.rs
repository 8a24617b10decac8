//! What a share image says: a title and a few decisive facts, each from the function that the pages
//! show it by.
//!
//! Not here: how it looks. That is `drawing`.

use jiff::civil::Date;

use crate::catalog::claim::{AnyClaim, Tier};
use crate::catalog::shape::{Exactness, price_hour};
use crate::catalog::word::{PriceKind, Status, capitalised};
use crate::catalog::{Catalog, Provider, Shape};
use crate::comparison::{Entry, Standing};
use crate::parts::preview::{SENTENCE, SITE_IMAGE, routed_pair};

/// What one image says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Whom it is about.
    pub title: String,
    /// What sort of thing that is.
    pub lead: String,
    /// Names above the values, where there are several.
    pub columns: Vec<String>,
    /// The facts.
    pub facts: Vec<Fact>,
    /// What holds for all of them.
    pub remark: String,
    /// The day on which they hold.
    pub day: Date,
}

/// One question, and what is known for each column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The question.
    pub label: String,
    /// One answer a column; a single one where there are no columns.
    pub values: Vec<Value>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// The value, or which kind of none there is.
    pub text: String,
    /// How firm it is, where that has to be said.
    pub mark: Option<&'static str>,
    /// Whether there is a value at all.
    pub is_known: bool,
}

impl Card {
    /// The card of an image's name; `None` where there is no such image.
    pub fn named(catalog: &Catalog, name: &str, day: Date) -> Option<Self> {
        if name == SITE_IMAGE {
            return Some(Self::of_site(catalog, day));
        }
        if let Some(provider) = catalog.find(name) {
            return Some(Self::of_provider(provider, day));
        }
        routed_pair(catalog, name).map(|pair| Self::of_pair(pair, day))
    }

    fn of_provider(provider: &Provider, day: Date) -> Self {
        Self {
            title: provider.name.clone(),
            lead: capitalised(&format!("{}, {}", provider.kind.label(), provider.status.label())),
            columns: Vec::new(),
            facts: facts(&[provider], day),
            remark: terms(),
            day,
        }
    }

    fn of_pair(pair: [&Provider; 2], day: Date) -> Self {
        let names = pair.map(|one| one.name.clone());
        Self {
            title: names.join(" vs "),
            lead: "Code sandboxes side by side".to_owned(),
            columns: names.to_vec(),
            facts: facts(&pair, day),
            remark: terms(),
            day,
        }
    }

    fn of_site(catalog: &Catalog, day: Date) -> Self {
        let all = catalog.providers();
        let of_all = |is_so: fn(&Provider, Date) -> bool| {
            let count = all.iter().filter(|one| is_so(one, day)).count();
            Value::known(format!("{count} of {}", all.len()))
        };
        let routed: Vec<&str> = catalog.routed().map(|one| one.name.as_str()).collect();
        let virtual_machine = |one: &Provider, _: Date| {
            one.default_variant().isolation.tier.value() == Some(&Tier::VirtualMachine)
        };
        let exact = |one: &Provider, day: Date| {
            price_hour(one, Shape::default(), PriceKind::List, day).ranked().is_some()
        };
        let fact = |label: &str, value| Fact { label: label.to_owned(), values: vec![value] };
        Self {
            title: SENTENCE.to_owned(),
            lead: String::new(),
            columns: Vec::new(),
            facts: vec![
                fact("Providers", Value::known(all.len().to_string())),
                fact("Reached by the router", Value::known(routed.join(", "))),
                fact("List price of an hour is exact", of_all(exact)),
                fact("Virtual machine by default", of_all(virtual_machine)),
            ],
            remark: terms(),
            day,
        }
    }
}

impl Value {
    fn known(text: String) -> Self {
        Self { text, mark: None, is_known: true }
    }

    /// An entry as a page shows it: what has no value says which kind of none.
    fn of(entry: Entry<'_>) -> Self {
        let mark = (entry.standing != Standing::Known).then(|| entry.standing.label());
        match entry.text {
            Some(text) => Self { mark, ..Self::known(text) },
            None => Self { text: entry.standing.label().to_owned(), mark: None, is_known: false },
        }
    }

    /// What an hour costs, and whether that is exact.
    fn hour(provider: &Provider, kind: PriceKind, day: Date) -> Self {
        if kind == PriceKind::Routed && provider.status != Status::Routed {
            return Self::of(Entry::without(Standing::NotRouted));
        }
        let bill = price_hour(provider, Shape::default(), kind, day);
        let exact = (bill.exactness == Exactness::Exact).then(|| bill.exactness.label());
        let value = Self::of(Entry::bill(&bill));
        Self { mark: value.mark.or(exact), ..value }
    }
}

/// What decides between sandboxes.
fn facts(providers: &[&Provider], day: Date) -> Vec<Fact> {
    let fact = |label: &str, value: &dyn Fn(&Provider) -> Value| Fact {
        label: label.to_owned(),
        values: providers.iter().map(|one| value(one)).collect(),
    };
    vec![
        fact("An hour, list", &|one| Value::hour(one, PriceKind::List, day)),
        fact("An hour, routed", &|one| Value::hour(one, PriceKind::Routed, day)),
        fact("Isolation by default", &|one| {
            Value::of(Entry::of(&one.default_variant().isolation.tier))
        }),
        fact("Egress can be off", &|one| {
            let claim = &one.egress.can_disable_at_create;
            // The verdict alone: its conditions stand on the page.
            let verdict = claim.value().map(|answer| answer.verdict.label().to_owned());
            Value::of(Entry { text: verdict, ..Entry::of(claim as &dyn AnyClaim) })
        }),
    ]
}

/// What the bills rest on.
fn terms() -> String {
    format!("An hour of {}, use only, default class, US dollars", Shape::default().label())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::load::{embedded_files, load};
    use crate::moment::today;

    /// The values of an image's facts, column after column, with how firm they are.
    fn values(name: &str) -> Vec<Vec<String>> {
        let catalog = load(&embedded_files(), today()).unwrap();
        let card = Card::named(&catalog, name, today()).unwrap();
        let shown = |value: &Value| match value.mark {
            Some(mark) => format!("{} ({mark})", value.text),
            None if value.is_known => value.text.clone(),
            None => format!("no value: {}", value.text),
        };
        card.facts.iter().map(|fact| fact.values.iter().map(shown).collect()).collect()
    }

    #[test]
    fn facts_are_the_figures_of_the_pages() {
        assert_eq!(
            values("e2b-vs-daytona"),
            [
                ["$0.0828 (exact)", "$0.0828 (exact)"],
                ["$0.09936 (exact)", "$0.09936 (exact)"],
                ["virtual machine", "container"],
                ["yes", "yes"],
            ]
        );
        assert_eq!(values("modal")[0], ["$0.11898 or more (depends)"]);
    }

    #[test]
    fn what_is_not_known_is_said_and_never_a_figure() {
        assert_eq!(
            values("google-agent-engine-code-execution").concat(),
            [
                "no value: no price",
                "no value: not routed",
                "no value: unknown",
                "no value: unknown",
            ]
        );
    }
}
