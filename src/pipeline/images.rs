//! An image larger than a model perceives -> the same image at the perceived size.
//!
//! Providers scale large images down before the model sees them, so the additional pixels are of no use. An image has
//! no room for a marker. A short text block at the end of the content therefore says where the original is, and the
//! image must also save the tokens of that block.

use std::io::Cursor;

use fast_image_resize::pixels::U8x4;
use fast_image_resize::{IntoImageViewMut, ResizeOptions, Resizer};
use image::codecs::gif::GifDecoder;
use image::codecs::png::{CompressionType, FilterType, PngDecoder, PngEncoder};
use image::codecs::webp::WebPDecoder;
use image::{AnimationDecoder, DynamicImage, ImageDecoder, ImageEncoder, ImageFormat, ImageReader, Limits, RgbaImage};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use memchr::memmem;
use serde_json::Value;

use crate::config::{Encoding, Preset};
use crate::reference::{Marker, Original, RefId};
use crate::tokens;
use crate::tokens::vision::{ImageSize, OpenAiRule, Provider};
use crate::transcript::{Block, BlockKind, Patch, Path, Step, part_of, text_beside, with_payload};

/// The maximum size of an image that is decoded. Screens of 8K have 33 megapixels, phone cameras up to 50.
const DECODED_MAX_PIXELS: u64 = 64_000_000;

/// The maximum memory that a decoder may use, in bytes.
const DECODED_MAX_BYTES: u64 = 256 << 20;

/// The JPEG quality for images from lossless formats, which are mostly screenshots. The edges of letters show artefacts
/// first, so chroma is not subsampled.
const SCREEN_QUALITY: u8 = 82;

/// The JPEG quality for images that already were JPEGs.
const PHOTO_QUALITY: u8 = 80;

/// An image that was scaled down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShrunkImage {
    /// The encoded image. It has fewer bytes than before.
    pub bytes: Vec<u8>,
    /// The MIME type.
    pub mime: &'static str,
    /// The number of tokens of the image before.
    pub tokens_before: usize,
    /// The number of tokens of this image, at most as many as before.
    pub tokens_after: usize,
}

/// Scales an image down to the size that a model perceives, and encodes it as PNG or JPEG, whichever suits it.
///
/// Returns `None` if the image is not larger than that, if neither tokens nor bytes fall noticeably, or if it cannot be
/// decoded because it is of unknown format, damaged, animated or larger than the limits. The format is read from the
/// bytes, not from a declared type. `detail` is OpenAI's setting and only affects the token counts. An image that was
/// scaled down is not scaled down again by the same or a weaker preset.
pub fn shrink_image(bytes: &[u8], detail: Option<&str>, provider: Provider, preset: Preset) -> Option<ShrunkImage> {
    let size = ImageSize::of(bytes)?;
    let target = perceived(size, provider, preset)
        .filter(|_| u64::from(size.width) * u64::from(size.height) <= DECODED_MAX_PIXELS)?;
    let (scaled, is_lossy) = scale(bytes, target)?;
    let (encoded, mime) = encode(&scaled, is_lossy)?;
    let (tokens_before, tokens_after) = (provider.tokens(size, detail), provider.tokens(target, detail));
    let is_less = encoded.len() < bytes.len() && tokens_after <= tokens_before;
    let really = encoded.len() * 10 <= bytes.len() * 7 || tokens_after * 10 <= tokens_before * 9;
    (is_less && really).then_some(ShrunkImage { bytes: encoded, mime, tokens_before, tokens_after })
}

/// Returns the size at which a model perceives an image, if it is smaller than the image.
///
/// The balanced preset uses the providers' own limits ([`Provider::tokens`] names the sources; Gemini's limit is 3072
/// pixels). The max preset keeps about two thirds of the pixels, or four tiles. Letters on a screen stay readable at
/// that size; fine print does not.
fn perceived(size: ImageSize, provider: Provider, preset: Preset) -> Option<ImageSize> {
    const ANY: f64 = f64::INFINITY;
    let (long, short, pixels) = match (provider, preset) {
        (_, Preset::Lossless) => return None,
        (Provider::Anthropic, Preset::Balanced) => (1568.0, ANY, 1_150_000.0),
        (Provider::Anthropic, Preset::Max) => (1280.0, ANY, 768_000.0),
        (Provider::OpenAi(OpenAiRule::Tiles { .. }), Preset::Balanced) => (2048.0, 768.0, ANY),
        (Provider::OpenAi(OpenAiRule::Tiles { .. }), Preset::Max) => (1024.0, 768.0, ANY),
        (Provider::OpenAi(OpenAiRule::Patches { .. }), Preset::Balanced) => (ANY, ANY, 1536.0 * 1024.0),
        (Provider::OpenAi(OpenAiRule::Patches { .. }), Preset::Max) => (ANY, ANY, 1024.0 * 1024.0),
        (Provider::Gemini, Preset::Balanced) => (3072.0, ANY, ANY),
        (Provider::Gemini, Preset::Max) => (1536.0, ANY, ANY),
    };
    let (width, height) = (f64::from(size.width), f64::from(size.height));
    let shrink = (long / width.max(height)).min(short / width.min(height)).min((pixels / (width * height)).sqrt());
    let side = |side: f64| (side * shrink).floor().max(1.0) as u32;
    (shrink < 1.0).then(|| ImageSize { width: side(width), height: side(height) })
}

