use super::*;

fn summary(text: &str, language: Language, max_chars: usize) -> String {
    let mut sheet = Sheet::new(max_chars);
    assert!(summarize(text, Some(language), &mut sheet), "nothing defined");
    sheet.finish()
}

#[test]
fn each_language_yields_its_definitions_and_imports() {
    for (language, text, expected) in [
        (
            Language::Python,
            "import os\nfrom a.b import c\n\nLIMIT = 3\n\nclass Store(Base):\n    async def load(self, key: str) -> bytes:\n        return x\n",
            "defines: LIMIT = 3, class Store(Base), async def load(self, key: str) -> bytes\nimports: os, a.b",
        ),
        (
            Language::TypeScript,
            "import { a } from './a.js';\nexport class Store<T> {\n  private async load(key: string): Promise<T> {\n    if (key) {\n    }\n  }\n}\nexport const put = async (x: T) => x;\n",
            "defines: export class Store<T>, private async load(key: string): Promise<T>, export const put = async (x: T) => x;\nimports: ./a.js",
        ),
        (
            Language::Java,
            "import java.util.List;\npublic final class Store {\n  public static <T> T load(String key) throws IOException {\n    return find(key);\n  }\n}\n",
            "defines: public final class Store, public static <T> T load(String key) throws IOException\nimports: java.util.List",
        ),
        (
            Language::C,
            "#include <stdio.h>\nstruct store {\n  int n;\n};\nstatic int store_load(struct store *s, const char *key)\n{\n  return other(s);\n}\n",
            "defines: struct store, static int store_load(struct store *s, const char *key)\nimports: stdio.h",
        ),
        (
            Language::Cpp,
            "#include \"store.h\"\nnamespace db {\nint Store::load(const std::string& key) const {\n  return 1;\n}\n}\n",
            "defines: namespace db, int Store::load(const std::string& key) const\nimports: store.h",
        ),
        (
            Language::CSharp,
            "using System.Linq;\npublic sealed class Store {\n    public async Task<int> LoadAsync(string key)\n    {\n        return await Find(key);\n    }\n}\n",
            "defines: public sealed class Store, public async Task<int> LoadAsync(string key)\nimports: System.Linq",
        ),
        (
            Language::Go,
            "package db\n\nimport (\n\t\"fmt\"\n\tx \"os/exec\"\n)\n\ntype Store struct {\n}\n\nfunc (s *Store) Load(key string) error {\n\treturn nil\n}\n",
            "defines: type Store struct, func (s *Store) Load(key string) error\nimports: fmt, os/exec",
        ),
        (
            Language::Rust,
            "use std::io::Read;\nuse std::{fs, io::{self, Write}};\nuse crate::{\n    a,\n};\n\npub(crate) struct Store<'a> {\n}\nimpl<'a> Store<'a> {\n    pub async fn load(&self, key: &str) -> Result<()> {\n    }\n}\n",
            "defines: pub(crate) struct Store<'a>, impl<'a> Store<'a>, pub async fn load(&self, key: &str) -> Result<()>\nimports: std::io::Read, std::{fs, io::{self, Write}}, crate",
        ),
        (
            Language::Ruby,
            "require 'json'\nmodule Db\n  class Store\n    def load!(key)\n    end\n  end\nend\n",
            "defines: module Db, class Store, def load!(key)\nimports: json",
        ),
        (
            Language::Php,
            "<?php\nuse App\\Base;\nfinal class Store extends Base {\n    public function load(string $key): ?string {\n    }\n}\n",
            "defines: final class Store extends Base, public function load(string $key): ?string\nimports: App\\Base",
        ),
        (
            Language::Swift,
            "import Foundation\npublic struct Store {\n    func load(_ key: String) -> Data? {\n    }\n}\n",
            "defines: public struct Store, func load(_ key: String) -> Data?\nimports: Foundation",
        ),
        (
            Language::Kotlin,
            "import a.b.C\ndata class Row(val id: Int)\nclass Store {\n    suspend fun load(key: String): Row? {\n    }\n}\n",
            "defines: data class Row(val id: Int), class Store, suspend fun load(key: String): Row?\nimports: a.b.C",
        ),
        (
            Language::Scala,
            "import cats.effect.IO\nobject Store {\n  def load(key: String): IO[Unit] =\n    x\n}\n",
            "defines: object Store, def load(key: String): IO[Unit]\nimports: cats.effect.IO",
        ),
        (
            Language::Shell,
            "#!/bin/sh\n. ./lib.sh\nROOT_DIR=$(pwd)\nload_store() {\n  echo x\n}\n",
            "defines: ROOT_DIR=$(pwd), load_store()\nimports: ./lib.sh",
        ),
        (
            Language::Sql,
            "-- create table x\nCREATE TABLE IF NOT EXISTS app.stores (\n  id int\n);\ncreate or replace function app.load(key text) returns int as $$\n",
            "defines: CREATE TABLE IF NOT EXISTS app.stores (, create or replace function app.load(key text) returns int as $$",
        ),
        (
            Language::JavaScript,
            "const fs = require('fs');\nconst { join } = __importStar(require(\"node:path\"));\nfunction load(key) {\n  for (const x of y) {\n  }\n}\nconst later = () => require('zlib');\nmodule.exports = require('./load');\n",
            "defines: function load(key), const later = () => require('zlib');\nimports: fs, node:path, ./load",
        ),
    ] {
        let summary = summary(text, language, 2000);
        let (head, body) = summary.split_once('\n').unwrap();
        assert!(head.starts_with(&format!("{} code, ", language.as_str())), "{head}");
        assert_eq!(body, expected, "{language:?}");
    }
}

#[test]
fn names_are_kept_where_signatures_do_not_fit_the_most_used_first() {
    let mut text = String::from("package db\n");
    for i in 0..40 {
        text += &format!(
            "\nfunc stepNumber{i}(ctx context.Context, in *Input) (*Output, error) {{\n\treturn centralName(ctx)\n}}\n"
        );
    }
    text += "\nfunc centralName(ctx context.Context) (*Output, error) {\n}\n";
    let summary = summary(&text, Language::Go, 120);
    assert_eq!(
        summary,
        "go code, 164 lines\ndefines: stepNumber0:3, stepNumber1:7, centralName:163, stepNumber2:11 …+37"
    );
}

#[test]
fn printed_line_numbers_are_read_and_used() {
    let text =
        "   120→func Load() error {\n   121→\treturn nil\n   122→}\n   123→\n   124→type Store struct {\n   125→}\n";
    assert_eq!(
        summary(text, Language::Go, 300),
        "go code, lines 120–125\ndefines: func Load() error, type Store struct"
    );
}

#[test]
fn definitions_are_found_without_a_language_and_none_is_named() {
    let mut sheet = Sheet::new(200);
    assert!(summarize("use std::io;\nfn main() {}\nimpl Store {}\nstruct Store;\n", None, &mut sheet));
    assert!(sheet.finish().starts_with("code, 4 lines\ndefines: fn main()"));
    let mut sheet = Sheet::new(200);
    assert!(summarize_other("import 'dart:io';\nclass Store {\n}\nabstract class Disk {\n}\n", "Dart", &mut sheet));
    assert!(sheet.finish().starts_with("Dart, 5 lines\ndefines: class Store, abstract class Disk"));
    assert!(!summarize("Only words,\nline after line.\n", None, &mut Sheet::new(200)));
}
