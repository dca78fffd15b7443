//! The kinds of keys that show by their form what they are, by issuer.
//!
//! A row is for a key as its issuer makes it. `format` rows are found by their form alone; in `common` rows words have the
//! same form, so the body must look random too.

use std::ops::Range;

use super::{is_base64, is_word};

/// The characters of a key's body.
#[derive(Clone, Copy)]
pub(super) enum Alphabet {
    Hex,
    /// Letters and digits.
    Alnum,
    /// Those of base64url.
    Url,
    /// Those of base64url, and dots.
    Dotted,
    /// Those of base64.
    Base64,
    /// Those of base64, also as a URL has them: `%2B`.
    Escaped,
    /// Those of base64 and of base64url.
    Both,
    /// Those of base64url, and slashes.
    Path,
}

impl Alphabet {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Url => is_word(byte) || byte == b'-',
            Self::Dotted => is_word(byte) || matches!(byte, b'-' | b'.'),
            Self::Base64 => is_base64(byte),
            Self::Escaped => is_base64(byte) || byte == b'%',
            Self::Both => is_base64(byte) || matches!(byte, b'-' | b'_'),
            Self::Path => is_word(byte) || matches!(byte, b'-' | b'/'),
        }
    }
}

/// One kind of key.
pub(super) struct Kind {
    pub(super) beginning: &'static str,
    pub(super) body: Alphabet,
    /// Length of the body in bytes.
    pub(super) length: Range<usize>,
    /// Whether words have this form too, so that the body must look random.
    pub(super) is_common: bool,
}

const fn format(beginning: &'static str, body: Alphabet, length: Range<usize>) -> Kind {
    Kind { beginning, body, length, is_common: false }
}

const fn common(beginning: &'static str, body: Alphabet, length: Range<usize>) -> Kind {
    Kind { beginning, body, length, is_common: true }
}

use Alphabet::{Alnum, Base64, Both, Dotted, Escaped, Hex, Path, Url};

