//! Tests of images: they are shrunk to what a model perceives, never grow, and are restored byte for byte.

use std::io::Cursor;

use concertina::assemble::{AssembleOptions, Engine, FetchedBlock};
use concertina::config::{Config, Encoding, Preset};
use concertina::pipeline::images::{ShrunkImage, shrink_image};
use concertina::pipeline::{BlockAction, FusionEngine, MessagesOptions, compress_messages};
use concertina::reference::{Media, find_markers};
use concertina::tokens;
use concertina::tokens::vision::{ImageSize, Provider};
use image::codecs::gif::GifEncoder;
use image::{DynamicImage, Frame, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engines::{fetch, scope};
use crate::{corpus, engines};

/// Returns a screenshot: a light page with dark strokes.
fn screen(width: u32, height: u32) -> DynamicImage {
    RgbImage::from_fn(width, height, |x, y| {
        let is_ink = y % 24 < 14 && (x * 7 + y / 24 * 13) % 11 < 4 && x % 600 > 40;
        if is_ink { Rgb([30, 30, 40]) } else { Rgb([250, 250, 245]) }
    })
    .into()
}

/// Returns a picture with many colours.
fn photo(width: u32, height: u32) -> DynamicImage {
    let mut state = 7_u32;
    RgbImage::from_fn(width, height, |x, y| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let grain = (state >> 28) as u8;
        Rgb([(x * 200 / width) as u8 + grain, (y * 200 / height) as u8 + grain, ((x + y) / 16 % 200) as u8 + grain])
    })
    .into()
}

fn encoded(pixels: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    pixels.write_to(&mut bytes, format).expect("an image that can be encoded");
    bytes.into_inner()
}

fn jpeg(pixels: &[u8], width: u32, height: u32, color: jpeg_encoder::ColorType) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut bytes, 95);
    encoder.encode(pixels, width as u16, height as u16, color).expect("an image that can be encoded");
    bytes
}

fn providers() -> [Provider; 4] {
    ["claude-opus-5", "gpt-5", "gpt-4.1-mini", "gemini-2.5-pro"].map(Provider::of_model)
}

