//! Thud.
