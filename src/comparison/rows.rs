//! The rows of a comparison, subject by subject.

use std::borrow::Cow;

use super::{Better, Cell, Entry, Group, Row, Standing, best_of};
use crate::calculator::offer::Offer;
use crate::calculator::workload::{MonthlyBill, Workload, fee_bites, monthly_bill};
use crate::catalog::Provider;
use crate::catalog::claim::AnyClaim;
use crate::catalog::plan::Plan;
use crate::catalog::provider;
use crate::catalog::provider::Variant;
use crate::catalog::score::Measurement;
use crate::catalog::shape::{Estimate, Shape, price_default, price_hour};
use crate::catalog::word::{Component, PriceKind};
use crate::money::{MoneyError, Quantity, count};
use jiff::civil::Date;

/// Seconds in a minute.
const SECONDS_PER_MINUTE: u32 = 60;
/// What is to be known of the start times.
const START_REMARK: &str = "Best is never marked across classes: a container and a virtual machine start different things.";
/// What is to be known of the scores.
const SCORE_REMARK: &str =
    "Editorial figures of this catalog. No error is published; two points decide nothing.";

type Providers<'a, 'b> = &'b [&'a Provider];

/// Every group, in the order of a buyer's questions.
pub fn groups<'a>(providers: Providers<'a, '_>, on: Date) -> Result<Vec<Group<'a>>, MoneyError> {
    let group = |key, title, rows| Group { key, title, remark: None, rows };
    Ok(vec![
        group("price", "Price", prices(providers, on)),
        workload(providers, on)?,
        group("isolation", "Isolation", by_variant(providers, &["isolation"])),
        group("size", "Size", sizes(providers)),
        group("time", "Timeouts and sessions", times(providers)),
        group("plan", "Plans, concurrency and create rates", accounts(providers)),
        group("egress", "Egress", egress(providers)),
        group("lifecycle", "Persistence", section(providers, provider::Lifecycle::KEY)),
        group("api", "Languages and SDKs", section(providers, provider::Api::KEY)),
        group("deploy", "Self-hosting and licence", section(providers, provider::Deploy::KEY)),
        group("compliance", "Compliance and promises", promises(providers)),
        Group {
            remark: Some(START_REMARK.to_owned()),
            ..group("start", "Start time", starts(providers))
        },
        Group {
            remark: Some(SCORE_REMARK.to_owned()),
            ..group("score", "Quality score", vec![scores(providers)])
        },
        group("source", "Sources", vec![sources(providers)]),
    ])
}

/// A row with a cell for each provider and no best.
fn row<'a>(
    key: impl Into<Cow<'static, str>>,
    label: impl Into<String>,
    providers: Providers<'a, '_>,
    cell: impl Fn(&'a Provider) -> Cell<'a>,
) -> Row<'a> {
    let cells = providers.iter().map(|provider| cell(provider)).collect();
    Row { key: key.into(), label: label.into(), cells, best: None }
}

fn prices<'a>(providers: Providers<'a, '_>, on: Date) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for (key, label, kind, component) in [
        ("list_vcpu", "List, USD per vCPU-second", PriceKind::List, Component::Vcpu),
        ("routed_vcpu", "Routed, USD per vCPU-second", PriceKind::Routed, Component::Vcpu),
        ("list_memory", "List, USD per GiB-second of memory", PriceKind::List, Component::Memory),
        (
            "routed_memory",
            "Routed, USD per GiB-second of memory",
            PriceKind::Routed,
            Component::Memory,
        ),
        ("list_disk", "List, USD per GiB-second of disk", PriceKind::List, Component::Disk),
    ] {
        rows.push(rate(key, label, providers, kind, component, on));
    }
    rows.push(row("fee", "The router's fee, % of list", providers, |provider| {
        let fee = provider.fee_on(on);
        let entry = fee.map_or_else(
            || Entry::without(Standing::NotRouted),
            |fee| {
                Entry::computed(fee.percent.to_string())
                    .from_source(&fee.evidence)
                    .under(format!("fee.{}", fee.since))
            },
        );
        entry.into()
    }));
    for (key, kind) in [("hour_list", PriceKind::List), ("hour_routed", PriceKind::Routed)] {
        rows.push(hour(key, providers, kind, on));
    }
    rows.push(row(
        "create_list",
        "A plain create call, list, USD a second",
        providers,
        |provider| Cell { entries: default_bills(provider, on) },
    ));
    rows.extend(by_variant(providers, &["billing"]));
    rows
}

