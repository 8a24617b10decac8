//! A workload's bills at every provider, in the order of a ranking that only has exact figures.

use super::offer::{Offer, Offers};
use super::workload::{MonthlyBill, Workload, monthly_bill};
use crate::catalog::shape::{Estimate, Exactness};
use crate::catalog::word::PriceKind;
use crate::money::{MoneyError, Usd};

/// A provider's bills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The offer at the price kind that is ranked.
    pub offer: Offer,
    /// The bill of that offer.
    pub bill: MonthlyBill,
    /// The total at list price.
    pub list: Estimate,
    /// The total through the router, where that reaches it.
    pub routed: Option<Estimate>,
    /// Its place among exact list totals, or routed ones where those are asked for, from 1; equal totals share one. `None`
    /// where it is not ranked.
    pub rank: Option<usize>,
}

impl Entry {
    /// What the router adds to the bill; `None` where it does not reach the provider or a total has no figure.
    pub fn router_fee(&self) -> Option<Usd> {
        let routed = self.routed.as_ref()?;
        Some(routed.usd?.less(self.list.usd?))
    }
}

/// The bills of a workload: routed where there are routed prices, unless a kind is named. List totals are ranked with list
/// totals, and routed ones with routed ones where those are asked for: exact ones come first, by their size, then those
/// that depend, then those without a figure.
pub fn league(
    offers: &[Offers],
    workload: &Workload,
    kind: Option<PriceKind>,
) -> Result<Vec<Entry>, MoneyError> {
    let mut entries = Vec::new();
    for one in offers {
        let offer = one.at(kind);
        let bill = monthly_bill(&offer, workload)?;
        let total = |kind: PriceKind| -> Result<Estimate, MoneyError> {
            if offer.card.kind == kind {
                return Ok(bill.total.clone());
            }
            monthly_bill(&one.at(Some(kind)), workload).map(|bill| bill.total)
        };
        let list = total(PriceKind::List)?;
        let routed = one.routed.as_ref().map(|_| total(PriceKind::Routed)).transpose()?;
        entries.push(Entry { offer, bill, list, routed, rank: None });
    }
    let by_routed = kind == Some(PriceKind::Routed);
    let total =
        |entry: &Entry| if by_routed { entry.bill.total.clone() } else { entry.list.clone() };
    entries.sort_by_key(|entry| (total(entry).exactness, total(entry).ranked()));
    let mut rank = 0;
    let mut last = None;
    for (place, entry) in entries.iter_mut().enumerate() {
        let total = total(entry);
        if total.exactness != Exactness::Exact {
            break;
        }
        if last != total.usd {
            (rank, last) = (place + 1, total.usd);
        }
        entry.rank = Some(rank);
    }
    Ok(entries)
}
