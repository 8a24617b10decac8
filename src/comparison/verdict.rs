//! What decides between providers, in five findings, and what each is good for. Every word comes from the catalog.

use crate::calculator::offer::Offer;
use crate::calculator::workload::Workload;
use crate::catalog::Provider;
use crate::catalog::claim::{Answer, Claim, Limit, Tier, Verdict};
use crate::catalog::provider::Variant;
use crate::catalog::shape::{Exactness, Shape, price_default};
use crate::catalog::word::{Component, PriceKind, capitalised};
use crate::money::{Quantity, Usd};
use jiff::civil::Date;

/// Sandboxes at once of somebody who has outgrown the first plan.
const MANY_AT_ONCE: u64 = 100;

/// One of the things that decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The finding in a few words.
    pub title: String,
    /// What each provider has to say; without a name where one sentence holds for all.
    pub parts: Vec<(Option<String>, String)>,
}

/// A need that some of the providers meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pick {
    /// What somebody may need.
    pub need: &'static str,
    /// Names of those who meet it.
    pub names: Vec<String>,
}

/// The five findings.
pub fn findings(providers: &[&Provider], on: Date) -> Vec<Finding> {
    vec![
        rates(providers, on),
        default_bills(providers, on),
        walls(providers),
        ends(providers),
        payment(providers),
    ]
}

/// A finding with a part for each provider.
fn each(
    title: impl Into<String>,
    providers: &[&Provider],
    part: impl Fn(&Provider) -> String,
) -> Finding {
    let parts = providers.iter().map(|one| (Some(one.name.clone()), part(one))).collect();
    Finding { title: title.into(), parts }
}

/// Whether a value is the same at all.
fn same<T: PartialEq>(providers: &[&Provider], value: impl Fn(&Provider) -> T) -> bool {
    let values: Vec<T> = providers.iter().map(|provider| value(provider)).collect();
    values.windows(2).all(|pair| pair.first() == pair.get(1))
}

/// The words of a list: "a", "a and b", "a, b and c".
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A rate of the default variant for one second.
fn second(provider: &Provider, kind: PriceKind, component: Component, on: Date) -> Option<Usd> {
    provider.price_of(component, kind, on).map(|row| row.rate.per_second())
}

fn rates(providers: &[&Provider], on: Date) -> Finding {
    let rate = |provider: &Provider, kind, component| {
        second(provider, kind, component, on)
            .map_or_else(|| "an unknown price".to_owned(), Usd::shown)
    };
    let said = |provider: &Provider| {
        if second(provider, PriceKind::List, Component::Vcpu, on).is_none() {
            return by_size(provider, on);
        }
        let list = format!(
            "{} per vCPU-second and {} per GiB-second of memory, list",
            rate(provider, PriceKind::List, Component::Vcpu),
            rate(provider, PriceKind::List, Component::Memory)
        );
        match second(provider, PriceKind::Routed, Component::Vcpu, on) {
            Some(_) => format!(
                "{list}; {} and {} through the router.",
                rate(provider, PriceKind::Routed, Component::Vcpu),
                rate(provider, PriceKind::Routed, Component::Memory)
            ),
            None => format!("{list}."),
        }
    };
    let known =
        |provider: &&&Provider| second(provider, PriceKind::List, Component::Vcpu, on).is_some();
    match providers {
        // What is not known is neither the same nor different.
        _ if !providers.iter().all(|provider| known(&provider)) => each("Rates", providers, said),
        [first, ..] if same(providers, said) => {
            Finding { title: "Same rates".to_owned(), parts: vec![(None, said(first))] }
        }
        _ => each("Different rates", providers, said),
    }
}

/// The rates of a provider that has none for a processor.
fn by_size(provider: &Provider, on: Date) -> String {
    let variant = &provider.default_variant().id;
    let cheapest = provider
        .prices_on(PriceKind::List, on)
        .filter(|price| price.component == Component::Sandbox && price.is_for(variant))
        .min_by_key(|price| price.rate.per_second());
    cheapest.map_or_else(
        || "No price is known.".to_owned(),
        |price| {
            let rate = price.rate;
            format!(
                "Sold by the sandbox, from {} per {}, list.",
                rate.usd.shown(),
                rate.per.label()
            )
        },
    )
}

