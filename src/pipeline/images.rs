//! A picture larger than a model perceives -> the same picture at the size that it perceives.
//!
//! Providers scale large images down before the model sees them, and bill or carry the rest for nothing. What one would
//! get wrong: an image has no room for a marker, so a short text block at the end of the content says where the
//! original is, and the image has to save that block's tokens too.

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

/// Larger images are not decoded. Above the 33 megapixels of an 8K screen and the 50 of a phone's camera.
const DECODED_MAX_PIXELS: u64 = 64_000_000;

/// Most memory that a decoder may take, in bytes.
const DECODED_MAX_BYTES: u64 = 256 << 20;

/// JPEG quality of what came without loss, mostly screens: edges of letters show artefacts first, and colour is not
/// halved.
const SCREEN_QUALITY: u8 = 82;

/// JPEG quality of what was a JPEG already.
const PHOTO_QUALITY: u8 = 80;

/// An image that costs less.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShrunkImage {
    /// The encoded image, fewer bytes than before.
    pub bytes: Vec<u8>,
    /// What it is encoded as.
    pub mime: &'static str,
    /// Tokens of the image as it came.
    pub tokens_before: usize,
    /// Tokens of this image, not more than before.
    pub tokens_after: usize,
}

/// Scales an image down to what a model perceives, and encodes it as PNG or JPEG, whichever suits it.
///
/// `None` when it is no larger than that, when neither tokens nor bytes really fall, and for what cannot be decoded: unknown,
/// damaged, animated, or larger than the limits. The declared type does not matter; the bytes tell. `detail` is
/// OpenAI's, and only counts. An image that was shrunk is not shrunk again by the same or a weaker preset.
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

/// The size at which a model perceives an image, where that is smaller.
///
/// Balanced takes the providers' own limits ([`Provider::tokens`] names the sources; Gemini's is 3072 pixels). Max goes
/// to about two thirds of the pixels, or to four tiles: letters of a screen stay readable, fine print does not.
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

/// The pixels at another size and upright, and whether they came from a lossy format.
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

/// The pixels at another size. All are resized as four bytes each: with kernels for every type of pixel the addon grows
/// by a megabyte. What is only read is handed over as if it were written, because views for reading are kernels of
/// their own.
fn resized(mut image: RgbaImage, target: ImageSize, has_alpha: bool) -> Option<RgbaImage> {
    let mut scaled = RgbaImage::new(target.width, target.height);
    let options = ResizeOptions::new().use_alpha(has_alpha);
    let (from, mut to) = (image.image_view_mut::<U8x4>()?, scaled.image_view_mut::<U8x4>()?);
    Resizer::new().resize_typed(&from, &mut to, &options).ok()?;
    drop(to);
    Some(scaled)
}

/// `None` where that takes more than the limits: a frame says its own size, whatever the image's is.
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

/// Whether a JPEG is whole and not CMYK. The decoder fills up what is missing, and which CMYK values are inverted is a
/// guess; either would be shown as if it were the picture.
fn is_plain_jpeg(jpeg: &[u8]) -> bool {
    let mut at = 2;
    while let Some(&[0xff, marker, high, low]) = jpeg.get(at..at + 4).and_then(|head| head.first_chunk()) {
        if matches!(marker, 0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc)) {
            let components = jpeg.get(at + 9);
            // A thumbnail in the header has an end of its own, but not after the frame.
            return components.is_some_and(|&count| count < 4) && memmem::find(&jpeg[at..], &[0xff, 0xd9]).is_some();
        }
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
    }
    false
}

/// PNG for what is transparent, JPEG for what was a JPEG, the smaller of both for everything else.
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

/// An image block of a tool result, smaller.
#[derive(Debug, Clone, PartialEq)]
pub struct ShrunkBlock {
    /// The block that takes its place; every other field of it is as it was.
    pub value: Value,
    /// The shown payload, by which the block is known from now on.
    pub base64: String,
    /// The image as it came.
    pub original: Original,
    /// Tokens before.
    pub tokens_before: usize,
    image_tokens: usize,
    words: String,
}

/// Shrinks an image block of a message; `None` for other blocks, and where it does not pay. One that does not say its
/// type stays: it would say another one.
pub fn shrink_block(
    message: &Value,
    block: &Block,
    label: String,
    provider: Provider,
    preset: Preset,
) -> Option<ShrunkBlock> {
    let BlockKind::Image(image) = block.kind else { return None };
    let (base64, mime) = (image.base64?, image.mime?);
    // Most images are small enough, and that shows without decoding them.
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
    /// The words that lead to the original, and the tokens of image and words; `None` when these are more than before.
    pub fn note(&self, id: &RefId, encoding: Encoding) -> Option<(String, usize)> {
        let note = format!("{} {}", Marker::Reference(id.clone()), self.words);
        let tokens = self.image_tokens + tokens::count(&note, encoding);
        (tokens <= self.tokens_before).then_some((note, tokens))
    }
}

/// The patches that show smaller images: for each content, the whole of it with the images in place and their notes at
/// its end, in order.
///
/// Indexes of blocks stay what they were, but these patches must come before those of texts in the same content.
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
