//! Answers as tables: the same rows, order and figures as the pages, with units in the header.

use super::formats::{Datum, Sheet, Table};
use crate::calculator::explanation::explain;
use crate::calculator::exposure::{Exposed, Exposure};
use crate::calculator::league::Entry as Entrant;
use crate::calculator::offer::Offer;
use crate::calculator::workload::{PARTS, Workload};
use crate::catalog::Provider;
use crate::catalog::change::FieldChange;
use crate::catalog::chronicle::Chronicle;
use crate::catalog::claim::{Answer, Claim, Confidence, Evidence};
use crate::catalog::field::{Completeness, Field, fields};
use crate::catalog::listing::{Listing, Question, Row};
use crate::catalog::shape::Estimate;
use crate::catalog::word::{Beginning, capitalised};
use crate::comparison::summary::{Brief, LABELS, summary};
use crate::comparison::{Cell, Comparison, Entry, Group};
use crate::money::Usd;
use jiff::civil::Date;

/// The catalog as its page lists it.
pub fn catalog(listing: &Listing<'_>, question: &Question) -> Sheet {
    const DATA: [&str; 24] = [
        "position",
        "slug",
        "name",
        "status",
        "price",
        "exactness",
        "hour_usd",
        "hour_low_usd",
        "hour_high_usd",
        "because",
        "price_seen_on",
        "unranked_because",
        "isolation",
        "egress_off",
        "score",
        "score_scale",
        "measured_start_ms",
        "measured_until",
        "open_source",
        "unknown_values",
        "as_of",
        "vcpu",
        "memory_gib",
        "disk_gib",
    ];
    let shown = listing.rows.iter().map(|row| {
        let mut line = vec![Datum::from(row.provider.name.as_str())];
        line.extend(summary(row).iter().map(brief));
        line
    });
    Sheet {
        title: "Code sandboxes for AI agents".to_owned(),
        remarks: vec![format!(
            "{} One hour of {}, use only, default class of each. Ranges and prices that are not known are \
             not ranked.",
            listing.count_words(&question.filter),
            question.shape.label()
        )],
        data: Table::new(DATA, listing.rows.iter().map(|row| catalog_row(row, question))),
        shown: vec![Table::new([&["Provider"], &LABELS[..]].concat(), shown)],
    }
}

fn catalog_row(row: &Row<'_>, question: &Question) -> Vec<Datum> {
    let provider = row.provider;
    let tier = &provider.default_variant().isolation.tier;
    let verdict = |claim: &Claim<Answer>| {
        Datum::text(
            claim.value().map(|answer| answer.verdict.word()).or(Some(claim.state().word())),
        )
    };
    let measured = provider.measured_start();
    vec![
        Datum::number(Some(provider.position)),
        provider.slug.as_str().into(),
        provider.name.as_str().into(),
        provider.status.word().into(),
        row.kind.word().into(),
        row.bill.exactness.word().into(),
        Datum::number(row.bill.usd),
        Datum::number(row.bill.low),
        Datum::number(row.bill.high),
        because(&row.bill),
        Datum::text(row.seen_on.map(|day| day.to_string())),
        Datum::text(row.unranked.clone()),
        Datum::text(tier.value().map(|tier| tier.word()).or(Some(tier.state().word()))),
        verdict(&provider.egress.can_disable_at_create),
        Datum::number(provider.score().map(|score| score.value)),
        Datum::number(provider.score().map(|score| score.scale)),
        Datum::number(measured.map(|(_, median)| median)),
        Datum::text(measured.and_then(|(one, _)| one.window_end.clone())),
        verdict(&provider.deploy.open_source),
        Datum::number(Some(Completeness::of(provider).unknown)),
        question.on.to_string().into(),
        Datum::number(Some(question.shape.vcpu)),
        Datum::number(Some(question.shape.memory_gib)),
        Datum::number(Some(question.shape.disk_gib)),
    ]
}

/// A value in few words, as the table of the page has it.
fn brief(brief: &Brief<'_>) -> Datum {
    let beside: Vec<&str> = [brief.flag(), brief.beside.as_deref()].into_iter().flatten().collect();
    Datum::text(match (&brief.entry.text, beside.as_slice()) {
        (Some(text), []) => Some(text.clone()),
        (Some(text), beside) => Some(format!("{text} ({})", beside.join("; "))),
        (None, beside) => Some(beside.join("; ")),
    })
}