/// The rate of a component, ranked where all bill what was asked for.
fn rate<'a>(
    key: &'static str,
    label: &str,
    providers: Providers<'a, '_>,
    kind: PriceKind,
    component: Component,
    on: Date,
) -> Row<'a> {
    let found = |provider: &'a Provider| provider.price_of(component, kind, on);
    let mut row = row(key, label, providers, |provider| {
        let Some(price) = found(provider) else {
            // Who sells whole sandboxes has no price of a part.
            let by_size = provider.price_of(Component::Sandbox, kind, on).is_some();
            let standing = match kind {
                PriceKind::List if by_size => Standing::NotApplicable,
                PriceKind::List => Standing::Unknown,
                PriceKind::Routed => Standing::NotRouted,
            };
            return Entry::without(standing).into();
        };
        let dispute = provider.price_dispute(&price.id);
        let second = price.rate.per_second();
        let text = match &price.included {
            Some(included) if second.is_zero() => format!("included {}", included.label()),
            Some(included) => format!("{}, {} free", second.shown(), included.label()),
            None => second.shown(),
        };
        Entry {
            standing: if dispute.is_some() { Standing::Disputed } else { Standing::Known },
            dispute,
            ..Entry::computed(text).from_source(&price.evidence)
        }
        .under(format!("price.{}", price.id))
        .into()
    });
    let figures: Vec<_> = providers
        .iter()
        .map(|provider| {
            found(provider)
                .filter(|price| {
                    price.included.is_none() && provider.price_dispute(&price.id).is_none()
                })
                .map(|price| (price.rate.per_second(), price.basis.word().to_owned()))
        })
        .collect();
    row.best = best_of(&figures, Better::Low);
    row
}

fn hour<'a>(key: &'static str, providers: Providers<'a, '_>, kind: PriceKind, on: Date) -> Row<'a> {
    let shape = Shape::default();
    let bills: Vec<Estimate> =
        providers.iter().map(|provider| price_hour(provider, shape, kind, on)).collect();
    let word = kind.word();
    bills_row(key, format!("{} for an hour, {word}, USD", shape.label()), &bills)
}

/// A row of bills, best where all are exact.
fn bills_row<'a>(key: &'static str, label: String, bills: &[Estimate]) -> Row<'a> {
    let figures: Vec<_> =
        bills.iter().map(|bill| bill.ranked().map(|usd| (usd, String::new()))).collect();
    Row {
        key: key.into(),
        label,
        cells: bills.iter().map(|bill| Entry::bill(bill).into()).collect(),
        best: best_of(&figures, Better::Low),
    }
}

/// The list bill of a second for the size that a create call gives, by variant.
fn default_bills(provider: &Provider, on: Date) -> Vec<Entry<'_>> {
    let bill = |variant: &Variant| {
        let estimate = price_default(provider, variant, PriceKind::List, Quantity::ONE, on);
        let entry = Entry::bill(&estimate);
        let size = Shape::default_of(variant).map(|shape| shape.label());
        let remarks: Vec<String> = [size, entry.remark.clone()].into_iter().flatten().collect();
        entry.remarked(remarks.join("; "))
    };
    provider.variants.iter().map(|variant| bill(variant).labelled(&variant.name)).collect()
}

