//! Tokens of images, by each provider's published rule and the image's real size.