/// Decodes an image, scales it and applies its orientation. The second value is true if the format was lossy.
fn scale(bytes: &[u8], target: ImageSize) -> Option<(DynamicImage, bool)> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
    let format = reader.format()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODED_MAX_BYTES);
    if is_animated(bytes, format, &limits)? || format == ImageFormat::Jpeg && !is_plain_jpeg(bytes) {
        return None;
    }
    reader.limits(limits);
    let mut decoder = reader.into_decoder().ok()?;
    if decoder.total_bytes() > DECODED_MAX_BYTES {
        return None;
    }
    let orientation = decoder.orientation().ok()?;
    let pixels = DynamicImage::from_decoder(decoder).ok()?;
    let color = pixels.color();
    let resized = DynamicImage::from(resized(pixels.into_rgba8(), target, color.has_alpha())?);
    let mut scaled: DynamicImage = match (color.has_alpha(), color.has_color()) {
        (true, _) => resized,
        (false, true) => resized.into_rgb8().into(),
        (false, false) => resized.into_luma8().into(),
    };
    scaled.apply_orientation(orientation);
    Some((scaled, format == ImageFormat::Jpeg))
}

/// Scales pixels. All images are resized as four bytes per pixel, because kernels for every pixel type would enlarge
/// the addon by a megabyte. The source is passed as a mutable view for the same reason: immutable views need kernels of
/// their own.
fn resized(mut image: RgbaImage, target: ImageSize, has_alpha: bool) -> Option<RgbaImage> {
    let mut scaled = RgbaImage::new(target.width, target.height);
    let options = ResizeOptions::new().use_alpha(has_alpha);
    let (from, mut to) = (image.image_view_mut::<U8x4>()?, scaled.image_view_mut::<U8x4>()?);
    Resizer::new().resize_typed(&from, &mut to, &options).ok()?;
    drop(to);
    Some(scaled)
}

/// Returns `None` if decoding exceeds the limits. A frame may be larger than the image declares.
fn is_animated(bytes: &[u8], format: ImageFormat, limits: &Limits) -> Option<bool> {
    let bytes = Cursor::new(bytes);
    Some(match format {
        ImageFormat::Gif => {
            let mut decoder = GifDecoder::new(bytes).ok()?;
            decoder.set_limits(limits.clone()).ok()?;
            let mut frames = decoder.into_frames();
            frames.next()?.ok()?;
            frames.next().is_some()
        }
        ImageFormat::Png => PngDecoder::with_limits(bytes, limits.clone()).ok()?.is_apng().ok()?,
        ImageFormat::WebP => WebPDecoder::new(bytes).ok()?.has_animation(),
        _ => false,
    })
}

/// Returns true if a JPEG is complete and not CMYK. The decoder fills in missing data and has to guess whether CMYK
/// values are inverted. Either could show a wrong image.
fn is_plain_jpeg(jpeg: &[u8]) -> bool {
    let mut at = 2;
    while let Some(&[0xff, marker, high, low]) = jpeg.get(at..at + 4).and_then(|head| head.first_chunk()) {
        if matches!(marker, 0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc)) {
            let components = jpeg.get(at + 9);
            // A thumbnail in the header has an end marker too, but it precedes the frame.
            return components.is_some_and(|&count| count < 4) && memmem::find(&jpeg[at..], &[0xff, 0xd9]).is_some();
        }
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
    }
    false
}

/// Encodes transparent images as PNG, former JPEGs as JPEG, and all others as the smaller of the two.
fn encode(pixels: &DynamicImage, is_lossy: bool) -> Option<(Vec<u8>, &'static str)> {
    let (width, height) = (pixels.width(), pixels.height());
    let png = |pixels: &[u8], color| {
        let mut bytes = Vec::new();
        let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Adaptive);
        encoder.write_image(pixels, width, height, color).ok()?;
        Some((bytes, "image/png"))
    };
    if pixels.color().has_alpha() {
        let rgba = pixels.to_rgba8();
        if rgba.pixels().any(|pixel| pixel.0[3] < u8::MAX) {
            return png(&rgba, image::ExtendedColorType::Rgba8);
        }
    }
    let rgb = pixels.to_rgb8();
    let mut jpeg = Vec::new();
    let mut encoder = Encoder::new(&mut jpeg, if is_lossy { PHOTO_QUALITY } else { SCREEN_QUALITY });
    encoder.set_sampling_factor(if is_lossy { SamplingFactor::F_2_2 } else { SamplingFactor::F_1_1 });
    encoder.encode(&rgb, u16::try_from(width).ok()?, u16::try_from(height).ok()?, ColorType::Rgb).ok()?;
    if !is_lossy
        && let Some(png) = png(&rgb, image::ExtendedColorType::Rgb8).filter(|(bytes, _)| bytes.len() <= jpeg.len())
    {
        return Some(png);
    }
    Some((jpeg, "image/jpeg"))
}

