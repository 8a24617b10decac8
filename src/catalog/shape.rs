//! A shape, and a price card applied to it: exact, depends on something, or unpriced, always with why.
//!
//! This is the one place where rates meet quantities. Calculators and pages call it and never multiply themselves.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::card::{CardRow, PriceCard, gib};
use super::price::{Allowance, Preset};
use super::provider::{Provider, Variant};
use super::word::{Basis, Component, PriceKind, Scope, Sizing};
use crate::money::{MoneyError, Quantity, Rate, Usd};

/// Seconds of the bill that a buyer thinks in.
const HOUR: u64 = 3_600;
/// The longest step or minimum of any vendor, seconds: an hour, which every shorter one divides.
const STEP_SECONDS_LONGEST: u64 = HOUR;

/// The size of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Processors.
    pub vcpu: Quantity,
    /// Memory, GiB.
    pub memory_gib: Quantity,
    /// Disk, GiB.
    pub disk_gib: Quantity,
}

impl Default for Shape {
    /// What is asked about where nothing else is: one vCPU and 2 GiB.
    fn default() -> Self {
        Self { vcpu: Quantity::ONE, memory_gib: Quantity::from(2), disk_gib: Quantity::ZERO }
    }
}

impl Shape {
    /// How a page says it.
    pub fn label(&self) -> String {
        let mut label = format!("{} vCPU, {} GiB memory", self.vcpu, self.memory_gib);
        if !self.disk_gib.is_zero() {
            label = format!("{label}, {} GiB disk", self.disk_gib);
        }
        label
    }

    /// The size that a plain create call gives; `None` where a part of it is unknown.
    pub fn default_of(variant: &Variant) -> Option<Self> {
        Some(Self {
            vcpu: *variant.size.default_vcpu.value()?,
            memory_gib: gib(&variant.size.default_memory_mib)?,
            disk_gib: gib(&variant.size.default_disk_mib)?,
        })
    }
}

/// What is to be priced.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The size.
    pub shape: Shape,
    /// How long a sandbox lives, seconds.
    pub seconds: Quantity,
    /// Processor time used, per cent of the processors' time; matters only for active CPU.
    pub utilisation_percent: Quantity,
    /// The plan, where one is named.
    pub plan: Option<&'a str>,
}

impl Ask<'_> {
    /// A shape for some seconds, fully used, on no plan in particular.
    pub fn plain(shape: Shape, seconds: Quantity) -> Self {
        Self { shape, seconds, utilisation_percent: Quantity::from(100), plan: None }
    }
}

words! {
    /// How firm a figure is.
    Exactness {
        /// The figure, under published rules.
        Exact = "exact", "exact";
        /// It rests on something that is disputed, assumed or up to the code.
        Depends = "depends", "depends";
        /// No figure can be given.
        Unpriced = "unpriced", "unpriced";
    }
}

/// One multiplication of a bill: quantity × rate × billed seconds, and the part of them that is active.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What is paid for.
    pub component: Component,
    /// How much of it is charged.
    pub quantity: Quantity,
    /// At which rate; `None` where it is included.
    pub rate: Option<Rate>,
    /// Seconds after step and minimum.
    pub billed_seconds: Quantity,
    /// Per cent of that time that is billed, where only active time is.
    pub utilisation_percent: Option<Quantity>,
    /// The product.
    pub usd: Usd,
    /// What part is not charged, and why: "up to 10 GiB".
    pub included: Option<String>,
}

/// A figure with how firm it is, why, and what it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// How firm.
    pub exactness: Exactness,
    /// The figure; `None` where it is unpriced.
    pub usd: Option<Usd>,
    /// The least that it can be, where it depends.
    pub low: Option<Usd>,
    /// The most that it can be, where it depends and that is known.
    pub high: Option<Usd>,
    /// What it depends on, or why there is none.
    pub because: Vec<String>,
    /// The size that is sold instead, where nobody sells the one that was asked about: the smallest that holds it.
    pub sold_as: Option<Shape>,
    /// What it is made of.
    pub lines: Vec<Line>,
}

impl Estimate {
    /// No figure, and why.
    pub fn unpriced(because: impl Into<String>) -> Self {
        Self {
            exactness: Exactness::Unpriced,
            usd: None,
            low: None,
            high: None,
            because: vec![because.into()],
            sold_as: None,
            lines: Vec::new(),
        }
    }

