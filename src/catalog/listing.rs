//! The catalog as a list: which providers are shown, in which order, and how many are not.
//!
//! Not here: how a row looks.

use std::cmp::Ordering;

use jiff::civil::Date;

use super::card::PriceCard;
use super::claim::{Answer, Claim, Tier, Verdict};
use super::provider::Provider;
use super::shape::{Ask, Estimate, price};
use super::word::{PriceKind, Status};
use super::{Catalog, Shape};
use crate::money::{Quantity, Usd};

/// Seconds that the list prices.
const HOUR: u64 = 3_600;

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
        /// The editorial score.
        Score = "score", "score";
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

/// Who is shown. What is not asked for does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter {
    /// At least one variant stands on this tier.
    pub isolation: Option<Tier>,
    /// Egress can be off from the start.
    pub egress_off: bool,
    /// It can run on one's own machines.
    pub self_host: bool,
    /// Its platform is open source.
    pub open_source: bool,
    /// It has GPUs.
    pub gpu: bool,
    /// The router reaches it, or not.
    pub status: Option<Status>,
}

impl Filter {
    /// Whether a provider is shown. Unknown is no answer, and "partly" is not "yes".
    pub fn keeps(&self, provider: &Provider) -> bool {
        let yes = |asked: bool, claim: &Claim<Answer>| {
            !asked || claim.value().is_some_and(|answer| answer.verdict == Verdict::Yes)
        };
        let tier = |variant: &super::provider::Variant| {
            variant.isolation.tier.value() == self.isolation.as_ref()
        };
        (self.isolation.is_none() || provider.variants.iter().any(tier))
            && self.status.is_none_or(|status| provider.status == status)
            && yes(self.egress_off, &provider.egress.can_disable_at_create)
            && yes(self.self_host, &provider.deploy.self_host)
            && yes(self.open_source, &provider.deploy.open_source)
            && yes(self.gpu, &provider.placement.gpu)
    }
}

/// What is asked of the list.
#[derive(Debug, Clone, Copy)]
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
}

/// A provider of the list.
pub struct Row<'a> {
    /// The provider.
    pub provider: &'a Provider,
    /// List or routed: which of them the bill is.
    pub kind: PriceKind,
    /// The bill of an hour on its default variant.
    pub bill: Estimate,
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
        Column::Score => {
            let score = |row: &Row<'_>| row.provider.score().map(|score| score.value);
            ranked(score(left), score(right), direct)
        }
    });
    Listing { hidden: all.len() - rows.len(), rows }
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
    fn of(provider: &'a Provider, question: &Question) -> Self {
        let kind = question.kind.unwrap_or_else(|| provider.price_kind_on(question.on));
        let card = PriceCard::of(provider, provider.default_variant(), kind, question.on);
        let bill = price(&card, &Ask::plain(question.shape, Quantity::from(HOUR)));
        Self { provider, kind, bill }
    }

    /// The bill, if it can be ranked.
    fn rank(&self) -> Option<Usd> {
        self.bill.ranked()
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
