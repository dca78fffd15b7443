//! A journal of calls into foreign code, in files that outlive the process.
//!
//! Each opener of a directory writes its notes to a file of its own, which it locks while it lives. When the process
//! dies, the notes remain and the lock is released. The next opener of the directory finds the unlocked file and
//! appends its notes to the list of crashes, `concertina.crashes`: one line per crash with the version, the name of the
//! code and the hash of the text. The text itself is never written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use super::{MAX_CRASHES, add_crash, is_known};
use crate::private;

const CRASH_LIST_NAME: &str = "concertina.crashes";
const NOTE_FILE_PREFIX: &str = "concertina.running-";

/// Only crashes that this version recorded count: a later version may have fixed them.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A note is the name of the code, padded with blanks, then a blank, the hash and a line feed.
const NAME_BYTES: usize = 24;
const NOTE_BYTES: usize = NAME_BYTES + 1 + 32 + 1;

/// The open journals of this process.
static OPEN: RwLock<Vec<Weak<Journal>>> = RwLock::new(Vec::new());

/// The notes of one opener of a directory.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    /// `None` if notes cannot be written.
    notes: Mutex<Option<NoteFile>>,
    notices: Mutex<Vec<String>>,
}

#[derive(Debug)]
struct NoteFile {
    path: PathBuf,
    file: File,
    /// True for each position of the file that holds a note.
    is_used: Vec<bool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Journal {
    /// Opens the journal of a directory, which is created if it is missing, and reads the crashes recorded there. If
    /// notes cannot be written, a notice says so; everything else works without them.
    pub fn open(dir: &Path) -> Arc<Self> {
        let mut notices = Vec::new();
        let notes = private::create_dir(dir)
            .and_then(|()| collect_crashes(dir, &mut notices))
            .and_then(|()| NoteFile::create(dir));
        let notes = notes.map_err(|error| notices.push(journal_failure_notice(dir, &error))).ok();
        let journal = Arc::new(Self { dir: dir.to_owned(), notes: Mutex::new(notes), notices: Mutex::new(notices) });
        let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
        open.retain(|journal| journal.strong_count() > 0);
        open.push(Arc::downgrade(&journal));
        journal
    }

    /// Returns the notices for the operator that were not returned before, one line each.
    pub fn notices(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.notices))
    }

    /// Runs an operation on the file of notes. The first failure adds a notice and stops the journal, because a note
    /// that cannot be cleared would be taken for a crash.
    fn with_notes<T>(&self, work: impl FnOnce(&mut NoteFile) -> io::Result<T>) -> Option<T> {
        let mut notes = lock(&self.notes);
        work(notes.as_mut()?)
            .map_err(|error| {
                *notes = None;
                lock(&self.notices).push(journal_failure_notice(&self.dir, &error));
            })
            .ok()
    }
}

impl Drop for NoteFile {
    fn drop(&mut self) {
        // If the file cannot be removed, the next opener collects its notes and removes it.
        let _ = fs::remove_file(&self.path);
    }
}

impl NoteFile {
    /// Creates and locks a new file.
    fn create(dir: &Path) -> io::Result<Self> {
        for number in 1.. {
            let path = dir.join(format!("{NOTE_FILE_PREFIX}{}-{number}", std::process::id()));
            let file = match open_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            // Another opener may have locked and removed the file before we locked it.
            match file.try_lock() {
                Err(fs::TryLockError::WouldBlock) => continue,
                locked => locked?,
            }
            if path.exists() {
                return Ok(Self { path, file, is_used: Vec::new() });
            }
        }
        unreachable!("some number is free")
    }

    /// Writes a note and returns its position.
    fn write(&mut self, code: &str, hash: u128) -> io::Result<usize> {
        let free = self.is_used.iter().position(|is_used| !is_used);
        let position = free.unwrap_or_else(|| {
            self.is_used.push(false);
            self.is_used.len() - 1
        });
        self.write_at(position, format!("{code:<NAME_BYTES$.NAME_BYTES$} {hash:032x}\n").as_bytes())?;
        self.is_used[position] = true;
        Ok(position)
    }

    fn clear(&mut self, position: usize) -> io::Result<()> {
        self.write_at(position, &[b' '; NOTE_BYTES])?;
        self.is_used[position] = false;
        Ok(())
    }

