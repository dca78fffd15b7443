//! A VFS for SQLite: SQLite's own VFS with two of its methods replaced, and nine methods of each file on a [`Disk`].
//!
//! SQLite's VFS opens the file in the memory that is provided for it, and methods that are not replaced are called on
//! it directly. Locks and shared memory are only made to fail. This relies on an unwritten property of `os_unix.c`: its
//! methods do not look at the table that they were called through.
#![warn(clippy::undocumented_unsafe_blocks)]

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, Once};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs};

use crate::journal::Journal;
use crate::{Call, Disk, Fault, locked};

/// An open file on a disk.
#[derive(Clone)]
struct Tapped {
    real: &'static sqlite3_io_methods,
    journal: Arc<Mutex<Journal>>,
    number: usize,
    /// True if the next sync also syncs the directory. That is the first sync of a log or journal that was opened to be
    /// created.
    syncs_names: bool,
}

/// The open files by the address of SQLite's object.
static TAPPED: Mutex<BTreeMap<usize, Tapped>> = Mutex::new(BTreeMap::new());

/// SQLite's own VFS. It is never freed.
static REAL: AtomicPtr<sqlite3_vfs> = AtomicPtr::new(null_mut());

/// Makes this VFS the default for all databases that are opened from now on.
pub(crate) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: SQLite's default VFS is valid for the life of the process, and so is its leaked copy.
        unsafe {
            let real = ffi::sqlite3_vfs_find(ptr::null());
            REAL.store(real, Ordering::Release);
            let name = c"concertina-power".as_ptr();
            let ours = sqlite3_vfs { zName: name, xOpen: Some(open), xDelete: Some(delete), ..*real };
            let registered = ffi::sqlite3_vfs_register(Box::leak(Box::new(ours)), 1);
            assert_eq!(registered, ffi::SQLITE_OK);
        }
    });
}

/// # Safety
/// `name` is a C string.
unsafe fn path_of<'a>(name: *const c_char) -> &'a Path {
    // SAFETY: the caller guarantees a C string. SQLite keeps the name for longer than the call that passed it.
    Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()))
}

unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    mut flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let real = REAL.load(Ordering::Acquire);
    // SAFETY: SQLite passes a file of the size that the real VFS asks for, and a name that is a C string or null.
    unsafe {
        let real_open = (*real).xOpen.expect("every VFS opens files");
        let path = if name.is_null() { Path::new("") } else { path_of(name) };
        let Some(journal) = Disk::of(path) else { return real_open(real, name, file, flags, out_flags) };
        let fault = locked(&journal).begin(Call::Open);
        match fault {
            Some(Fault::ReadOnly) => {
                flags = flags & !(ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE) | ffi::SQLITE_OPEN_READONLY;
            }
            Some(_) => {
                (*file).pMethods = ptr::null();
                return ffi::SQLITE_CANTOPEN;
            }
            None => {}
        }
        let was_there = path.exists();
        let code = real_open(real, name, file, flags, out_flags);
        if code == ffi::SQLITE_OK {
            let number = locked(&journal).open(path, was_there);
            let of_log = ffi::SQLITE_OPEN_WAL | ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL;
            let syncs_names = flags & ffi::SQLITE_OPEN_CREATE != 0 && flags & of_log != 0;
            let real = &*(*file).pMethods;
            let ours = sqlite3_io_methods {
                xClose: Some(close),
                xRead: Some(read),
                xFileSize: Some(length),
                xLock: Some(lock),
                xShmMap: Some(map),
                xShmLock: Some(map_lock),
                xWrite: Some(write),
                xTruncate: Some(truncate),
                xSync: Some(sync),
                ..*real
            };
            (*file).pMethods = Box::leak(Box::new(ours));
            locked(&TAPPED).insert(file as usize, Tapped { real, journal, number, syncs_names });
        }
        code
    }
}

unsafe extern "C" fn delete(_: *mut sqlite3_vfs, name: *const c_char, sync_names: c_int) -> c_int {
    let real = REAL.load(Ordering::Acquire);
    // SAFETY: SQLite passes a name that is a C string.
    unsafe {
        let path = path_of(name);
        let journal = Disk::of(path);
        if let Some(journal) = &journal
            && locked(journal).begin(Call::Delete).is_some()
        {
            return ffi::SQLITE_IOERR_DELETE;
        }
        let code = (*real).xDelete.expect("every VFS deletes files")(real, name, sync_names);
        if let (Some(journal), ffi::SQLITE_OK) = (&journal, code) {
            locked(journal).remove(path, sync_names != 0);
        }
        code
    }
}

fn tapped(file: *mut sqlite3_file) -> Tapped {
    locked(&TAPPED).get(&(file as usize)).expect("only files in the table have these methods").clone()
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let closed = locked(&TAPPED).remove(&(file as usize)).expect("a file is closed once");
    // SAFETY: the method is of the VFS that opened the file.
    unsafe { closed.real.xClose.expect("every file can be closed")(file) }
}