/// The bill of the default workload, with the plan or top-up that it takes.
fn workload<'a>(providers: Providers<'a, '_>, on: Date) -> Result<Group<'a>, MoneyError> {
    let ask = Workload::default();
    let offers = |kind: PriceKind| -> Vec<Offer> {
        providers
            .iter()
            .map(|provider| Offer::of(provider, provider.default_variant(), kind, on))
            .collect()
    };
    let (list, routed) = (offers(PriceKind::List), offers(PriceKind::Routed));
    let bills = |offers: &'_ [Offer]| -> Result<(Vec<Estimate>, Vec<Estimate>), MoneyError> {
        let bills = offers
            .iter()
            .map(|offer| monthly_bill(offer, &ask))
            .collect::<Result<Vec<MonthlyBill>, _>>()?;
        Ok(bills.into_iter().map(|bill| (bill.usage, bill.total)).unzip())
    };
    let (list_usage, list_total) = bills(&list)?;
    let (routed_usage, _) = bills(&routed)?;
    let plan_cells = list.iter().map(|offer| {
        let plan = offer.cheapest_for(&ask.shape, ask.peak_concurrency);
        let Some(plan) = plan else {
            let none = Entry::without(Standing::Unknown);
            return if offer.plans.is_empty() {
                none.into()
            } else {
                Entry::computed(format!("none holds {} at once", ask.peak_concurrency)).into()
            };
        };
        let fee = plan.usd_fee_per_month.map(|fee| {
            if fee.is_zero() { "no fee".to_owned() } else { format!("{} a month", fee.brief()) }
        });
        let top_up = plan
            .usd_top_up
            .map(|usd| format!("unlocked by a prepaid top-up of {} (cash, not cost)", usd.brief()));
        let parts: Vec<String> =
            [Some(plan.name.clone()), fee, top_up].into_iter().flatten().collect();
        let entry = Entry::computed(parts.join(", "));
        match plan.creates_per_second {
            Some(rate) => entry.remarked(format!("creates {rate} a second at most")),
            None => entry.remarked("how many it creates a second is not known"),
        }
        .into()
    });
    let rows = vec![
        bills_row("workload_list", "Use, list, USD a month".to_owned(), &list_usage),
        bills_row("workload_routed", "Use, routed, USD a month".to_owned(), &routed_usage),
        Row {
            key: "workload_plan".into(),
            label: "Cheapest plan that holds the peak".to_owned(),
            cells: plan_cells.collect(),
            best: None,
        },
        bills_row("workload_total", "Use and plan fee, list, USD a month".to_owned(), &list_total),
        Row {
            key: "workload_fee_from".into(),
            label: "Peak from which a plan fee bites".to_owned(),
            cells: list.iter().map(|offer| fee_from(offer, &ask.shape).into()).collect(),
            best: None,
        },
    ];
    Ok(Group {
        key: "workload",
        title: "A month of a steady workload",
        remark: Some(format!(
            "{} runs a day of {} each on {}, {} at once at most, 30 days.",
            count(ask.runs_per_day),
            ask.seconds_per_run.duration(),
            ask.shape.label(),
            ask.peak_concurrency
        )),
        rows,
    })
}

/// The smallest peak that takes a plan with a fee.
fn fee_from<'a>(offer: &Offer, shape: &Shape) -> Entry<'a> {
    if offer.plans.is_empty() {
        return Entry::without(Standing::Unknown);
    }
    match fee_bites(offer, shape) {
        Some((peak, plan)) => {
            let fee = plan.usd_fee_per_month.max(plan.usd_minimum_per_month);
            let fee = fee.map_or_else(String::new, |usd| format!(", {} a month", usd.brief()));
            Entry::computed(format!("{}: {}{fee}", count(peak), plan.name))
        }
        None => Entry::computed("no fee at any peak that its plans name"),
    }
}

/// The rows of some sections of the variants; one entry for each variant that differs from the default one.
fn by_variant<'a>(providers: Providers<'a, '_>, sections: &[&str]) -> Vec<Row<'a>> {
    let Some(first) = providers.first() else { return Vec::new() };
    let mut rows = Vec::new();
    for (place, (key, _, claims)) in first.default_variant().sections().iter().enumerate() {
        if !sections.contains(key) {
            continue;
        }
        for (line, claim) in claims.iter().enumerate() {
            rows.push(row(claim.key, claim.label, providers, |provider| {
                variants_cell(provider, place, line)
            }));
        }
    }
    rows
}

