//! What the calculators know of a provider: one variant's price card, what stops its sandboxes, and what its plans
//! allow. Small enough that an island can carry it.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::catalog::card::PriceCard;
use crate::catalog::claim::{AnyClaim, Claim, Limit, Paused, State, Verdict};
use crate::catalog::plan::Plan;
use crate::catalog::provider::{Provider, Variant};
use crate::catalog::shape::Shape;
use crate::catalog::word::{Component, PriceKind};
use crate::money::{Quantity, Usd};

/// Seconds in a minute, for rates that a vendor states by the minute.
const SECONDS_PER_MINUTE: u32 = 60;

/// What one provider offers under one variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The provider's slug.
    pub slug: String,
    /// The provider's name.
    pub name: String,
    /// What it costs.
    pub card: PriceCard,
    /// What else the provider sells, under other terms.
    pub others: Vec<Other>,
    /// Seconds until the platform ends a sandbox whose caller sent no limit.
    pub wall_clock_seconds: Stop,
    /// Seconds without outside activity until it is stopped.
    pub idle_stop_seconds: Stop,
    /// Its plans, in the vendor's order.
    pub plans: Vec<PlanOffer>,
    /// Seconds of the longest session where a plan does not say.
    pub longest_session_seconds: Stop,
    /// What is billed while a sandbox is paused; `None` where that is not known.
    pub paused: Option<Paused>,
    /// Credit for a new customer on any plan, US dollars, once.
    pub usd_credit_one_time: Option<Usd>,
    /// Credit of every month on any plan, US dollars.
    pub usd_credit_per_month: Option<Usd>,
}

/// A variant that is not the default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Other {
    /// Its name within the file.
    pub id: String,
    /// How one gets it.
    pub asked_by: String,
    /// What it costs.
    pub card: PriceCard,
}

/// Something that ends a sandbox, or the reason why we cannot say when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Whether it is known, disputed, unknown or has no meaning here.
    pub state: State,
    /// The limit, where one is held.
    pub limit: Option<Limit>,
    /// Address or title of what says so.
    pub source: Option<String>,
    /// Day, month or `undated` of it.
    pub as_of: Option<String>,
}

/// What a plan costs and allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanOffer {
    /// Its name within the file.
    pub id: String,
    /// Its name on pages.
    pub name: String,
    /// The fee of a month on top of use, US dollars.
    pub usd_fee_per_month: Option<Usd>,
    /// The smallest bill of a month, US dollars.
    pub usd_minimum_per_month: Option<Usd>,
    /// Prepaid use that unlocks the plan, US dollars: cash, not cost.
    pub usd_top_up: Option<Usd>,
    /// Credit for a new customer, US dollars, once.
    pub usd_credit_one_time: Option<Usd>,
    /// Seconds of the longest session.
    pub longest_session_seconds: Stop,
    /// Sandboxes at once.
    pub concurrent_sandboxes: Option<Limit>,
    /// Processors of all sandboxes together.
    pub pool_vcpu: Option<Quantity>,
    /// Memory of all sandboxes together, GiB.
    pub pool_memory_gib: Option<Quantity>,
    /// Disk of all sandboxes together, GiB.
    pub pool_disk_gib: Option<Quantity>,
    /// Creations a second.
    pub creates_per_second: Option<Quantity>,
    /// Processors of one sandbox at most.
    pub max_vcpu: Option<Quantity>,
    /// Whether it ends when its allowance is used.
    pub ends_with_allowance: bool,
    /// Caps that sources disagree about.
    pub contested: Vec<Contested>,
}

/// What keeps the number of sandboxes at once down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Cap {
    /// Their number.
    Sandboxes,
    /// A pool of processors.
    PoolVcpu,
    /// A pool of memory.
    PoolMemory,
    /// A pool of disk.
    PoolDisk,
}

impl Cap {
    /// Its name on pages.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Sandboxes => "sandboxes at once",
            Self::PoolVcpu => "vCPU pool",
            Self::PoolMemory => "memory pool",
            Self::PoolDisk => "disk pool",
        }
    }
}

