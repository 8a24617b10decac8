//! An SVG as PNG, with the fonts that are kept here: what an image looks like does not depend on
//! the machine. Not here: what stands on it.
//!
//! The fonts are Inter in two weights (SIL Open Font License 1.1, `OFL.txt`), from the npm package
//! `@expo-google-fonts/inter` 0.4.2, cut down by `pyftsubset` of fonttools to Latin
//! letters (U+20 to U+7E, U+A0 to U+17F), punctuation and arrows (U+2010 to U+2015, U+2018 to
//! U+201E, U+2022, U+2026, U+20AC, U+2190 to U+2193, U+2212).

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// Whatever may go wrong; all of it would be our own fault.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Both fonts, read once.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(include_bytes!("Inter-Regular.ttf").to_vec());
    fonts.load_font_data(include_bytes!("Inter-SemiBold.ttf").to_vec());
    Arc::new(fonts)
});

/// The picture as a PNG file. Takes tens of milliseconds: not for a thread that answers requests.
pub fn png(svg: &str) -> Result<Vec<u8>, Fault> {
    Ok(pixels(svg)?.encode_png()?)
}

fn pixels(svg: &str) -> Result<Pixmap, Fault> {
    let options = Options {
        fontdb: Arc::clone(&FONTS),
        font_family: "Inter".to_owned(),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options)?;
    let size = tree.size().to_int_size();
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("the picture has no size")?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    Ok(pixels)
}
