//! Links the addon the way Node expects it on each platform.
fn main() {
    napi_build::setup();
}