/// A cap that sources disagree about, with the ends of what they say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contested {
    /// Which one.
    pub cap: Cap,
    /// The least that a source says; zero where one of them gives no number.
    pub least: Quantity,
    /// The most; `None` where one of them gives no number.
    pub most: Option<Quantity>,
}

/// Whom to believe about a contested cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// The catalog's ruling.
    Ruled,
    /// Who says the least.
    Least,
    /// Who says the most.
    Most,
}

/// What a provider offers: at its own price, and through the router where that reaches it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offers {
    /// At list price.
    pub list: Offer,
    /// The same with the router's fee: the default variant's card, and those of the others.
    pub routed: Option<(PriceCard, Vec<Other>)>,
}

impl Offers {
    /// The default variant of a provider at the prices of a day.
    pub fn of(provider: &Provider, on: Date) -> Self {
        let variant = provider.default_variant();
        let routed = PriceCard::of(provider, variant, PriceKind::Routed, on);
        Self {
            list: Offer::of(provider, variant, PriceKind::List, on),
            routed: (!routed.rows.is_empty())
                .then(|| (routed, Other::all(provider, PriceKind::Routed, on))),
        }
    }

    /// The offer at a price kind: routed where the router reaches it, else list, if none is named. Who is not reached has no
    /// routed price: none stands under that label.
    pub fn at(&self, kind: Option<PriceKind>) -> Offer {
        let (card, others) = match (kind, &self.routed) {
            (Some(PriceKind::List), _) | (None, None) => return self.list.clone(),
            (_, Some(routed)) => routed.clone(),
            (Some(PriceKind::Routed), None) => {
                let list = self.list.card.clone();
                (PriceCard { kind: PriceKind::Routed, rows: Vec::new(), ..list }, Vec::new())
            }
        };
        Offer { card, others, ..self.list.clone() }
    }
}

impl Other {
    /// Every variant of a provider but the default, at the prices of a day.
    fn all(provider: &Provider, kind: PriceKind, on: Date) -> Vec<Self> {
        let default = &provider.default_variant().id;
        let others = provider.variants.iter().filter(|variant| variant.id != *default);
        others
            .map(|variant| Self {
                id: variant.id.clone(),
                asked_by: variant.asked_by.clone(),
                card: PriceCard::of(provider, variant, kind, on),
            })
            .collect()
    }
}

impl Offer {
    /// A variant at the prices of a day.
    pub fn of(provider: &Provider, variant: &Variant, kind: PriceKind, on: Date) -> Self {
        Self {
            slug: provider.slug.to_string(),
            name: provider.name.clone(),
            card: PriceCard::of(provider, variant, kind, on),
            others: Other::all(provider, kind, on),
            wall_clock_seconds: Stop::from(&variant.time.default_wall_clock_seconds),
            idle_stop_seconds: Stop::from(&variant.time.idle_stop_seconds),
            plans: provider.plans.iter().map(PlanOffer::from).collect(),
            longest_session_seconds: Stop::from(&variant.time.max_session_seconds),
            paused: variant.billing.paused.value().copied(),
            usd_credit_one_time: provider.credit.usd_one_time.value().copied(),
            usd_credit_per_month: provider.credit.usd_per_month.value().copied(),
        }
    }

    /// A plan by its id.
    pub fn plan(&self, id: &str) -> Option<&PlanOffer> {
        self.plans.iter().find(|plan| plan.id == id)
    }

    /// The plan that is reckoned with: the named one, else the cheapest that holds so many sandboxes at once, else the
    /// one that holds the most. `None` where no plan is known.
    pub fn plan_for(
        &self,
        named: &[(String, String)],
        shape: &Shape,
        at_once: u64,
    ) -> Option<&PlanOffer> {
        named
            .iter()
            .find(|(slug, _)| *slug == self.slug)
            .and_then(|(_, id)| self.plan(id))
            .or_else(|| self.cheapest_for(shape, at_once))
            .or_else(|| {
                let sold = self.card.sold_shape(*shape);
                self.plans.iter().rev().max_by_key(|plan| plan.holds(&sold))
            })
    }