    /// Nothing to pay, exactly.
    pub fn nothing() -> Self {
        Self {
            exactness: Exactness::Exact,
            usd: Some(Usd::ZERO),
            because: Vec::new(),
            ..Self::unpriced("")
        }
    }

    /// Both together: as firm as the less firm of them, and without a figure where one has none.
    pub fn and(self, other: &Self) -> Result<Self, MoneyError> {
        let mut because = self.because.clone();
        because.extend(other.because.iter().filter(|why| !self.because.contains(why)).cloned());
        let exactness = self.exactness.max(other.exactness);
        if exactness == Exactness::Unpriced {
            let unpriced = if self.usd.is_none() { self.because } else { other.because.clone() };
            return Ok(Self { because: unpriced, ..Self::unpriced("") });
        }
        let sum = |left: Option<Usd>, right: Option<Usd>| {
            left.zip(right).map(|(left, right)| left.plus(right)).transpose()
        };
        let depends = exactness == Exactness::Depends;
        let (low, high) = (|one: &Self| one.ends().0, |one: &Self| one.ends().1);
        Ok(Self {
            exactness,
            usd: sum(self.usd, other.usd)?,
            low: if depends { sum(low(&self), low(other))? } else { None },
            high: if depends { sum(high(&self), high(other))? } else { None },
            because,
            sold_as: self.sold_as.or(other.sold_as),
            lines: [self.lines, other.lines.clone()].concat(),
        })
    }

    /// The part that one count is of another.
    pub fn part(mut self, of: Quantity, whole: u64) -> Result<Self, MoneyError> {
        for amount in [&mut self.usd, &mut self.low, &mut self.high].into_iter().flatten() {
            *amount = amount.part(of, Quantity::from(whole))?;
        }
        self.lines = Vec::new();
        Ok(self)
    }

    /// The same, resting on something besides by which it can be more.
    #[must_use]
    pub fn resting_on(mut self, why: &[String]) -> Self {
        if why.is_empty() || self.exactness == Exactness::Unpriced {
            return self;
        }
        if self.exactness == Exactness::Exact {
            self.exactness = Exactness::Depends;
            self.low = self.usd;
        }
        self.high = None;
        self.because.extend(
            why.iter().filter(|why| !self.because.contains(why)).cloned().collect::<Vec<_>>(),
        );
        self
    }

    /// The same for several sandboxes at once, of which sources say that there are so few or so many.
    pub fn times_between(
        self,
        count: u64,
        (least, most): (u64, u64),
        why: &[String],
    ) -> Result<Self, MoneyError> {
        let all = self.clone().times(count)?;
        if least == most || all.exactness == Exactness::Unpriced {
            return Ok(all);
        }
        let low = self.clone().times(least)?.ends().0;
        let high = self.times(most)?.ends().1;
        let because = all.because.iter().chain(why.iter().filter(|why| !all.because.contains(why)));
        let because = because.cloned().collect();
        Ok(Self { exactness: Exactness::Depends, low, high, because, ..all })
    }

    /// The figure in words: with its bounds where it depends, "no price" where there is none.
    pub fn shown(&self) -> String {
        match (self.usd, self.low, self.high) {
            (None, _, _) => "no price".to_owned(),
            (Some(usd), Some(low), Some(high)) if low != high => {
                let range = format!("{} to {}", low.shown(), high.shown());
                if usd == low || usd == high {
                    range
                } else {
                    format!("about {}, {range}", usd.shown())
                }
            }
            // What is assumed may be far above the least that is certain.
            (Some(usd), Some(low), None) if usd != low => {
                format!("about {}, {} or more", usd.shown(), low.shown())
            }
            (Some(_), Some(low), None) => format!("{} or more", low.shown()),
            (Some(usd), _, _) => usd.shown(),
        }
    }

    /// The same, with the range widened by what others say instead.
    #[must_use]
    fn or_else_said(mut self, rival: &Self) -> Self {
        if self.usd.is_none() || self.usd == rival.usd {
            return self;
        }
        let ((low, high), (rival_low, rival_high)) = (self.ends(), rival.ends());
        self.exactness = Exactness::Depends;
        self.low = low.zip(rival_low).map(|(own, other)| own.min(other)).or(low);
        self.high = high.zip(rival_high).map(|(own, other)| own.max(other));
        let why = "sources disagree about what size a price is for".to_owned();
        if !self.because.contains(&why) {
            self.because.push(why);
        }
        self
    }

