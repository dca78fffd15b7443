//! The elements that are open, for those whose end matters.
//!
//! Not a tree builder: paragraphs, list items and cells end where the next begins, and an end tag reaches no further out than the
//! table that it stands in. Each element is pushed and popped once, so any nesting takes linear time.

use super::flow::Place;
use super::table::Table;

/// What an element does at its end.
#[derive(Debug)]
pub(super) enum Scope {
    Plain,
    /// A mark that no words of the element used goes with it.
    Marked,
    /// With the number of the last item, where they have numbers.
    List(Option<usize>),
    Table(Box<Table>),
    Pre,
    /// A part that is folded when it is little but links.
    Menu(Box<Menu>),
}

/// A navigation bar, footer or the like.
#[derive(Debug)]
pub(super) struct Menu {
    pub(super) kind: &'static str,
    pub(super) start: Place,
    pub(super) line: usize,
    pub(super) links: usize,
    pub(super) written: usize,
    pub(super) linked: usize,
}

/// The elements that are kept track of. Others end where they end.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "div", "section", "article", "main", "nav", "header", "footer", "aside", "form", "fieldset", "details", "figure",
    "ul", "ol", "menu", "dl", "blockquote", "table", "pre", "listing", "select", "center", "address", "dialog",
    "search",
];

const TABLE: &str = "table";

#[derive(Debug)]
struct Open {
    name: usize,
    scope: Scope,
}

/// How many elements of each name are open inside the innermost table.
#[derive(Debug, Default)]
struct Level {
    open: [u32; NAMES.len()],
}

/// The open elements, outermost first.
#[derive(Debug)]
pub(super) struct Scopes {
    open: Vec<Open>,
    levels: Vec<Level>,
    lists: Vec<usize>,
    tables: Vec<usize>,
}

impl Scopes {
    pub(super) fn new() -> Self {
        Self { open: Vec::new(), levels: vec![Level::default()], lists: Vec::new(), tables: Vec::new() }
    }

    /// Whether the end of elements of this name matters.
    pub(super) fn knows(name: &str) -> bool {
        NAMES.contains(&name)
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// The innermost element.
    pub(super) fn last(&self) -> Option<&Scope> {
        self.open.last().map(|open| &open.scope)
    }

    /// Opens an element; others than those that [`Scopes::knows`] are ignored.
    pub(super) fn push(&mut self, name: &str, scope: Scope) {
        let Some(name) = NAMES.iter().position(|known| *known == name) else { return };
        if let Some(level) = self.levels.last_mut() {
            level.open[name] += 1;
        }
        match scope {
            Scope::List(_) => self.lists.push(self.open.len()),
            Scope::Table(_) => {
                self.tables.push(self.open.len());
                self.levels.push(Level::default());
            }
            _ => {}
        }
        self.open.push(Open { name, scope });
    }

    /// How many elements stay open after the end tag of this name.
    pub(super) fn rest_after(&self, name: &str) -> Option<usize> {
        if name == TABLE {
            return self.tables.last().copied();
        }
        let name = NAMES.iter().position(|known| *known == name)?;
        if self.levels.last()?.open[name] == 0 {
            return None;
        }
        self.open.iter().rposition(|open| open.name == name)
    }

    pub(super) fn pop(&mut self) -> Option<Scope> {
        let Open { name, scope } = self.open.pop()?;
        match scope {
            Scope::List(_) => drop(self.lists.pop()),
            Scope::Table(_) => {
                self.tables.pop();
                self.levels.pop();
            }
            _ => {}
        }
        if let Some(level) = self.levels.last_mut() {
            level.open[name] -= 1;
        }
        Some(scope)
    }

    /// How many lists are open.
    pub(super) fn lists(&self) -> usize {
        self.lists.len()
    }

    /// What the next item of the innermost list starts with.
    pub(super) fn next_item(&mut self) -> Option<usize> {
        match &mut self.open[*self.lists.last()?].scope {
            Scope::List(Some(number)) => {
                *number = number.saturating_add(1);
                Some(*number)
            }
            _ => None,
        }
    }

    /// The innermost table.
    pub(super) fn table(&mut self) -> Option<&mut Table> {
        match &mut self.open[*self.tables.last()?].scope {
            Scope::Table(table) => Some(table),
            _ => None,
        }
    }
}