unsafe extern "C" fn read(file: *mut sqlite3_file, bytes: *mut c_void, length: c_int, at: sqlite3_int64) -> c_int {
    let Tapped { real, journal, .. } = tapped(file);
    if locked(&journal).begin(Call::Read).is_some() {
        return ffi::SQLITE_IOERR_READ;
    }
    // SAFETY: SQLite passes room for `length` bytes, and the method is of the VFS that opened the file.
    unsafe { real.xRead.expect("every file can be read")(file, bytes, length, at) }
}

unsafe extern "C" fn length(file: *mut sqlite3_file, bytes: *mut sqlite3_int64) -> c_int {
    let Tapped { real, journal, .. } = tapped(file);
    if locked(&journal).begin(Call::Length).is_some() {
        return ffi::SQLITE_IOERR_FSTAT;
    }
    // SAFETY: SQLite passes room for a number, and the method is of the VFS that opened the file.
    unsafe { real.xFileSize.expect("every file has a length")(file, bytes) }
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, kind: c_int) -> c_int {
    let Tapped { real, journal, .. } = tapped(file);
    match locked(&journal).begin(Call::Lock) {
        Some(Fault::Busy) => return ffi::SQLITE_BUSY,
        Some(_) => return ffi::SQLITE_IOERR_LOCK,
        None => {}
    }
    // SAFETY: the method is of the VFS that opened the file.
    unsafe { real.xLock.expect("every file can be locked")(file, kind) }
}

unsafe extern "C" fn map(
    file: *mut sqlite3_file,
    part: c_int,
    bytes: c_int,
    extends: c_int,
    memory: *mut *mut c_void,
) -> c_int {
    let Tapped { real, journal, .. } = tapped(file);
    let fault = locked(&journal).begin(Call::Map);
    if let Some(fault) = fault {
        // SAFETY: SQLite passes room for an address.
        unsafe { *memory = null_mut() };
        return if fault == Fault::Full { ffi::SQLITE_IOERR_SHMSIZE } else { ffi::SQLITE_IOERR_SHMMAP };
    }
    // SAFETY: the method belongs to the VFS that opened the file, and receives the arguments that it expects.
    unsafe { real.xShmMap.expect("a file with a log shares memory")(file, part, bytes, extends, memory) }
}

unsafe extern "C" fn map_lock(file: *mut sqlite3_file, first: c_int, count: c_int, flags: c_int) -> c_int {
    let Tapped { real, journal, .. } = tapped(file);
    // Releasing a lock never fails here, because SQLite does not check the result.
    let is_taken = flags & ffi::SQLITE_SHM_LOCK != 0;
    match is_taken.then(|| locked(&journal).begin(Call::MapLock)).flatten() {
        Some(Fault::Busy) => return ffi::SQLITE_BUSY,
        Some(_) => return ffi::SQLITE_IOERR_SHMLOCK,
        None => {}
    }
    // SAFETY: the method is of the VFS that opened the file.
    unsafe { real.xShmLock.expect("a file with a log shares memory")(file, first, count, flags) }
}

unsafe extern "C" fn write(file: *mut sqlite3_file, bytes: *const c_void, length: c_int, at: sqlite3_int64) -> c_int {
    let Tapped { real, journal, number, .. } = tapped(file);
    let mut journal = locked(&journal);
    let fault = journal.begin(Call::Write);
    let length = if fault.is_some() { length / 2 } else { length };
    // SAFETY: SQLite passes at least `length` bytes, and the method is of the VFS that opened the file.
    let (written, new) = unsafe {
        let written = real.xWrite.expect("every file can be written")(file, bytes, length, at);
        (written, std::slice::from_raw_parts(bytes.cast::<u8>(), length as usize))
    };
    if written == ffi::SQLITE_OK {
        journal.write(number, at as usize, new);
    }
    match fault {
        None => written,
        Some(Fault::Full) => ffi::SQLITE_FULL,
        Some(_) => ffi::SQLITE_IOERR_WRITE,
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, length: sqlite3_int64) -> c_int {
    let Tapped { real, journal, number, .. } = tapped(file);
    let mut journal = locked(&journal);
    if journal.begin(Call::Truncate).is_some() {
        return ffi::SQLITE_IOERR_TRUNCATE;
    }
    // SAFETY: the method is of the VFS that opened the file.
    let code = unsafe { real.xTruncate.expect("every file can be cut")(file, length) };
    if code == ffi::SQLITE_OK {
        journal.truncate(number, length as usize);
    }
    code
}

/// The real file is not synced: no test depends on it, and it would take most of the time.
unsafe extern "C" fn sync(file: *mut sqlite3_file, _: c_int) -> c_int {
    let Tapped { journal, number, syncs_names, .. } = tapped(file);
    let mut journal = locked(&journal);
    let fault = journal.begin(Call::Sync);
    if fault == Some(Fault::Io) {
        journal.lose(number);
        return ffi::SQLITE_IOERR_FSYNC;
    }
    journal.sync(number, syncs_names);
    if fault == Some(Fault::Late) {
        return ffi::SQLITE_IOERR_FSYNC;
    }
    if let Some(tapped) = locked(&TAPPED).get_mut(&(file as usize)) {
        tapped.syncs_names = false;
    }
    ffi::SQLITE_OK
}