/// A claim of a variant by the places of its section and its line, with its dotted key.
fn variant_claim(
    variant: &Variant,
    section: usize,
    line: usize,
) -> Option<(String, &dyn AnyClaim)> {
    let (section, _, rows) = variant.sections().into_iter().nth(section)?;
    let row = rows.into_iter().nth(line)?;
    Some((format!("variant.{}.{section}.{}", variant.id, row.key), row.claim))
}

fn variants_cell(provider: &Provider, section: usize, line: usize) -> Cell<'_> {
    let default = variant_claim(provider.default_variant(), section, line);
    let said = default.map(|(_, claim)| (claim.state(), claim.shown()));
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for variant in &provider.variants {
        let Some((key, claim)) = variant_claim(variant, section, line) else { continue };
        if entries.is_empty() || said != Some((claim.state(), claim.shown())) {
            entries.push(Entry::of(claim).labelled(&variant.name).under(key));
        }
    }
    if let [only] = entries.as_mut_slice() {
        // What holds for all variants needs no name of one.
        only.label = None;
    }
    Cell { entries }
}

fn sizes<'a>(providers: Providers<'a, '_>) -> Vec<Row<'a>> {
    let mut rows = by_variant(providers, &["size"]);
    for row in &mut rows {
        // A provider whose variants differ has more than one answer, and so no single figure to rank.
        let disputed = row.is_disputed();
        let one_answer = row.cells.iter().all(|cell| cell.entries.len() == 1);
        let figure = |provider: &&'a Provider| {
            let size = &provider.default_variant().size;
            match row.key.as_ref() {
                "max_vcpu" => size.max_vcpu.value().copied(),
                "max_memory_mib" => size.max_memory_mib.value().copied().map(Quantity::from),
                "max_disk_mib" => size.max_disk_mib.value().copied().map(Quantity::from),
                _ => None,
            }
            .filter(|_| one_answer && !disputed)
            .map(|most| (most, String::new()))
        };
        let figures: Vec<_> = providers.iter().map(figure).collect();
        row.best = best_of(&figures, Better::High);
    }
    rows
}

fn times<'a>(providers: Providers<'a, '_>) -> Vec<Row<'a>> {
    let mut rows = by_variant(providers, &["time"]);
    // The longest session is a matter of the plan: the variant's row would repeat the best plan's.
    rows.retain(|row| row.key != "max_session_seconds");
    rows.extend(plans(providers, &["max_session_seconds"]));
    rows
}

/// The claims of a plan that stand in a group of their own.
const PLAN_KEYS: &[&str] = &[
    "usd_fee_per_month",
    "usd_minimum_per_month",
    "usd_top_up",
    "requirement",
    "concurrent_sandboxes",
    "creates_per_second",
    "pool_vcpu",
    "pool_memory_gib",
    "pool_disk_gib",
];

