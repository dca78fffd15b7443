//! The words and operators that tell the sixteen languages apart: data only, scored by [`super::code`].
//!
//! A clue is looked for in source whose lines are trimmed, joined by `\n` and cleared of comments (a comment line is left as
//! its bare marker: `//`, `///`, `//!`, `#`, `--`, `/*`). So `\n` at the start of a clue anchors it at a line's start and `\n` at
//! its end anchors it at a line's end. Where a clue's first or last character is a letter, digit or underscore, a word boundary
//! is required there. The number is its weight: 1 is weak and shared by several languages, 6 proves nearly by itself.

use crate::Language;

/// Clues of one language.
pub(super) struct Entry {
    /// The language.
    pub(super) language: Language,
    /// What is looked for, and how much it weighs.
    pub(super) clues: &'static [(&'static str, u32)],
}

/// A language that is another one with additions: what speaks for `base` speaks for it too, and it wins over `base` once its
/// own clues add up to `needs`.
pub(super) struct Dialect {
    /// The richer language.
    pub(super) language: Language,
    /// The one that it extends.
    pub(super) base: Language,
    /// The weight of own clues that it takes.
    pub(super) needs: u32,
}

/// TypeScript over JavaScript, C++ over C.
pub(super) const DIALECTS: &[Dialect] = &[
    Dialect { language: Language::TypeScript, base: Language::JavaScript, needs: 8 },
    Dialect { language: Language::Cpp, base: Language::C, needs: 9 },
];

/// What `(name: ` says, a parameter with its type or an argument with its name.
pub(super) const TYPED_PARAMETER: &[(Language, u32)] = &[
    (Language::TypeScript, 5),
    (Language::Kotlin, 2),
    (Language::Swift, 2),
    (Language::Scala, 2),
    (Language::Rust, 1),
    (Language::Python, 1),
];

/// What `.Name(` says, a call of a capitalised member.
pub(super) const CAPITAL_CALL: &[(Language, u32)] = &[(Language::CSharp, 3), (Language::Go, 3)];

/// Programs named in a `#!` line.
pub(super) const INTERPRETERS: &[(&str, Language)] = &[
    ("python", Language::Python),
    ("node", Language::JavaScript),
    ("deno", Language::TypeScript),
    ("tsx", Language::TypeScript),
    ("ts-node", Language::TypeScript),
    ("bun", Language::TypeScript),
    ("ruby", Language::Ruby),
    ("php", Language::Php),
    ("bash", Language::Shell),
    ("zsh", Language::Shell),
    ("ksh", Language::Shell),
    ("dash", Language::Shell),
    ("bats", Language::Shell),
    ("sh", Language::Shell),
    ("scala", Language::Scala),
    ("kotlin", Language::Kotlin),
    ("swift", Language::Swift),
];

