//! The accessibility tree of a page, as Playwright and OpenClaw's browser print it -> title and address, reported
//! messages, headings, and the elements that can be filled in or clicked, with the references that calls use.
//!
//! A tree is recognised by its elements with references, because its lines resemble a list of Markdown or YAML. Other
//! lines may surround it: a tool's headings, or a warning that the content is foreign.

use std::sync::LazyLock;

use regex::Regex;

use super::line_pattern;
use super::sheet::{MOST_ITEMS, Sheet, quote};
use crate::content::head;
use crate::content::severity::severity;
use crate::tokens::utf16;

/// The number of bytes of a line that are parsed.
const FRONT: usize = 600;

/// The fewest elements with a reference in a tree.
const LEAST_REFERENCES: usize = 3;

/// The most reports that are kept.
const REPORTS: usize = 12;

/// The number of characters of ` …+999` and a blank.
const OMISSION: usize = 8;

/// The most characters of a quoted name or value.
const NAME_ROOM: usize = 40;

/// `- button "Save" [disabled] [ref=e12]`, `- 'link "Help: contact" [ref=e8]':`: role, name, marks, and the rest.
/// OpenClaw's command line prints a value before the marks: `- textbox "Name" = "Ada" [ref=ax4]`.
static ELEMENT: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(
        r#"^\s*- '?(?:<changed> )?([A-Za-z]+)(?: "((?:[^"\\]|\\.)*)")?(?: = "([^"]*)")?((?: \[[^\[\]]*\])*)(.*)$"#,
    )
});

const FIELDS: &[&str] =
    &["textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "switch", "slider", "spinbutton"];

const BUTTONS: &[&str] = &["button", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "treeitem"];

/// Roles of elements that report something.
const REPORTING: &[&str] = &["alert", "alertdialog", "dialog", "status"];

/// The marks of an element's state that are printed.
const STATES: &[&str] = &["checked", "disabled", "expanded", "invalid", "pressed", "selected"];

/// The texts that may follow an element on its line.
const FOLLOWING: &[&str] = &["'", ":", " value=", " description=", " ["];

/// An element of the tree.
struct Element<'t> {
    role: &'t str,
    name: &'t str,
    /// ` [level=2] [ref=e16]`.
    marks: &'t str,
    /// The text behind it, or the value of a field.
    words: &'t str,
    /// The reference, empty if it has none.
    reference: &'t str,
    /// The indentation.
    depth: usize,
}

impl<'t> Element<'t> {
    fn parse(line: &'t str) -> Option<Self> {
        let found = ELEMENT.captures(head(line, FRONT))?;
        let group = |index| found.get(index).map_or("", |group| group.as_str());
        let (role, name, value, marks, rest) = (group(1), group(2), group(3), group(4), group(5));
        let is_element = rest.is_empty() || FOLLOWING.iter().any(|start| rest.starts_with(start));
        let reference = marked(marks).find_map(|mark| mark.strip_prefix("ref=")).unwrap_or_default();
        let words = if value.is_empty() { words_of(rest) } else { value };
        let depth = line.len() - line.trim_start().len();
        is_element.then_some(Self { role, name, marks, words, reference, depth })
    }

    /// Returns its name, else its text.
    fn label(&self) -> &'t str {
        if self.name.is_empty() { self.words } else { self.name }
    }

    fn states(&self) -> String {
        let is_state = |mark: &&str| STATES.iter().any(|state| mark.starts_with(state));
        marked(self.marks).filter(is_state).map(|mark| format!(" [{mark}]")).collect()
    }

    /// Returns a field with its value: `textbox "Email" e18: a@b.org`.
    fn as_field(&self) -> String {
        let before = |mark: &str, words: &str, after: &str| match words {
            "" => String::new(),
            words => format!("{mark}{}{after}", quote(words, NAME_ROOM)),
        };
        let (name, value) = (before(" \"", self.name, "\""), before(": ", self.words, ""));
        format!("{}{name} {}{}{value}", self.role, self.reference, self.states())
    }

    /// Returns `"Save" e12 [disabled]`, with its role unless that is the `usual` one, or `None` without a label.
    fn as_target(&self, usual: &str) -> Option<String> {
        let role = if self.role == usual { String::new() } else { format!("{} ", self.role) };
        let told = || format!("{role}\"{}\" {}{}", quote(self.label(), NAME_ROOM), self.reference, self.states());
        (!self.label().is_empty()).then(told)
    }
}

/// Returns the words of an element from the text behind its marks.
fn words_of(rest: &str) -> &str {
    let rest = rest.trim_start_matches('\'');
    if let Some(value) = rest.strip_prefix(" value=\"") {
        return value.split('"').next().unwrap_or(value);
    }
    rest.strip_prefix(':').unwrap_or_default().trim().trim_matches('"')
}

/// Returns the texts between the brackets of marks.
fn marked(marks: &str) -> impl Iterator<Item = &str> {
    marks.split(['[', ']']).filter(|mark| !mark.trim().is_empty())
}

/// The elements of one use.
#[derive(Default)]
struct Group {
    count: usize,
    /// The elements with a name, as printed.
    told: Vec<String>,
}

impl Group {
    fn add(&mut self, told: Option<String>) {
        self.count += 1;
        if self.told.len() < MOST_ITEMS {
            self.told.extend(told);
        }
    }

