//! Finds secrets in text before it is stored: known key formats and high-entropy assignments.
