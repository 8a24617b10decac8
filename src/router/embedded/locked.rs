//! How far a worker process is locked, as it tells the server.

use serde::{Deserialize, Serialize};

/// What was in force before any foreign code ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// The version of Landlock's interface, 0 without Landlock. The first refuses files, later ones also ports and
    /// signals, which the list of system calls refuses in any case.
    pub landlock_abi: u8,
    /// Whether the list of system calls is in force.
    pub seccomp: bool,
}

/// What keeps the code in, beyond the walls of WebAssembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// The worker process can do nothing but compute, print and end.
    Locked,
    /// The worker is a process like any other in some way: what is missing.
    Unlocked(Vec<&'static str>),
}

const WASM: &str = "WebAssembly software fault isolation (Wasmtime)";
const STRONGER: &str = "Stronger than running the code as a plain process: it has no system calls, files, network or \
     environment at all, only the handful of functions we give it. Weaker than a virtual machine: a bug in Wasmtime's \
     compiler or in our imports, or a speculative side channel, is not stopped by hardware. Not for mutually hostile \
     tenants; use a hosted micro-VM provider for those.";

impl From<Lock> for Isolation {
    fn from(lock: Lock) -> Self {
        let landlock = (lock.landlock_abi == 0).then_some("Landlock");
        let seccomp = (!lock.seccomp).then_some("seccomp");
        let missing: Vec<_> = landlock.into_iter().chain(seccomp).collect();
        if missing.is_empty() { Self::Locked } else { Self::Unlocked(missing) }
    }
}

impl Isolation {
    /// What a user is told.
    pub fn text(&self) -> String {
        match self {
            Self::Locked => {
                format!("{WASM} inside a locked-down process of its own. {STRONGER}")
            }
            Self::Unlocked(missing) => format!(
                "{WASM} in a process of its own, which this system does not lock down: {} missing. {STRONGER}",
                missing.join(" and ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told() {
        assert_eq!(Isolation::from(Lock { landlock_abi: 1, seccomp: true }), Isolation::Locked);
        let one = Isolation::from(Lock { landlock_abi: 7, seccomp: false });
        assert_eq!(one, Isolation::Unlocked(vec!["seccomp"]));
        let none = Isolation::from(Lock::default());
        assert_eq!(none, Isolation::Unlocked(vec!["Landlock", "seccomp"]));
        assert!(none.text().contains("does not lock down: Landlock and seccomp missing"));
        assert!(Isolation::Locked.text().contains("inside a locked-down process"));
    }
}
