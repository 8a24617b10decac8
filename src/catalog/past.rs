//! The catalog as far as it was known on a past day of which no revision is kept, and a past revision under the prices
//! that are known today.
//!
//! Prices have a history of their own and are looked up by day (`Provider::prices_on`); every other value counts from
//! the day on which somebody had seen it.

use jiff::civil::Date;

use super::claim::Dispute;
use super::provider::{Provider, Variant};
use super::{Catalog, price};

impl Catalog {
    /// What was known on a day of those that are in the catalog now.
    #[must_use]
    pub fn known_by(&self, day: Date) -> Self {
        Self::new(self.providers().iter().map(|provider| provider.known_by(day)).collect())
    }

    /// The same catalog under the dated prices of a newer one up to a day: it knows more of the past. What the newer one no
    /// longer has keeps its own.
    #[must_use]
    pub fn under_prices_of(&self, newer: &Self, day: Date) -> Self {
        let priced = |provider: &Provider| {
            let known = newer.find(provider.slug.as_str()).unwrap_or(provider);
            Provider {
                prices: keep(known.prices.clone(), |price: &price::Price| price.since <= day),
                fees: keep(known.fees.clone(), |fee| fee.since <= day),
                price_disputes: known.price_disputes.clone(),
                ..provider.clone()
            }
        };
        Self::new(self.providers().iter().map(priced).collect())
    }
}

impl Provider {
    fn known_by(&self, day: Date) -> Self {
        let own = self.clone();
        let known = |(id, dispute): (String, Dispute)| Some((id, dispute.known_by(day)?));
        Self {
            checked_on: own.checked_on.filter(|checked| *checked <= day),
            identity: own.identity.known_by(day),
            credit: own.credit.known_by(day),
            concurrency: own.concurrency.known_by(day),
            start: own.start.known_by(day),
            egress: own.egress.known_by(day),
            lifecycle: own.lifecycle.known_by(day),
            api: own.api.known_by(day),
            deploy: own.deploy.known_by(day),
            placement: own.placement.known_by(day),
            compliance: own.compliance.known_by(day),
            sla: own.sla.known_by(day),
            variants: own.variants.into_iter().map(|variant| variant.known_by(day)).collect(),
            prices: keep(own.prices, |price: &price::Price| price.since <= day),
            fees: keep(own.fees, |fee| fee.since <= day),
            plans: own.plans.into_iter().map(|plan| plan.known_by(day)).collect(),
            scores: keep(own.scores, |score| score.evidence.is_seen_by(day)),
            measurements: keep(own.measurements, |one| one.evidence.is_seen_by(day)),
            details: keep(own.details, |detail| {
                detail.claim.evidence.as_ref().is_some_and(|evidence| evidence.is_seen_by(day))
            }),
            history: keep(own.history, |change| change.evidence.is_seen_by(day)),
            price_disputes: own.price_disputes.into_iter().filter_map(known).collect(),
            sources: keep(own.sources, |source| {
                source.seen_on.last_day().is_some_and(|seen| seen <= day)
            }),
            ..own
        }
    }
}

impl Variant {
    fn known_by(self, day: Date) -> Self {
        Self {
            isolation: self.isolation.known_by(day),
            size: self.size.known_by(day),
            time: self.time.known_by(day),
            billing: self.billing.known_by(day),
            ..self
        }
    }
}

fn keep<T>(mut list: Vec<T>, which: impl Fn(&T) -> bool) -> Vec<T> {
    list.retain(which);
    list
}