fn because(estimate: &Estimate) -> Datum {
    let words = estimate.because.join("; ");
    Datum::text((!words.is_empty()).then_some(words))
}

/// Who says so, how and when: the columns that end a table of values.
const EVIDENCE: [&str; 5] = ["as_of", "by", "confidence", "stale_after", "source"];

fn evidence(evidence: Option<&Evidence>) -> Vec<Datum> {
    let Some(evidence) = evidence else { return vec![Datum::None; EVIDENCE.len()] };
    let source = evidence.sources.first().map(|source| source.reference());
    vec![
        evidence.as_of.to_string().into(),
        evidence.by.word().into(),
        Datum::text(evidence.confidence.map(Confidence::word)),
        Datum::text(evidence.stale_after.map(|day| day.to_string())),
        Datum::reference(source),
    ]
}

/// Everything about one provider, a row for each value.
pub fn provider(provider: &Provider, on: Date) -> Sheet {
    let all: Vec<Field<'_>> = fields(provider);
    let data = all.iter().map(|field| {
        let value = field.value.clone();
        let is_number = value
            .as_ref()
            .is_some_and(|value| value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
        let mut row = vec![
            field.key.as_str().into(),
            field.section.as_str().into(),
            field.label.as_str().into(),
            field.state.word().into(),
            if is_number { Datum::number(value) } else { Datum::text(value) },
            Datum::text(field.unit.as_deref()),
        ];
        row.extend(evidence(field.evidence));
        row.push(claims(field));
        row.push(Datum::text(field.evidence.and_then(|evidence| evidence.note.as_deref())));
        row
    });
    let head = ["key", "section", "label", "state", "value", "unit"];
    let header: Vec<&str> = head.into_iter().chain(EVIDENCE).chain(["claims", "note"]).collect();
    let mut shown: Vec<Table> = Vec::new();
    for field in &all {
        let mut row = vec![Datum::from(field.label.as_str()), Datum::from(words(field))];
        row.extend(evidence(field.evidence).into_iter().enumerate().filter_map(
            |(place, datum)| {
                // Day and source: the rest is in the data.
                (place == 0 || place == EVIDENCE.len() - 1).then_some(datum)
            },
        ));
        match shown.last_mut() {
            Some(table) if table.title.as_deref() == Some(&field.section) => table.rows.push(row),
            _ => shown.push(
                Table::new(["What", "Value", "As of", "Source"], [row]).titled(&*field.section),
            ),
        }
    }
    Sheet {
        title: provider.name.clone(),
        remarks: vec![provider.summary.clone(), format!("Prices that had begun by {on}.")],
        data: Table::new(header, data),
        shown,
    }
}

fn claims(field: &Field<'_>) -> Datum {
    let claims: Vec<String> = field
        .dispute
        .iter()
        .flat_map(|dispute| &dispute.claims)
        .map(|rival| format!("{} ({})", rival.value, rival.evidence.as_of))
        .collect();
    Datum::text((!claims.is_empty()).then(|| claims.join(" / ")))
}

fn words(field: &Field<'_>) -> String {
    let note = field.evidence.and_then(|evidence| evidence.note.as_deref());
    match (claims(field), note) {
        (Datum::Text(claims), _) => format!("{} (disputed: {claims})", field.words()),
        // Why there is none although something is known about it.
        (_, Some(note)) if field.value.is_none() => format!("{} ({note})", field.words()),
        _ => field.words(),
    }
}

/// Providers side by side: as data a row for each entry of each cell.
pub fn comparison(comparison: &Comparison<'_>) -> Sheet {
    let names: Vec<&str> =
        comparison.providers.iter().map(|provider| provider.name.as_str()).collect();
    let data = comparison.groups.iter().flat_map(|group| {
        group.rows.iter().flat_map(move |row| {
            row.cells.iter().zip(&comparison.providers).enumerate().flat_map(
                move |(place, (cell, provider))| {
                    let best = if row.best == Some(place) { "yes" } else { "no" };
                    cell.entries.iter().map(move |entry| {
                        let mut line = vec![
                            group.key.into(),
                            row.key.as_ref().into(),
                            row.label.as_str().into(),
                            provider.slug.as_str().into(),
                            Datum::text(entry.label.clone()),
                            entry.standing.word().into(),
                            Datum::text(entry.text.clone()),
                            best.into(),
                            Datum::text(entry.remark.clone()),
                        ];
                        line.extend(evidence(entry.evidence));
                        line
                    })
                },
            )
        })
    });
    let head = ["group", "key", "label", "slug", "entry", "state", "value", "best", "remark"];
    let header: Vec<&str> = head.into_iter().chain(EVIDENCE).collect();
    let verdict = comparison.verdict.iter().map(|finding| {
        let parts: Vec<String> = finding
            .parts
            .iter()
            .map(|(name, words)| match name {
                Some(name) => format!("{name}: {words}"),
                None => words.clone(),
            })
            .collect();
        vec![Datum::from(finding.title.as_str()), parts.join(" ").into()]
    });
    let picks = comparison
        .picks
        .iter()
        .map(|pick| vec![Datum::from(capitalised(pick.need)), pick.names.join(", ").into()]);
    let mut shown = vec![
        Table::new(["Finding", "What there is to say"], verdict).titled("What decides"),
        Table::new(["If you need", "Pick"], picks).titled("Pick this if you need …"),
    ];
    shown.extend(comparison.groups.iter().map(|group| group_table(group, &names)));
    Sheet {
        title: names.join(" vs "),
        remarks: vec![
            "A cell is marked best only where every figure of its row is exact and stands on the same basis."
                .to_owned(),
        ],
        data: Table::new(header, data),
        shown,
    }
}

fn group_table(group: &Group<'_>, names: &[&str]) -> Table {
    let rows = group.rows.iter().map(|row| {
        let mut line = vec![Datum::from(row.label.as_str())];
        line.extend(row.cells.iter().enumerate().map(|(place, cell)| {
            let best = if row.best == Some(place) { " (best)" } else { "" };
            Datum::from(format!("{}{best}", cell_words(cell)))
        }));
        line
    });
    Table::new([&["Question"], names].concat(), rows).titled(group.title)
}

fn cell_words(cell: &Cell<'_>) -> String {
    let entries: Vec<String> = cell.entries.iter().map(entry_words).collect();
    entries.join("; ")
}

fn entry_words(entry: &Entry<'_>) -> String {
    let label = entry.label.as_ref().map_or_else(String::new, |label| format!("{label}: "));
    let value = entry.text.as_deref().unwrap_or(entry.standing.label());
    let firm = entry.text.is_none() || entry.standing == crate::comparison::Standing::Known;
    let flag = if firm { String::new() } else { format!(" ({})", entry.standing.label()) };
    format!("{label}{value}{flag}")
}

/// What runaways cost: as data a row for each figure.
pub fn exposures(exposures: &[(Offer, Exposed)], ask: &Exposure) -> Sheet {
    const DATA: [&str; 18] = [
        "slug",
        "price",
        "plan",
        "agent_hours_blocked",
        "agent_hours_with_timeout",
        "slots_taken",
        "slots_of_plan",
        "runs_with_retries",
        "figure",
        "label",
        "acts_after_seconds",
        "cpu_usd",
        "exactness",
        "whole_usd",
        "whole_low_usd",
        "whole_high_usd",
        "because",
        "source",
    ];
    let data = exposures.iter().flat_map(|(offer, exposed)| {
        let head = |figure: &str, label: String, after: Datum| {
            vec![
                Datum::from(offer.slug.as_str()),
                offer.card.kind.word().into(),
                Datum::text(exposed.plan.clone()),
                Datum::number(Some(exposed.agent_hours_blocked)),
                Datum::number(exposed.agent_hours_with_timeout()),
                Datum::number(Some(exposed.runaways_held)),
                Datum::number(exposed.capacity.map(|(most, _)| most)),
                Datum::number(Some(exposed.runs_with_retries)),
                figure.into(),
                label.into(),
                after,
            ]
        };
        let lines: Vec<Vec<Datum>> = exposed
            .lines()
            .iter()
            .map(|line| {
                let cpu = line.cpu.and_then(|estimate| estimate.usd);
                let row = head(line.key, line.label.to_owned(), Datum::None);
                with_figures(row, Datum::number(cpu), line.whole, Datum::None)
            })
            .chain(exposed.backstops.iter().map(|stop| {
                let label = format!("{}: {}", capitalised(stop.kind.label()), stop.when());
                let row = head(stop.kind.word(), label, Datum::number(stop.seconds()));
                let source = Datum::reference(stop.source.as_deref());
                with_figures(row, Datum::number(stop.cpu_usd), stop.whole.as_ref(), source)
            }))
            .collect();
        lines
    });
    let shown = exposures.iter().map(|(offer, exposed)| {
        let figure = |estimate: Option<&Estimate>, none: &str| {
            Datum::from(estimate.map_or_else(|| none.to_owned(), Estimate::shown))
        };
        let lines = exposed.lines();
        let rows = lines.iter().map(|line| {
            let cells = [line.cpu, line.whole].map(|part| figure(part, line.none()));
            [vec![line.label.into()], cells.to_vec()].concat()
        });
        let stops = exposed.backstops.iter().map(|stop| {
            let label = format!("{}: {}", capitalised(stop.kind.label()), stop.when());
            let cpu = stop.cpu_usd.map_or_else(|| "–".to_owned(), Usd::shown);
            vec![label.into(), cpu.into(), figure(stop.whole.as_ref(), "–")]
        });
        let title = format!("{}, {}, {}", offer.name, offer.card.variant, offer.card.kind.label());
        let table = Table::new(["US dollars", "CPU only", "Whole bill"], rows.chain(stops));
        Table { remark: Some(exposed.beside_money(ask)), ..table.titled(title) }
    });
    let timeout = ask
        .timeout_seconds
        .map_or_else(|| "no timeout".to_owned(), |seconds| format!("a timeout of {seconds} s"));
    Sheet {
        title: "What a runaway costs".to_owned(),
        remarks: vec![format!(
            "{} at once on {}, noticed after {} s, {timeout}, {} attempts a task.",
            ask.runaways,
            ask.shape.label(),
            ask.noticed_after_seconds,
            ask.attempts
        )],
        data: Table::new(DATA, data),
        shown: shown.collect(),
    }
}

fn with_figures(
    mut row: Vec<Datum>,
    cpu: Datum,
    whole: Option<&Estimate>,
    source: Datum,
) -> Vec<Datum> {
    row.push(cpu);
    row.extend([
        Datum::text(whole.map(|estimate| estimate.exactness.word())),
        Datum::number(whole.and_then(|estimate| estimate.usd)),
        Datum::number(whole.and_then(|estimate| estimate.low)),
        Datum::number(whole.and_then(|estimate| estimate.high)),
        whole.map_or(Datum::None, because),
        source,
    ]);
    row
}

/// What changed: as data a row for each changed field and for each dated value.
pub fn changes(chronicle: &Chronicle<'_>) -> Sheet {
    const DATA: [&str; 11] = [
        "published_at",
        "revision",
        "slug",
        "fate",
        "since",
        "beginning",
        "key",
        "label",
        "before",
        "after",
        "source",
    ];
    let mut data = Vec::new();
    let mut shown = Vec::new();
    for told in &chronicle.revisions {
        let revision = &told.published.revision;
        let mut rows = Vec::new();
        for change in &told.changes {
            let mut row = |field: Option<&FieldChange>| {
                let of = |text: Option<&String>| Datum::text(text.cloned());
                let label = field.map(|field| &field.label);
                let before = field.and_then(|field| field.before.as_ref());
                let after = field.and_then(|field| field.after.as_ref());
                data.push(vec![
                    revision.published_at.as_str().into(),
                    revision.name().into(),
                    change.slug.as_str().into(),
                    change.fate.word().into(),
                    Datum::None,
                    Datum::None,
                    of(field.map(|field| &field.key)),
                    of(label),
                    of(before),
                    of(after),
                    Datum::None,
                ]);
                let what = label.map_or(change.fate.label(), String::as_str);
                rows.push(vec![change.name.as_str().into(), what.into(), of(before), of(after)]);
            };
            if change.fields.is_empty() {
                row(None);
            }
            change.fields.iter().for_each(|field| row(Some(field)));
        }
        let title = format!("Revision {}, published {}", revision.name(), revision.published_at);
        let table = Table::new(["Provider", "What", "Before", "After"], rows).titled(title);
        shown.push(Table { remark: told.remark(), ..table });
    }
    data.extend(chronicle.dated.iter().map(|one| {
        vec![
            Datum::None,
            Datum::None,
            one.provider.slug.as_str().into(),
            Datum::None,
            one.since.to_string().into(),
            Datum::text(one.beginning.map(Beginning::word)),
            one.key.as_str().into(),
            one.label.as_str().into(),
            Datum::text(one.before.clone()),
            one.after.as_str().into(),
            Datum::reference(one.evidence.sources.first().map(|source| source.reference())),
        ]
    }));
    let dated = chronicle.dated.iter().map(|one| {
        vec![
            one.since.to_string().into(),
            Datum::text(one.beginning.map(Beginning::label)),
            one.provider.name.as_str().into(),
            one.label.as_str().into(),
            Datum::text(one.before.clone()),
            one.after.as_str().into(),
        ]
    });
    if !chronicle.dated.is_empty() {
        let header = ["Since", "Which means", "Provider", "What", "Before", "Value"];
        shown.push(Table::new(header, dated).titled("Dated values"));
    }
    Sheet {
        title: "What changed".to_owned(),
        remarks: vec![
            "Differences of the revisions that this site has published, and values with dates of their own."
                .to_owned(),
        ],
        data: Table::new(DATA, data),
        shown,
    }
}

/// A month's bills: the ranking, and as data a row for each provider.
pub fn workload(league: &[Entrant], workload: &Workload) -> Sheet {
    const FIXED: [&str; 15] = [
        "rank",
        "slug",
        "name",
        "price",
        "exactness",
        "total_usd",
        "low_usd",
        "high_usd",
        "because",
        "plan",
        "billed_seconds",
        "per_thousand_runs_usd",
        "direct_usd",
        "routed_usd",
        "top_up_usd",
    ];
    let header: Vec<String> = FIXED
        .iter()
        .map(|name| (*name).to_owned())
        .chain(PARTS.map(|part| format!("{}_usd", part.word())))
        .collect();
    let data = league.iter().map(|one| {
        let bill = &one.bill;
        let mut row = vec![
            Datum::number(one.rank),
            one.offer.slug.as_str().into(),
            one.offer.name.as_str().into(),
            one.offer.card.kind.word().into(),
            bill.total.exactness.word().into(),
            Datum::number(bill.total.usd),
            Datum::number(bill.total.low),
            Datum::number(bill.total.high),
            because(&bill.total),
            Datum::text(bill.plan.as_ref().map(|plan| plan.id.as_str())),
            Datum::number(bill.billed_seconds),
            Datum::number(bill.per_thousand_runs.usd),
            Datum::number(one.list.usd),
            Datum::number(one.routed.as_ref().and_then(|routed| routed.usd)),
            Datum::number(bill.plan.as_ref().and_then(|plan| plan.usd_top_up)),
        ];
        row.extend(PARTS.map(|part| {
            Datum::number(bill.parts.iter().find(|(known, _)| *known == part).map(|(_, usd)| usd))
        }));
        row
    });
    let shown = league.iter().map(|one| {
        let bill = &one.bill;
        let rank = one.rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string());
        vec![
            rank.into(),
            one.offer.name.as_str().into(),
            one.list.shown().into(),
            Datum::text(one.routed.as_ref().map(Estimate::shown)),
            Datum::text(bill.plan.as_ref().map(|plan| plan.name.as_str())),
            Datum::text(bill.plan.as_ref().and_then(|plan| plan.usd_top_up).map(Usd::shown)),
            bill.per_thousand_runs.shown().into(),
            because(&bill.total),
            Datum::from(bill.remarks.join("; ")),
        ]
    });
    let columns = [
        "Rank",
        "Provider",
        "A month direct, USD",
        "Through the router, USD",
        "Plan",
        "Cash to unlock, USD",
        "1,000 runs, USD",
        "Because",
        "Besides",
    ];
    let mut tables = vec![Table::new(columns, shown).titled("What it costs")];
    tables.extend(league.iter().filter(|one| one.bill.total.usd.is_some()).map(|one| {
        let steps = explain(&one.bill, workload)
            .into_iter()
            .map(|step| vec![step.label.into(), Datum::text(step.factors), step.product.into()]);
        Table::new(["What", "Factors", "Product"], steps).titled(format!("{}: how", one.offer.name))
    }));
    let data = Table { header, ..Table::new([], data) };
    Sheet {
        title: "What a workload costs".to_owned(),
        remarks: vec![workload.label()],
        data,
        shown: tables,
    }
}
