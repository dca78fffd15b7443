//! The directory of a store: that it is there, ours and for nobody else, which files lie in it, and what is set aside
//! there.
//!
//! Nobody's other files are touched: a directory that holds any is not made narrower, and one that others may write is
//! refused. Who may only read or enter it finds files that are for their owner alone.

#[cfg(unix)]
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::failure::{Failure, Outcome, unavailable};
use concertina_base::error::Error;
use concertina_base::private;

/// Name of the database file.
pub(super) const FILE_NAME: &str = "concertina.sqlite";

/// What the names of all files of a store begin with.
#[cfg(unix)]
const OURS: &[u8] = b"concertina.";

/// Name of the file whose lock every use of the database takes.
const LOCK_NAME: &str = "concertina.lock";

/// What SQLite keeps beside the database file, as endings of its name.
const SIDE_FILES: [&str; 2] = ["-wal", "-shm"];

/// The files of a store.
#[derive(Debug)]
pub(super) struct Directory {
    dir: PathBuf,
    /// The database file.
    pub(super) file: PathBuf,
    /// The lock file.
    pub(super) lock: PathBuf,
}

/// Which files lie under the names of a store: the database, its log and the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) file: Option<FileIdentity>,
    log: Option<FileIdentity>,
    lock: Option<FileIdentity>,
}

/// Device and inode.
#[cfg(unix)]
type FileIdentity = (u64, u64);

/// When it was created. An open database file cannot be replaced on Windows; its log can be gone.
#[cfg(not(unix))]
type FileIdentity = std::time::SystemTime;

fn identity_of(found: &fs::Metadata) -> Option<FileIdentity> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some((found.dev(), found.ino()))
    }
    #[cfg(not(unix))]
    found.created().ok()
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