/// The clues, language by language. SQL is written in lower case and matched in upper case as well.
#[rustfmt::skip]
pub(super) const LEXICON: &[Entry] = &[
    Entry { language: Language::Python, clues: &[
        ("\ndef ", 3), ("\nasync def ", 5), ("):\n", 4), ("\nfrom ", 2), ("\nimport ", 1), (" import ", 3),
        ("\nfrom typing import", 6), ("\nfrom __future__", 6), ("elif ", 3), ("\nexcept:\n", 5), ("\nexcept ", 4),
        ("\ntry:\n", 5), ("\nelse:\n", 4), ("\nfinally:\n", 5), ("\nif __name__ ==", 6), ("\nraise ", 2),
        ("\nwith ", 2), ("\npass\n", 3), ("lambda ", 2), ("self.", 2), ("(self", 4), ("cls.", 2), ("None", 2),
        ("True", 2), ("False", 2), (" not in ", 3), (" is not ", 2), (" is None", 4), ("__init__", 4),
        ("isinstance(", 4), ("len(", 1), ("**kwargs", 5), ("print(", 1), ("\n@", 1), ("\n\"\"\"\n", 3), ("\n#\n", 1),
        ("f\"", 2), ("f'", 2), ("-> None:\n", 6), (": str", 3), (": int", 1), (" and ", 1), (" or ", 1),
        ("if not ", 2), ("\nclass ", 1), ("\nfor ", 1), (" in ", 1), ("range(", 2), ("str(", 1), ("dict(", 2),
        ("\nassert ", 2), ("ValueError", 3), ("\nyield ", 1),
    ] },
    Entry { language: Language::JavaScript, clues: &[
        ("\nconst ", 2), ("\nlet ", 1), ("\nvar ", 1), ("function(", 3), ("function (", 3), ("\nfunction ", 2),
        ("\nexport function ", 5), ("\nexport const ", 5), ("\nexport default ", 5), ("\nexport class ", 5),
        ("\nexport {", 5), ("\nexport * from ", 6), ("\nimport {", 4), ("\nimport * as ", 5), ("} from '", 5),
        ("} from \"", 5), (" from '", 4), (" from \"", 3), ("=> {\n", 3), (") => ", 2), ("===", 4), ("!==", 4),
        ("require('", 4), ("require(\"", 4), ("module.exports", 6), ("\nexports.", 5), ("'use strict'", 6),
        ("\"use strict\"", 6), ("undefined", 4), ("typeof ", 3), ("console.log(", 4), ("console.error(", 4),
        (".prototype.", 5), ("JSON.stringify(", 4), ("JSON.parse(", 3), ("Array.isArray(", 4), ("Object.keys(", 4),
        ("document.", 3), ("window.", 2), ("process.env", 3), ("new Promise(", 4), ("this.", 1), ("});\n", 3),
        ("})\n", 1), ("await ", 1), ("async ", 1), ("`${", 3), (".then(", 2), (".length", 1), (".push(", 1),
        (".forEach(", 2), ("null", 1), ("constructor(", 2), ("\n//\n", 1), ("\n/*\n", 1), ("describe(", 3),
        ("expect(", 2), ("void 0", 3), ("\nexport ", 3), ("\nexport async function ", 5),
    ] },
    Entry { language: Language::TypeScript, clues: &[
        (": string", 4), (": number", 4), (": boolean", 4), (": any", 4), (": unknown", 4), ("): void", 2),
        ("?: ", 2), ("\nexport interface ", 6), ("\nexport type ", 6), ("\nimport type ", 6), ("\nexport enum ", 4),
        ("\nexport abstract class ", 5), ("\ndeclare ", 3), (" as const", 6), (" as any", 5), (" as unknown as ", 6),
        ("Record<string", 6), ("Promise<", 4), ("Partial<", 4), ("keyof ", 6), ("| undefined", 5), ("| null", 4),
        ("string[]", 2), ("number[]", 4), ("readonly ", 2), (" satisfies ", 5), ("\nprivate readonly ", 2),
        ("\ninterface ", 1), ("\ntype ", 1), (" extends object", 2), ("<T>", 1), ("<T,", 1), ("(this: ", 4),
        (": never", 4), ("{ type ", 4), ("@ts-", 4), ("\nprivate ", 4), ("\nprotected ", 4), ("\npublic ", 3),
        ("\nabstract ", 3), ("!.", 2), (" as ", 1), ("[] = ", 2), ("\nprivate static ", 3), ("\nexport declare ", 6),
        (", type ", 4),
    ] },
    Entry { language: Language::Java, clues: &[
        ("\nimport java.", 6), ("\nimport javax.", 6), ("\nimport static ", 5), ("\nimport org.", 2),
        ("\nimport com.", 2), ("\nimport android", 2), ("\npackage ", 1), ("\npublic class ", 3),
        ("\npublic final class ", 4), ("\npublic interface ", 2), ("\npublic enum ", 2), ("\npublic static ", 3),
        ("public static void main(String", 6), ("\npublic void ", 3), ("\npublic ", 1), ("\nprivate ", 1),
        ("\nprivate final ", 5), ("private static final ", 6), ("public static final ", 6), ("\nprotected ", 1),
        ("final ", 2), ("@Override", 4), ("throws ", 4), (" extends ", 2), (" implements ", 3), (" new ", 1),
        ("String ", 3), ("boolean ", 3), ("System.out", 5), ("instanceof ", 2), ("@Nullable", 2), ("@Test", 2),
        ("@Autowired", 5), ("ArrayList", 3), ("synchronized", 3), ("List<", 1), ("Map<", 1), ("List<String>", 2),
        ("throw new ", 1), ("catch (", 1), ("(final ", 4), ("null", 1), (".equals(", 4), (".class)", 4),
        ("Integer", 2), ("int ", 1), ("void ", 1), ("this.", 1), ("\n/*\n", 1), ("\n//\n", 1), ("return ", 1),
        (";\n", 1), ("super(", 2), ("String.", 2), ("toString()", 1),
    ] },
    Entry { language: Language::C, clues: &[
        ("\n#include <", 4), ("\n#include \"", 4), ("\n#define ", 4), ("\n#ifdef ", 4), ("\n#ifndef ", 4),
        ("\n#endif", 3), ("\n#else\n", 3), ("\n#if defined", 4), ("\n#if ", 1), ("\n#pragma ", 2), ("\ntypedef ", 4),
        ("typedef struct", 5), ("\nstruct ", 1), ("struct ", 1), ("->", 1), ("NULL", 3), ("malloc(", 3),
        ("memcpy(", 4), ("memset(", 4), ("strlen(", 3), ("sizeof(", 3), ("char *", 4), ("void *", 4),
        ("const char *", 4), ("const char* ", 3), ("unsigned ", 3), ("uint8_t", 3), ("uint32_t", 3), ("uint64_t", 3),
        ("size_t", 3), ("int ", 1), ("void ", 1), ("(void)", 4), ("static ", 1), ("\nstatic ", 1),
        ("static const ", 2), ("\nextern ", 3), ("goto ", 3), ("printf(", 1), ("fprintf(", 3), ("inline ", 2),
        ("\n{\n", 2), ("switch(", 1), ("\ncase ", 1), ("\nbreak;\n", 1), (";\n", 1), ("return ", 1), ("\n/*\n", 1),
        ("\n//\n", 1), ("if(", 1), ("enum {\n", 2), ("union ", 2), ("__attribute__", 4),
    ] },
    Entry { language: Language::Cpp, clues: &[
        ("std::", 5), ("::", 1), ("template <", 5), ("template<", 5), ("\nnamespace ", 4), ("using namespace ", 4),
        ("\nusing ", 1), ("\nclass ", 2), ("\npublic:\n", 6), ("\nprivate:\n", 6), ("\nprotected:\n", 6),
        ("virtual ", 3), ("nullptr", 5), ("const auto", 3), ("auto ", 2), ("auto& ", 4), ("static_cast<", 5),
        ("reinterpret_cast<", 5), ("const_cast<", 5), ("dynamic_cast<", 5), ("operator", 3), ("constexpr ", 4),
        ("noexcept", 4), (" override;\n", 3), (" = delete;\n", 6), (" = default;\n", 5), ("typename ", 5),
        ("explicit ", 3), ("\nfriend ", 3), ("unique_ptr", 4), ("*this", 4), ("this->", 3), (" const {\n", 3),
        (" const;\n", 3), ("const std::", 5), ("bool ", 1), ("cout <<", 5), ("\n} // namespace", 4), ("delete ", 1),
        ("new ", 1), (") : ", 1), ("mutable ", 3), ("\nenum class ", 5), (" final\n", 2), ("true", 1), ("false", 1),
        ("#include <string>\n", 5), ("#include <vector>\n", 5), ("#include <memory>\n", 5),
        ("#include <iostream>\n", 5),
    ] },
    Entry { language: Language::CSharp, clues: &[
        ("\nusing System", 6), ("\nusing ", 2), ("\nnamespace ", 3), ("{ get; set; }", 6), ("{ get; }", 6),
        ("{ get; private set; }", 6), ("{ get; init; }", 6), ("\nget\n", 5), ("\npublic override ", 5),
        ("\npublic sealed ", 5), ("\npublic partial ", 6), ("\npublic virtual ", 5), ("\npublic abstract ", 2),
        ("\npublic static ", 3), ("\npublic class ", 3), ("\npublic async ", 5), ("\npublic void ", 3),
        ("\npublic ", 1), ("\nprivate ", 1), ("\nprivate readonly ", 4), ("private static readonly ", 6),
        ("\ninternal ", 4), ("string ", 3), ("string? ", 4), ("string[] ", 2), ("foreach (var ", 6), ("foreach (", 3),
        ("var ", 1), ("async Task", 6), ("Task<", 4), ("\n#region", 6), ("\n#endregion", 6), ("readonly ", 2),
        ("\n///<\n", 5), ("nameof(", 5), ("typeof(", 3), ("[Test]", 5), ("[Fact]", 5), ("Assert.", 2),
        ("out var ", 5), (" out ", 1), ("object ", 2), ("bool ", 2), ("int ", 1), ("IEnumerable<", 6), ("List<", 1),
        ("Dictionary<", 3), (".ToString()", 4), ("Console.Write", 6), ("throw new ", 1), ("catch (", 1),
        (" is null", 3), ("!= null", 1), ("== null", 1), ("new ", 1), ("\n{\n", 2), ("void ", 1), (" where T : ", 5),
        ("await ", 1), ("return ", 1), (";\n", 1), ("StringBuilder", 1), (" => ", 1), ("this.", 1), (" as ", 1),
        ("\n#if !", 3), ("\n#if (", 2), (".Length", 3), (".Count", 3), ("StringComparison.", 5),
        ("protected override ", 6), ("public const ", 3), ("\nelse\n", 2), ("InvariantCulture", 5), ("Exception(", 1),
        ("out ", 1), ("\nif (", 1),
    ] },
    Entry { language: Language::Go, clues: &[
        ("\npackage ", 1), ("\npackage main\n", 6), ("\nfunc ", 3), ("\nfunc (", 6), ("\nfunc Test", 5), (" := ", 4),
        ("err != nil", 6), ("nil", 2), ("\nimport (\n", 6), (" struct {\n", 3), (" interface {\n", 2), ("\ntype ", 2),
        ("chan ", 4), ("go func(", 5), ("\ndefer ", 3), ("fmt.", 5), ("[]string", 5), ("[]byte", 5),
        ("map[string]", 6), (":= range ", 6), ("interface{}", 5), ("struct{", 3), ("func(", 2), ("make(", 2),
        ("append(", 1), ("*testing.T", 6), (", error) {\n", 6), (" error {\n", 5), ("context.Context", 4),
        ("\nswitch ", 1), (" string) ", 3), ("string {\n", 3), ("bool {\n", 2), ("t.Fatalf(", 5), ("t.Errorf(", 5),
        ("errors.New(", 4), (" int64", 3), ("strings.", 3), ("\n//\n", 1), ("for _, ", 6), ("\nvar ", 1),
        ("var _ ", 4), ("&", 1), ("filepath.", 3), ("return nil", 4), ("\nconst (\n", 5), ("\nvar (\n", 5),
        ("*http.", 4), ("time.Duration", 4), (" == nil", 4), (" != nil", 4), ("\ncase ", 1), ("require.NoError(", 6),
        ("assert.", 2), ("&cobra.", 5), ("json:\"", 5),
    ] },
    Entry { language: Language::Rust, clues: &[
        ("\nuse std::", 6), ("\nuse crate::", 6), ("\nuse super::", 6), ("\nuse ", 2), ("\npub use ", 6),
        ("\npub fn ", 6), ("\nfn ", 5), ("fn ", 1), ("\nimpl ", 5), ("\nimpl<", 6), ("let mut ", 6), ("let ", 1),
        ("&self", 6), ("&mut ", 5), ("\n#[", 3), ("\n#[derive(", 6), ("\n#[test]\n", 6), ("\n#![", 6),
        ("-> Result<", 5), ("-> ", 1), ("Option<", 3), ("Result<", 2), ("Some(", 2), ("None", 1), ("Ok(", 4),
        ("Err(", 4), ("\nmatch ", 3), (".unwrap()", 5), ("\npub struct ", 6), ("\npub enum ", 6), ("pub ", 6),
        ("pub(super) ", 6), ("\nmod ", 4), ("\npub mod ", 6), ("\ntrait ", 1), ("\npub trait ", 6), ("'static ", 5),
        ("<'a>", 6), ("&'a ", 6), ("::<", 3), ("::", 2), ("println!(", 6), ("vec![", 6), ("format!(", 6),
        ("macro_rules!", 6), ("assert_eq!(", 6), ("assert!(", 6), ("dyn ", 4), ("as usize", 5), ("usize", 3),
        ("u8", 2), ("u32", 2), ("u64", 2), ("i32", 2), ("i64", 1), ("f64", 2), ("&str", 5), ("Self", 2),
        ("if let ", 3), ("\nloop {\n", 4), ("\n///\n", 2), ("\n//!\n", 4), ("unsafe {", 4), ("async fn ", 6),
        ("Box<", 3), ("Vec<", 4), (" => {\n", 1), ("\nwhere\n", 4), ("String", 1), ("Self {\n", 5), (".iter()", 3),
        (".clone()", 2), ("mem::", 3), ("pub const ", 4), ("&[", 2), ("\nconst ", 1), ("] = [\n", 2),
        ("pub static ", 4),
    ] },
    Entry { language: Language::Ruby, clues: &[
        ("\ndef ", 3), ("\nend\n", 6), ("\nmodule ", 4), ("\nrequire '", 5), ("\nrequire \"", 5),
        ("\nrequire_relative ", 6), (" do |", 6), (" do\n", 3), ("\nattr_", 6), ("\n@", 2), (" @", 1), ("nil", 2),
        (".nil?", 6), ("elsif ", 4), ("\nunless ", 4), (" unless ", 3), ("\nrescue", 5), ("\nensure\n", 5),
        ("\nputs ", 4), ("\ndef self.", 6), (".each do", 6), ("||= ", 4), (" => ", 1), ("raise ArgumentError", 5),
        ("\nwhen ", 2), ("\nclass ", 1), (".freeze", 4), ("&.", 2), ("\ninclude ", 3), ("alias_method", 5),
        ("\nalias ", 4), ("\nbegin\n", 2), ("\nprivate\n", 5), ("\nsuper\n", 3), ("&block", 6), ("block_given?", 6),
        ("#{", 4), ("(:", 3), (" :", 1), ("::", 1), ("\nyield", 2), (".empty?", 5), (".new(", 2), ("Hash", 1),
        ("respond_to?", 6), ("is_a?(", 6), ("\n#\n", 1), (" if ", 1), (".map {", 3), (" { |", 5), ("self.", 1),
        ("=begin\n", 3), ("|k, v|", 6),
    ] },
    Entry { language: Language::Php, clues: &[
        ("<?php", 12), ("$this->", 6), ("\n$", 3), ("($", 2), (" $", 1), ("\nuse ", 1), ("\nnamespace ", 2),
        ("\npublic function ", 6), ("\nprivate function ", 6), ("\nprotected function ", 6),
        ("public static function ", 6), ("function ", 1), ("->", 2), (" => ", 1), ("array(", 3), ("foreach (", 2),
        (" as $", 5), ("\necho ", 1), ("self::", 3), ("static::", 3), ("parent::", 4), ("isset(", 5), ("empty(", 2),
        ("?string", 3), ("string $", 5), ("array $", 5), ("int $", 5), ("bool $", 5), ("elseif (", 4), ("): void", 1),
        ("): string", 2), ("): array", 4), ("): bool", 3), ("throw new \\", 5), ("declare(strict_types=1)", 6),
        ("__construct(", 5), ("instanceof ", 1), ("implode(", 4), ("sprintf(", 2), ("null", 1), ("\nfinal class ", 2),
        (" === ", 1), (" extends ", 1), ("::class", 2),
    ] },
    Entry { language: Language::Swift, clues: &[
        ("\nimport Foundation\n", 6), ("\nimport UIKit\n", 6), ("\nimport SwiftUI\n", 6), ("\nimport XCTest\n", 6),
        ("\nimport ", 1), ("\nfunc ", 3), ("\nguard let ", 6), ("\nguard ", 5), ("if let ", 3), ("let ", 1),
        ("\nlet ", 1), ("var ", 1), ("\nextension ", 4), ("\npublic extension ", 6), ("\nprotocol ", 6),
        ("\nstruct ", 1), (" -> ", 2), ("nil", 2), ("@objc", 6), ("override func ", 6), ("public func ", 6),
        ("private func ", 6), ("internal func ", 6), ("static func ", 6), ("fileprivate ", 6), ("self.", 1),
        ("init(", 4), ("init?(", 5), ("deinit {", 5), (" ?? ", 1), ("\ncase .", 6), ("as? ", 4), ("as! ", 5),
        ("try? ", 6), ("try ", 1), ("} catch {\n", 3), ("weak var ", 6), ("[weak self]", 6), ("String?", 2),
        (": String", 2), (": Int", 2), (": Bool", 4), (" in\n", 4), (" throws -> ", 6), (" throws {\n", 5),
        ("#selector(", 6), ("@escaping ", 6), ("[String: Any]", 6), ("@available(", 5), ("lazy var ", 6),
        ("static let ", 6), ("private let ", 5), ("private var ", 2), ("public var ", 4), ("\npublic class ", 1),
        ("\n///\n", 1), ("@Published", 6), ("some View", 6), ("CGFloat", 4), ("NS", 1), (" else { return", 5),
        ("_ ", 1), ("URL(", 2), ("\n@testable import ", 6),
    ] },
    Entry { language: Language::Kotlin, clues: &[
        ("fun ", 3), ("\nfun ", 5), ("\noverride fun ", 6), ("\nprivate fun ", 6), ("\ninternal fun ", 6),
        ("suspend fun ", 6), ("inline fun ", 6), ("val ", 2), ("\nval ", 2), ("var ", 1), ("\nprivate val ", 4),
        ("\nprivate var ", 2), ("\noverride val ", 3), ("\ndata class ", 6), ("companion object", 6),
        ("object : ", 6), ("when (", 5), ("when {\n", 6), ("?.", 2), (" ?: ", 4), ("?.let {", 6), (".let {", 4),
        (".apply {", 5), ("lateinit var ", 6), ("by lazy {", 6), ("\ninternal ", 2), ("!!", 2), ("it.", 2),
        ("null", 1), ("Unit", 2), ("listOf(", 5), ("mapOf(", 5), ("mutableListOf", 6), ("\nimport kotlin", 6),
        ("\nimport androidx", 2), ("\nimport android", 2), ("\nimport com.", 1), ("\nimport org.", 1),
        ("\npackage ", 1), ("\nopen class ", 5), ("::class", 4), ("::class.java", 6), ("constructor(", 2),
        ("\nsealed class ", 5), ("reified ", 6), (": Boolean", 3), (": String", 2), (": Int", 2), (": Any", 2),
        ("String?", 2), ("init {\n", 5), (" -> ", 1), ("@JvmStatic", 6), (" as? ", 2), (" is ", 1), ("fun main(", 6),
        ("println(", 1), ("const val ", 6), ("= this\n", 2),
    ] },
    Entry { language: Language::Scala, clues: &[
        ("\nimport scala.", 6), ("\nimport java.", 1), ("._\n", 5), (".{", 3), ("val ", 2), ("\nval ", 2),
        ("var ", 1), ("def ", 2), ("\ndef ", 3), ("\nobject ", 5), ("\ncase class ", 6), ("case class ", 3),
        ("\ncase object ", 6), ("\ntrait ", 3), (" extends ", 2), (" with ", 2), ("override def ", 6),
        ("implicit ", 6), (" => ", 1), ("=>\n", 3), (" match {\n", 5), (" match\n", 4), ("\ncase _ =>", 6),
        ("\ncase ", 1), ("Some(", 2), ("None", 1), (": Unit =", 6), (" = {\n", 3), ("Option[", 5), ("Seq[", 6),
        ("List[", 3), ("Map[", 4), ("Array[", 3), ("[T]", 2), ("[A]", 4), ("[_]", 4), ("lazy val ", 6),
        ("sealed trait ", 6), ("private[", 6), ("def apply(", 6), ("def main(args: Array[String])", 6),
        ("Future[", 6), ("s\"", 3), ("\npackage object ", 6), ("@tailrec", 6), (": Int =", 5), (": String =", 4),
        (": Boolean =", 5), ("override val ", 3), ("\ngiven ", 4), ("(using ", 5), ("\nextension (", 5),
        ("\nenum ", 1), ("<- ", 4), ("yield ", 1), ("println(", 1), ("Either[", 6), ("sys.error(", 5), ("new ", 1),
        ("type ", 1), (": _*", 6), ("c: ", 1), ("=> A", 2), ("\nend ", 2), (" then\n", 1), (".toString", 1),
        ("\nfor {\n", 5), ("q\"", 4),
    ] },
    Entry { language: Language::Shell, clues: &[
        ("\nif [ ", 6), ("\nif ! ", 3), ("then\n", 3), ("; then\n", 6), ("; do\n", 6), ("\nfi\n", 6), ("\ndone\n", 6),
        ("\nesac\n", 6), ("\ndo\n", 3), ("\necho ", 3), ("\nexport ", 1), ("\nlocal ", 4), ("=$(", 6), ("$(", 2),
        ("\"$", 3), ("${", 2), ("() {\n", 2), ("()\n{\n", 2), ("$1", 4), ("\"$@\"", 6), ("$@", 3), ("\nset -", 6),
        (" | grep ", 5), (" | sed ", 5), (" | awk ", 5), ("/dev/null", 5), ("2>&1", 5), (">&2", 5), ("[[ ", 5),
        (" ]]", 3), (" -eq ", 4), (" -ne ", 4), (" in\n", 1), (";;\n", 6), ("\nshift", 4), ("\nelif ", 2),
        ("\nexit ", 3), (" || return", 5), (" || exit", 6), (" && ", 1), ("\nsudo ", 4), ("\nmkdir ", 3),
        ("\ncd ", 3), ("\nprintf ", 3), ("read -r", 5), ("$#", 3), ("\nunset ", 4), ("\nsource ", 3), ("\nrm -", 4),
        ("\ntrap ", 5), ("<<EOF\n", 4), ("<<-EOF\n", 4), ("<<'EOF'\n", 4), ("\nEOF\n", 4), ("\n#\n", 1),
        ("\nreturn ", 1), ("\napt-get ", 4), ("\ncase ", 1), ("[ -n ", 5), ("[ -z ", 5), ("[ -f ", 5), ("[ -d ", 5),
    ] },
    Entry { language: Language::Sql, clues: &[
        ("\nselect ", 4), ("\nselect\n", 4), ("select * from ", 5), ("select ", 1), ("\nfrom ", 2), ("\nwhere ", 3),
        ("\nand ", 2), ("create table ", 6), ("create index ", 6), ("create unique index ", 6), ("create view ", 6),
        ("create or replace ", 6), ("create function ", 6), ("create type ", 5), ("\ncreate ", 3),
        ("insert into ", 5), ("alter table ", 6), ("\ndrop ", 4), ("delete from ", 4), ("\nupdate ", 3),
        ("\nset ", 1), ("\nvalues", 3), ("language plpgsql", 6), ("language sql", 6), ("returns ", 3), ("begin\n", 2),
        ("\nend;\n", 4), ("\ndeclare\n", 4), (" join ", 2), ("left join ", 5), ("order by ", 4), ("group by ", 4),
        ("not null", 4), ("varchar", 4), ("primary key", 6), ("foreign key", 6), ("references ", 2), ("as $$", 6),
        ("$$", 3), ("execute ", 2), ("if not exists ", 5), ("\ngrant ", 5), ("\nrevoke ", 5), ("coalesce(", 4),
        (" is null", 3), (" is not null", 4), ("raise exception", 6), ("perform ", 3), (" then\n", 2),
        ("end if;\n", 6), ("end loop;\n", 6), ("::text", 5), ("timestamptz", 5), ("bigint", 4), ("integer", 2),
        ("boolean", 1), (" text", 1), ("\n--\n", 4), ("{{ ", 1), ("{% ", 2), ("{%- ", 3), ("return query", 6),
        ("union all", 5), ("with ", 1), (" as (\n", 4), ("limit ", 1), ("count(*)", 4), ("commit;\n", 4),
        ("comment on ", 5), ("{% macro ", 4), ("{% set ", 3), ("{% materialization ", 6), ("create extension", 5),
        ("language c ", 5), ("security definer", 5), ("as select", 3),
    ] },
];
