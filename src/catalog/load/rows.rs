//! The lists of a provider file: variants, prices, plans, scores, measurements, details, history, conflicts.

use super::{
    Allowance, Assumption, BTreeMap, Basis, Beginning, Billing, Change, Claim, ClaimReader,
    Component, DeValue, Detail, Dispute, Fee, FileReader, Isolation, Measured, Measurement, Plan,
    Preset, Price, PriceKind, Provider, Quantity, Rate, RateUnit, Rival, Scope, Score, ScoreKind,
    Size, Spanned, Stated, Statistic, Status, Table, Time, Usd, Variant, day, keys,
};
use super::{
    Api, Compliance, Concurrency, Credit, Deploy, Egress, Identity, Lifecycle, Placement, Sla,
    Start,
};

use jiff::civil::Date;

/// What a second of something can cost, US dollars: outside of it a price is a slip of the pen.
/// The dearest real vCPU is some 0.00005 a second, the dearest session some 0.002.
const BANDS: [(Component, &str, &str); 5] = [
    (Component::Vcpu, "0.0000001", "0.001"),
    (Component::Memory, "0.00000001", "0.001"),
    (Component::Disk, "0.000000000001", "0.0001"),
    (Component::Sandbox, "0.0000001", "0.1"),
    (Component::Creation, "0.000000001", "1"),
];
/// A step or a minimum above this many seconds, a day, is a slip of the pen.
const STEP_SECONDS_MAX: u64 = 86_400;
/// A fee above this, per cent, is a slip of the pen.
const FEE_PERCENT_MAX: &str = "100";
/// A score's scale at most.
const SCALE_MAX: u32 = 1_000;

impl<'a> FileReader<'a> {
    /// The variants; the first is the default. `like` takes what is left out from another one.
    pub(super) fn variants(&mut self, root: &mut Table<'a>) -> Vec<Variant> {
        let tables = self.tables(root, "variant");
        if tables.is_empty() {
            self.problem(None, "variant", "is missing: a provider sells at least one");
        }
        let mut sections: BTreeMap<String, BTreeMap<&'static str, Inherited<'a>>> = BTreeMap::new();
        let mut variants: Vec<Variant> = Vec::new();
        for mut table in tables {
            let offset = table.offset;
            let id = self.required_text(&mut table, "id");
            let name = self.required_text(&mut table, "name");
            let asked_by = self.required_text(&mut table, "asked_by");
            let like = self.text(&mut table, "like");
            let base = like.and_then(|like| sections.get(like).cloned());
            if let (Some(like), None) = (like, &base) {
                self.problem(
                    offset,
                    table.key("like"),
                    format!("names {like}, which is no variant above it"),
                );
            }
            let base = base.unwrap_or_default();
            let mut own = BTreeMap::new();
            macro_rules! section {
                ($type:ident) => {{
                    let inner = self.section(&mut table, $type::KEY);
                    let mut inherited = base.get($type::KEY).cloned().unwrap_or_default();
                    let mut reader = ClaimReader {
                        file: self,
                        inherited: inherited.clone(),
                        table: inner,
                        evidence: None,
                        optional: false,
                    };
                    let section = $type::read(&mut reader);
                    let inner = reader.table;
                    self.close(&inner, $type::KEYS);
                    inherited.extend(inner.entries.iter().map(|(key, (value, _))| (*key, *value)));
                    own.insert($type::KEY, inherited);
                    section
                }};
            }
            let isolation = section!(Isolation);
            let size = section!(Size);
            let time = section!(Time);
            let billing = section!(Billing);
            self.close(&table, keys::VARIANT);
            let (Some(id), Some(name), Some(asked_by)) = (id, name, asked_by) else { continue };
            if sections.insert(id.to_owned(), own).is_some() {
                self.problem(offset, "variant", format!("{id} is there twice"));
            }
            variants.push(Variant {
                id: id.to_owned(),
                name: name.to_owned(),
                asked_by: asked_by.to_owned(),
                isolation,
                size,
                time,
                billing,
            });
        }
        variants
    }