/// Shrinks an image and checks the properties of every result.
fn shrink(name: &str, bytes: &[u8], provider: Provider, preset: Preset) -> Option<ShrunkImage> {
    let shrunk = shrink_image(bytes, None, provider, preset)?;
    assert!(shrunk.bytes.len() < bytes.len(), "{name}: bytes");
    assert!(shrunk.tokens_after <= shrunk.tokens_before, "{name}: tokens");
    let pixels = image::load_from_memory(&shrunk.bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let size = ImageSize { width: pixels.width(), height: pixels.height() };
    assert_eq!(ImageSize::of(&shrunk.bytes), Some(size), "{name}");
    assert_eq!(provider.tokens(size, None), shrunk.tokens_after, "{name}");
    assert_eq!(image::guess_format(&shrunk.bytes).expect("a format").to_mime_type(), shrunk.mime, "{name}");
    assert_eq!(shrink_image(&shrunk.bytes, None, provider, preset), None, "{name}: what is shrunk stays");
    Some(shrunk)
}

#[test]
fn real_images_never_grow() {
    let inputs = corpus::inputs("images");
    for (model, preset) in [
        ("claude-opus-5", Preset::Balanced),
        ("claude-opus-5", Preset::Max),
        ("gpt-5", Preset::Max),
        ("gemini-2.5-pro", Preset::Max),
    ] {
        let provider = Provider::of_model(model);
        let (mut before, mut saved) = ((0, 0), (0, 0));
        for input in &inputs {
            let Some(size) = ImageSize::of(&input.bytes) else { continue };
            before = (before.0 + input.bytes.len(), before.1 + provider.tokens(size, None));
            let Some(shrunk) = shrink(&input.name, &input.bytes, provider, preset) else { continue };
            saved.0 += input.bytes.len() - shrunk.bytes.len();
            saved.1 += shrunk.tokens_before - shrunk.tokens_after;
            println!(
                "  {} {}x{} {} -> {} {}",
                input.name,
                size.width,
                size.height,
                input.bytes.len(),
                shrunk.bytes.len(),
                shrunk.mime
            );
        }
        println!("{model}, {}: {} of {} bytes, {} of {} tokens", preset.as_str(), saved.0, before.0, saved.1, before.1);
    }
}

#[test]
fn the_same_image_gives_the_same_bytes() {
    let bytes = encoded(&photo(1500, 1000), ImageFormat::Png);
    let shrink = || shrink_image(&bytes, None, Provider::Anthropic, Preset::Max);
    assert!(shrink().is_some());
    assert_eq!(shrink(), shrink());
}

#[test]
fn every_format_shrinks_to_what_is_perceived() {
    let (wide, anthropic) = ((1800, 1200), Provider::Anthropic);
    let grey = DynamicImage::from(photo(wide.0, wide.1).to_luma8());
    let deep = DynamicImage::from(photo(wide.0, wide.1).to_rgb16());
    for (name, bytes, mime) in [
        ("png photo", encoded(&photo(wide.0, wide.1), ImageFormat::Png), "image/jpeg"),
        ("webp photo", encoded(&photo(wide.0, wide.1), ImageFormat::WebP), "image/jpeg"),
        ("gif", encoded(&photo(wide.0, wide.1), ImageFormat::Gif), "image/jpeg"),
        ("grey png", encoded(&grey, ImageFormat::Png), "image/jpeg"),
        ("16-bit png", encoded(&deep, ImageFormat::Png), "image/jpeg"),
        ("jpeg", jpeg(&photo(wide.0, wide.1).to_rgb8(), wide.0, wide.1, jpeg_encoder::ColorType::Rgb), "image/jpeg"),
    ] {
        let shrunk = shrink(name, &bytes, anthropic, Preset::Balanced).unwrap_or_else(|| panic!("{name} stays"));
        assert_eq!(shrunk.mime, mime, "{name}");
        let size = ImageSize::of(&shrunk.bytes).expect("a size");
        assert_eq!((size.width, size.height), (1313, 875), "{name}: 1.15 megapixels of the same shape");
    }
}

#[test]
fn a_flat_drawing_stays_png() {
    let flat =
        RgbImage::from_fn(1800, 1200, |x, y| if x > 600 && y > 400 { Rgb([20, 90, 160]) } else { Rgb([255; 3]) });
    // Poorly compressed, as many tools do.
    let mut bytes = Vec::new();
    let quality = image::codecs::png::CompressionType::Fast;
    let encoder =
        image::codecs::png::PngEncoder::new_with_quality(&mut bytes, quality, image::codecs::png::FilterType::NoFilter);
    flat.write_with_encoder(encoder).unwrap();
    let shrunk = shrink("flat", &bytes, Provider::Anthropic, Preset::Balanced).expect("it shrinks");
    assert_eq!(shrunk.mime, "image/png");
}

#[test]
fn what_is_transparent_stays_transparent() {
    let photo = photo(1800, 1200).to_rgb8();
    let see_through = RgbaImage::from_fn(1800, 1200, |x, y| {
        let [r, g, b] = photo.get_pixel(x, y).0;
        Rgba([r, g, b, if x < 900 { 0 } else { 255 }])
    });
    let bytes = encoded(&see_through.into(), ImageFormat::Png);
    let shrunk = shrink("see-through", &bytes, Provider::Anthropic, Preset::Balanced).expect("it shrinks");
    let pixels = image::load_from_memory(&shrunk.bytes).unwrap().to_rgba8();
    assert_eq!(pixels.get_pixel(10, 10).0[3], 0);
    assert_eq!(pixels.get_pixel(pixels.width() - 10, 10).0[3], 255);
}

/// Adds an Exif segment with a rotation by 90 degrees clockwise.
fn turned(jpeg: &[u8]) -> Vec<u8> {
    let exif = b"\xff\xe1\x00\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    [&jpeg[..2], exif, &jpeg[2..]].concat()
}

#[test]
fn a_turned_photo_comes_out_upright() {
    let (width, height) = (1800, 1200);
    let pixels = RgbImage::from_fn(width, height, |x, y| {
        let spot = if (x / 3 + y / 5) % 7 == 0 { 40 } else { 0 };
        if y < height / 2 { Rgb([200, 20 + spot, 20]) } else { Rgb([20, 20 + spot, 200]) }
    });
    let bytes = turned(&jpeg(&pixels, width, height, jpeg_encoder::ColorType::Rgb));
    let shrunk = shrink("turned", &bytes, Provider::Anthropic, Preset::Balanced).expect("it shrinks");
    let upright = image::load_from_memory(&shrunk.bytes).unwrap().to_rgb8();
    assert!(upright.width() < upright.height());
    let (left, right) = (upright.get_pixel(20, 700).0, upright.get_pixel(upright.width() - 20, 700).0);
    assert!(left[2] > 150 && right[0] > 150, "what was the upper half is the right one: {left:?} {right:?}");
}

#[test]
fn images_that_cannot_be_shrunk_stay() {
    let png = encoded(&photo(1800, 1200), ImageFormat::Png);
    let whole = jpeg(&photo(1800, 1200).to_rgb8(), 1800, 1200, jpeg_encoder::ColorType::Rgb);
    let cmyk = jpeg(&vec![90; 1800 * 1200 * 4], 1800, 1200, jpeg_encoder::ColorType::Cmyk);
    let mut huge = png.clone();
    huge[16..24].copy_from_slice(&[0, 1, 0x86, 0xa0, 0, 1, 0x86, 0xa0]);
    let checksum = crc32(&huge[12..29]);
    huge[29..33].copy_from_slice(&checksum.to_be_bytes());
    assert_eq!(ImageSize::of(&huge), Some(ImageSize { width: 100_000, height: 100_000 }), "the header is believed");
    let frame = || Frame::new(screen(1800, 1000).to_rgba8());
    let mut animation = Vec::new();
    GifEncoder::new_with_speed(&mut animation, 30).encode_frames([frame(), frame()]).unwrap();
    for (name, bytes) in [
        ("nothing", Vec::new()),
        ("one byte", vec![0x89]),
        ("a header alone", png[..33].to_vec()),
        ("a cut PNG", png[..png.len() / 2].to_vec()),
        ("a cut JPEG", whole[..whole.len() / 2].to_vec()),
        ("a JPEG header alone", whole[..600].to_vec()),
        ("a JPEG mark alone", whole[..2].to_vec()),
        ("a CMYK JPEG", cmyk),
        ("a PNG that claims 100,000 x 100,000", huge),
        ("an animation", animation),
        ("text", b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec()),
        ("a small image", encoded(&photo(800, 600), ImageFormat::Png)),
        ("a small spot", encoded(&photo(1, 1), ImageFormat::Png)),
    ] {
        for provider in providers() {
            assert_eq!(shrink_image(&bytes, None, provider, Preset::Max), None, "{name}, {provider:?}");
        }
    }
    assert!(shrink_image(&png, None, Provider::Anthropic, Preset::Lossless).is_none());
    assert!(shrink_image(&[&png[..], b"and more"].concat(), None, Provider::Anthropic, Preset::Max).is_some());
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc: u32, _| (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1)))
    })
}

