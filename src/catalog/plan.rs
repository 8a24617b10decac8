//! Plans: what an account pays a month, and what it may do for that.

use jiff::civil::Date;

use super::claim::{Answer, AnyClaim, Claim, Dispute, Limit, Text};
use super::provider::{ReadClaims, Row};
use crate::money::{Quantity, Usd};

macro_rules! declare_plan {
    ($($(#[$meta:meta])* $field:ident: $type:ty, $label:literal;)+) => {
        /// A plan of a provider. What a plan does not say is unknown, not zero.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Plan {
            /// Its name within the file.
            pub id: String,
            /// Its name on pages.
            pub name: String,
            $($(#[$meta])* pub $field: Claim<$type>),+
        }

        impl Plan {
            /// The keys of its claims.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($field)),+];

            /// Reads every claim.
            pub fn read(id: String, name: String, reader: &mut impl ReadClaims) -> Self {
                Self { id, name, $($field: reader.claim(stringify!($field))),+ }
            }

            /// Every claim as it was known on a day.
            #[must_use]
            pub fn known_by(self, day: Date) -> Self {
                Self { $($field: self.$field.known_by(day)),+, ..self }
            }

            /// Every claim in order.
            pub fn rows(&self) -> Vec<Row<'_>> {
                vec![$(Row {
                    key: stringify!($field),
                    label: $label,
                    claim: &self.$field as &dyn AnyClaim,
                }),+]
            }

            /// Where a dispute about a key is kept; `None` for a key that is not here.
            pub fn dispute_of(&mut self, key: &str) -> Option<&mut Option<Dispute>> {
                match key {
                    $(stringify!($field) => Some(&mut self.$field.dispute),)+
                    _ => None,
                }
            }
        }
    };
}

/// Declares the claims of a plan once, for whoever needs the list: the domain here, the JSON type in `api`.
macro_rules! plan_claims {
    ($callback:ident) => {
        $callback! {
            /// The fee of a month, US dollars, on top of use.
            usd_fee_per_month: Usd, "Fee a month";
            /// The smallest bill of a month, US dollars, where the plan has one instead of a fee.
            usd_minimum_per_month: Usd, "Minimum a month";
            /// Prepaid use that unlocks the plan, US dollars. Cash, not cost.
            usd_top_up: Usd, "Top-up that unlocks it";
            /// Days after which the top-up is asked for again.
            top_up_every_days: u64, "Top-up again after, days";
            /// What else is asked for.
            requirement: Text, "Requirement";
            /// Credit for a new customer, US dollars, once.
            usd_credit_one_time: Usd, "Credit, once";
            /// The longest session, seconds.
            max_session_seconds: Limit, "Longest session, s";
            /// Sandboxes at once.
            concurrent_sandboxes: Limit, "Sandboxes at once";
            /// Creations a second.
            creates_per_second: Quantity, "Creates a second";
            /// Creations a minute.
            creates_per_minute: Quantity, "Creates a minute";
            /// Processors of all sandboxes together.
            pool_vcpu: Quantity, "Pool, vCPU";
            /// Memory of all sandboxes together, GiB.
            pool_memory_gib: Quantity, "Pool, memory GiB";
            /// Disk of all sandboxes together, GiB.
            pool_disk_gib: Quantity, "Pool, disk GiB";
            /// Disk of each sandbox that costs nothing extra, GiB.
            included_disk_gib: Quantity, "Included disk, GiB";
            /// Processors of one sandbox at most, where the plan differs from the variant.
            max_vcpu: Quantity, "Largest vCPU";
            /// Whether more than the plan's allowance can be used, for money.
            overage: Answer, "Use beyond the allowance";
            /// Whether egress can be switched off for one sandbox.
            egress_off: Answer, "Egress can be off";
            /// Whether egress can be open.
            egress_open: Answer, "Egress can be open";
        }
    };
}
plan_claims!(declare_plan);
