//! Token counts of images, by each provider's published rule and the real size of the image.
//!
//! The rules depend on width and height only, not on the length of the base64 text. Providers change their rules from
//! model to model; these cover most models, and each names its source.

use std::io::Cursor;

/// The token count of an image whose size cannot be read: a remote URL, an unknown format, damaged data. It is close to
/// a 1024 x 768 image under Anthropic's rule (1,049) or OpenAI's (765).
pub const UNREADABLE_IMAGE_TOKENS: usize = 1000;

/// The number of base64 characters that are decoded first. Nearly every header is within them.
const PREFIX_CHARS: usize = 64 * 1024;

/// A provider, whose rule determines the token count of images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Provider {
    /// Claude models, and all models of unknown providers.
    #[default]
    Anthropic,
    /// GPT and o-series models.
    OpenAi(OpenAiRule),
    /// Gemini models.
    Gemini,
}

/// The rule of an OpenAI model: tiles or patches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenAiRule {
    /// A base count, plus a count for each 512-pixel tile.
    Tiles {
        /// The tokens of any image; with `detail: "low"` there are no others.
        base: usize,
        /// The tokens of one tile.
        tile: usize,
    },
    /// A count for each 32-pixel patch.
    Patches {
        /// The tokens of 100 patches.
        per_hundred: usize,
    },
}

/// The rules by model, longer names first. Source: OpenAI, "Images and vision", section "Calculating costs"; for
/// `codex-mini`, its model page, which calls it an `o4-mini`. Models without a row, for example `gpt-5.1`, count as
/// GPT-4o does.
const OPENAI_RULES: [(&str, OpenAiRule); 12] = [
    ("gpt-5.4-mini", OpenAiRule::Patches { per_hundred: 162 }),
    ("gpt-5.4-nano", OpenAiRule::Patches { per_hundred: 246 }),
    ("gpt-5-mini", OpenAiRule::Patches { per_hundred: 162 }),
    ("gpt-5-nano", OpenAiRule::Patches { per_hundred: 246 }),
    ("gpt-4.1-mini", OpenAiRule::Patches { per_hundred: 162 }),
    ("gpt-4.1-nano", OpenAiRule::Patches { per_hundred: 246 }),
    ("codex-mini", OpenAiRule::Patches { per_hundred: 172 }),
    ("o4-mini", OpenAiRule::Patches { per_hundred: 172 }),
    ("gpt-4o-mini", OpenAiRule::Tiles { base: 2833, tile: 5667 }),
    ("gpt-5", OpenAiRule::Tiles { base: 70, tile: 140 }),
    ("o1", OpenAiRule::Tiles { base: 75, tile: 150 }),
    ("o3", OpenAiRule::Tiles { base: 75, tile: 150 }),
];

const GPT_4O: OpenAiRule = OpenAiRule::Tiles { base: 85, tile: 170 };

impl Provider {
    /// Returns the provider of a model by its name, with or without `provider/` before it.
    pub fn of_model(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let is_o_series = name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if ["gpt", "chatgpt", "codex"].iter().any(|family| name.starts_with(family)) || is_o_series {
            // The row `gpt-5` applies to `gpt-5-2025-08-07`, but not to `gpt-5.1`.
            let is_of =
                |model: &str| name.strip_prefix(model).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
            let own = OPENAI_RULES.iter().find(|(model, _)| is_of(model));
            Self::OpenAi(own.map_or(GPT_4O, |&(_, rule)| rule))
        } else if name.starts_with("gemini") {
            Self::Gemini
        } else {
            Self::Anthropic
        }
    }

    /// Returns the tokens of an image of this size. Only OpenAI uses `detail`.
    pub fn tokens(self, size: ImageSize, detail: Option<&str>) -> usize {
        match self {
            Self::Anthropic => anthropic_tokens(size),
            Self::OpenAi(OpenAiRule::Tiles { base, tile }) => openai_tokens(size, detail, base, tile),
            Self::OpenAi(OpenAiRule::Patches { per_hundred }) => openai_patches(size) * per_hundred / 100,
            Self::Gemini => gemini_tokens(size),
        }
    }

    /// Returns the tokens of an image in base64; [`UNREADABLE_IMAGE_TOKENS`] if there is none or its size cannot be
    /// read.
    pub fn base64_tokens(self, base64: Option<&str>, detail: Option<&str>) -> usize {
        match base64.and_then(ImageSize::of_base64) {
            Some(size) => self.tokens(size, detail),
            None => UNREADABLE_IMAGE_TOKENS,
        }
    }
}

/// The size of an image in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImageSize {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