    fn quantity(&mut self, table: &mut Table<'a>, key: &str) -> Option<Quantity> {
        self.parsed(table, key, |text| Quantity::parse(text).map_err(|error| error.to_string()))
    }

    fn required_quantity(&mut self, table: &mut Table<'a>, key: &str) -> Option<Quantity> {
        self.required(table, key, |text| Quantity::parse(text).map_err(|error| error.to_string()))
    }

    /// Seconds of a step or a minimum.
    fn seconds(&mut self, table: &mut Table<'a>, key: &str) -> Option<Quantity> {
        self.parsed(table, key, |text| {
            Quantity::parse(text)
                .map_err(|error| error.to_string())
                .and_then(|seconds| step(seconds).map(|()| seconds))
        })
    }

    fn rate(&mut self, table: &mut Table<'a>) -> Option<Rate> {
        let usd =
            self.required(table, "usd", |text| Usd::parse(text).map_err(|error| error.to_string()));
        let per = self.required(table, "per", |text| {
            RateUnit::parse(text).map_err(|error| error.to_string())
        });
        Some(Rate { usd: usd?, per: per? })
    }

    pub(super) fn prices(&mut self, root: &mut Table<'a>, variants: &[Variant]) -> Vec<Price> {
        let mut prices: Vec<Price> = Vec::new();
        for mut table in self.tables(root, "price") {
            let offset = table.offset;
            let path = table.path.clone();
            let Some(price) = self.price(&mut table, variants) else { continue };
            if prices.iter().any(|other| other.id == price.id) {
                self.problem(offset, path.clone(), "is there twice");
            }
            if let Some(older) = prices.iter().rev().find(|other| other.prices_same_as(&price)) {
                if older.variants != price.variants {
                    // A newer row would take the price from the variants that only the older one names.
                    self.problem(
                        offset,
                        path,
                        format!("overlaps with {}: name the same variants in both", older.id),
                    );
                } else if older.since == price.since && price.corrects.as_ref() != Some(&older.id) {
                    self.problem(offset, path, format!("begins on the same day as {}", older.id));
                } else if older.since > price.since {
                    self.problem(
                        offset,
                        path,
                        format!(
                            "is older than {} above it: history goes from old to new",
                            older.id
                        ),
                    );
                }
            }
            if let Some(corrected) = &price.corrects
                && !prices.iter().any(|other| &other.id == corrected)
            {
                self.problem(
                    offset,
                    table.key("corrects"),
                    format!("names {corrected}, which is no price above"),
                );
            }
            prices.push(price);
        }
        prices
    }

