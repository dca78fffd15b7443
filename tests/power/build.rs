//! Compiles the deadly functions.

fn main() {
    println!("cargo::rerun-if-changed=src/deadly.c");
    // An endless recursion is one only as long as no optimiser makes a loop of it.
    cc::Build::new().file("src/deadly.c").opt_level(0).warnings(false).compile("deadly");
}
