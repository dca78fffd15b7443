//! Bytes that may be an image, with the provider and the preset that the first byte selects.

use std::io::Cursor;

use concertina::config::Preset;
use concertina::pipeline::images::shrink_image;
use concertina::tokens::vision::{ImageSize, Provider};
use image::{DynamicImage, ImageFormat};

pub(super) fn run(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let model = ["claude-opus-5", "gpt-5", "gpt-4.1-mini", "gemini-2.5-pro"][usize::from(choice) % 4];
    let preset = if choice < 128 { Preset::Balanced } else { Preset::Max };
    if let Some(shrunk) = shrink_image(bytes, None, Provider::of_model(model), preset) {
        assert!(shrunk.bytes.len() < bytes.len() && ImageSize::of(&shrunk.bytes).is_some());
    }
}

/// Returns a long strip in each format and pixel type: large enough to be shrunk, and fast to decode.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let grey = DynamicImage::new_luma8(1700, 3);
    let kinds = [
        grey.clone(),
        DynamicImage::new_luma_a8(1700, 3),
        DynamicImage::new_rgb8(1700, 3),
        DynamicImage::new_rgba8(1700, 3),
        DynamicImage::new_luma16(1700, 3),
        DynamicImage::new_rgba16(1700, 3),
    ];
    let formats = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif];
    let encoded = kinds.iter().flat_map(|kind| {
        formats.iter().filter_map(move |format| {
            let mut bytes = Cursor::new(vec![0]);
            bytes.set_position(1);
            kind.write_to(&mut bytes, *format).ok()?;
            Some(bytes.into_inner())
        })
    });
    encoded.collect()
}

/// Returns names of file sections.
pub(super) fn words() -> Vec<String> {
    let parts = ["IHDR", "PLTE", "IDAT", "IEND", "tRNS", "acTL", "fcTL", "fdAT", "eXIf", "iCCP", "gAMA", "sBIT"];
    let others = [
        "RIFF", "WEBP", "VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "EXIF", "GIF87a", "GIF89a", "JFIF", "Exif\0\0",
    ];
    parts.into_iter().chain(others).map(str::to_owned).collect()
}