/// Claims of the plans, an entry for each plan that says something. A row that nobody answers is left out.
fn plans<'a>(providers: Providers<'a, '_>, keys: &[&str]) -> Vec<Row<'a>> {
    let place = |wanted: &str| Plan::KEYS.iter().position(|key| *key == wanted);
    let claim = |plan: &'a Plan, place: usize| plan.rows().into_iter().nth(place);
    let cell = |provider: &'a Provider, place: usize| {
        let entries: Vec<Entry<'a>> = provider
            .plans
            .iter()
            .filter_map(|plan| claim(plan, place).map(|row| (plan, entry_of(plan, &row))))
            .map(|(plan, entry)| {
                // What a source says of the plan as a whole is said once, at its fee.
                let fee = plan.usd_fee_per_month.evidence.as_ref();
                let said = fee.and_then(|evidence| evidence.note.as_deref());
                let at_fee = Plan::KEYS.get(place) == PLAN_KEYS.first();
                let note = entry.note.filter(|_| at_fee || entry.note != said);
                let key = Plan::KEYS.get(place).copied().unwrap_or_default();
                Entry { note, ..entry }
                    .labelled(&plan.name)
                    .under(format!("plan.{}.{key}", plan.id))
            })
            .collect();
        // A question that none of its plans answers has one answer.
        let silent = entries.iter().all(|entry| entry.standing == Standing::Unknown);
        let entries = if silent { Vec::new() } else { entries };
        if entries.is_empty() { Entry::without(Standing::Unknown).into() } else { Cell { entries } }
    };
    let label = |place: usize| {
        providers
            .iter()
            .flat_map(|provider| &provider.plans)
            .find_map(|plan| claim(plan, place))
            .map(|row| row.label)
    };
    keys.iter()
        .filter_map(|key| place(key))
        .filter_map(|place| {
            let key = Plan::KEYS.get(place)?;
            let row = row(*key, label(place)?, providers, |provider| cell(provider, place));
            let answered = row
                .cells
                .iter()
                .flat_map(|cell| &cell.entries)
                .any(|entry| entry.standing != Standing::Unknown);
            answered.then_some(row)
        })
        .collect()
}

/// The entry of a plan's claim. Creations are told by the second even where a vendor counts them by the minute.
fn entry_of<'a>(plan: &'a Plan, row: &provider::Row<'a>) -> Entry<'a> {
    let entry = Entry::of(row.claim);
    match plan.creates_per_minute.value() {
        Some(rate) if row.key == "creates_per_second" && entry.standing == Standing::Unknown => {
            let second = rate.divided_by(SECONDS_PER_MINUTE).to_string();
            let minute = Entry::of(&plan.creates_per_minute);
            Entry { text: Some(second), ..minute }.remarked(format!("stated as {rate} a minute"))
        }
        _ => entry,
    }
}

/// What an account costs and may do: the plans, then what holds for all of them.
fn accounts<'a>(providers: Providers<'a, '_>) -> Vec<Row<'a>> {
    let mut rows = plans(providers, PLAN_KEYS);
    rows.extend(section(providers, provider::Credit::KEY));
    rows.extend(section(providers, provider::Concurrency::KEY));
    rows
}

/// The rows of a section that does not differ by variant.
fn section<'a>(providers: Providers<'a, '_>, wanted: &str) -> Vec<Row<'a>> {
    let Some(first) = providers.first() else { return Vec::new() };
    let sections = first.sections();
    let Some(place) = sections.iter().position(|(key, _, _)| *key == wanted) else {
        return Vec::new();
    };
    let claim = |provider: &'a Provider, line: usize| {
        provider.sections().into_iter().nth(place)?.2.into_iter().nth(line)
    };
    let Some((_, _, lines)) = sections.into_iter().nth(place) else { return Vec::new() };
    lines
        .iter()
        .enumerate()
        .map(|(line, one)| {
            row(one.key, one.label, providers, |provider| {
                claim(provider, line)
                    .map_or_else(
                        || Entry::without(Standing::Unknown),
                        |row| Entry::of(row.claim).under(format!("{wanted}.{}", row.key)),
                    )
                    .into()
            })
        })
        .collect()
}

fn egress<'a>(providers: Providers<'a, '_>) -> Vec<Row<'a>> {
    let mut rows = section(providers, provider::Egress::KEY);
    rows.extend(plans(providers, &["egress_off", "egress_open"]));
    rows
}

fn promises<'a>(providers: Providers<'a, '_>) -> Vec<Row<'a>> {
    let mut rows = section(providers, provider::Compliance::KEY);
    rows.extend(section(providers, provider::Sla::KEY));
    rows.extend(section(providers, provider::Placement::KEY));
    rows
}