/// An image block of a tool result that was scaled down.
#[derive(Debug, Clone, PartialEq)]
pub struct ShrunkBlock {
    /// The block to show instead. All of its other fields are unchanged.
    pub value: Value,
    /// The base64 payload of the new image. It identifies the block from now on.
    pub base64: String,
    /// The image before it was scaled down.
    pub original: Original,
    /// The number of tokens before.
    pub tokens_before: usize,
    image_tokens: usize,
    words: String,
}

/// Scales an image block of a message down. Returns `None` for other blocks, or if it does not pay. A block that does
/// not declare its MIME type is left unchanged, because the result would declare one.
pub fn shrink_block(
    message: &Value,
    block: &Block,
    label: String,
    provider: Provider,
    preset: Preset,
) -> Option<ShrunkBlock> {
    let BlockKind::Image(image) = block.kind else { return None };
    let (base64, mime) = (image.base64?, image.mime?);
    // Most images are small enough, which the header shows without decoding.
    let size = ImageSize::of_base64(base64)?;
    perceived(size, provider, preset)?;
    let bytes = base64_simd::STANDARD.decode_to_vec(base64).ok()?;
    let shrunk = shrink_image(&bytes, image.detail, provider, preset)?;
    let format = image::guess_format(&bytes).ok()?;
    let name = format.extensions_str()[0].to_ascii_uppercase();
    let words = format!("(original image: {}x{} {name}, {})", size.width, size.height, bytes_in_words(bytes.len()));
    let base64 = base64_simd::STANDARD.encode_to_string(&shrunk.bytes);
    let part = block.path.follow(message)?;
    Some(ShrunkBlock {
        value: with_payload(part, shrunk.mime, &base64)?,
        base64,
        original: Original::image(bytes, mime, label),
        tokens_before: shrunk.tokens_before,
        image_tokens: shrunk.tokens_after,
        words,
    })
}

impl ShrunkBlock {
    /// Returns the note that leads to the original, and the tokens of image and note. Returns `None` if these are more
    /// than before.
    pub fn note(&self, id: &RefId, encoding: Encoding) -> Option<(String, usize)> {
        let note = format!("{} {}", Marker::Reference(id.clone()), self.words);
        let tokens = self.image_tokens + tokens::count(&note, encoding);
        (tokens <= self.tokens_before).then_some((note, tokens))
    }
}

/// Returns patches that show images scaled down. Each patch replaces a whole content and appends the images' notes to
/// it, in order.
///
/// The indexes of blocks do not change. These patches must be applied before patches of texts in the same content.
pub fn patch_images(index: usize, message: &Value, shown: &[(&Path, Value, String)]) -> Vec<Patch> {
    let mut patches: Vec<Patch> = Vec::new();
    for (path, value, note) in shown {
        let content = (*path).clone().parent();
        let Some(at) = path.steps().last().and_then(|step| match step {
            Step::Index(at) => Some(*at),
            Step::Key(_) => None,
        }) else {
            continue;
        };
        let known = patches.iter().position(|patch| patch.path == content);
        let known = known.or_else(|| {
            let parts = content.follow(message)?.as_array()?.len();
            let value = (0..parts).map(|at| part_of(index, &content.clone().index(at))).collect();
            patches.push(Patch { message: index, path: content, value });
            Some(patches.len() - 1)
        });
        if let Some(parts) = known.and_then(|known| patches[known].value.as_array_mut()) {
            parts.push(text_beside(value, note));
            parts[at] = value.clone();
        }
    }
    patches
}

fn bytes_in_words(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_within_the_limits() {
        let mut gif = Cursor::new(Vec::new());
        DynamicImage::new_rgba8(100, 100).write_to(&mut gif, ImageFormat::Gif).unwrap();
        let mut limits = Limits::default();
        assert_eq!(is_animated(gif.get_ref(), ImageFormat::Gif, &limits), Some(false));
        limits.max_alloc = Some(50_000);
        assert_eq!(is_animated(gif.get_ref(), ImageFormat::Gif, &limits), None);
    }

    #[test]
    fn a_frame_of_twelve_gigabytes_is_no_image() {
        // Found by fuzzing: 74 bytes, an image of 1700 by 3 with one frame of 50,311 by 61,858.
        let gif = b"GIF89a\xa4\x06\x03\x00\x80\0\0\0\0\0\0\0\0!\xf9\x04\x09\0\0\0\0,\0\x0f\x0c\x0a\x87\xc4\xa2\xf1\x88L*\x97\xcc\xa6\xf3\x09\x8dJ\xa7\xd4\xaa\xf5\x8a\xcdj\xb7\xdc\xae\xf7\x0b\x0e\x8b\xc7\xe4\xb2\xf9\x8c\xb6\x15\0\0;";
        assert!(shrink_image(gif, None, Provider::of_model("gpt-4.1-mini"), Preset::Balanced).is_none());
    }
}
