//! The only place where effects happen: plan -> propose -> put -> patch.