    fn price(&mut self, table: &mut Table<'a>, variants: &[Variant]) -> Option<Price> {
        let id = self.required_text(table, "id").map(str::to_owned);
        let kind = self.parsed(table, "kind", PriceKind::parse).unwrap_or(PriceKind::List);
        let component = self.required(table, "component", Component::parse);
        let basis = self.required(table, "basis", Basis::parse);
        let named = self.texts(table, "variants");
        for (variant, offset) in &named {
            if !variants.iter().any(|known| known.id == *variant) {
                self.problem(
                    *offset,
                    table.key("variants"),
                    format!("names {variant}, which is no variant"),
                );
            }
        }
        let rate = self.rate(table);
        let mut also = Vec::new();
        for mut other in self.tables(table, "also") {
            let offset = other.offset;
            let path = other.path.clone();
            let printed = self.rate(&mut other);
            self.close(&other, keys::RATE);
            let Some(printed) = printed else { continue };
            if let Some(rate) = rate
                && !agree(rate, printed)
            {
                self.problem(
                    offset,
                    path,
                    format!(
                        "{} per {} disagrees with {} per {}",
                        printed.usd, printed.per, rate.usd, rate.per
                    ),
                );
            }
            also.push(printed);
        }
        let bundled_with = self.parsed(table, "bundled_with", Component::parse);
        if let (Some(rate), Some(component)) = (rate, component) {
            self.check_rate(table, component, rate, bundled_with.is_some());
        }
        let included = self.allowance(table);
        let preset = self.preset(table);
        let per_gib_max = self.quantity(table, "per_gib_max");
        let assumes = self.assumption(table);
        let step_seconds = self.seconds(table, "step_seconds");
        let minimum_seconds = self.seconds(table, "minimum_seconds");
        let today = self.today;
        let since = self.required(table, "since", |text| day(text, today));
        let beginning = self.required(table, "beginning", Beginning::parse);
        let corrects = self.text(table, "corrects").map(str::to_owned);
        let evidence = self.required_evidence(table);
        self.close(table, keys::PRICE);
        Some(Price {
            id: id?,
            kind,
            component: component?,
            variants: named.iter().map(|(id, _)| (*id).to_owned()).collect(),
            basis: basis?,
            rate: rate?,
            also,
            included,
            bundled_with,
            per_gib_max,
            assumes,
            preset,
            step_seconds,
            minimum_seconds,
            since: since?,
            beginning: beginning?,
            corrects,
            evidence: evidence?,
        })
    }

    fn preset(&mut self, table: &mut Table<'a>) -> Option<Preset> {
        let mut inner = self.table(table, "preset")?;
        let vcpu = self.required_quantity(&mut inner, "vcpu");
        let memory_gib = self.required_quantity(&mut inner, "memory_gib");
        let disk_gib = self.quantity(&mut inner, "disk_gib");
        let scales = self.switch(&mut inner, "scales").unwrap_or(false);
        self.close(&inner, keys::PRESET);
        Some(Preset { vcpu: vcpu?, memory_gib: memory_gib?, disk_gib, scales })
    }

    fn assumption(&mut self, table: &mut Table<'a>) -> Option<Assumption> {
        let mut inner = self.table(table, "assumes")?;
        let why = self.required_text(&mut inner, "why").map(str::to_owned);
        let at_most = self.switch(&mut inner, "at_most");
        if at_most.is_none() {
            self.problem(inner.offset, inner.key("at_most"), "is missing");
        }
        self.close(&inner, keys::ASSUMPTION);
        Some(Assumption { why: why?, at_most: at_most? })
    }

    /// True or false; what is neither is a problem.
    fn switch(&mut self, table: &mut Table<'a>, key: &str) -> Option<bool> {
        let value = table.take(key)?;
        let switch = value.get_ref().as_bool();
        if switch.is_none() {
            self.problem(value.span().start, table.key(key), "is neither true nor false");
        }
        switch
    }

    /// Whether unit and size of a rate can be right.
    fn check_rate(&mut self, table: &Table<'a>, component: Component, rate: Rate, bundled: bool) {
        let offset = table.offset;
        let fits = match component {
            Component::Vcpu => matches!(rate.per.of, Measured::Vcpu | Measured::Core),
            Component::Memory | Component::Disk => {
                matches!(rate.per.of, Measured::Gib | Measured::Gb)
            }
            Component::Sandbox => matches!(rate.per.of, Measured::Sandbox | Measured::Session),
            Component::Creation => rate.per.of == Measured::Creation,
        };
        if !fits {
            self.problem(
                offset,
                table.key("per"),
                format!("{} is no unit of {}", rate.per, component.word()),
            );
            return;
        }
        let free = bundled || table.entries.contains_key("included");
        if rate.usd.is_zero() && free {
            return;
        }
        let Some((_, least, most)) = BANDS.iter().find(|(of, _, _)| *of == component) else {
            return;
        };
        let (Ok(least), Ok(most)) = (Usd::parse(least), Usd::parse(most)) else { return };
        let second = rate.per_second();
        if second < least || second > most {
            self.problem(
                offset,
                table.key("usd"),
                format!("is {second} a second, which is implausible: {least} to {most} is allowed"),
            );
        }
    }

