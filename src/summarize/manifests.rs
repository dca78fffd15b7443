//! Kubernetes' objects in YAML, as `helm template` and `kubectl get -o yaml` print them -> each by kind, name and line,
//! what is not well with them, their images.

use indexmap::IndexSet;

use super::numbers::{numbered_lines, which_lines};
use super::sheet::{MOST_ITEMS, Sheet, quote};
use crate::content::severity::{Severity, severity_of_state};

struct Object<'t> {
    kind: &'t str,
    /// The name of the object, empty if it has none.
    name: &'t str,
    line: usize,
}

#[derive(Default)]
struct Manifests<'t> {
    /// The number of objects, kept or not.
    count: usize,
    objects: Vec<Object<'t>>,
    /// The indentation of the keys of the object. In an item of a list they begin behind the dash.
    depth: usize,
    is_in_metadata: bool,
    images: IndexSet<&'t str>,
    failures: IndexSet<String>,
    /// The number of lines that are not indented, and of those that are not YAML.
    outer: usize,
    foreign: usize,
}

/// Writes the summary, and returns false for a text without such objects.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    if !text.contains("apiVersion: ") {
        return false;
    }
    let mut manifests = Manifests::default();
    for (number, line) in numbered_lines(text) {
        manifests.add(number, line);
    }
    if manifests.objects.is_empty() || manifests.foreign * 10 > manifests.outer {
        return false;
    }
    manifests.write(text, sheet);
    true
}

impl<'t> Manifests<'t> {
    fn add(&mut self, number: usize, line: &'t str) {
        let indented = line.trim_start_matches(' ');
        let indent = line.len() - indented.len();
        let (depth, bare) = match indented.strip_prefix("- ") {
            Some(item) => (indent + 2, item),
            None => (indent, indented),
        };
        let field = bare.split_once(':').map(|(key, value)| (key, value.trim().trim_matches('"')));
        if indent == 0 && !bare.trim().is_empty() {
            self.outer += 1;
            let is_key = |key: &str| !key.contains([' ', '"']) && !key.is_empty();
            let is_yaml = bare.starts_with(['#', '-']) || field.is_some_and(|(key, _)| is_key(key));
            self.foreign += usize::from(!is_yaml);
        }
        let Some((key, value)) = field else { return };
        // An object inside another one is indented.
        if key == "apiVersion" && indent == 0 {
            self.depth = depth;
            self.is_in_metadata = false;
        } else if depth == self.depth {
            self.is_in_metadata = key == "metadata";
            if key == "kind" {
                self.count += 1;
                if self.objects.len() < MOST_ITEMS {
                    self.objects.push(Object { kind: value, name: "", line: number });
                }
            }
        } else if key == "name" && self.is_in_metadata && depth == self.depth + 2 {
            if let Some(object) = self.objects.last_mut().filter(|object| object.name.is_empty()) {
                object.name = value;
            }
        } else if key == "image" && !value.is_empty() && self.images.len() < MOST_ITEMS {
            self.images.insert(value);
        } else if matches!(key, "reason" | "phase")
            && severity_of_state(value) >= Severity::Error
            && self.failures.len() < MOST_ITEMS
        {
            let of = self.objects.last().map_or("", |object| object.name);
            self.failures.insert(format!("{of} {key}: {value}"));
        }
    }

    fn write(&self, text: &str, sheet: &mut Sheet) {
        sheet.say(&format!("YAML, {}, {} objects", which_lines(text), self.count));
        let failures: Vec<String> = self.failures.iter().map(|failure| quote(failure, 120)).collect();
        sheet.list("naming a failure:", &failures, sheet.share(50));
        let shown = |object: &Object| {
            let name = if object.name.is_empty() { String::new() } else { format!(" {}", quote(object.name, 80)) };
            format!("{}{name}:{}", quote(object.kind, 60), object.line)
        };
        let objects: Vec<String> = self.objects.iter().map(shown).collect();
        sheet.list("objects:", &objects, sheet.share(75));
        let images: Vec<String> = self.images.iter().map(|image| quote(image, 120)).collect();
        sheet.list("images:", &images, sheet.share(70));
    }
}