    fn write_at(&mut self, position: usize, note: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start((position * NOTE_BYTES) as u64))?;
        self.file.write_all(note)
    }
}

/// Creates a file that only its owner may read or write.
fn open_new(path: &Path) -> io::Result<File> {
    private::file(OpenOptions::new().read(true).write(true).create_new(true)).open(path)
}

fn journal_failure_notice(dir: &Path, error: &io::Error) -> String {
    format!(
        "the crash journal in {} cannot be written: {error}; a text that crashes a parser will not be remembered",
        dir.display()
    )
}

/// Appends the notes of dead processes to the list of crashes, then reads the list. Adds a notice for each file that
/// cannot be read and skips it.
fn collect_crashes(dir: &Path, notices: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(NOTE_FILE_PREFIX.as_bytes())
            && let Err(error) = collect_crashes_from_file(&path, dir, notices)
        {
            notices.push(unreadable_file_notice(&path, &error));
        }
    }
    let path = dir.join(CRASH_LIST_NAME);
    match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => notices.push(unreadable_file_notice(&path, &error)),
        Ok(list) => {
            let list = String::from_utf8_lossy(&list);
            list.lines().filter_map(parse_crash_of_this_version).for_each(|(code, hash)| add_crash(code, hash));
        }
    }
    Ok(())
}