    /// The plan with the least fixed cost that holds so many sandboxes of a shape at once, top-ups deciding between
    /// equals. `None` where none is known to.
    pub fn cheapest_for(&self, shape: &Shape, at_once: u64) -> Option<&PlanOffer> {
        let sold = self.card.sold_shape(*shape);
        self.cheapest(shape, |plan| plan.holds(&sold).is_none_or(|most| most >= at_once))
    }

    /// The plan with the least fixed cost that sells the disk of a shape and fits otherwise too, top-ups deciding between
    /// equals.
    pub fn cheapest(
        &self,
        shape: &Shape,
        is_enough: impl Fn(&PlanOffer) -> bool,
    ) -> Option<&PlanOffer> {
        let disk = self.card.row(Component::Disk).and_then(|row| row.included.as_ref());
        let fits = |plan: &&PlanOffer| {
            // Disk that is not sold beyond an allowance takes a plan whose allowance holds it.
            let disk_fits = disk.is_none_or(|included| {
                included.priced_beyond || shape.disk_gib <= included.of_plan(Some(&plan.id))
            });
            disk_fits && is_enough(plan)
        };
        // A price that is not known comes last; among equals the vendor's order holds.
        let cost = |plan: &&PlanOffer| {
            let fixed = plan.usd_fee_per_month.max(plan.usd_minimum_per_month);
            (fixed.is_none(), fixed, plan.usd_top_up)
        };
        self.plans.iter().filter(fits).min_by_key(cost)
    }
}

impl PlanOffer {
    /// Whether it has neither a fee nor a smallest bill that we know of.
    pub fn is_free(&self) -> bool {
        [self.usd_fee_per_month, self.usd_minimum_per_month].into_iter().flatten().all(Usd::is_zero)
    }

    /// What is not known of how many run at once: nothing where a number or "no limit" is; else in words.
    pub fn unknown_cap(&self, shape: &Shape) -> Option<&'static str> {
        match (self.cap(shape), self.concurrent_sandboxes) {
            (Some(_), _) | (None, Some(Limit::Unlimited)) => None,
            (None, Some(Limit::Custom)) => Some("by agreement"),
            (None, Some(Limit::Number(_) | Limit::NonePublished) | None) => Some("not known"),
        }
    }

    /// How many sandboxes of a shape run at once: the smaller of the count and what the pool holds. `None` where
    /// nothing caps them that we know of.
    pub fn holds(&self, shape: &Shape) -> Option<u64> {
        self.cap(shape).map(|(most, _)| most)
    }

    /// The same, with the name of what caps them.
    pub fn cap(&self, shape: &Shape) -> Option<(u64, &'static str)> {
        self.capped(shape, Reading::Ruled).map(|(most, cap)| (most, cap.label()))
    }

    /// Of so many sandboxes at once those that it holds, by who says the least of a contested cap and by who says the
    /// most.
    pub fn held_of(&self, shape: &Shape, at_once: u64) -> (u64, u64) {
        let held = |reading| {
            self.capped(shape, reading).map_or(at_once, |(most, _): (u64, Cap)| most.min(at_once))
        };
        (held(Reading::Least), held(Reading::Most))
    }

    /// What sources disagree about and on which it depends whether so many sandboxes run at once, in words.
    pub fn disputed_for(&self, shape: &Shape, at_once: u64) -> Vec<String> {
        let (least, most) = self.held_of(shape, at_once);
        if least == most {
            return Vec::new();
        }
        let said = |one: &Contested| {
            format!("sources disagree about the {} of {}", one.cap.label(), self.name)
        };
        self.contested.iter().map(said).collect()
    }

    fn capped(&self, shape: &Shape, reading: Reading) -> Option<(u64, Cap)> {
        let read = |cap: Cap, ruled: Option<Quantity>| {
            let contested = self.contested.iter().find(|one| one.cap == cap);
            match (contested, reading) {
                (None, _) | (_, Reading::Ruled) => ruled,
                (Some(one), Reading::Least) => Some(one.least),
                (Some(one), Reading::Most) => one.most,
            }
        };
        let pool = |cap, ruled, size| (read(cap, ruled).and_then(|pool| pool.holds(size)), cap);
        let count = self.concurrent_sandboxes.and_then(Limit::number);
        [
            (read(Cap::Sandboxes, count).map(Quantity::whole), Cap::Sandboxes),
            pool(Cap::PoolVcpu, self.pool_vcpu, shape.vcpu),
            pool(Cap::PoolMemory, self.pool_memory_gib, shape.memory_gib),
            pool(Cap::PoolDisk, self.pool_disk_gib, shape.disk_gib),
        ]
        .into_iter()
        .filter_map(|(most, cap)| most.map(|most| (most, cap)))
        .min()
    }
}