fn default_bills(providers: &[&Provider], on: Date) -> Finding {
    let of = |provider: &Provider, variant: &Variant| {
        price_default(provider, variant, PriceKind::List, Quantity::ONE, on)
    };
    let said = |provider: &Provider| {
        let mut told: Vec<Option<Usd>> = Vec::new();
        let mut parts = Vec::new();
        for variant in &provider.variants {
            let estimate = of(provider, variant);
            // A variant that costs the same, or nothing sayable, adds nothing here; the rows below have it.
            let (Some(usd), Some(shape)) = (estimate.usd, Shape::default_of(variant)) else {
                continue;
            };
            if told.contains(&Some(usd)) {
                continue;
            }
            told.push(Some(usd));
            let name = lower_first(&variant.name);
            let because = estimate.because.join("; ");
            let shape = shape.label();
            parts.push(match (estimate.exactness, estimate.high) {
                (Exactness::Exact, _) => {
                    format!("{} a second for the {name} ({shape})", usd.shown())
                }
                (_, Some(high)) if estimate.low == Some(usd) => format!(
                    "about {} a second for the {name} ({shape}; up to {}, since {because})",
                    usd.shown(),
                    high.shown()
                ),
                _ => format!("{} a second for the {name} ({shape}; {because})", estimate.shown()),
            });
        }
        if parts.is_empty() {
            "Cannot be priced.".to_owned()
        } else {
            capitalised(&format!("{}.", listed(&parts)))
        }
    };
    let bill = |provider: &Provider| of(provider, provider.default_variant()).usd;
    let title = if providers.iter().any(|provider| bill(provider).is_none()) {
        "What you pay if you just call create"
    } else if same(providers, bill) {
        "The same bill if you just call create"
    } else {
        "Unequal bills if you just call create"
    };
    each(title, providers, said)
}

/// A name in the middle of a sentence; what begins like "VM" or "v2" stays.
fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(name.chars().skip(1)).collect()
        }
        _ => name.to_owned(),
    }
}

/// The tier of a variant.
fn tier(variant: &Variant) -> Option<Tier> {
    variant.isolation.tier.value().copied()
}

/// The tier in a sentence.
fn tier_said(provider: &Provider) -> String {
    tier(provider.default_variant())
        .map_or_else(|| "an unknown wall".to_owned(), |tier| format!("a {}", tier.label()))
}

fn walls(providers: &[&Provider]) -> Finding {
    let known = providers.iter().any(|provider| tier(provider.default_variant()).is_some());
    let title = match providers {
        _ if !known => "The kind of wall is not known".to_owned(),
        [first, ..] if same(providers, tier_said) => {
            format!("The same kind of wall: {}", tier_said(first))
        }
        _ => {
            let mut tiers: Vec<String> = Vec::new();
            for said in providers.iter().map(|provider| tier_said(provider)) {
                if !tiers.contains(&said) {
                    tiers.push(said);
                }
            }
            capitalised(&tiers.join(" against "))
        }
    };
    each(title, providers, |provider| {
        let default = provider.default_variant();
        let technology = default.isolation.technology.value().map(|text| text.0.clone());
        let mut said = technology.unwrap_or_else(|| "technology unknown".to_owned())
            + ", if you just call create";
        let stronger: Vec<String> = provider
            .variants
            .iter()
            .filter(|variant| tier(variant) != tier(default))
            .filter_map(|variant| {
                tier(variant).map(|tier| (variant, tier)).map(|(variant, tier)| {
                    format!("{} ({}), by {}", variant.name, tier.label(), variant.asked_by)
                })
            })
            .collect();
        if !stronger.is_empty() {
            said = format!("{said}. On request: {}", stronger.join("; "));
        }
        format!("{said}.")
    })
}

