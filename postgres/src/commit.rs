//! Writes a batch as rows, all or none, in one round trip.

use concertina_base::error::Error;
use concertina_base::reference::ContentHash;
use concertina_store::payload::{Packed, Packer, pack_new};
use concertina_store::queries::projection;
use concertina_store::row::to_signed;
use concertina_store::{Batch, Projection, Scope, StoreOptions};
use quick_cache::sync::Cache;

use crate::batch::{Parameters, columns};
use crate::failure::{Failure, NO_ROOM};
use crate::pool::Pool;
use crate::row::store_rows;
use crate::sweep;

/// The originals that were stored before. They are not sent again unless the server reports that one is missing.
pub(crate) type Sent = Cache<ContentHash, ()>;

/// The maximum number of remembered originals. Each takes less than 100 bytes.
const SENT_MAX: usize = 1 << 14;

pub(crate) fn sent() -> Sent {
    Cache::new(SENT_MAX)
}

/// Makes a batch durable. Returns the projections in force that its maker did not know.
pub(crate) fn commit(
    pool: &Pool,
    options: &StoreOptions,
    sent: &Sent,
    (scope, batch): (&Scope, &Batch),
    now: i64,
) -> concertina_base::error::Result<Vec<Projection>> {
    if batch.is_idle(now, options.touch_interval_ms()) {
        return Ok(Vec::new());
    }
    let (mut packer, max_bytes) = (Packer::default(), to_signed(options.max_bytes));
    let is_sent: Vec<bool> = batch.originals.iter().map(|(_, original)| sent.get(&original.hash).is_some()).collect();
    let mut packed = pack_new(&batch.originals, &is_sent)?;
    let mut parameters = Parameters::new(pool, scope, batch, now);
    let mut write = |packed: &mut [Packed<'_>]| {
        pool.with(|connection| {
            let columns = columns(packed);
            let calls = parameters.calls(&columns, &max_bytes);
            let failure = match pool.write_at_once(connection, now, batch.generation, calls) {
                Ok(answers) => {
                    let in_force = answers.last().map(Vec::as_slice).unwrap_or_default();
                    return store_rows(in_force)?.iter().map(|row| Ok(projection(row)?.1)).collect();
                }
                Err(failure) => failure,
            };
            if matches!(failure, Failure::Outdated) {
                for new in &mut *packed {
                    new.payload.get_or_insert_with(|| packer.pack(&new.original.bytes));
                }
            }
            parameters.is_retry |= matches!(failure, Failure::CommitUnknown(_));
            Err(failure)
        })
    };
    let committed = match write(&mut packed) {
        Err(Error::StoreFull { reason, .. }) if reason == NO_ROOM => {
            let payloads = packed.iter().filter_map(|new| new.payload.as_ref());
            let needed: u64 = payloads.map(|payload| payload.bytes.len() as u64).sum();
            sweep::evict(pool, options, now, options.eviction_target(needed))?;
            write(&mut packed)?
        }
        result => result?,
    };
    batch.originals.iter().for_each(|(_, original)| sent.insert(original.hash, ()));
    Ok(committed)
}