    /// Writes `19 buttons: "Save" e12, …`, or nothing if not even the first element fits.
    fn write(&self, label: &str, room: usize, sheet: &mut Sheet) {
        let label = format!("{} {label}:", self.count);
        let least = |first: &String| utf16::len(&label) + utf16::len(first) + OMISSION;
        if self.told.first().is_some_and(|first| least(first) <= room) {
            sheet.list(&label, &self.told, room);
        }
    }
}

#[derive(Default)]
struct Page<'t> {
    /// The number of lines that are not blank.
    lines: usize,
    /// The number of lines of the tree.
    understood: usize,
    references: usize,
    title: Option<&'t str>,
    address: Option<&'t str>,
    reports: Vec<String>,
    /// The role and depth of a report whose text stands below it.
    awaited: Option<(&'t str, usize)>,
    /// The level and the title of each heading.
    headings: Vec<(&'t str, &'t str)>,
    fields: Group,
    buttons: Group,
    links: Group,
}

/// Writes the summary, and returns false for a text that is not a tree.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    if !text.contains("[ref=") {
        return false;
    }
    let page = Page::read(text);
    let is_tree = page.references >= LEAST_REFERENCES && page.understood * 10 >= page.lines * 4;
    if !is_tree || !page.has_known_roles() {
        return false;
    }
    page.write(sheet);
    true
}

impl<'t> Page<'t> {
    fn read(text: &'t str) -> Self {
        let mut page = Self::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            page.lines += 1;
            let bare = line.trim_start();
            // The target of an element, or an unchanged element.
            if bare.starts_with("- /") || bare.starts_with("- ref=") {
                page.understood += 1;
            } else if let Some(element) = Element::parse(line) {
                page.understood += 1;
                page.add(&element);
            } else {
                page.add_frame(bare);
            }
        }
        page
    }

    /// Adds a line outside the tree.
    fn add_frame(&mut self, bare: &'t str) {
        let bare = head(bare.strip_prefix("- ").unwrap_or(bare), FRONT);
        if let Some(title) = bare.strip_prefix("Page Title: ") {
            self.title.get_or_insert(title);
        } else if let Some(address) = bare.strip_prefix("Page URL: ") {
            self.address.get_or_insert(address);
        } else if self.references == 0 && self.reports.len() < REPORTS && severity(bare).is_failure() {
            self.reports.push(bare.to_owned());
        }
    }

    fn add(&mut self, element: &Element<'t>) {
        self.references += usize::from(!element.reference.is_empty());
        self.add_report(element);
        match element.role {
            "heading" if !element.name.is_empty() && self.headings.len() < MOST_ITEMS => {
                let level = marked(element.marks).find_map(|mark| mark.strip_prefix("level=")).unwrap_or_default();
                self.headings.push((level, element.name));
            }
            // No call can refer to it.
            _ if element.reference.is_empty() => {}
            role if FIELDS.contains(&role) => self.fields.add(Some(element.as_field())),
            role if BUTTONS.contains(&role) => self.buttons.add(element.as_target("button")),
            "link" => self.links.add(element.as_target("link")),
            _ => {}
        }
    }

    /// Adds the report of an element, by its role or its words. Its text may be in the next element below it that has
    /// one.
    fn add_report(&mut self, element: &Element<'t>) {
        self.awaited = self.awaited.filter(|(_, depth)| element.depth > *depth);
        let words = if element.words.is_empty() { element.name } else { element.words };
        let is_reporting = REPORTING.contains(&element.role);
        if words.is_empty() {
            if is_reporting {
                self.awaited = Some((element.role, element.depth));
            }
            return;
        }
        let is_text = !FIELDS.contains(&element.role) && !element.words.is_empty();
        let by = if is_reporting { Some(element.role) } else { self.awaited.map(|(role, _)| role) };
        self.awaited = None;
        let by = by.or_else(|| (is_text && severity(words).is_failure()).then_some(element.role));
        if let Some(by) = by.filter(|_| self.reports.len() < REPORTS) {
            self.reports.push(format!("{by}: {words}"));
        }
    }

    fn has_known_roles(&self) -> bool {
        self.fields.count + self.buttons.count + self.links.count + self.headings.len() > 0
    }

    fn write(&self, sheet: &mut Sheet) {
        sheet.say("page snapshot");
        if let Some(title) = self.title {
            sheet.say(&format!("title: {}", quote(title, sheet.share(30))));
        }
        if let Some(address) = self.address {
            sheet.say(&format!("url: {}", quote(address, sheet.share(40))));
        }
        sheet.lines(&self.reports, sheet.share(35));
        // Navigation often comes first and has low-level headings.
        let mut headings = self.headings.clone();
        headings.sort_by_key(|(level, _)| *level);
        let headings: Vec<String> = headings.iter().map(|(_, title)| quote(title, 80)).collect();
        sheet.list("headings:", &headings, sheet.share(30));
        self.fields.write("fields", sheet.share(60), sheet);
        self.buttons.write("buttons", sheet.share(70), sheet);
        self.links.write("links", sheet.share(90), sheet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_told_without_its_reference() {
        for max_chars in 50..400 {
            let mut sheet = Sheet::new(max_chars);
            assert!(summarize(include_str!("../../fixtures/browser/orders_playwright_mcp.txt"), &mut sheet));
            let summary = sheet.finish();
            for line in summary.lines().filter(|line| line.contains("buttons: ") || line.contains("links: ")) {
                assert!(line.contains(" e"), "{max_chars}: {summary}");
            }
        }
    }
}
