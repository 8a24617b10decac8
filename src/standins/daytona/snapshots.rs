//! What sandboxes are made from.

/// A snapshot and the size of its sandboxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    /// Its name.
    pub name: &'static str,
    /// Virtual processors.
    pub cpu: u32,
    /// Memory, GiB.
    pub memory: u32,
    /// Disk, GiB.
    pub disk: u32,
    /// `container` or `vm`.
    pub class: &'static str,
}

const fn snapshot(
    name: &'static str,
    [cpu, memory, disk]: [u32; 3],
    class: &'static str,
) -> Snapshot {
    Snapshot { name, cpu, memory, disk, class }
}

/// What a sandbox is made from if nothing is said.
pub static USUAL: Snapshot = snapshot("daytonaio/sandbox:0.6.0", [1, 1, 3], "container");

static SNAPSHOTS: [Snapshot; 6] = [
    snapshot("daytona-small", [1, 1, 3], "container"),
    snapshot("daytona-medium", [2, 4, 8], "container"),
    snapshot("daytona-large", [4, 8, 10], "container"),
    snapshot("daytona-vm-small", [1, 1, 3], "vm"),
    snapshot("daytona-vm-medium", [2, 4, 8], "vm"),
    snapshot("daytona-vm-large", [4, 8, 10], "vm"),
];

/// The snapshot of a name.
pub fn find(name: &str) -> Option<Snapshot> {
    SNAPSHOTS.iter().chain([&USUAL]).find(|snapshot| snapshot.name == name).copied()
}