fn ends(providers: &[&Provider]) -> Finding {
    let stops =
        |claim: &Claim<Limit>, number: &dyn Fn(String) -> String, unlimited: &str| match claim
            .value()
        {
            Some(Limit::Number(seconds)) => Some(number(seconds.duration())),
            Some(Limit::Unlimited) => Some(unlimited.to_owned()),
            _ => None,
        };
    each("What a timeout means, and what ends a forgotten sandbox", providers, |provider| {
        let default = provider.default_variant();
        let time = &default.time;
        let parameter = time.wall_clock_parameter.value().map(|text| format!(" ({})", text.0));
        let parameter = parameter.unwrap_or_default();
        let mut parts = vec![
            stops(
                &time.default_wall_clock_seconds,
                &|after| {
                    format!("ended {after} after create if you send no wall-clock limit{parameter}")
                },
                &format!("no wall clock unless you send one{parameter}"),
            ),
            stops(
                &time.idle_stop_seconds,
                &|after| format!("stopped after {after} without outside activity"),
                "never stopped for being idle",
            ),
        ];
        parts.extend(provider.variants.iter().skip(1).map(|variant| {
            let idle = &variant.time.idle_stop_seconds;
            let differs = idle.value() != time.idle_stop_seconds.value();
            stops(idle, &|after| format!("{}: after {after}", variant.name), "").filter(|_| differs)
        }));
        parts.push(stops(
            &time.max_session_seconds,
            &|after| format!("no session longer than {after}{}", shorter_sessions(provider)),
            "no longest session",
        ));
        parts.push(
            provider.lifecycle.auto_delete.value().map(|text| format!("deletion: {}", text.0)),
        );
        let parts: Vec<String> =
            parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            return "Not known.".to_owned();
        }
        capitalised(&format!("{}.", parts.join("; ")))
    })
}

/// Plans whose longest session is shorter than the provider's: " (1 h on Hobby)".
fn shorter_sessions(provider: &Provider) -> String {
    let longest = provider.default_variant().time.max_session_seconds.value().copied();
    let shorter: Vec<String> = provider
        .plans
        .iter()
        .filter_map(|plan| plan.max_session_seconds.value().map(|limit| (plan, *limit)))
        .filter(|(_, limit)| Some(*limit) != longest)
        .filter_map(|(plan, limit)| limit.number().map(|seconds| (plan, seconds)))
        .map(|(plan, seconds)| format!("{} on {}", seconds.duration(), plan.name))
        .collect();
    if shorter.is_empty() { String::new() } else { format!(" ({})", listed(&shorter)) }
}

fn payment(providers: &[&Provider]) -> Finding {
    each("How you pay, and whose code it is", providers, |provider| {
        let amounts = |claim: &dyn Fn(&crate::catalog::plan::Plan) -> Option<Usd>| -> Vec<String> {
            let mut amounts: Vec<Usd> =
                provider.plans.iter().filter_map(claim).filter(|usd| !usd.is_zero()).collect();
            amounts.dedup();
            amounts.into_iter().map(Usd::brief).collect()
        };
        let fees = amounts(&|plan| plan.usd_fee_per_month.value().copied());
        let top_ups: Vec<String> = provider
            .plans
            .iter()
            .filter_map(|plan| {
                let usd = plan.usd_top_up.value().filter(|usd| !usd.is_zero())?.brief();
                let every = plan.top_up_every_days.value();
                Some(every.map_or(usd.clone(), |days| format!("{usd} every {days} days")))
            })
            .collect();
        let free = provider
            .plans
            .iter()
            .find(|plan| plan.usd_fee_per_month.value().is_some_and(|usd| usd.is_zero()));
        let mut parts = Vec::new();
        if provider.plans.iter().all(|plan| plan.usd_fee_per_month.value().is_none()) {
            parts.push("plan fees are not known".to_owned());
        } else if fees.is_empty() {
            parts.push("no plan fee".to_owned());
        } else {
            let free = free.map_or_else(String::new, |plan| format!(" (nothing on {})", plan.name));
            parts.push(format!("larger plans cost {} a month on top of use{free}", listed(&fees)));
        }
        if !top_ups.is_empty() {
            parts.push(format!(
                "larger tiers are unlocked by prepaid top-ups of {}",
                listed(&top_ups)
            ));
        }
        parts.push(match answer(&provider.deploy.open_source) {
            Some((verdict, detail)) => {
                let is = match verdict {
                    Verdict::Yes => "the platform is open source",
                    Verdict::Partly => "the platform is open source in part",
                    Verdict::No => "the platform is not open source",
                };
                detail.map_or_else(|| is.to_owned(), |detail| format!("{is} ({detail})"))
            }
            None => "whether the platform is open source is not known".to_owned(),
        });
        capitalised(&format!("{}.", parts.join("; ")))
    })
}

/// An answer taken apart.
fn answer(claim: &Claim<Answer>) -> Option<(Verdict, Option<&str>)> {
    claim.value().map(|answer| (answer.verdict, answer.detail.as_deref()))
}

fn is_yes(claim: &Claim<Answer>) -> bool {
    claim.value().is_some_and(|answer| answer.verdict == Verdict::Yes)
}

