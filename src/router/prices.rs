//! What a sandbox costs, for quotes, caps, budgets and receipts: the catalog's prices of the day.

use std::sync::Arc;
use std::time::Duration;

use jiff::civil::Date;

use crate::catalog::Catalog;
use crate::catalog::card::PriceCard;
use crate::catalog::shape::{Ask, Shape, price};
use crate::catalog::sizes::SizeRules;
use crate::catalog::word::PriceKind;
use crate::money::{Quantity, Usd};
use crate::runs::Cost;

/// Prices of what is run.
#[derive(Debug, Clone)]
pub struct Prices(Arc<Catalog>);

impl Prices {
    /// Those of a catalog.
    pub fn of(catalog: Arc<Catalog>) -> Self {
        Self(catalog)
    }

    /// The fixed place of a provider; one that is not in the catalog comes last.
    pub fn position(&self, slug: &str) -> u32 {
        self.0.find(slug).map_or(u32::MAX, |provider| provider.position)
    }

    /// What a sandbox of a size costs for a while, billed by the provider's step; `None` where nobody can say. The most
    /// that it can be, where it depends on something.
    pub fn cost(
        &self,
        slug: &str,
        variant: Option<&str>,
        shape: Shape,
        lifetime: Duration,
        on: Date,
    ) -> Option<Cost> {
        let provider = self.0.find(slug)?;
        let variant = match variant {
            Some(id) => provider.variant(id)?,
            None => provider.default_variant(),
        };
        let seconds = u64::try_from(lifetime.as_nanos().div_ceil(NANOS_PER_MILLI)).ok()?;
        let seconds = Quantity::from(seconds).divided_by(MILLIS_PER_SECOND);
        let of = |kind| -> Option<Usd> {
            let card = PriceCard::of(provider, variant, kind, on);
            // The sandbox is there, so its size is sold.
            let card = PriceCard { sizes: SizeRules::none(), ..card };
            let estimate = price(&card, &Ask::plain(shape, seconds));
            estimate.high.max(estimate.usd)
        };
        Some(Cost { list_usd: of(PriceKind::List)?, routed_usd: of(PriceKind::Routed)? })
    }
}

const NANOS_PER_MILLI: u128 = 1_000_000;
const MILLIS_PER_SECOND: u32 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::load::{embedded_files, load};

    #[test]
    fn a_sandbox_costs_its_whole_seconds_with_the_fee_on_top() {
        let on = Date::new(2026, 11, 30).unwrap();
        let catalog = load(&embedded_files(), on).unwrap();
        let prices = Prices::of(Arc::new(catalog));
        let shape = Shape::default();
        for (slug, variant) in [("e2b", None), ("daytona", Some("vm"))] {
            let cost = prices.cost(slug, variant, shape, Duration::from_millis(1_200), on).unwrap();
            // 2 s of one vCPU at 0.000014 and 2 GiB at 0.0000045.
            assert_eq!(cost.list_usd.to_string(), "0.000046", "{slug}");
            assert_eq!(cost.routed_usd.to_string(), "0.0000552", "{slug}");
        }
        let day = Duration::from_secs(1);
        assert_eq!(prices.cost("e2b", Some("none"), shape, day, on), None);
        assert_eq!(prices.cost("acme", None, shape, day, on), None);
        assert_eq!(
            prices.cost("modal", None, shape, day, on),
            None,
            "the router does not reach it"
        );
    }
}