/// Claimed starts, then a row for each thing that somebody measured in the same way.
fn starts<'a>(providers: Providers<'a, '_>) -> Vec<Row<'a>> {
    let mut rows = section(providers, provider::Start::KEY);
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for measurement in providers.iter().flat_map(|provider| &provider.measurements) {
        let kind = (measurement.metric.as_str(), measurement.mode.as_str());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    for (metric, mode) in kinds {
        let metric_label = metric.trim_end_matches("_ms").replace('_', " ");
        let label = format!("Measured {metric_label}, {mode}, ms");
        let of = |provider: &'a Provider| {
            provider.measurements.iter().filter(move |one| {
                one.metric == metric && one.mode == mode && one.median().is_some()
            })
        };
        let mut row = row(format!("measured_start_{mode}"), label, providers, |provider| {
            let entries: Vec<Entry<'a>> = of(provider).map(|one| measured(provider, one)).collect();
            if entries.is_empty() {
                Entry::without(Standing::NotMeasured).into()
            } else {
                Cell { entries }
            }
        });
        // Where somebody has two answers, a mark would stand at both.
        let figure = |provider: &&'a Provider| match of(provider).collect::<Vec<_>>().as_slice() {
            [only] => start_figure(provider, only),
            _ => None,
        };
        let figures: Vec<_> = providers.iter().map(figure).collect();
        row.best = best_of(&figures, Better::Low);
        rows.push(row);
    }
    rows
}

/// A measured median with its basis: who measured what, when, and on which rung of the ladder.
fn start_figure(provider: &Provider, one: &Measurement) -> Option<(Quantity, String)> {
    let (median, kind) = one.median()?;
    let tier = provider.variant(&one.variant)?.isolation.tier.value()?;
    let basis = format!(
        "{kind} {} {:?} {:?} {}",
        one.measured_by,
        one.window_start,
        one.window_end,
        tier.word()
    );
    Some((Quantity::parse(median).ok()?, basis))
}

fn measured<'a>(provider: &'a Provider, one: &'a Measurement) -> Entry<'a> {
    let (median, kind) = one.median().unwrap_or(("", ""));
    let variant = provider.variant(&one.variant);
    let class = variant.map_or_else(String::new, |variant| {
        let tier = variant.isolation.tier.value().map_or("tier unknown", |tier| tier.label());
        format!("{} ({tier})", variant.name)
    });
    let window = match (&one.window_start, &one.window_end) {
        (Some(start), Some(end)) => format!("{start} to {end}"),
        (Some(day), None) | (None, Some(day)) => day.clone(),
        (None, None) => "undated".to_owned(),
    };
    let statistic =
        |name: &str, label: &str| one.statistic(name).map(|value| format!("{label} {value}"));
    let mut parts = vec![format!("{class}, {window}")];
    parts.extend(statistic("median_of_daily_p95_ms", "p95"));
    parts.extend(statistic("median_of_daily_p99_ms", "p99"));
    parts.extend(statistic("success_ratio", "success ratio"));
    parts.extend(statistic("mean_success_ratio", "success ratio"));
    parts.push(one.measured_by.clone());
    let place = provider.measurements.iter().position(|other| std::ptr::eq(other, one));
    Entry::computed(format!("{median} ({kind})"))
        .from_source(&one.evidence)
        .under(format!("measurement.{}", place.map_or(0, |place| place + 1)))
        .remarked(parts.join("; "))
}

fn scores<'a>(providers: Providers<'a, '_>) -> Row<'a> {
    row("quality_score", "Score", providers, |provider| {
        provider
            .score()
            .map_or_else(
                || Entry::without(Standing::NotScored),
                |score| {
                    let text =
                        format!("{} of {}, {}", score.value, score.scale, score.kind.label());
                    Entry::computed(text).from_source(&score.evidence).under("score")
                },
            )
            .into()
    })
}

fn sources<'a>(providers: Providers<'a, '_>) -> Row<'a> {
    row("sources", "Sources read, file last checked", providers, |provider| {
        let count = provider.sources.len();
        let checked = provider.checked_on.map_or_else(String::new, |day| format!(", {day}"));
        Entry::computed(format!("{count} sources{checked}")).into()
    })
}
