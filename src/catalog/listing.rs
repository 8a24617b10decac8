//! The catalog as a list: which providers are shown, in which order, and how many are not.
//!
//! Not here: how a row looks.

use std::cmp::Ordering;

use jiff::civil::Date;

use super::claim::{Answer, Claim, Tier, Verdict};
use super::freshness::{age_days, stale_after};
use super::provider::{Provider, Variant};
use super::shape::{Estimate, Exactness, price_hour};
use super::word::{PriceKind, Status};
use super::{Catalog, Shape};
use crate::money::{Quantity, Usd};

words! {
    /// What the list is ordered by.
    Column {
        /// The fixed place of each provider.
        Position = "position", "catalog order";
        /// Its name.
        Name = "name", "name";
        /// The bill of an hour.
        Price = "price", "price";
        /// The tier of a plain create call.
        Isolation = "isolation", "isolation";
        /// Whether egress can be off.
        Egress = "egress", "egress switch";
        /// The editorial score.
        Score = "score", "score";
        /// The measured start, whatever class was measured.
        Start = "start", "measured start";
        /// Whether its platform is open source.
        OpenSource = "open_source", "open source";
    }
}

words! {
    /// In which direction.
    Direction {
        /// The least first.
        Ascending = "asc", "ascending";
        /// The most first.
        Descending = "desc", "descending";
    }
}

words! {
    /// Something that a provider has to say yes to. The name is that of the query.
    Need {
        /// Egress can be off from the start.
        EgressOff = "egress_off", "Egress can be off";
        /// It can run on one's own machines.
        SelfHost = "self_host", "Self-hosting";
        /// Its platform is open source.
        OpenSource = "open_source", "Open source";
        /// It has GPUs.
        Gpu = "gpu", "GPU";
    }
}

/// Every need, in the order of forms.
pub const NEEDS: [Need; 4] = [Need::EgressOff, Need::SelfHost, Need::OpenSource, Need::Gpu];

/// Who is shown. What is not asked for does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// At least one variant stands on this tier.
    pub isolation: Option<Tier>,
    /// All of these are answered with yes.
    pub needs: Vec<Need>,
    /// The router reaches it, or not.
    pub status: Option<Status>,
}

impl Filter {
    /// Whether a provider is shown. Unknown is no answer, and "partly" is not "yes".
    pub fn keeps(&self, provider: &Provider) -> bool {
        let tier = |variant: &Variant| variant.isolation.tier.value() == self.isolation.as_ref();
        (self.isolation.is_none() || provider.variants.iter().any(tier))
            && self.status.is_none_or(|status| provider.status == status)
            && self.needs.iter().all(|need| need.is_met_by(provider))
    }
}

impl Filter {
    /// What it asks for, in words; empty where it asks for nothing.
    pub fn words(&self) -> String {
        let tier = self.isolation.map(|tier| format!("{} in some variant", tier.label()));
        let status = self.status.map(|status| status.label().to_owned());
        let needs = self.needs.iter().map(|need| need.label().to_lowercase());
        let words: Vec<String> = tier.into_iter().chain(status).chain(needs).collect();
        words.join(", ")
    }
}

impl Listing<'_> {
    /// How many are shown, how many are not, and why.
    pub fn count_words(&self, filter: &Filter) -> String {
        let shown = self.rows.len();
        let noun = if shown == 1 { "provider" } else { "providers" };
        match self.hidden {
            0 => format!("{shown} {noun}."),
            hidden => {
                let words = filter.words();
                format!(
                    "{shown} {noun}; {hidden} more are left out by the filter, which asks for: {words}."
                )
            }
        }
    }
}

impl Need {
    fn is_met_by(self, provider: &Provider) -> bool {
        let claim: &Claim<Answer> = match self {
            Self::EgressOff => &provider.egress.can_disable_at_create,
            Self::SelfHost => &provider.deploy.self_host,
            Self::OpenSource => &provider.deploy.open_source,
            Self::Gpu => &provider.placement.gpu,
        };
        claim.value().is_some_and(|answer| answer.verdict == Verdict::Yes)
    }
}

/// What is asked of the list.
#[derive(Debug, Clone)]
pub struct Question {
    /// Who is shown.
    pub filter: Filter,
    /// Ordered by what.
    pub column: Column,
    /// In which direction.
    pub direction: Direction,
    /// The size that is priced.
    pub shape: Shape,
    /// List or routed; routed where there is one if nothing is said.
    pub kind: Option<PriceKind>,
    /// The day whose prices hold.
    pub on: Date,
    /// The days after which a price that nobody has read again is not ranked; `None` for no such limit.
    pub max_age_days: Option<u64>,
}

impl Question {
    /// Everybody in catalog order, for the default shape on a day.
    pub fn plain(on: Date) -> Self {
        Self {
            filter: Filter::default(),
            column: Column::Position,
            direction: Direction::Ascending,
            shape: Shape::default(),
            kind: None,
            on,
            max_age_days: None,
        }
    }
}