    /// The figure if it is exact: only such figures are ranked.
    pub fn ranked(&self) -> Option<Usd> {
        if self.exactness == Exactness::Exact { self.usd } else { None }
    }

    /// The same, but never more than another one.
    #[must_use]
    pub fn at_most(mut self, other: &Self) -> Self {
        for (own, most) in [
            (&mut self.usd, other.usd),
            (&mut self.low, other.low.or(other.usd)),
            (&mut self.high, other.high.or(other.usd)),
        ] {
            *own = (*own).zip(most).map(|(own, most)| own.min(most));
        }
        self
    }

    /// What is left of it after another one; nothing where that is larger. Both ends move together where they rest on the
    /// same things; else the least is left after the most.
    #[must_use]
    pub fn less(&self, other: &Self) -> Self {
        let left = |own: Option<Usd>, other: Option<Usd>| {
            own.zip(other).map(|(own, other)| own.less(other))
        };
        let usd = left(self.usd, other.usd);
        if self.because == other.because || usd.is_none() {
            let (low, high) = (left(self.low, other.low), left(self.high, other.high));
            let because =
                if usd.is_none() && self.usd.is_some() { &other.because } else { &self.because };
            let exactness = self.exactness.max(other.exactness);
            let because = because.clone();
            return Self { exactness, usd, low, high, because, lines: Vec::new(), ..self.clone() };
        }
        let (own_low, own_high) = self.ends();
        let (low, high) = other.ends();
        let news = other.because.iter().filter(|why| !self.because.contains(why));
        Self {
            exactness: Exactness::Depends,
            usd,
            low: Some(high.map_or(Usd::ZERO, |high| own_low.unwrap_or(Usd::ZERO).less(high))),
            high: left(own_high, low),
            because: self.because.iter().chain(news).cloned().collect(),
            sold_as: self.sold_as,
            lines: Vec::new(),
        }
    }

    /// The least and the most that it can be; `None` where that is open.
    fn ends(&self) -> (Option<Usd>, Option<Usd>) {
        match self.exactness {
            Exactness::Exact => (self.usd, self.usd),
            Exactness::Depends => (self.low.or(self.usd), self.high),
            Exactness::Unpriced => (None, None),
        }
    }

    /// The same for several sandboxes at once.
    pub fn times(mut self, count: u64) -> Result<Self, MoneyError> {
        let factor = Quantity::from(count);
        for amount in [&mut self.usd, &mut self.low, &mut self.high].into_iter().flatten() {
            *amount = amount.times(factor)?;
        }
        for line in &mut self.lines {
            line.quantity = line.quantity.times(factor)?;
            line.usd = line.usd.times(factor)?;
        }
        Ok(self)
    }
}

/// What a sandbox costs under the rules of its card. Where sources disagree about the size that a price is for, the figure
/// is that of the ruling, and the others make its range.
pub fn price(card: &PriceCard, ask: &Ask<'_>) -> Estimate {
    let mut ruled = price_ruled(card, ask);
    for (place, row) in card.rows.iter().enumerate() {
        for preset in &row.rival_presets {
            let mut rival = card.clone();
            rival.rows[place].preset = Some(*preset);
            ruled = ruled.or_else_said(&price_ruled(&rival, ask));
        }
    }
    ruled
}

fn price_ruled(card: &PriceCard, ask: &Ask<'_>) -> Estimate {
    let shape = card.sold_shape(ask.shape);
    if let Some(why) = card.sizes.refusal(&card.variant, shape) {
        return Estimate::unpriced(why);
    }
    if card.rows.is_empty() {
        return Estimate::unpriced(format!(
            "no {} price of {} ({}) is known for {}",
            card.kind.label(),
            card.provider,
            card.variant,
            card.on
        ));
    }
    let is_by_size = card.row(Component::Sandbox).is_some();
    if card.sizes.sizing == Some(Sizing::Fixed) && !is_by_size {
        return Estimate::unpriced(format!(
            "{} has fixed sizes only, which are not known",
            card.variant
        ));
    }
    let sold = Ask { shape, ..*ask };
    match Sum::new(card, &sold).of(&card.rows) {
        Ok(estimate) if shape != ask.shape => Estimate { sold_as: Some(shape), ..estimate },
        Ok(estimate) => estimate,
        Err(Gap::Money(error)) => Estimate::unpriced(format!("the product {error}")),
        Err(Gap::Unpriced(why)) => Estimate::unpriced(why),
    }
}

