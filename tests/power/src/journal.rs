//! Records for each file which contents are durable, and which changes are not yet.
//!
//! A file is identified by its creation, not by its name: until the removal of a name is durable, a power cut may
//! restore the old file. A sync of a file covers its bytes. Names become durable when a new log or journal is first
//! synced, because SQLite then syncs the directory too.

use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};

use crate::{Call, Dice, Fault, Mode};

/// The number of bytes that a disk writes atomically.
const SECTOR: usize = 512;

#[derive(Debug, Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

#[derive(Debug, Clone)]
struct File {
    name: OsString,
    durable: Vec<u8>,
    /// Changes that are not durable, in the order in which they were made.
    pending: Vec<Change>,
    is_removed: bool,
    /// True if the creation of the name, or its removal, is durable.
    is_name_durable: bool,
}

/// The contents of a disk after a power cut.
#[derive(Debug, Clone)]
pub struct Cut(Vec<File>);

#[derive(Debug)]
pub(crate) struct Journal {
    mode: Mode,
    files: Vec<File>,
    calls: Vec<Call>,
    /// The number of changes among the calls.
    changes: usize,
    /// The number of changes after which the power fails.
    cut_at: Option<usize>,
    cut: Option<Cut>,
    fault: Option<(usize, Fault)>,
}

impl Journal {
    pub(crate) fn new(mode: Mode) -> Self {
        Self { mode, files: Vec::new(), calls: Vec::new(), changes: 0, cut_at: None, cut: None, fault: None }
    }

    pub(crate) fn add_durable(&mut self, path: &Path, bytes: Vec<u8>) {
        let name = path.file_name().expect("a file of a directory has a name").to_owned();
        self.files.push(File { name, durable: bytes, pending: Vec::new(), is_removed: false, is_name_durable: true });
    }

    pub(crate) fn cut_after(&mut self, calls: usize) {
        self.cut_at = Some(self.changes + calls);
    }

    pub(crate) fn take_cut(&mut self) -> Option<Cut> {
        self.cut.take()
    }

    pub(crate) fn cut_now(&self) -> Cut {
        Cut(self.files.clone())
    }

    pub(crate) fn fail_at(&mut self, number: usize, fault: Fault) {
        self.fault = Some((number, fault));
    }

    pub(crate) fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Counts a call that is about to be made. Returns the fault that it must fail with, if any.
    pub(crate) fn begin(&mut self, call: Call) -> Option<Fault> {
        if call.is_change() {
            if self.cut_at == Some(self.changes) {
                self.cut = Some(self.cut_now());
            }
            self.changes += 1;
        }
        let number = self.calls.len();
        self.calls.push(call);
        self.fault.and_then(|(at, fault)| (at == number).then_some(fault))
    }

    /// Returns the number of the file that was opened under a path. The name of a file that existed before
    /// (`was_there`) is durable.
    pub(crate) fn open(&mut self, path: &Path, was_there: bool) -> usize {
        let name = path.file_name().unwrap_or_default();
        if let Some(known) = self.files.iter().rposition(|file| file.name == name && !file.is_removed) {
            return known;
        }
        self.add_durable(path, Vec::new());
        let number = self.files.len() - 1;
        self.files[number].is_name_durable = was_there;
        number
    }

    pub(crate) fn write(&mut self, file: usize, at: usize, bytes: &[u8]) {
        self.files[file].pending.push(Change::Write(at, bytes.to_vec()));
    }

    pub(crate) fn truncate(&mut self, file: usize, length: usize) {
        self.files[file].pending.push(Change::Truncate(length));
    }

    /// Makes the changes of a file durable and, if `with_names`, all names.
    pub(crate) fn sync(&mut self, file: usize, with_names: bool) {
        let File { name, durable, pending, .. } = &mut self.files[file];
        if let Mode::Lying(ending) = self.mode
            && name.as_encoded_bytes().ends_with(ending.as_bytes())
        {
            return;
        }
        for change in pending.drain(..) {
            change.apply(durable, || true);
        }
        if with_names {
            self.sync_names();
        }
    }

    /// Records a failed sync: the system forgets that these bytes were not written.
    pub(crate) fn lose(&mut self, file: usize) {
        self.files[file].pending.clear();
    }

    /// Records the removal of a name and, if `durably`, makes all names durable.
    pub(crate) fn remove(&mut self, path: &Path, durably: bool) {
        let name = path.file_name().unwrap_or_default();
        for file in self.files.iter_mut().filter(|file| file.name == name && !file.is_removed) {
            (file.is_removed, file.is_name_durable) = (true, false);
        }
        if durably && self.mode == Mode::Honest {
            self.sync_names();
        }
    }

    fn sync_names(&mut self) {
        self.files.iter_mut().for_each(|file| file.is_name_durable = true);
    }
}

impl Cut {
    /// Writes the files as the disk may hold them after a power cut: everything durable, and a random selection of the
    /// other sectors.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write_to(&self, dir: &Path, dice: &mut Dice) -> io::Result<()> {
        for file in &self.0 {
            if !(if file.is_name_durable { !file.is_removed } else { dice.below(2) == 0 }) {
                continue;
            }
            // Keeps none, few, half, most or all of the sectors, because each of these happens to real disks.
            let quarters = dice.below(5);
            // Changes before this one were written in order. The others are kept at random.
            let in_order = if dice.below(2) == 0 { dice.below(file.pending.len() as u64 + 1) as usize } else { 0 };
            let mut bytes = file.durable.clone();
            for (number, change) in file.pending.iter().enumerate() {
                change.apply(&mut bytes, || number < in_order || dice.below(4) < quarters);
            }
            fs::write(dir.join(&file.name), bytes)?;
        }
        Ok(())
    }
}

impl Change {
    /// Applies the change to a file, but only to the sectors that `keeps` selects.
    fn apply(&self, bytes: &mut Vec<u8>, mut keeps: impl FnMut() -> bool) {
        match self {
            Self::Truncate(length) => {
                if keeps() {
                    bytes.resize(*length, 0);
                }
            }
            Self::Write(at, new) => {
                let mut from = *at;
                while from < at + new.len() {
                    let to = ((from / SECTOR + 1) * SECTOR).min(at + new.len());
                    if keeps() {
                        if bytes.len() < to {
                            bytes.resize(to, 0);
                        }
                        bytes[from..to].copy_from_slice(&new[from - at..to - at]);
                    }
                    from = to;
                }
            }
        }
    }
}