impl ImageSize {
    /// Reads the size from the header of a PNG, JPEG, WebP or GIF file. Pixels are not decoded.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let reader = image::ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
        let (width, height) = reader.into_dimensions().ok()?;
        Some(Self { width, height })
    }

    /// Reads the size from base64, and decodes no more of it than needed.
    pub fn of_base64(base64: &str) -> Option<Self> {
        let decode = |chars: &[u8]| {
            let mut chars: Vec<u8> = chars.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            if chars.len() < base64.len() {
                chars.truncate(chars.len() / 4 * 4);
            }
            base64_simd::forgiving_decode_to_vec(&chars).ok()
        };
        let chars = base64.as_bytes();
        let of_prefix = || Self::of(&decode(chars.get(..PREFIX_CHARS)?)?);
        of_prefix().or_else(|| Self::of(&decode(chars)?))
    }
}

/// Anthropic, "Vision", section "Calculate image costs": `width * height / 750` after the image is scaled to at most
/// 1568 pixels on its long edge and about 1.15 megapixels. Larger images were billed 1,558 to 1,561 tokens in published
/// measurements, which a bound of 1,568 tokens approximates. The high-resolution tier of the newest Opus models is not
/// modelled.
fn anthropic_tokens(size: ImageSize) -> usize {
    const MAX_EDGE_PIXELS: f64 = 1568.0;
    const PIXELS_PER_TOKEN: f64 = 750.0;
    const MAX_TOKENS: usize = 1568;
    let (width, height) = fit(size, MAX_EDGE_PIXELS);
    ((width * height / PIXELS_PER_TOKEN).ceil() as usize).clamp(1, MAX_TOKENS)
}

/// OpenAI, "Images and vision": scale into 2048 x 2048, then the short side down to 768, then count 512-pixel tiles.
fn openai_tokens(size: ImageSize, detail: Option<&str>, base: usize, tile: usize) -> usize {
    const MAX_EDGE_PIXELS: f64 = 2048.0;
    const MAX_SHORT_EDGE_PIXELS: f64 = 768.0;
    const TILE_PIXELS: f64 = 512.0;
    if detail == Some("low") {
        return base;
    }
    let (width, height) = fit(size, MAX_EDGE_PIXELS);
    let shrink = (MAX_SHORT_EDGE_PIXELS / width.min(height)).min(1.0);
    let tiles = |side: f64| (side * shrink / TILE_PIXELS).ceil().max(1.0) as usize;
    base + tile * tiles(width.round()) * tiles(height.round())
}

/// OpenAI, "Images and vision": 32-pixel patches. An image of more than 1,536 patches is scaled down to at most 1,536.
fn openai_patches(size: ImageSize) -> usize {
    const PATCH_PIXELS: f64 = 32.0;
    const MAX_PATCHES: f64 = 1536.0;
    let patches = |side: f64| (side / PATCH_PIXELS).ceil().max(1.0);
    let (width, height) = (f64::from(size.width), f64::from(size.height));
    if patches(width) * patches(height) <= MAX_PATCHES {
        return (patches(width) * patches(height)) as usize;
    }
    // The image is shrunk until the patches fit, and a little more so that one side is a whole number of patches.
    let shrink = (MAX_PATCHES * PATCH_PIXELS * PATCH_PIXELS / (width * height)).sqrt();
    let whole = |side: f64| (side * shrink / PATCH_PIXELS).floor() / (side * shrink / PATCH_PIXELS);
    let shrink = shrink * whole(width).min(whole(height));
    (patches(width * shrink) * patches(height * shrink)).clamp(1.0, MAX_PATCHES) as usize
}

/// Google, "Understand and count tokens": 258 if both sides are at most 384 pixels, else 258 for each 768-pixel tile.
fn gemini_tokens(size: ImageSize) -> usize {
    const TILE_TOKENS: usize = 258;
    const SMALL_EDGE_PIXELS: u32 = 384;
    const TILE_PIXELS: u32 = 768;
    if size.width <= SMALL_EDGE_PIXELS && size.height <= SMALL_EDGE_PIXELS {
        return TILE_TOKENS;
    }
    let tiles = |side: u32| side.div_ceil(TILE_PIXELS).max(1) as usize;
    TILE_TOKENS * tiles(size.width) * tiles(size.height)
}

/// Returns the size, scaled down to at most this longest edge.
fn fit(size: ImageSize, longest: f64) -> (f64, f64) {
    let (width, height) = (f64::from(size.width), f64::from(size.height));
    let shrink = (longest / width.max(height)).min(1.0);
    (width * shrink, height * shrink)
}

#[cfg(test)]
mod tests {
    use image::{DynamicImage, ImageFormat};

    use super::*;

    fn size(width: u32, height: u32) -> ImageSize {
        ImageSize { width, height }
    }

    fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        DynamicImage::new_rgb8(width, height).write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn each_model_counts_by_its_rule() {
        #[rustfmt::skip]
        let images = [
            ("claude-opus-5", 200, 200, None, 54),
            ("claude-opus-5", 1000, 1000, None, 1334),
            ("claude-opus-5", 1, 1, None, 1),
            ("claude-opus-5", 1568, 300, None, 628),
            ("claude-opus-5", 3136, 600, None, 628),
            ("claude-opus-5", 4000, 3000, None, 1568),
            // The next three are examples from OpenAI's documentation.
            ("gpt-4o", 1024, 1024, Some("high"), 765),
            ("gpt-4o", 2048, 4096, Some("high"), 1105),
            ("gpt-4o", 4096, 8192, Some("low"), 85),
            ("gpt-4o", 512, 512, None, 255),
            ("gpt-4o", 1, 1, Some("auto"), 255),
            ("o3", 512, 512, None, 225),
            ("gpt-5", 1024, 1024, None, 630),
            ("openai/gpt-5-2025-08-07", 1024, 1024, None, 630),
            ("gpt-5-chat-latest", 1024, 1024, None, 630),
            ("gpt-4.1-mini-2025-04-14", 1024, 1024, None, 1024 * 162 / 100),
            // The documentation's example has 1452 patches after scaling.
            ("gpt-4.1-mini-2025-04-14", 1800, 2400, None, 1452 * 162 / 100),
            ("gpt-4.1-mini-2025-04-14", 10, 10, None, 1),
            ("gpt-5-mini", 1024, 1024, None, 1024 * 162 / 100),
            ("gpt-5-nano-2025-08-07", 1024, 1024, None, 1024 * 246 / 100),
            ("gpt-5.4-mini", 1024, 1024, None, 1024 * 162 / 100),
            ("gpt-5.4-nano", 1024, 1024, None, 1024 * 246 / 100),
            ("codex-mini-latest", 1024, 1024, None, 1024 * 172 / 100),
            ("gemini-2.5-pro", 384, 384, None, 258),
            ("gemini-2.5-pro", 385, 10, None, 258),
            ("gemini-2.5-pro", 768, 769, None, 516),
            ("gemini-2.5-pro", 1600, 800, None, 258 * 6),
        ];
        for (model, width, height, detail, tokens) in images {
            let found = Provider::of_model(model).tokens(size(width, height), detail);
            assert_eq!(found, tokens, "{model}: {width} x {height}");
        }
    }

    #[test]
    fn a_model_name_tells_the_provider() {
        for (model, provider) in [
            ("claude-opus-5", Provider::Anthropic),
            ("anthropic/claude-sonnet-5", Provider::Anthropic),
            ("kimi-code", Provider::Anthropic),
            ("openrouter/auto", Provider::Anthropic),
            ("openai/gpt-5.1-codex", Provider::OpenAi(GPT_4O)),
            ("GPT-4o", Provider::OpenAi(GPT_4O)),
            ("o9", Provider::OpenAi(GPT_4O)),
            ("google/gemini-2.5-pro", Provider::Gemini),
        ] {
            assert_eq!(Provider::of_model(model), provider, "{model}");
        }
    }

    #[test]
    fn sizes_are_read_from_the_header_alone() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif] {
            let bytes = encoded(640, 33, format);
            assert_eq!(ImageSize::of(&bytes), Some(size(640, 33)), "{format:?}");
            let base64 = base64_simd::STANDARD.encode_to_string(&bytes);
            assert_eq!(ImageSize::of_base64(&base64), Some(size(640, 33)), "{format:?}");
            let lines: Vec<&str> =
                base64.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
            assert_eq!(ImageSize::of_base64(&lines.join("\r\n")), Some(size(640, 33)), "{format:?} in lines");
            assert_eq!(ImageSize::of_base64(base64.trim_end_matches('=')), Some(size(640, 33)), "{format:?} unpadded");
        }
    }

    #[test]
    fn a_large_file_with_junk_behind_its_header_is_read() {
        let mut bytes = encoded(900, 700, ImageFormat::Png);
        bytes.extend(vec![7; 300_000]);
        assert_eq!(ImageSize::of_base64(&base64_simd::STANDARD.encode_to_string(&bytes)), Some(size(900, 700)));
    }

    #[test]
    fn an_unreadable_image_counts_a_constant_whatever_its_length() {
        for base64 in [None, Some(""), Some("AAAA"), Some("not base64!"), Some("x".repeat(500_000).as_str())] {
            assert_eq!(Provider::Anthropic.base64_tokens(base64, None), UNREADABLE_IMAGE_TOKENS);
        }
    }
}