fn base64(bytes: &[u8]) -> String {
    base64_simd::STANDARD.encode_to_string(bytes)
}

/// Returns a tool result with a text, two images and another text, in each shape.
fn shapes(images: [&[u8]; 2]) -> [Vec<Value>; 3] {
    let urls = images.map(|bytes| format!("data:image/png;base64,{}", base64(bytes)));
    let text = |words: &str| json!({ "type": "text", "text": words });
    let own = images.map(|bytes| json!({ "type": "image", "data": base64(bytes), "mimeType": "image/png", "x": 1 }));
    let anthropic = images.map(
        |bytes| json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": base64(bytes) } }),
    );
    let openai = urls.map(|url| json!({ "type": "image_url", "image_url": { "url": url, "detail": "high" } }));
    let content = |[one, two]: [Value; 2]| json!([text("before"), one, text("between"), two]);
    let user = json!({ "role": "user", "content": "go" });
    [
        vec![
            user.clone(),
            json!({ "role": "toolResult", "toolCallId": "c", "toolName": "browser", "content": content(own) }),
        ],
        vec![
            user.clone(),
            json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "c", "content": content(anthropic) }] }),
        ],
        vec![user, json!({ "role": "tool", "tool_call_id": "c", "content": content(openai) })],
    ]
}