/// A provider of the list.
pub struct Row<'a> {
    /// The provider.
    pub provider: &'a Provider,
    /// List or routed: which of them the bill is.
    pub kind: PriceKind,
    /// The bill of an hour on its default variant.
    pub bill: Estimate,
    /// The day by which the oldest of its prices was last seen; `None` where one of them has no date by then.
    pub seen_on: Option<Date>,
    /// Whether that is longer ago than a price stays fresh.
    pub stale: bool,
    /// Why it is not ranked by its price, where it is not.
    pub unranked: Option<String>,
}

/// The list.
pub struct Listing<'a> {
    /// Those shown.
    pub rows: Vec<Row<'a>>,
    /// How many the filter leaves out.
    pub hidden: usize,
}

/// Lists the catalog. What has no rank (a range, a price that is not there, what is unknown) comes last in both
/// directions.
pub fn list<'a>(catalog: &'a Catalog, question: &Question) -> Listing<'a> {
    let all = catalog.providers();
    let mut rows: Vec<Row<'a>> = all
        .iter()
        .filter(|provider| question.filter.keeps(provider))
        .map(|provider| Row::of(provider, question))
        .collect();
    let direct = |ordering: Ordering| match question.direction {
        Direction::Ascending => ordering,
        Direction::Descending => ordering.reverse(),
    };
    rows.sort_by(|left, right| match question.column {
        Column::Position => direct(left.provider.position.cmp(&right.provider.position)),
        Column::Name => {
            let name = |row: &Row<'_>| row.provider.name.to_lowercase();
            direct(name(left).cmp(&name(right)))
        }
        Column::Price => ranked(left.rank(), right.rank(), direct),
        Column::Isolation => {
            let tier =
                |row: &Row<'_>| row.provider.default_variant().isolation.tier.value().copied();
            ranked(tier(left), tier(right), direct)
        }
        Column::Egress => {
            let verdict = |row: &Row<'_>| verdict(&row.provider.egress.can_disable_at_create);
            ranked(verdict(left), verdict(right), direct)
        }
        Column::OpenSource => {
            let verdict = |row: &Row<'_>| verdict(&row.provider.deploy.open_source);
            ranked(verdict(left), verdict(right), direct)
        }
        Column::Start => {
            let start = |row: &Row<'_>| {
                row.provider.measured_start().and_then(|(_, ms)| Quantity::parse(ms).ok())
            };
            ranked(start(left), start(right), direct)
        }
        Column::Score => {
            let score = |row: &Row<'_>| row.provider.score().map(|score| score.value);
            ranked(score(left), score(right), direct)
        }
    });
    Listing { hidden: all.len() - rows.len(), rows }
}

/// Yes before partly before no; nothing where nobody is known to say.
fn verdict(claim: &Claim<Answer>) -> Option<Verdict> {
    claim.value().map(|answer| answer.verdict)
}

/// Orders what has a rank, and puts the rest behind it.
fn ranked<T: Ord>(
    left: Option<T>,
    right: Option<T>,
    direct: impl Fn(Ordering) -> Ordering,
) -> Ordering {
    match (left, right) {
        (Some(left), Some(right)) => direct(left.cmp(&right)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

impl<'a> Row<'a> {
    /// A provider as the question sees it.
    pub fn of(provider: &'a Provider, question: &Question) -> Self {
        let kind = question.kind.unwrap_or_else(|| provider.price_kind_on(question.on));
        let bill = price_hour(provider, question.shape, kind, question.on);
        // A routed price is list and fee: as fresh as the list price that it is made from.
        let variant = &provider.default_variant().id;
        let seen: Option<Vec<Date>> = provider
            .prices_on(PriceKind::List, question.on)
            .filter(|price| price.is_for(variant))
            .map(|price| price.evidence.last_seen_by(question.on))
            .collect();
        // One price without a date leaves the whole bill without one.
        let seen_on = seen.and_then(|days| days.into_iter().min());
        let unranked = unranked(&bill, seen_on, question);
        let last = seen_on.and_then(|seen| stale_after("price", seen));
        let stale = last.is_some_and(|last| question.on > last);
        Self { provider, kind, bill, seen_on, stale, unranked }
    }

    /// The bill, if it can be ranked.
    fn rank(&self) -> Option<Usd> {
        if self.unranked.is_some() { None } else { self.bill.ranked() }
    }
}

/// Why a bill takes no part in the ranking.
fn unranked(bill: &Estimate, seen_on: Option<Date>, question: &Question) -> Option<String> {
    match bill.exactness {
        Exactness::Depends => return Some("the price depends".to_owned()),
        Exactness::Unpriced => return Some("no price".to_owned()),
        Exactness::Exact => {}
    }
    let most = question.max_age_days?;
    match seen_on {
        None => Some("nobody is known to have seen every price of it by that day".to_owned()),
        Some(seen) => {
            let age = age_days(seen, question.on)?;
            (age > most).then(|| format!("the price was last seen {age} days before, on {seen}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_rank_comes_last_in_both_directions() {
        let order = |direct: fn(Ordering) -> Ordering| {
            let mut list = vec![None, Some(2), None, Some(1)];
            list.sort_by(|left, right| ranked(*left, *right, direct));
            list
        };
        assert_eq!(order(|ordering| ordering), [Some(1), Some(2), None, None]);
        assert_eq!(order(Ordering::reverse), [Some(2), Some(1), None, None]);
    }
}