/// What a sandbox of the size that a create call gives costs for some time.
pub fn price_default(
    provider: &Provider,
    variant: &Variant,
    kind: PriceKind,
    seconds: Quantity,
    on: Date,
) -> Estimate {
    match Shape::default_of(variant) {
        Some(shape) => {
            price(&PriceCard::of(provider, variant, kind, on), &Ask::plain(shape, seconds))
        }
        None => Estimate::unpriced("not every part of its default size is known"),
    }
}

/// A size that is sold, where the asked one is not: that one within the card's maxima or, failing those, the largest preset.
/// `None` where none is known.
pub fn nearest_sold(card: &PriceCard, asked: Shape) -> Option<Shape> {
    let capped = card.sold_shape(card.sizes.capped(asked));
    let is_sold = |shape: &Shape| {
        let hour = Ask::plain(*shape, Quantity::from(HOUR));
        price(card, &hour).exactness != Exactness::Unpriced
    };
    let presets = card.rows.iter().filter_map(|row| row.preset).map(|preset| Shape {
        vcpu: preset.vcpu,
        memory_gib: preset.memory_gib,
        disk_gib: Quantity::ZERO,
    });
    let largest = || presets.filter(is_sold).max_by_key(|shape| (shape.vcpu, shape.memory_gib));
    if is_sold(&capped) { Some(capped) } else { largest() }
}

/// What an hour of a shape costs on the default variant.
pub fn price_hour(provider: &Provider, shape: Shape, kind: PriceKind, on: Date) -> Estimate {
    let card = PriceCard::of(provider, provider.default_variant(), kind, on);
    price(&card, &Ask::plain(shape, Quantity::from(HOUR)))
}

/// Why a sum stops.
enum Gap {
    Money(MoneyError),
    Unpriced(String),
}

impl From<MoneyError> for Gap {
    fn from(error: MoneyError) -> Self {
        Self::Money(error)
    }
}

/// A bill while it is added up.
struct Sum<'a> {
    card: &'a PriceCard,
    ask: &'a Ask<'a>,
    usd: Usd,
    low: Usd,
    high: Option<Usd>,
    because: Vec<String>,
    lines: Vec<Line>,
}

impl<'a> Sum<'a> {
    fn new(card: &'a PriceCard, ask: &'a Ask<'a>) -> Self {
        Self {
            card,
            ask,
            usd: Usd::ZERO,
            low: Usd::ZERO,
            high: Some(Usd::ZERO),
            because: card.disputed.clone(),
            lines: Vec::new(),
        }
    }

    fn of(mut self, rows: &[CardRow]) -> Result<Estimate, Gap> {
        let sandbox = self.sandbox_row(rows)?;
        if let Some(row) = sandbox {
            let units = row.preset.filter(|preset| preset.scales).map(|unit| self.units(&unit));
            self.add(row, units.unwrap_or(Quantity::ONE))?;
        }
        let shape = self.ask.shape;
        for (component, quantity) in [
            (Component::Vcpu, shape.vcpu),
            (Component::Memory, shape.memory_gib),
            (Component::Disk, shape.disk_gib),
        ] {
            if quantity.is_zero() {
                continue;
            }
            match rows.iter().find(|row| row.component == component) {
                Some(row) => self.add(row, quantity)?,
                None if sandbox.is_some() => {}
                None => {
                    return Err(Gap::Unpriced(format!(
                        "no price for {} is known at {}",
                        component.label(),
                        self.card.provider
                    )));
                }
            }
        }
        if let Some(row) = rows.iter().find(|row| row.component == Component::Creation) {
            self.add(row, Quantity::ONE)?;
        }
        let preset = sandbox.and_then(|row| row.preset);
        let sold_as = preset.and_then(|preset| self.sold_as(&preset));
        let exactness = if self.because.is_empty() { Exactness::Exact } else { Exactness::Depends };
        let depends = exactness == Exactness::Depends;
        Ok(Estimate {
            exactness,
            usd: Some(self.usd),
            low: depends.then_some(self.low),
            high: if depends { self.high } else { None },
            because: self.because,
            sold_as,
            lines: self.lines,
        })
    }

