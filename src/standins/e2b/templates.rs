//! What sandboxes are made from.

/// A template.
#[derive(Debug, PartialEq, Eq)]
pub struct Template {
    /// What it is asked for by.
    pub alias: &'static str,
    /// What answers call it.
    pub id: &'static str,
    /// Virtual processors.
    pub cpu_count: u32,
    /// Memory, MB.
    pub memory_mb: u32,
    /// Whether the code interpreter listens at its port.
    pub has_interpreter: bool,
}

/// Disk of every sandbox, MB.
pub const DISK_SIZE_MB: u32 = 10240;

static TEMPLATES: [Template; 2] = [
    Template {
        alias: "base",
        id: "rki5dems9wqfm4r03t7g",
        cpu_count: 2,
        memory_mb: 1024,
        has_interpreter: false,
    },
    Template {
        alias: "code-interpreter-v1",
        id: "nlhz8vlwyupq845jsdg9",
        cpu_count: 2,
        memory_mb: 2048,
        has_interpreter: true,
    },
];

/// The template of a name or id.
pub fn find(name: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|template| template.alias == name || template.id == name)
}
