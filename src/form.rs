//! The forms in which the catalog answers. The same words, order and figures stand in each.

words! {
    /// The form of an answer. The word is the ending of a twin's address.
    Form {
        /// What programs read.
        Json = "json", "JSON";
        /// What spreadsheets read.
        Csv = "csv", "CSV";
        /// What language models and people read.
        Markdown = "md", "Markdown";
    }
}

impl Form {
    /// Its media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Csv => "text/csv",
            Self::Markdown => "text/markdown",
        }
    }
}
