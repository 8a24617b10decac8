//! What is built into the program besides Rust: cargo looks at it again when a file is added, too.

fn main() {
    for folder in ["catalog", "migrations"] {
        println!("cargo:rerun-if-changed={folder}");
    }
}
