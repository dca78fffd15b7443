//! Reads the tables and word lists of `data/`: one row per line, fields separated by blanks, `\s` for a blank within a
//! field, and `#` before a comment.

/// Returns the rows of a table.
pub(crate) fn rows(table: &str) -> impl Iterator<Item = &str> {
    table.lines().map(str::trim).filter(|row| !row.is_empty() && !row.starts_with('#'))
}

/// Returns the fields of a row.
pub(crate) fn fields(row: &str) -> Vec<String> {
    row.split_whitespace().map(|field| field.replace("\\s", " ")).collect()
}

/// A list of words in lower case.
pub(crate) struct Words(Vec<String>);

impl Words {
    pub(crate) fn read(list: &str) -> Self {
        let mut words: Vec<String> = rows(list).flat_map(fields).collect();
        words.sort_unstable();
        Self(words)
    }

    pub(crate) fn contains(&self, word: &str) -> bool {
        self.0.binary_search_by(|listed| listed.as_str().cmp(word)).is_ok()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns true if a text contains one of the words.
    pub(crate) fn occur_in(&self, text: &str) -> bool {
        self.iter().any(|word| text.contains(word))
    }
}

/// Declares a word list by the name of its file in `data/`.
macro_rules! word_list {
    ($name:ident, $file:literal) => {
        static $name: std::sync::LazyLock<crate::table::Words> =
            std::sync::LazyLock::new(|| crate::table::Words::read(include_str!(concat!("../data/", $file))));
    };
}
pub(crate) use word_list;