    /// The row for a whole sandbox: the smallest preset that holds the shape, or the session.
    fn sandbox_row<'b>(&self, rows: &'b [CardRow]) -> Result<Option<&'b CardRow>, Gap> {
        let whole: Vec<&CardRow> =
            rows.iter().filter(|row| row.component == Component::Sandbox).collect();
        if whole.is_empty() {
            return Ok(None);
        }
        let shape = self.ask.shape;
        let fits = |preset: &Preset| {
            preset.scales
                || preset.vcpu >= shape.vcpu
                    && preset.memory_gib >= shape.memory_gib
                    && preset.disk_gib.is_none_or(|disk| disk >= shape.disk_gib)
        };
        whole
            .into_iter()
            .filter(|row| row.preset.as_ref().is_none_or(fits))
            .min_by_key(|row| row.rate.per_second())
            .map(Some)
            .ok_or_else(|| {
                Gap::Unpriced(format!("no size of {} that large is known", self.card.provider))
            })
    }

    /// A size that is sold as one, where it is not just what was asked about.
    fn sold_as(&self, preset: &Preset) -> Option<Shape> {
        let asked = self.ask.shape;
        let sold = Shape {
            vcpu: preset.vcpu,
            memory_gib: preset.memory_gib,
            disk_gib: preset.disk_gib.unwrap_or(asked.disk_gib),
        };
        let larger = (sold.vcpu, sold.memory_gib) != (asked.vcpu, asked.memory_gib);
        (!preset.scales && larger).then_some(sold)
    }

    /// How many units of a size that scales hold the shape: the largest of the ratios.
    fn units(&self, unit: &Preset) -> Quantity {
        let shape = self.ask.shape;
        let disk = unit.disk_gib.unwrap_or(Quantity::ZERO);
        [(shape.vcpu, unit.vcpu), (shape.memory_gib, unit.memory_gib), (shape.disk_gib, disk)]
            .into_iter()
            .filter_map(|(asked, of_one)| asked.in_units_of(of_one))
            .max()
            .unwrap_or(Quantity::ONE)
    }

    /// Adds one row for a quantity: bundled, included, or multiplied.
    fn add(&mut self, row: &CardRow, quantity: Quantity) -> Result<(), Gap> {
        let seconds = self.billed_seconds(row);
        if row.disputed && row.rival_presets.is_empty() {
            self.rest_on(format!("sources disagree about the price of {}", row.component.label()));
        }
        if row.preset.is_some_and(|preset| preset.disk_gib.is_none())
            && !self.ask.shape.disk_gib.is_zero()
        {
            self.assume("the disk of this size is not known");
        }
        if let (Some(most), memory) = (row.per_gib_max, self.ask.shape.memory_gib)
            && quantity > memory.times(most)?
        {
            return Err(Gap::Unpriced(format!(
                "{} gives at most {most} {} for each GiB of memory",
                self.card.provider,
                row.component.label()
            )));
        }
        if let Some(with) = row.bundled_with {
            self.lines.push(Line {
                component: row.component,
                quantity,
                rate: None,
                billed_seconds: seconds,
                utilisation_percent: None,
                usd: Usd::ZERO,
                included: Some(format!("with {}", with.label())),
            });
            return Ok(());
        }
        let (charged, label) = match &row.included {
            None => (quantity, None),
            Some(allowance) => {
                (self.charged(allowance, row, quantity, seconds)?, Some(allowance.label()))
            }
        };
        let full = row.rate.amount(charged, seconds)?;
        let usd = match (&row.assumes, row.basis) {
            (Some(assumption), _) => {
                self.rest_on(assumption.why.clone());
                if assumption.at_most {
                    self.high = self.high.map(|high| high.plus(full)).transpose()?;
                } else {
                    self.low = self.low.plus(full)?;
                    self.high = None;
                }
                full
            }
            (None, Basis::ActiveCpu) => {
                self.because.push(format!(
                    "{} is billed while active; {} % of the time is assumed",
                    row.component.label(),
                    self.ask.utilisation_percent
                ));
                self.high = self.high.map(|high| high.plus(full)).transpose()?;
                full.times(self.ask.utilisation_percent)?.divided(100)
            }
            (None, Basis::MaxOfRequestAndUse) => {
                self.because.push(format!(
                    "{} is billed by the larger of request and use; use within the request is assumed",
                    row.component.label()
                ));
                self.low = self.low.plus(full)?;
                self.high = None;
                full
            }
            (None, Basis::Allocated | Basis::Session | Basis::Bundled) => {
                self.low = self.low.plus(full)?;
                self.high = self.high.map(|high| high.plus(full)).transpose()?;
                full
            }
        };
        self.usd = self.usd.plus(usd)?;
        let active = row.assumes.is_none() && row.basis == Basis::ActiveCpu;
        self.lines.push(Line {
            component: row.component,
            quantity: charged,
            rate: Some(row.rate),
            billed_seconds: seconds,
            utilisation_percent: active.then_some(self.ask.utilisation_percent),
            usd,
            included: label,
        });
        Ok(())
    }

    /// How much of a quantity is charged after its allowance. Where the allowance's scope is not stated, the most
    /// that can be saved is taken off the low end only, and the sum depends on it.
    fn charged(
        &mut self,
        allowance: &Allowance,
        row: &CardRow,
        quantity: Quantity,
        seconds: Quantity,
    ) -> Result<Quantity, Gap> {
        let included = allowance.of_plan(self.ask.plan);
        if !allowance.priced_beyond {
            if quantity <= included {
                return Ok(Quantity::ZERO);
            }
            let larger = allowance.by_plan.iter().find(|(_, most)| quantity <= *most);
            return match larger {
                Some((plan, _)) => {
                    self.because.push(format!(
                        "{quantity} GiB of {} needs the plan {plan}",
                        row.component.label()
                    ));
                    Ok(Quantity::ZERO)
                }
                None => Err(Gap::Unpriced(format!(
                    "{} publishes no price for more than {} GiB of {}",
                    self.card.provider,
                    allowance.largest(),
                    row.component.label()
                ))),
            };
        }
        let beyond = quantity.less(included);
        match allowance.scope {
            Scope::PerSandbox => Ok(beyond),
            Scope::PerAccount | Scope::Unstated => {
                let all = row.rate.amount(quantity, seconds)?;
                let least = row.rate.amount(beyond, seconds)?;
                if all != least {
                    let why = match allowance.scope {
                        Scope::Unstated => {
                            "the vendor does not say whether that is for each sandbox"
                        }
                        Scope::PerSandbox | Scope::PerAccount => {
                            "all sandboxes of an account share it"
                        }
                    };
                    self.because.push(format!(
                        "the first {included} GiB of {} are free; {why}",
                        row.component.label()
                    ));
                    // The least is added with the others; the rest of the full price is only the high end's.
                    self.high = self.high.map(|high| high.plus(all.less(least))).transpose()?;
                }
                Ok(beyond)
            }
        }
    }

    /// Seconds after step and minimum. What is unknown about them makes the sum depend.
    fn billed_seconds(&mut self, row: &CardRow) -> Quantity {
        let step = row.step_seconds.or(self.card.step_seconds);
        let minimum = row.minimum_seconds.or(self.card.minimum_seconds);
        // A step or minimum that nobody states cannot matter to whole multiples of the longest that anybody has.
        let longest = Quantity::from(STEP_SECONDS_LONGEST);
        let whole = self.ask.seconds.rounded_up_to(longest) == self.ask.seconds;
        if step.is_none() && !whole {
            self.assume("the billing step is not known; by the second is assumed");
        }
        if minimum.is_none() && self.ask.seconds < longest {
            self.assume("the minimum charge is not known; none is assumed");
        }
        self.ask
            .seconds
            .max(minimum.unwrap_or(Quantity::ZERO))
            .rounded_up_to(step.unwrap_or(Quantity::ONE))
    }

    /// Something without which the bill could be higher by nobody knows how much.
    fn assume(&mut self, why: &str) {
        self.high = None;
        self.rest_on(why.to_owned());
    }

    /// Something that the bill rests on, said once.
    fn rest_on(&mut self, why: String) {
        if !self.because.contains(&why) {
            self.because.push(why);
        }
    }
}
