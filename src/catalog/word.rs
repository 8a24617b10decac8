//! Closed vocabularies: enums whose members have one name in files and JSON and one label on pages.
//!
//! Not here: free text. What a vendor says in prose is a [`super::claim::Text`].

/// Declares an enum together with its names. `parse` names every allowed word when it refuses one.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal, $label:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$variant_meta])* $variant),+ }

        impl $name {
            /// Every member, in order.
            pub const ALL: [Self; Self::WORDS.len()] = [$(Self::$variant),+];
            /// Every name, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The name in files, queries and JSON.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The name on pages.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$variant => $label),+ }
            }

            /// Reads a name; refuses others with the list of those allowed.
            pub fn parse(word: &str) -> Result<Self, String> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("is not one of {}", Self::WORDS.join(", "))),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.serialize_str(self.word())
                } else {
                    serializer.serialize_u8(*self as u8)
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    let word = <String as serde::Deserialize>::deserialize(deserializer)?;
                    return Self::parse(&word).map_err(serde::de::Error::custom);
                }
                let place = <u8 as serde::Deserialize>::deserialize(deserializer)?;
                Self::ALL
                    .get(usize::from(place))
                    .copied()
                    .ok_or_else(|| serde::de::Error::custom("no word has that place"))
            }
        }
    };
}

/// A word or sentence with a capital at its beginning.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

words! {
    /// Whether a provider is reached by the router or only listed.
    Status {
        /// Thud routes code to it.
        Routed = "routed", "routed";
        /// In the catalog alone.
        Listed = "listed", "listed";
    }
}

words! {
    /// What sort of offer it is.
    Kind {
        /// A company's own service.
        Hosted = "hosted", "hosted";
        /// A service of a large cloud.
        Hyperscaler = "hyperscaler", "large cloud";
        /// Software to run oneself.
        SelfHosted = "self_hosted", "self-hosted";
    }
}

words! {
    /// How strong the wall around the code is. WebAssembly is a kind of its own, not a rung.
    Tier {
        /// A process of the host, with restrictions.
        Process = "process", "process";
        /// Own file system and process tree; the kernel is the host's.
        Container = "container", "container";
        /// A kernel of its own behind hardware virtualisation; microVMs included.
        VirtualMachine = "virtual_machine", "virtual machine";
        /// A WebAssembly sandbox inside a process.
        Wasm = "wasm", "WebAssembly";
    }
}

words! {
    /// How a value reached the catalog.
    By {
        /// A page or document of the vendor, seen.
        Vendor = "vendor", "vendor";
        /// A repository or package of the vendor, seen.
        VendorCode = "vendor_code", "vendor's code";
        /// A vendor's page as quoted in a dated public reading.
        Relayed = "relayed", "vendor, relayed";
        /// Somebody else says so.
        ThirdParty = "third_party", "third party";
        /// Measured.
        Measured = "measured", "measured";
        /// Computed from other values.
        Derived = "derived", "derived";
        /// This catalog's own judgement or decision.
        Editorial = "editorial", "editorial";
    }
}

words! {
    /// How far a value can be trusted.
    Confidence {
        /// Rely on it.
        High = "high", "high";
        /// Read the source again before relying on it.
        Medium = "medium", "medium";
        /// A pointer, no more.
        Low = "low", "low";
    }
}

words! {
    /// Why a claim has a value or has none.
    State {
        /// It has a value, and nobody disagrees.
        Known = "known", "known";
        /// No sourced value is known. Not zero, not "no".
        Unknown = "unknown", "unknown";
        /// The question has no meaning here.
        NotApplicable = "not_applicable", "not applicable";
        /// Sources disagree; every claim is kept.
        Disputed = "disputed", "disputed";
    }
}

words! {
    /// What a price multiplies: the request, the use, or something else.
    Basis {
        /// What was asked for, used or not.
        Allocated = "allocated", "allocated";
        /// Processor time that was really used.
        ActiveCpu = "active_cpu", "active CPU";
        /// The larger of what was asked for and what was used.
        MaxOfRequestAndUse = "max_of_request_and_use", "larger of request and use";
        /// A session, whatever its size.
        Session = "session", "session";
        /// Paid for with another component.
        Bundled = "bundled", "bundled";
    }
}

words! {
    /// What a sandbox costs while it is paused or stopped.
    Paused {
        /// It costs nothing.
        Nothing = "nothing", "nothing";
        /// Its disk is billed, nothing else.
        Disk = "disk", "disk";
        /// It is billed as if it ran.
        All = "all", "all";
    }
}

words! {
    /// How the size of a sandbox is chosen.
    Sizing {
        /// Each part by itself, within minimum, maximum and step.
        Any = "any", "any";
        /// One of a list of sizes, and no other.
        Fixed = "fixed", "fixed";
    }
}

words! {
    /// What a price is for.
    Component {
        /// Processors.
        Vcpu = "vcpu", "vCPU";
        /// Memory.
        Memory = "memory", "memory";
        /// Disk of a running sandbox.
        Disk = "disk", "disk";
        /// A whole sandbox or session of a stated or any size.
        Sandbox = "sandbox", "sandbox";
        /// The creation of a sandbox.
        Creation = "creation", "creation";
    }
}

words! {
    /// List price of the vendor, or price through the router.
    PriceKind {
        /// What the vendor asks.
        List = "list", "list";
        /// List price and fee.
        Routed = "routed", "routed";
    }
}

words! {
    /// How a score came about.
    ScoreKind {
        /// Judged by the catalog's editors.
        Editorial = "editorial", "editorial";
        /// Measured, with a method.
        Measured = "measured", "measured";
    }
}

words! {
    /// Yes, no, or yes with strings attached.
    Verdict {
        /// Yes.
        Yes = "yes", "yes";
        /// Under a condition that the detail names.
        Partly = "partly", "partly";
        /// No.
        No = "no", "no";
    }
}

words! {
    /// For whom an allowance counts.
    Scope {
        /// Each sandbox has it.
        PerSandbox = "per_sandbox", "per sandbox";
        /// All sandboxes of an account share it, each month.
        PerAccount = "per_account", "per account";
        /// The vendor does not say.
        Unstated = "unstated", "not stated";
    }
}

words! {
    /// What the first day of a price means.
    Beginning {
        /// The price took effect on that day.
        TookEffect = "took_effect", "took effect";
        /// The oldest dated reading; the price may be older.
        FirstSeen = "first_seen", "first seen";
    }
}