fn content(message: &Value) -> &Vec<Value> {
    message["content"][0]["content"].as_array().or(message["content"].as_array()).expect("a list")
}

fn note(message: &Value, at: usize) -> &str {
    content(message)[at]["text"].as_str().expect("a note")
}

#[test]
fn images_of_tool_results_shrink_in_every_shape() {
    let (one, two) = (encoded(&photo(2000, 1125), ImageFormat::Png), encoded(&screen(300, 200), ImageFormat::Png));
    for messages in shapes([&one, &two]) {
        let mut options = MessagesOptions::default();
        options.compress.preset = Preset::Max;
        let done = compress_messages(&FusionEngine::default(), &messages, &options, &|| 0.0);
        let after = done.rewrite.apply(&messages);
        assert_eq!(after[0], messages[0]);
        let (was, now) = (content(&messages[1]), content(&after[1]));
        assert_eq!((&now[0], &now[2], &now[3], now.len()), (&was[0], &was[2], &was[3], 5));
        assert!(now[1].to_string().len() < was[1].to_string().len() / 2);
        assert!(was[1]["image_url"].is_null() || now[1]["image_url"]["detail"] == "high");
        assert_eq!(done.blocks.len(), 1);
        assert_eq!((done.blocks[0].block, done.blocks[0].action), (1, BlockAction::Shrunk));
        assert!(done.tokens_after < done.tokens_before);
        assert_eq!((&done.originals[0].bytes, &done.originals[0].media), (&one, &Media::Image("image/png".into())));
        let printed = note(&after[1], 4);
        assert!(printed.contains("(original image: 2000x1125 PNG, "), "{printed}");
        let id = done.originals[0].hash.to_ref_id(16);
        assert_eq!(find_markers(printed).next().unwrap().1, concertina::reference::Marker::Reference(id));
        let again = compress_messages(&FusionEngine::default(), &after, &options, &|| 0.0);
        assert!(again.rewrite.is_empty());
        options.compress.preset = Preset::Lossless;
        assert!(compress_messages(&FusionEngine::default(), &messages, &options, &|| 0.0).rewrite.is_empty());
    }
}

#[test]
fn an_image_before_another_result_of_the_same_message_stays() {
    let image = encoded(&photo(2000, 1125), ImageFormat::Png);
    let mut message = shapes([&image, &image])[1].remove(1);
    let second = json!({ "type": "tool_result", "tool_use_id": "d", "content": "the other result" });
    message["content"].as_array_mut().unwrap().push(second);
    let messages = [message];
    let done = compress_messages(&FusionEngine::default(), &messages, &MessagesOptions::default(), &|| 0.0);
    assert!(done.rewrite.is_empty(), "its note would move what references name by number");
}

fn open(dir: &TempDir, preset: Preset) -> Engine {
    engines::open(dir, Config { preset, ..Config::default() })
}