    fn allowance(&mut self, table: &mut Table<'a>) -> Option<Allowance> {
        let mut inner = self.table(table, "included")?;
        let quantity = self.required_quantity(&mut inner, "quantity");
        let scope = self.required(&mut inner, "scope", Scope::parse);
        let priced_beyond = self.switch(&mut inner, "priced_beyond");
        if priced_beyond.is_none() {
            self.problem(inner.offset, inner.key("priced_beyond"), "is missing");
        }
        let mut by_plan = Vec::new();
        if let Some(mut plans) = self.table(&mut inner, "by_plan") {
            let ids: Vec<&str> = plans.entries.keys().copied().collect();
            for id in ids {
                if let Some(quantity) = self.quantity(&mut plans, id) {
                    by_plan.push((id.to_owned(), quantity));
                }
            }
        }
        self.close(&inner, keys::ALLOWANCE);
        Some(Allowance {
            quantity: quantity?,
            scope: scope?,
            priced_beyond: priced_beyond?,
            by_plan,
        })
    }

    pub(super) fn fees(&mut self, root: &mut Table<'a>) -> Vec<Fee> {
        let mut fees: Vec<Fee> = Vec::new();
        for mut table in self.tables(root, "fee") {
            let percent = self.required(&mut table, "percent", |text| {
                Quantity::parse(text).map_err(|error| error.to_string())
            });
            let today = self.today;
            let since = self.required(&mut table, "since", |text| day(text, today));
            let evidence = self.required_evidence(&mut table);
            self.close(&table, keys::FEE);
            let most = Quantity::parse(FEE_PERCENT_MAX).unwrap_or(Quantity::ZERO);
            if percent.is_some_and(|percent| percent > most) {
                let path = table.key("percent");
                self.problem(table.offset, path, format!("is above {FEE_PERCENT_MAX}"));
            }
            let (Some(percent), Some(since), Some(evidence)) = (percent, since, evidence) else {
                continue;
            };
            if fees.last().is_some_and(|older| older.since >= since) {
                let path = table.key("since");
                self.problem(table.offset, path, "is not later than the one above it");
            }
            fees.push(Fee { percent, since, evidence });
        }
        fees
    }

    /// List, fee and routed price are three values that must agree, on the first day of each routed price and today.
    pub(super) fn check_routed(&mut self, provider: &Provider) {
        let routed: Vec<&Price> =
            provider.prices.iter().filter(|price| price.kind == PriceKind::Routed).collect();
        if provider.status != Status::Routed {
            if !provider.fees.is_empty() || !routed.is_empty() {
                self.problem(None, "fee", "and routed prices belong to a routed provider only");
            }
            return;
        }
        if provider.fees.is_empty() {
            let message = "is missing: a routed provider has list, fee and routed price";
            self.problem(None, "fee", message);
            return;
        }
        for price in &routed {
            self.check_routed_on(provider, price, price.since);
        }
        for list in provider.prices_on(PriceKind::List, self.today) {
            let found = provider
                .prices_on(PriceKind::Routed, self.today)
                .find(|price| price.pairs_with(list));
            if let Some(price) = found {
                // What changed alone leaves a routed price that is no longer list and fee.
                self.check_routed_on(provider, price, self.today);
            } else {
                let key = format!("price.{}", list.id);
                self.problem(None, key, "has no routed price beside it");
            }
        }
    }

