//! Compiles the crashing C functions.

fn main() {
    println!("cargo::rerun-if-changed=src/deadly.c");
    // An optimiser would turn the endless recursion into a loop.
    cc::Build::new().file("src/deadly.c").opt_level(0).warnings(false).compile("deadly");
}
