//! Where a snippet runs that is to run at two providers: at those that are named, else at the first two that can be used.

use crate::access::Caller;
use crate::router::SandboxRouter;
use crate::runs::{Omission, Request};

/// One request for each of the two: nowhere else. What both can cost at most is within the cap together. An error says what is
/// missing or too much.
pub fn of(
    sandboxes: &SandboxRouter,
    request: &Request,
    caller: &Caller,
) -> Result<[Request; 2], String> {
    if request.drill.is_some() {
        return Err("a drill is for one run: leave it out to run on two".to_owned());
    }
    let at =
        |slug: String| Request { providers: Some(vec![slug]), fallback: false, ..request.clone() };
    let slugs = match &request.providers {
        Some(named) if named.len() < 2 => {
            return Err("providers names one: to run on two, name two of them or none".to_owned());
        }
        Some(named) => named.iter().take(2).cloned().collect(),
        None => in_order(sandboxes, request, caller),
    };
    let (mut usable, mut hindered) = (Vec::new(), Vec::new());
    for slug in slugs {
        let one = at(slug.clone());
        let (selection, _) = sandboxes.preview(&one, caller);
        match selection.not_tried.first() {
            Some(left_out) => hindered.push(format!("{slug}: {}", words(left_out.reason))),
            None => usable.push((slug, one, selection.quote())),
        }
    }
    let mut both = usable.into_iter();
    match (both.next(), both.next()) {
        (Some((.., at_one)), Some((.., at_two)))
            if request.max_cost_usd.is_some_and(|most| at_one.plus(at_two).routed_usd > most) =>
        {
            Err(format!(
                "both together can cost {} at most, which is above the cost cap",
                at_one.plus(at_two).routed_usd.shown()
            ))
        }
        (Some((_, one, _)), Some((_, two, _))) => Ok([one, two]),
        (only, _) => {
            let only = only.map_or_else(|| "none".to_owned(), |(slug, ..)| format!("only {slug}"));
            let others = hindered.join("; ");
            let others = if others.is_empty() { "there is no other here" } else { &others };
            Err(format!("two providers are needed, and {only} can be used for this. {others}"))
        }
    }
}

/// Every provider, in the order in which they would be tried.
fn in_order(sandboxes: &SandboxRouter, request: &Request, caller: &Caller) -> Vec<String> {
    let (selection, _) = sandboxes.preview(&Request { fallback: true, ..request.clone() }, caller);
    let tried = selection.candidates.into_iter().map(|one| one.provider);
    tried.chain(selection.not_tried.into_iter().map(|one| one.provider)).collect()
}

fn words(reason: Omission) -> &'static str {
    match reason {
        Omission::NotPermitted => "needs a token that may use it",
        other => other.label(),
    }
}