fn collect_crashes_from_file(path: &Path, dir: &Path, notices: &mut Vec<String>) -> io::Result<()> {
    let mut file = match OpenOptions::new().read(true).write(true).open(path) {
        // Another opener collected it first.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => return Ok(()),
        locked => locked?,
    }
    let mut notes = Vec::new();
    file.read_to_end(&mut notes)?;
    for note in String::from_utf8_lossy(&notes).lines() {
        if let Some((code, hash)) = note.trim().rsplit_once(' ')
            && let Ok(hash) = u128::from_str_radix(hash, 16)
        {
            append(dir, &format!("{VERSION} {} {hash:032x}\n", code.trim()))?;
            notices.push(crash_notice(code.trim()));
        }
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn unreadable_file_notice(path: &Path, error: &io::Error) -> String {
    format!("the recorded parser crashes in {} cannot be read: {error}; they are ignored", path.display())
}

fn crash_notice(code: &str) -> String {
    format!(
        "{code} crashed the process, or was interrupted with it; the parser is disabled for that text, and for all \
         texts after {MAX_CRASHES} such crashes, until the next release"
    )
}

fn append(dir: &Path, line: &str) -> io::Result<()> {
    private::file(OpenOptions::new().append(true).create(true))
        .open(dir.join(CRASH_LIST_NAME))?
        .write_all(line.as_bytes())
}

fn parse_crash_of_this_version(line: &str) -> Option<(&str, u128)> {
    let (code, hash) = line.strip_prefix(VERSION)?.strip_prefix(' ')?.rsplit_once(' ')?;
    Some((code, u128::from_str_radix(hash, 16).ok()?))
}

fn open_journals() -> Vec<Arc<Journal>> {
    OPEN.read().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade).collect()
}

/// Notes that are cleared when this value is dropped.
pub(super) struct Notes(Vec<(Arc<Journal>, usize)>);

/// Writes to every open journal that the code was given the text.
pub(super) fn write_note(code: &str, hash: u128) -> Notes {
    let write = |journal: Arc<Journal>| {
        let position = journal.with_notes(|notes| notes.write(code, hash))?;
        Some((journal, position))
    };
    Notes(open_journals().into_iter().filter_map(write).collect())
}

impl Drop for Notes {
    fn drop(&mut self) {
        for (journal, position) in &self.0 {
            journal.with_notes(|notes| notes.clear(*position));
        }
    }
}

/// Adds a text on which the code crashed or hung to the lists of all open journals.
pub(super) fn record_crash(code: &str, hash: u128) {
    if is_known(code, hash) {
        return;
    }
    for journal in open_journals() {
        let line = match append(&journal.dir, &format!("{VERSION} {code} {hash:032x}\n")) {
            Ok(()) => format!(
                "{code} hung on a text and was abandoned; the parser is disabled for that text until the next release"
            ),
            Err(error) => journal_failure_notice(&journal.dir, &error),
        };
        lock(&journal.notices).push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foreign::call_foreign;

    /// Writes a file as a dead process leaves it.
    fn left_behind(dir: &Path, notes: &str) {
        fs::write(dir.join(format!("{NOTE_FILE_PREFIX}1-1")), notes).unwrap();
    }

    fn list(dir: &Path) -> String {
        fs::read_to_string(dir.join(CRASH_LIST_NAME)).unwrap_or_default()
    }

    #[test]
    fn what_a_dead_process_had_is_on_the_list_and_not_given_again() {
        let dir = tempfile::tempdir().unwrap();
        let hash = xxhash_rust::xxh3::xxh3_128(b"deadly");
        left_behind(
            dir.path(),
            &format!("{:<NAME_BYTES$} {hash:032x}\n{}\n", "a dead parser", " ".repeat(NOTE_BYTES - 1)),
        );
        let journal = Journal::open(dir.path());
        assert_eq!(list(dir.path()), format!("{VERSION} a dead parser {hash:032x}\n"));
        assert_eq!(journal.notices().len(), 1);
        assert_eq!(call_foreign("a dead parser", b"deadly", || Ok(())), None);
        assert_eq!(call_foreign("a dead parser", b"harmless", || Ok(())), Some(()));
        // The notes were collected once: the file is removed, the list remains.
        drop(journal);
        assert!(Journal::open(dir.path()).notices().is_empty());
        assert_eq!(list(dir.path()).lines().count(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let unreadable = dir.path().join(format!("{NOTE_FILE_PREFIX}0-1"));
        fs::create_dir(&unreadable).unwrap();
        let hash = xxhash_rust::xxh3::xxh3_128(b"deadly");
        let left = dir.path().join(format!("{NOTE_FILE_PREFIX}1-1"));
        fs::write(&left, [b"\xff\xff nonsense\n".to_vec(), format!("odd parser {hash:032x}\n").into_bytes()].concat())
            .unwrap();
        fs::write(dir.path().join(CRASH_LIST_NAME), b"\xff\n").unwrap();
        let journal = Journal::open(dir.path());
        let notices = journal.notices();
        assert_eq!(notices.len(), 2);
        assert!(notices.iter().any(|notice| notice.contains(&*unreadable.to_string_lossy())), "{notices:?}");
        assert!(lock(&journal.notes).is_some() && !left.exists());
        assert_eq!(call_foreign("odd parser", b"deadly", || Ok(())), None);
    }

    #[test]
    fn notes_stand_while_a_call_runs_in_files_that_the_living_keep() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (Journal::open(dir.path()), Journal::open(dir.path()));
        let standing = || {
            let paths = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
            // A hang in another test is added to the list of every journal.
            let notes = paths.filter(|path| path.file_name() != Some(CRASH_LIST_NAME.as_ref()));
            let texts: Vec<String> = notes.map(|path| fs::read_to_string(path).unwrap()).collect();
            (texts.len(), texts.iter().filter(|text| text.contains("noted code")).count())
        };
        assert_eq!(standing(), (2, 0));
        call_foreign("noted code", b"text", || {
            assert_eq!(standing(), (2, 2));
            assert_eq!(call_foreign("noted code", b"another", || Ok(standing())), Some((2, 2)));
            Ok(())
        });
        assert_eq!(standing(), (2, 0));
        // A call in another test writes a note to every journal and keeps them open until it returns.
        let comes_to = |files| {
            (0..400).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(5));
                standing().0 == files
            })
        };
        // A third opener removes neither file.
        drop(Journal::open(dir.path()));
        assert!(comes_to(2));
        drop((one, two));
        assert!(comes_to(0));
    }

    #[test]
    fn crashes_of_another_version_do_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let hash = xxhash_rust::xxh3::xxh3_128(b"text");
        fs::write(dir.path().join(CRASH_LIST_NAME), format!("0.0.0 old parser {hash:032x}\nnonsense\n")).unwrap();
        let _journal = Journal::open(dir.path());
        assert_eq!(call_foreign("old parser", b"text", || Ok(())), Some(()));
    }

    #[test]
    fn a_journal_that_cannot_be_kept_says_so_and_calls_go_on() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a file");
        fs::write(&file, "").unwrap();
        let journal = Journal::open(&file.join("directory"));
        assert_eq!(journal.notices().len(), 1);
        assert_eq!(call_foreign("unnoted code", b"text", || Ok(())), Some(()));
    }
}