    /// A routed price is the list price and the fee of a day, to the digit.
    fn check_routed_on(&mut self, provider: &Provider, routed: &Price, day: Date) {
        let list = provider.prices_on(PriceKind::List, day).find(|list| list.pairs_with(routed));
        let expected = provider.fee_on(day).zip(list).and_then(|(fee, list)| {
            fee.on_top_of(list.rate.usd).ok().map(|usd| Rate { usd, ..list.rate })
        });
        if expected.is_none_or(|expected| !expected.equals(routed.rate)) {
            let key = format!("price.{}", routed.id);
            let Rate { usd, per } = routed.rate;
            let message =
                format!("is {usd} per {per}, which is not the list price and the fee of {day}");
            self.problem(None, key, message);
        }
    }

    pub(super) fn plans(&mut self, root: &mut Table<'a>) -> Vec<Plan> {
        let mut plans: Vec<Plan> = Vec::new();
        for mut table in self.tables(root, "plan") {
            let offset = table.offset;
            let id = self.required_text(&mut table, "id");
            let name = self.required_text(&mut table, "name");
            let evidence = self.required_evidence(&mut table);
            let (Some(id), Some(name)) = (id, name) else { continue };
            let mut reader = ClaimReader {
                file: self,
                table,
                evidence,
                optional: true,
                inherited: BTreeMap::new(),
            };
            let plan = Plan::read(id.to_owned(), name.to_owned(), &mut reader);
            let table = reader.table;
            self.close(&table, keys::PLAN);
            if plans.iter().any(|other| other.id == plan.id) {
                self.problem(offset, "plan", format!("{id} is there twice"));
            }
            plans.push(plan);
        }
        plans
    }

    pub(super) fn scores(&mut self, root: &mut Table<'a>) -> Vec<Score> {
        let mut scores = Vec::new();
        for mut table in self.tables(root, "score") {
            let value = self.number(&mut table, "value");
            let scale = self.number(&mut table, "scale");
            let kind = self.required(&mut table, "kind", ScoreKind::parse);
            let evidence = self.required_evidence(&mut table);
            self.close(&table, keys::SCORE);
            let (Some(value), Some(scale), Some(kind), Some(evidence)) =
                (value, scale, kind, evidence)
            else {
                continue;
            };
            if scale == 0 || scale > SCALE_MAX || value > scale {
                let path = table.key("value");
                self.problem(
                    table.offset,
                    path,
                    format!("is {value} of {scale}: 0 to the scale is allowed"),
                );
            }
            scores.push(Score { value, scale, kind, evidence });
        }
        scores
    }

    pub(super) fn measurements(
        &mut self,
        root: &mut Table<'a>,
        variants: &[Variant],
    ) -> Vec<Measurement> {
        let mut measurements = Vec::new();
        for mut table in self.tables(root, "measurement") {
            let metric = self.required_text(&mut table, "metric").map(str::to_owned);
            let mode = self.required_text(&mut table, "mode").map(str::to_owned);
            let variant = self.required_text(&mut table, "variant").map(str::to_owned);
            if let Some(variant) = &variant
                && !variants.iter().any(|known| &known.id == variant)
            {
                let path = table.key("variant");
                self.problem(table.offset, path, format!("names {variant}, which is no variant"));
            }
            let measured_by = self.required_text(&mut table, "measured_by").map(str::to_owned);
            let method = self.text(&mut table, "method").map(str::to_owned);
            let window_start = self.text(&mut table, "window_start").map(str::to_owned);
            let window_end = self.text(&mut table, "window_end").map(str::to_owned);
            let days = self.text(&mut table, "days").map(str::to_owned);
            let mut statistics = Vec::new();
            if let Some(mut inner) = self.table(&mut table, "statistics") {
                let names: Vec<&str> = inner.entries.keys().copied().collect();
                for name in names {
                    if let Some(value) = self.quantity(&mut inner, name) {
                        statistics
                            .push(Statistic { name: name.to_owned(), value: value.to_string() });
                    }
                }
            } else {
                let path = table.key("statistics");
                self.problem(
                    table.offset,
                    path,
                    "is missing: name each figure as its publisher does",
                );
            }
            let evidence = self.required_evidence(&mut table);
            self.close(&table, keys::MEASUREMENT);
            let (Some(metric), Some(mode), Some(variant), Some(measured_by), Some(evidence)) =
                (metric, mode, variant, measured_by, evidence)
            else {
                continue;
            };
            measurements.push(Measurement {
                metric,
                mode,
                variant,
                measured_by,
                method,
                window_start,
                window_end,
                days,
                statistics,
                evidence,
            });
        }
        measurements
    }