impl Directory {
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), file: dir.join(FILE_NAME), lock: dir.join(LOCK_NAME) }
    }

    pub(super) fn identity(&self) -> Identity {
        self.look().0
    }

    /// Which files there are, and when the database file was written last.
    pub(super) fn look(&self) -> (Identity, Option<SystemTime>) {
        let file = fs::metadata(&self.file).ok();
        let other = |path: &Path| identity_of(&fs::metadata(path).ok()?);
        let identity = Identity {
            file: file.as_ref().and_then(identity_of),
            log: other(&beside(&self.file, "-wal")),
            lock: other(&self.lock),
        };
        (identity, file.and_then(|file| file.modified().ok()))
    }

    /// Creates the directory where it is missing, for the owner only, and checks whose it is. Takes the group's and
    /// others' rights off what is the store's, and returns a line where there were any.
    pub(super) fn prepare(&self) -> Outcome<Option<String>> {
        let dir = &self.dir;
        private::create_dir(dir).map_err(|error| unavailable(dir, &error))?;
        self.check()
    }

    #[cfg(unix)]
    fn check(&self) -> Outcome<Option<String>> {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let dir = self.dir.display();
        let refused = |reason: String| Failure::Other(Error::StoreUnavailable { path: dir.to_string(), reason });
        let found = fs::metadata(&self.dir).map_err(|error| unavailable(&self.dir, &error))?;
        let us = rustix::process::geteuid().as_raw();
        if found.uid() != us {
            let reason = "the directory belongs to another user, who could read and replace what is stored";
            return Err(refused(format!("{reason} (its owner is {}, this process runs as {us})", found.uid())));
        }
        let mode = found.mode() & 0o7777;
        let (ours, others): (Vec<_>, Vec<_>) =
            self.names()?.into_iter().partition(|name| name.as_encoded_bytes().starts_with(OURS));
        if !others.is_empty() && mode & 0o022 != 0 {
            let reason =
                "others may write the directory, and it holds files that are not the store's; use one of its own";
            return Err(refused(format!("{reason} (its mode is {mode:04o})")));
        }
        let (mut wide, mut outcome) = (Vec::new(), "now only its owner has".to_owned());
        if others.is_empty() && mode & 0o077 != 0 {
            wide.push(format!("the directory (mode {mode:04o})"));
            if let Err(error) = fs::set_permissions(&self.dir, fs::Permissions::from_mode(0o700)) {
                outcome = format!("the system does not let those to the directory be changed: {error}");
            }
        }
        for name in ours {
            let path = self.dir.join(&name);
            if let Some(mode) = narrow(&path).map_err(|error| unavailable(&path, &error))? {
                wide.push(format!("{} (mode {mode:04o})", name.display()));
            }
        }
        let line = || format!("others had rights to the store at {dir}: {}; {outcome}", wide.join(", "));
        Ok((!wide.is_empty()).then(line))
    }

    #[cfg(not(unix))]
    fn check(&self) -> Outcome<Option<String>> {
        Ok(None)
    }

    /// Returns the names of all that is in the directory.
    #[cfg(unix)]
    fn names(&self) -> Outcome<Vec<OsString>> {
        let entries = fs::read_dir(&self.dir).and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
        entries.map_err(|error| unavailable(&self.dir, &error))
    }

    /// Creates the empty database file where it is missing, for the owner only.
    pub(super) fn create_file(&self) -> Outcome<()> {
        let mut options = fs::OpenOptions::new();
        // An existing file is never opened here: closing it would drop the locks that other connections of this process
        // hold.
        match private::file(options.write(true).create_new(true)).open(&self.file) {
            Ok(_) => self.sync(),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => check_file(&self.file),
            Err(error) => Err(unavailable(&self.file, &error)),
        }
    }

    /// Makes the names of a new file and of its directory survive a loss of power.
    #[cfg(unix)]
    fn sync(&self) -> Outcome<()> {
        let parent = self.dir.parent().filter(|parent| !parent.as_os_str().is_empty());
        for dir in parent.into_iter().chain([self.dir.as_path()]) {
            fs::File::open(dir).and_then(|opened| opened.sync_all()).map_err(|error| unavailable(dir, &error))?;
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn sync(&self) -> Outcome<()> {
        Ok(())
    }

    /// Takes away the log of a database file that is gone: SQLite would play it over whatever took that file's place. A
    /// log that still holds something gets another name.
    pub(super) fn remove_stale_log(&self, before: &Identity) -> Outcome<()> {
        let now = self.identity();
        if now.file == before.file || now.log.is_none() || now.log != before.log {
            return Ok(());
        }
        let [log, shared] = SIDE_FILES.map(|ending| beside(&self.file, ending));
        let is_empty = fs::metadata(&log).is_ok_and(|found| found.len() == 0);
        if !is_empty {
            let mut names = (1..).map(|number| beside(&log, &format!(".replaced-{number}")));
            let free = names.find(|name| fs::symlink_metadata(name).is_err()).expect("some number is free");
            fs::rename(&log, &free).map_err(|error| unavailable(&log, &error))?;
        }
        [log, shared].iter().try_for_each(|path| unless_missing(path, fs::remove_file(path)))
    }

    /// Gives a damaged database and its side files another name, so that it can be mended by hand; never one that is
    /// taken.
    pub(super) fn set_aside(&self, today: &str, reason: &str) -> Outcome<String> {
        let names = (1..).map(|number| match number {
            1 => format!(".damaged-{today}"),
            _ => format!(".damaged-{today}-{number}"),
        });
        let is_free = |name: &PathBuf| {
            let all = SIDE_FILES.iter().map(|ending| beside(name, ending)).chain([name.clone()]);
            all.into_iter().all(|path| fs::symlink_metadata(path).is_err())
        };
        let free = names.map(|name| beside(&self.file, &name)).find(is_free).expect("some number is free");
        // The log first: cut off in between, it must not meet a new database.
        for ending in SIDE_FILES.into_iter().chain([""]) {
            let from = beside(&self.file, ending);
            unless_missing(&from, fs::rename(&from, beside(&free, ending)))?;
        }
        self.sync()?;
        let (file, free) = (self.file.display(), free.display());
        Ok(format!(
            "the store at {file} is damaged ({reason}) and was set aside as {free}; \
            a new one is in use. To bring it back, stop \
             every program that uses it, mend it (sqlite3 {free} .recover), and give it the name {file}"
        ))
    }
}

/// What was done to a file that may not be there.
fn unless_missing(path: &Path, done: std::io::Result<()>) -> Outcome<()> {
    match done {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unavailable(path, &error)),
        _ => Ok(()),
    }
}

/// Checks what can be seen of a database file from outside.
fn check_file(path: &Path) -> Outcome<()> {
    let found = fs::metadata(path).map_err(|error| unavailable(path, &error))?;
    // SQLite takes a file of one byte for an empty one.
    if (1..100).contains(&found.len()) {
        return Err(Failure::Damaged(format!("not a database: it has only {} bytes", found.len())));
    }
    Ok(())
}

/// Takes the group's and others' rights off a file; returns its rights where it had such. A file is never opened for
/// that: closing it would drop the locks that other connections of this process hold.
#[cfg(unix)]
fn narrow(path: &Path) -> std::io::Result<Option<u32>> {
    use std::os::unix::fs::PermissionsExt;
    let narrowed = fs::metadata(path).and_then(|found| {
        let mode = found.permissions().mode() & 0o7777;
        let is_wide = found.is_file() && mode & 0o077 != 0;
        is_wide.then(|| fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map(|()| mode)).transpose()
    });
    match narrowed {
        // Another process was done with it.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        narrowed => narrowed,
    }
}
