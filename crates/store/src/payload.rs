//! Compresses the bytes of an original for a backend, and restores them.
//!
//! Reading trusts nothing: whatever the file says about size and compression, only bytes with the requested hash are
//! returned.

use zstd::bulk::Compressor;

use concertina_base::error::{Error, Result};
use concertina_base::parallel;
use concertina_base::reference::{ContentHash, Original, RefId};

/// The compression level with the best ratio per millisecond on tool outputs.
const ZSTD_LEVEL: i32 = 3;

/// The bytes of an original as stored on disk.
#[derive(Debug)]
pub struct Payload {
    /// True if the bytes are compressed.
    pub is_zstd: bool,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// An original of a batch, compressed before any lock is taken.
pub struct Packed<'a> {
    /// Its id.
    pub id: &'a RefId,
    /// The original.
    pub original: &'a Original,
    /// The compressed bytes; `None` if the original was already stored when the batch was prepared.
    pub payload: Option<Payload>,
}

/// Checks originals and compresses those that are not stored, on all cores.
///
/// # Errors
/// [`Error::BadArgument`] for an original that does not match its hash and its id.
pub fn pack_new<'a>(originals: &'a [(RefId, Original)], is_stored: &[bool]) -> Result<Vec<Packed<'a>>> {
    let originals: Vec<_> = originals.iter().zip(is_stored).collect();
    let packed = parallel::map(&originals, |packer: &mut Packer, ((id, original), is_stored)| {
        check(id, original)?;
        Ok(Packed { id, original, payload: (!**is_stored).then(|| packer.pack(&original.bytes)) })
    });
    packed.into_iter().collect()
}

/// A compressor for several originals. It reuses zstd's tables, because creating them takes longer than compressing a
/// short text.
#[derive(Default)]
pub struct Packer(Option<Compressor<'static>>);

impl Packer {
    /// Compresses bytes; bytes that do not become smaller are stored as they are.
    pub fn pack(&mut self, bytes: &[u8]) -> Payload {
        match self.compress(bytes) {
            Ok(packed) if packed.len() < bytes.len() => Payload { is_zstd: true, bytes: packed },
            _ => Payload { is_zstd: false, bytes: bytes.to_vec() },
        }
    }

    fn compress(&mut self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        let compressor = match &mut self.0 {
            Some(compressor) => compressor,
            none => none.insert(Compressor::new(ZSTD_LEVEL)?),
        };
        compressor.compress(bytes)
    }
}

impl Payload {
    /// Decompresses `size` bytes and checks them against their hash.
    ///
    /// # Errors
    /// [`Error::OriginalDamaged`]; if the bytes cannot be decompressed, it names the hash of the compressed bytes.
    pub fn unpack(self, size: u64, hash: ContentHash, ref_id: &RefId) -> Result<Vec<u8>> {
        let bytes = match self.is_zstd.then(|| decompress(&self.bytes, size)) {
            Some(Some(bytes)) => bytes,
            Some(None) | None => self.bytes,
        };
        let found = ContentHash::of(&bytes);
        if found == hash {
            return Ok(bytes);
        }
        Err(Error::OriginalDamaged { ref_id: ref_id.to_string(), found: found.to_hex() })
    }
}

/// Checks that an original matches its hash and its id.
///
/// # Errors
/// [`Error::BadArgument`] if it does not.
fn check(id: &RefId, original: &Original) -> Result<()> {
    let found = ContentHash::of(&original.bytes);
    if found == original.hash && id.matches(found) {
        return Ok(());
    }
    let expected = format!("the bytes that it names; these hash to {}", found.to_hex());
    Err(Error::bad_argument(format!("original {id}"), original.hash.to_hex(), expected))
}

/// Decompresses a frame whose header states `size` bytes. A frame with another size is refused, because it would
/// determine how much memory is allocated.
fn decompress(frame: &[u8], size: u64) -> Option<Vec<u8>> {
    let size = usize::try_from(size).ok()?;
    if zstd::bulk::Decompressor::upper_bound(frame) != Some(size) {
        return None;
    }
    zstd::bulk::decompress(frame, size).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(bytes: &[u8]) -> Payload {
        let hash = ContentHash::of(bytes);
        let packed = Packer::default().pack(bytes);
        let copy = Payload { is_zstd: packed.is_zstd, bytes: packed.bytes.clone() };
        assert_eq!(copy.unpack(bytes.len() as u64, hash, &hash.to_ref_id(16)).unwrap(), bytes);
        packed
    }

    #[test]
    fn what_shrinks_is_compressed_and_the_rest_is_stored_as_it_is() {
        assert!(round_trip(&b"line\n".repeat(1000)).is_zstd);
        assert!(round_trip(&b"line of a large original\n".repeat(200_000)).is_zstd);
        assert!(!round_trip(b"").is_zstd);
        assert!(!round_trip(b"\0").is_zstd);
    }

    #[test]
    fn bytes_that_do_not_hash_to_their_id_never_come_out() {
        let text = b"line\n".repeat(1000);
        let hash = ContentHash::of(&text);
        let id = hash.to_ref_id(16);
        let packed = Packer::default().pack(&text).bytes;
        for (is_zstd, bytes, size) in [
            (true, packed[..packed.len() - 1].to_vec(), 5000),
            (true, packed.clone(), 4999),
            (true, b"no frame".to_vec(), u64::MAX),
            (false, packed, 5000),
            (false, Vec::new(), 0),
        ] {
            let read = Payload { is_zstd, bytes }.unpack(size, hash, &id);
            assert!(matches!(read, Err(Error::OriginalDamaged { .. })), "{size}");
        }
    }
}