/// What somebody may need, and who meets it.
type Need<'a> = (&'static str, &'a dyn Fn(&Provider) -> bool);

/// Needs with those who meet them. A need that all or none of them meet decides nothing and is left out.
pub fn picks(providers: &[&Provider], on: Date) -> Vec<Pick> {
    let cheapest = cheapest_create(providers, on);
    let largest = providers
        .iter()
        .filter_map(|provider| provider.default_variant().size.max_vcpu.value())
        .max()
        .copied();
    let needs: [Need<'_>; 10] = [
        ("a kernel of your own without asking for it", &|provider| {
            tier(provider.default_variant()) == Some(Tier::VirtualMachine)
        }),
        ("the smallest bill for a plain create call", &|provider| {
            cheapest.as_deref() == Some(provider.slug.as_str())
        }),
        ("a hard end even if you forget to send a limit", &|provider| {
            let limit = provider.default_variant().time.default_wall_clock_seconds.value();
            limit.is_some_and(|limit| limit.number().is_some())
        }),
        ("sessions that may last longer than a day", &|provider| {
            provider.default_variant().time.max_session_seconds.value() == Some(&Limit::Unlimited)
        }),
        ("more vCPU in one sandbox of the default class", &|provider| {
            largest.is_some()
                && provider.default_variant().size.max_vcpu.value().copied() == largest
        }),
        ("a hundred small sandboxes at once without a monthly fee (top-ups aside)", &|provider| {
            free_for_many(provider, on)
        }),
        ("egress off or open as you choose, on every plan whose rule is known", &|provider| {
            let said = || provider.plans.iter().filter(|plan| plan.egress_off.value().is_some());
            said().next().is_some()
                && said().all(|plan| is_yes(&plan.egress_off) && is_yes(&plan.egress_open))
        }),
        ("pause and resume without conditions", &|provider| {
            is_yes(&provider.lifecycle.pause_resume)
        }),
        ("a platform that is open source and that you may run yourself", &|provider| {
            is_yes(&provider.deploy.open_source) && is_yes(&provider.deploy.self_host)
        }),
        ("GPUs", &|provider| is_yes(&provider.placement.gpu)),
    ];
    needs
        .into_iter()
        .map(|(need, meets)| {
            let names = providers.iter().filter(|one| meets(one)).map(|one| one.name.clone());
            Pick { need, names: names.collect() }
        })
        .filter(|pick| !pick.names.is_empty() && pick.names.len() < providers.len())
        .collect()
}

/// Who asks least for a plain create call, where that holds whatever the bills depend on.
fn cheapest_create(providers: &[&Provider], on: Date) -> Option<String> {
    let bounds: Vec<(Usd, Usd, &str)> = providers
        .iter()
        .map(|provider| {
            let estimate = price_default(
                provider,
                provider.default_variant(),
                PriceKind::List,
                Quantity::ONE,
                on,
            );
            let usd = estimate.usd?;
            let high = if estimate.low.is_some() { estimate.high? } else { usd };
            Some((estimate.low.unwrap_or(usd), high, provider.slug.as_str()))
        })
        .collect::<Option<_>>()?;
    let (_, high, slug) = bounds.iter().min_by_key(|(_, high, _)| *high)?;
    let beaten = bounds.iter().filter(|(_, _, other)| other != slug).all(|(low, _, _)| high < low);
    beaten.then(|| (*slug).to_owned())
}

/// Whether many sandboxes of the default workload run at once on a plan without a fee.
fn free_for_many(provider: &Provider, on: Date) -> bool {
    let offer = Offer::of(provider, provider.default_variant(), PriceKind::List, on);
    let shape = Workload::default().shape;
    offer.cheapest_for(&shape, MANY_AT_ONCE).is_some_and(|plan| {
        plan.usd_fee_per_month.is_some_and(Usd::is_zero)
            && plan.holds(&shape).is_some_and(|most| most >= MANY_AT_ONCE)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_initials_in_a_sentence() {
        for (name, said) in [
            ("Base template", "base template"),
            ("VM class", "VM class"),
            ("v2 (alpha)", "v2 (alpha)"),
        ] {
            assert_eq!(lower_first(name), said);
        }
    }

    #[test]
    fn lists_read_like_sentences() {
        let words = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&words), "a, b and c");
        assert_eq!(listed(&words[..2]), "a and b");
        assert_eq!(listed(&words[..1]), "a");
        assert_eq!(listed(&[]), "");
    }
}