    pub(super) fn details(&mut self, root: &mut Table<'a>) -> Vec<Detail> {
        let mut details: Vec<Detail> = Vec::new();
        for mut table in self.tables(root, "detail") {
            let offset = table.offset;
            let section = self.required_text(&mut table, "section");
            let key = self.required_text(&mut table, "key");
            let value = match table.take("value").map(|value| (value.span().start, value.get_ref()))
            {
                Some((_, DeValue::String(text))) if !text.trim().is_empty() => {
                    Some(text.to_string())
                }
                Some((offset, DeValue::Array(list))) => {
                    let texts: Option<Vec<&str>> =
                        list.iter().map(|item| item.get_ref().as_str()).collect();
                    if texts.is_none() {
                        self.problem(offset, table.key("value"), "is not a list of texts");
                    }
                    texts.map(|texts| texts.join(", "))
                }
                Some((offset, _)) => {
                    self.problem(offset, table.key("value"), "is not a text or a list of texts");
                    None
                }
                None => {
                    self.problem(offset, table.key("value"), "is missing");
                    None
                }
            };
            let evidence = self.required_evidence(&mut table);
            self.close(&table, keys::DETAIL);
            let (Some(section), Some(key), Some(value), Some(evidence)) =
                (section, key, value, evidence)
            else {
                continue;
            };
            if details.iter().any(|other| other.section == section && other.key == key) {
                self.problem(offset, "detail", format!("{section}.{key} is there twice"));
            }
            details.push(Detail {
                section: section.to_owned(),
                key: key.to_owned(),
                claim: Claim {
                    stated: Stated::Value(super::super::claim::Text(value)),
                    evidence: Some(evidence),
                    dispute: None,
                },
            });
        }
        details
    }

    pub(super) fn history(&mut self, root: &mut Table<'a>) -> Vec<Change> {
        let mut history: Vec<Change> = Vec::new();
        for mut table in self.tables(root, "history") {
            let offset = table.offset;
            let key = self.required_text(&mut table, "key").map(str::to_owned);
            let value = self.required_text(&mut table, "value").map(str::to_owned);
            let today = self.today;
            let since = self.parsed(&mut table, "since", |text| day(text, today));
            let evidence = self.required_evidence(&mut table);
            self.close(&table, keys::CHANGE);
            let (Some(key), Some(value), Some(evidence)) = (key, value, evidence) else { continue };
            let older = history.iter().rev().find(|other: &&Change| other.key == key);
            if let (Some(older), Some(since)) = (older.and_then(|older| older.since), since)
                && older >= since
            {
                self.problem(
                    offset,
                    format!("history.{key}"),
                    "is not newer than the entry above it",
                );
            }
            history.push(Change { key, value, since, evidence });
        }
        history
    }

    pub(super) fn conflicts(&mut self, root: &mut Table<'a>) -> Vec<(String, Dispute, usize)> {
        let mut conflicts = Vec::new();
        for mut table in self.tables(root, "conflict") {
            let offset = table.offset;
            let key = self.required_text(&mut table, "key").map(str::to_owned);
            let ruling = self.text(&mut table, "ruling").map(str::to_owned);
            let note = self.text(&mut table, "note").map(str::to_owned);
            let mut claims = Vec::new();
            for mut inner in self.tables(&mut table, "claim") {
                let value = self.required_text(&mut inner, "value").map(str::to_owned);
                let preset = self.preset(&mut inner);
                let evidence = self.required_evidence(&mut inner);
                self.close(&inner, keys::RIVAL);
                if let (Some(value), Some(evidence)) = (value, evidence) {
                    claims.push(Rival { value, preset, evidence });
                }
            }
            self.close(&table, keys::CONFLICT);
            if claims.len() < 2 {
                self.problem(
                    offset,
                    "conflict",
                    "has fewer than two claims: one alone is no conflict",
                );
            }
            if let Some(key) = key {
                conflicts.push((key, Dispute { claims, ruling, note }, offset));
            }
        }
        conflicts
    }
}