impl From<&Plan> for PlanOffer {
    fn from(plan: &Plan) -> Self {
        Self {
            id: plan.id.clone(),
            name: plan.name.clone(),
            usd_fee_per_month: plan.usd_fee_per_month.value().copied(),
            usd_minimum_per_month: plan.usd_minimum_per_month.value().copied(),
            usd_top_up: plan.usd_top_up.value().copied(),
            usd_credit_one_time: plan.usd_credit_one_time.value().copied(),
            longest_session_seconds: Stop::from(&plan.max_session_seconds),
            concurrent_sandboxes: plan.concurrent_sandboxes.value().copied(),
            pool_vcpu: plan.pool_vcpu.value().copied(),
            pool_memory_gib: plan.pool_memory_gib.value().copied(),
            pool_disk_gib: plan.pool_disk_gib.value().copied(),
            creates_per_second: plan.creates_per_second.value().copied().or_else(|| {
                plan.creates_per_minute.value().map(|rate| rate.divided_by(SECONDS_PER_MINUTE))
            }),
            max_vcpu: plan.max_vcpu.value().copied(),
            ends_with_allowance: plan
                .overage
                .value()
                .is_some_and(|answer| answer.verdict == Verdict::No),
            contested: contested(plan),
        }
    }
}

/// The caps of a plan that sources disagree about.
fn contested(plan: &Plan) -> Vec<Contested> {
    let caps: [(Cap, &dyn AnyClaim); 4] = [
        (Cap::Sandboxes, &plan.concurrent_sandboxes),
        (Cap::PoolVcpu, &plan.pool_vcpu),
        (Cap::PoolMemory, &plan.pool_memory_gib),
        (Cap::PoolDisk, &plan.pool_disk_gib),
    ];
    caps.into_iter()
        .filter_map(|(cap, claim)| {
            // What a source says is a text: a number, or something that bounds nothing.
            let said = claim.dispute()?.claims.iter();
            let said: Vec<_> = said.map(|rival| Quantity::parse(&rival.value).ok()).collect();
            let numbers: Option<Vec<Quantity>> = said.into_iter().collect();
            let (least, most) = match numbers {
                Some(numbers) => (numbers.iter().min().copied(), numbers.iter().max().copied()),
                None => (None, None),
            };
            Some(Contested { cap, least: least.unwrap_or(Quantity::ZERO), most })
        })
        .collect()
}

impl From<&Claim<Limit>> for Stop {
    fn from(claim: &Claim<Limit>) -> Self {
        let evidence = claim.evidence.as_ref();
        let source = evidence.and_then(|evidence| evidence.sources.first());
        Self {
            state: claim.state(),
            limit: claim.value().copied(),
            source: source.map(|source| source.reference().to_owned()),
            as_of: evidence.map(|evidence| evidence.as_of.to_string()),
        }
    }
}

impl Stop {
    /// Seconds until it acts; `None` where it never does or is not known.
    pub fn seconds(&self) -> Option<Quantity> {
        self.limit.and_then(Limit::number)
    }

    /// Whether it is known that it never acts.
    pub fn never(&self) -> bool {
        self.limit == Some(Limit::Unlimited)
    }
}