/// All kinds, by issuer.
pub(super) const KINDS: &[Kind] = &[
    // AWS
    format("AKIA", Alnum, 16..17),
    format("ASIA", Alnum, 16..17),
    format("ABIA", Alnum, 16..17),
    format("ACCA", Alnum, 16..17),
    // Alibaba, Tencent
    format("LTAI", Alnum, 12..40),
    common("AKID", Alnum, 28..48),
    // GitHub
    format("ghp_", Alnum, 30..256),
    format("gho_", Alnum, 30..256),
    format("ghu_", Alnum, 30..256),
    format("ghs_", Alnum, 30..256),
    format("ghr_", Alnum, 30..256),
    format("github_pat_", Url, 50..256),
    // GitLab
    format("glpat-", Dotted, 20..300),
    format("gldt-", Url, 20..60),
    format("glrt-", Dotted, 20..300),
    format("glrtr-", Dotted, 20..300),
    format("glptt-", Url, 40..60),
    format("glcbt-", Url, 20..80),
    format("gloas-", Url, 32..80),
    format("glft-", Url, 20..60),
    format("glimt-", Url, 25..60),
    format("glagent-", Url, 50..80),
    format("glwt-", Url, 20..60),
    format("glsoat-", Url, 20..60),
    format("glffct-", Url, 20..60),
    format("GR1348941", Url, 20..60),
    common("_gitlab_session=", Dotted, 20..256),
    // Slack, Discord
    common("xoxb-", Url, 16..256),
    common("xoxp-", Url, 16..256),
    common("xoxa-", Url, 16..256),
    common("xoxr-", Url, 16..256),
    common("xoxs-", Url, 16..256),
    common("xoxe-", Url, 16..256),
    format("xoxe.", Dotted, 20..300),
    common("xapp-", Url, 16..256),
    common("https://hooks.slack.com/services/", Base64, 40..90),
    common("https://hooks.slack.com/workflows/", Base64, 40..120),
    common("https://discord.com/api/webhooks/", Path, 78..120),
    common("https://discordapp.com/api/webhooks/", Path, 78..120),
    // Google
    format("AIza", Url, 35..36),
    format("GOCSPX-", Url, 28..29),
    format("ya29.", Dotted, 30..2048),
    common("1//0", Url, 30..512),
    // Stripe
    format("sk_live_", Alnum, 16..256),
    format("rk_live_", Alnum, 16..256),
    common("sk_test_", Alnum, 16..256),
    common("rk_test_", Alnum, 16..256),
    common("whsec_", Base64, 24..128),
    // Models: OpenAI, Anthropic, OpenRouter, DeepSeek, Groq, xAI and others
    common("sk-", Url, 20..512),
    common("sk_", Url, 24..256),
    format("gsk_", Alnum, 40..128),
    common("xai-", Alnum, 30..128),
    common("pplx-", Alnum, 40..128),
    common("r8_", Alnum, 32..48),
    format("hf_", Alnum, 30..64),
    format("api_org_", Alnum, 30..64),
    common("fw-", Alnum, 30..64),
    common("fw_", Alnum, 20..64),
    common("fpk_", Alnum, 30..64),
    common("fal_", Url, 20..128),
    common("hsk-", Alnum, 20..128),
    // Search and memory for agents
    common("tvly-", Url, 20..64),
    common("exa_", Alnum, 20..64),
    common("fc-", Alnum, 20..64),
    common("brv_", Alnum, 20..64),
    common("mem0_", Alnum, 20..64),
    common("m0-", Alnum, 30..64),
    common("retaindb_", Alnum, 20..64),
    common("am_", Url, 24..128),
    common("bb_live_", Url, 20..128),
    common("apify_api_", Url, 20..64),
    format("jina_", Url, 40..128),
    // Package registries
    common("npm_", Alnum, 30..64),
    format("pypi-AgE", Url, 50..1024),
    common("pypi-", Url, 50..1024),
    format("rubygems_", Hex, 48..49),
    common("cio", Alnum, 32..33),
    format("dckr_pat_", Url, 27..33),
    format("dckr_oat_", Url, 27..33),
    format("oy2", Alnum, 43..44),
    // Hosting
    format("dop_v1_", Hex, 64..65),
    format("doo_v1_", Hex, 64..65),
    format("dor_v1_", Hex, 64..65),
    format("HRKU-", Url, 36..80),
    format("nfp_", Url, 36..48),
    common("FlyV1 fm1_", Both, 60..2048),
    common("FlyV1 fm2_", Both, 60..2048),
    common("fio-u-", Url, 40..80),
    common("dapi", Hex, 32..35),
    common("hvs.", Url, 24..256),
    common("hvb.", Url, 24..300),
    format("sbp_", Hex, 40..41),
    format("pscale_tkn_", Dotted, 32..64),
    format("pscale_pw_", Dotted, 32..64),
    // Doppler
    format("dp.ct.", Alnum, 40..45),
    format("dp.pt.", Alnum, 40..45),
    format("dp.sa.", Alnum, 40..45),
    format("dp.st.", Dotted, 40..84),
    format("dp.scim.", Alnum, 40..45),
    format("dp.audit.", Alnum, 40..45),
    // Builds, watching, work
    format("CCIPAT_", Url, 60..64),
    format("bkua_", Alnum, 40..41),
    common("ddp_", Alnum, 36..37),
    common("ddw_", Alnum, 36..37),
    format("glsa_", Url, 32..64),
    format("glc_eyJ", Base64, 60..400),
    format("NRAK-", Alnum, 27..28),
    format("sntrys_", Both, 60..512),
    format("lin_api_", Alnum, 40..41),
    common("ntn_", Alnum, 40..60),
    format("secret_", Alnum, 43..44),
    format("figd_", Url, 40..60),
    format("PMAK-", Url, 59..60),
    format("CFPAT-", Url, 40..60),
    format("shpat_", Hex, 32..33),
    format("shpss_", Hex, 32..33),
    format("pat-na1-", Url, 36..37),
    format("pat-eu1-", Url, 36..37),
    // Atlassian
    format("ATATT3", Both, 100..256),
    format("ATCTT3", Both, 100..256),
    common("ATBB", Both, 20..80),
    common("BBDC-", Both, 40..60),
    // Mail and messages
    common("SG.", Dotted, 60..80),
    common("key-", Hex, 32..33),
    common("SK", Hex, 32..33),
    common("syt_", Url, 20..128),
    // Encryption
    format("AGE-SECRET-KEY-1", Alnum, 58..59),
    common("gAAAA", Both, 80..4096),
    // Azure
    format("AccountKey=", Base64, 86..90),
    format("SharedAccessKey=", Base64, 43..46),
    common("sig=", Escaped, 43..80),
    // Headers
    common("Bearer ", Dotted, 20..2048),
    common("Basic ", Base64, 16..1024),
];