/// Whether seconds of a step or a minimum can be right.
fn step(seconds: Quantity) -> Result<(), String> {
    if seconds > Quantity::from(STEP_SECONDS_MAX) {
        return Err(format!("is above {STEP_SECONDS_MAX} seconds"));
    }
    Ok(())
}

/// Values of a section by key, for a variant that is like another.
type Inherited<'a> = BTreeMap<&'a str, &'a Spanned<DeValue<'a>>>;

/// Whether two printed rates mean one price: they agree, or the one is the other rounded to the digits it shows.
fn agree(exact: Rate, printed: Rate) -> bool {
    let of = |rate: Rate, other: Rate| {
        // What the rate makes of the other's period, to the places that the other prints.
        rate.amount(Quantity::ONE, Quantity::from(u64::from(other.per.seconds())))
            .map(|amount| amount.rounded_like(other.usd))
    };
    of(exact, printed) == Ok(printed.usd) || of(printed, exact) == Ok(exact.usd)
}

/// Puts a dispute where its claim is. Keys: `egress.allow_list`, `variant.vm.isolation.tier`, `plan.pro.usd_fee_per_month`,
/// `detail.lifecycle.paused_retention`, `price.memory`.
pub(super) fn attach(provider: &mut Provider, key: &str, dispute: Dispute) -> bool {
    let parts: Vec<&str> = key.split('.').collect();
    let slot = match parts.as_slice() {
        ["variant", id, section, key] => {
            let Some(variant) = provider.variants.iter_mut().find(|variant| variant.id == *id)
            else {
                return false;
            };
            match *section {
                Isolation::KEY => variant.isolation.dispute_of(key),
                Size::KEY => variant.size.dispute_of(key),
                Time::KEY => variant.time.dispute_of(key),
                Billing::KEY => variant.billing.dispute_of(key),
                _ => None,
            }
        }
        ["plan", id, key] => provider
            .plans
            .iter_mut()
            .find(|plan| plan.id == *id)
            .and_then(|plan| plan.dispute_of(key)),
        ["detail", section, key] => provider
            .details
            .iter_mut()
            .find(|detail| detail.section == *section && detail.key == *key)
            .map(|detail| &mut detail.claim.dispute),
        ["price", id] if provider.prices.iter().any(|price| price.id == *id) => {
            provider.price_disputes.push(((*id).to_owned(), dispute));
            return true;
        }
        [section, key] => match *section {
            Identity::KEY => provider.identity.dispute_of(key),
            Credit::KEY => provider.credit.dispute_of(key),
            Concurrency::KEY => provider.concurrency.dispute_of(key),
            Start::KEY => provider.start.dispute_of(key),
            Egress::KEY => provider.egress.dispute_of(key),
            Lifecycle::KEY => provider.lifecycle.dispute_of(key),
            Api::KEY => provider.api.dispute_of(key),
            Deploy::KEY => provider.deploy.dispute_of(key),
            Placement::KEY => provider.placement.dispute_of(key),
            Compliance::KEY => provider.compliance.dispute_of(key),
            Sla::KEY => provider.sla.dispute_of(key),
            _ => None,
        },
        _ => None,
    };
    match slot {
        Some(slot @ None) => {
            *slot = Some(dispute);
            true
        }
        _ => false,
    }
}
