//! The standalone `squeeze()`: a drop-in for ClawSqueezer 1.0, pure and without a store.
