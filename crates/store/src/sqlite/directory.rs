//! The directory of a store: its creation, ownership and permissions, the identity of its files, and setting damaged
//! files aside.
//!
//! Files of other programs are never touched. The permissions of a directory that holds such files are not restricted,
//! and such a directory is refused if others may write it. If others may only read or enter it, the store's own files
//! are still readable by the owner only.

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

/// The prefix of the names of all files of a store.
#[cfg(unix)]
const FILE_PREFIX: &[u8] = b"concertina.";

/// The name of the file that every use of the database locks.
const LOCK_NAME: &str = "concertina.lock";

/// The suffixes of the files that SQLite keeps beside the database file.
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

/// The identity of the files under the names of a store: the database, its log and the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) file: Option<FileIdentity>,
    log: Option<FileIdentity>,
    lock: Option<FileIdentity>,
}

/// The device and inode.
#[cfg(unix)]
type FileIdentity = (u64, u64);

/// The creation time. An open database file cannot be replaced on Windows, but its log can be deleted.
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

fn with_suffix(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

impl Directory {
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), file: dir.join(FILE_NAME), lock: dir.join(LOCK_NAME) }
    }

    pub(super) fn identity(&self) -> Identity {
        self.identity_and_mtime().0
    }

    /// Returns the identity of the files and the modification time of the database file.
    pub(super) fn identity_and_mtime(&self) -> (Identity, Option<SystemTime>) {
        let file = fs::metadata(&self.file).ok();
        let other = |path: &Path| identity_of(&fs::metadata(path).ok()?);
        let identity = Identity {
            file: file.as_ref().and_then(identity_of),
            log: other(&with_suffix(&self.file, "-wal")),
            lock: other(&self.lock),
        };
        (identity, file.and_then(|file| file.modified().ok()))
    }

    /// Creates the directory if it is missing, for the owner only, and checks its owner. Removes permissions of group
    /// and others from the store's files, and returns a line about it if there were any.
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
            let reason = "the directory belongs to another user, who could read and replace the stored data";
            return Err(refused(format!("{reason} (its owner is {}, this process runs as {us})", found.uid())));
        }
        let mode = found.mode() & 0o7777;
        let (ours, others): (Vec<_>, Vec<_>) =
            self.names()?.into_iter().partition(|name| name.as_encoded_bytes().starts_with(FILE_PREFIX));
        if !others.is_empty() && mode & 0o022 != 0 {
            let reason = "other users may write to the directory, and it holds other files; use a separate directory";
            return Err(refused(format!("{reason} (its mode is {mode:04o})")));
        }
        let (mut unrestricted, mut outcome) = (Vec::new(), "they are now limited to the owner".to_owned());
        if others.is_empty() && mode & 0o077 != 0 {
            unrestricted.push(format!("the directory (mode {mode:04o})"));
            if let Err(error) = fs::set_permissions(&self.dir, fs::Permissions::from_mode(0o700)) {
                outcome = format!("those of the directory cannot be changed: {error}");
            }
        }
        for name in ours {
            let path = self.dir.join(&name);
            if let Some(mode) = restrict_permissions(&path).map_err(|error| unavailable(&path, &error))? {
                unrestricted.push(format!("{} (mode {mode:04o})", name.display()));
            }
        }
        let line =
            || format!("other users had permissions for the store at {dir}: {}; {outcome}", unrestricted.join(", "));
        Ok((!unrestricted.is_empty()).then(line))
    }

    #[cfg(not(unix))]
    fn check(&self) -> Outcome<Option<String>> {
        Ok(None)
    }

    /// Returns the names of all files in the directory.
    #[cfg(unix)]
    fn names(&self) -> Outcome<Vec<OsString>> {
        let entries = fs::read_dir(&self.dir).and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
        entries.map_err(|error| unavailable(&self.dir, &error))
    }

    /// Creates the empty database file if it is missing, for the owner only.
    pub(super) fn create_file(&self) -> Outcome<()> {
        let mut options = fs::OpenOptions::new();
        // An existing file is never opened here: closing it would drop the locks that other connections of this process
        // hold.
        match private::file(options.write(true).create_new(true)).open(&self.file) {
            Ok(_) => self.sync(),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => check_size(&self.file),
            Err(error) => Err(unavailable(&self.file, &error)),
        }
    }

    /// Syncs the directories, so that the names of a new file and of its directory survive a power loss.
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

    /// Removes the log of a database file that is gone, because SQLite would replay it over the file that replaced it.
    /// A log with content is renamed instead.
    pub(super) fn remove_stale_log(&self, before: &Identity) -> Outcome<()> {
        let now = self.identity();
        if now.file == before.file || now.log.is_none() || now.log != before.log {
            return Ok(());
        }
        let [log, shared] = SIDE_FILES.map(|ending| with_suffix(&self.file, ending));
        let is_empty = fs::metadata(&log).is_ok_and(|found| found.len() == 0);
        if !is_empty {
            let mut names = (1..).map(|number| with_suffix(&log, &format!(".replaced-{number}")));
            let free = names.find(|name| fs::symlink_metadata(name).is_err()).expect("some number is free");
            fs::rename(&log, &free).map_err(|error| unavailable(&log, &error))?;
        }
        [log, shared].iter().try_for_each(|path| unless_missing(path, fs::remove_file(path)))
    }

    /// Renames a damaged database and its side files so that they can be repaired by hand. Never overwrites a file.
    pub(super) fn set_aside(&self, today: &str, reason: &str) -> Outcome<String> {
        let names = (1..).map(|number| match number {
            1 => format!(".damaged-{today}"),
            _ => format!(".damaged-{today}-{number}"),
        });
        let is_free = |name: &PathBuf| {
            let all = SIDE_FILES.iter().map(|ending| with_suffix(name, ending)).chain([name.clone()]);
            all.into_iter().all(|path| fs::symlink_metadata(path).is_err())
        };
        let free = names.map(|name| with_suffix(&self.file, &name)).find(is_free).expect("some number is free");
        // The log goes first: if the process ends in between, an old log must not meet a new database.
        for ending in SIDE_FILES.into_iter().chain([""]) {
            let from = with_suffix(&self.file, ending);
            unless_missing(&from, fs::rename(&from, with_suffix(&free, ending)))?;
        }
        self.sync()?;
        let (file, free) = (self.file.display(), free.display());
        Ok(format!(
            "the store at {file} is damaged ({reason}) and was set aside as {free}; a new store is in use. \
             To recover it, stop every program that uses the store, repair the file (sqlite3 {free} .recover), and rename it to {file}"
        ))
    }
}

/// Ignores the error if the file does not exist.
fn unless_missing(path: &Path, done: std::io::Result<()>) -> Outcome<()> {
    match done {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unavailable(path, &error)),
        _ => Ok(()),
    }
}

/// Checks the size of a database file, without opening it.
fn check_size(path: &Path) -> Outcome<()> {
    let found = fs::metadata(path).map_err(|error| unavailable(path, &error))?;
    // SQLite treats a file of one byte as an empty one.
    if (1..100).contains(&found.len()) {
        return Err(Failure::Damaged(format!("not a database: it has only {} bytes", found.len())));
    }
    Ok(())
}

/// Removes the permissions of group and others from a file; returns its permissions if it had such. The file is not
/// opened for that, because closing it would release the locks that other connections of this process hold.
#[cfg(unix)]
fn restrict_permissions(path: &Path) -> std::io::Result<Option<u32>> {
    use std::os::unix::fs::PermissionsExt;
    let result = fs::metadata(path).and_then(|found| {
        let mode = found.permissions().mode() & 0o7777;
        let is_wide = found.is_file() && mode & 0o077 != 0;
        is_wide.then(|| fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map(|()| mode)).transpose()
    });
    match result {
        // Another process removed it.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        result => result,
    }
}