#[test]
fn the_original_comes_back_byte_for_byte_fresh_and_stale() {
    let images = [encoded(&photo(2000, 1125), ImageFormat::Png), encoded(&screen(1920, 1080), ImageFormat::Png)];
    for preset in [Preset::Balanced, Preset::Max] {
        let dir = TempDir::new().unwrap();
        let engine = open(&dir, preset);
        let mut message = shapes([&images[0], &images[1]])[0].remove(1);
        let long = "the very same words again and again, ".repeat(2_000);
        message["content"][2]["text"] = json!(long);
        let admitted = engine.admit(&scope(), None, &message, 1);
        assert_eq!(admitted.report.warning, None);
        let shown = admitted.rewrite.apply(std::slice::from_ref(&message)).remove(0);
        let parts = content(&shown);
        assert_eq!(parts[0], message["content"][0]);
        assert!(parts[2]["text"].as_str().unwrap().len() < long.len(), "the text in the middle is replaced as well");
        assert_eq!(parts[1]["x"], 1, "unknown fields stay");
        let shrunk: Vec<_> = admitted.report.actions.iter().filter(|action| action.reason == "shrunk").collect();
        assert_eq!(parts.len(), 4 + shrunk.len());
        assert!(shrunk.iter().any(|action| action.block == 1));
        for (nth, action) in shrunk.iter().enumerate() {
            assert!(action.tokens_after <= action.tokens_before);
            let printed = note(&shown, 4 + nth);
            let id = action.ref_id.as_deref().unwrap();
            assert!(printed.starts_with(&format!("[REF_ID: {id}] (original image: ")), "{printed}");
            let bytes = ImageSize::of_base64(parts[action.block]["data"].as_str().unwrap()).expect("a size");
            let tokens = Provider::Anthropic.tokens(bytes, None) + tokens::count(printed, Encoding::O200kBase);
            assert_eq!(action.tokens_after, tokens as u64);
            let original = &images[action.block / 2];
            assert_eq!(fetch(&engine, id), FetchedBlock::Image(original.clone(), "image/png".into()));
        }
        assert!(engine.admit(&scope(), None, &shown, 2).rewrite.is_empty(), "once is enough");

        let mut messages = vec![json!({ "role": "user", "content": "go", "timestamp": 1 }), shown.clone()];
        messages.extend((0..6).map(|turn| json!({ "role": "user", "content": "on", "timestamp": 10 + turn })));
        let before = engine.store().stats(None).unwrap().originals;
        let folded = engine.assemble(&scope(), &messages, &AssembleOptions::default(), 3);
        let after = folded.rewrite.apply(&messages).remove(1);
        let placeholder = after["content"][1]["text"].as_str().expect("a stale image is a placeholder");
        assert!(placeholder.contains(shrunk[0].ref_id.as_deref().unwrap()), "it names the original: {placeholder}");
        assert_eq!(after["content"][4], shown["content"][4], "its note stays");
        let stored = engine.store().stats(None).unwrap().originals;
        assert_eq!(stored - before, 2 - shrunk.len() as u64, "nothing is stored twice");
    }
}

#[test]
fn a_fetched_image_and_a_content_with_foreign_values_stay() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir, Preset::Max);
    let image = encoded(&photo(2000, 1125), ImageFormat::Png);
    let message = |tool: &str, foreign: Value| {
        json!({ "role": "toolResult", "toolCallId": "c", "toolName": tool,
                "content": [{ "type": "image", "data": base64(&image), "mimeType": "image/png" }, foreign] })
    };
    let text = json!({ "type": "text", "text": "x" });
    assert!(!engine.admit(&scope(), None, &message("browser", text.clone()), 1).rewrite.is_empty());
    assert!(engine.admit(&scope(), None, &message("fetch_original_data", text), 1).rewrite.is_empty());
    let foreign = json!({ "type": "text", "text": { "\0opaque": 0 } });
    assert!(engine.admit(&scope(), None, &message("browser", foreign), 1).rewrite.is_empty());
}
