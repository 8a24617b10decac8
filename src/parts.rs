//! Server-rendered pieces that several pages share. Each is a function from what it shows to a view.
//!
//! Not here: anything that a browser runs. That is `islands`.

pub mod day;
pub mod drawing;
pub mod entry;
pub mod layout;
pub mod mark;
pub mod notice;
pub mod preview;
pub mod structured;
pub mod twins;
