// Writes the cases of `sources/cases.mjs` as suites of five test frameworks.
import { cases } from "./sources/cases.mjs";

const groups = Object.entries(cases);
const js = JSON.stringify;

/** Returns a suite with `describe` and `it` and the framework's own assertion: one file per function, by name. */
function javascript(head, equals) {
  return groups.map(([name, list]) => {
    const tests = list.map(
      (test) =>
        `  it(${js(`${name} of ${js(test.arguments)} is ${js(test.expected)}`)}, () => {\n    ${equals(`${name}(${test.arguments.map(js)})`, js(test.expected))};\n  });`,
    );
    return [
      name,
      `${head}\nconst { ${name} } = require("./durations.js");\n\ndescribe("${name}", () => {\n${tests.join("\n")}\n});\n`,
    ];
  });
}

const strict = (got, expected) => `assert.deepStrictEqual(${got}, ${expected})`;
const expect = (got, expected) => `expect(${got}).toEqual(${expected})`;

export const nodeTest = () =>
  javascript(`const assert = require("node:assert");\nconst { describe, it } = require("node:test");`, strict);
export const mocha = () => javascript(`const assert = require("node:assert");`, strict);
export const globals = () => javascript("", expect);

export function pytest() {
  const tests = groups.map(([name, list]) => {
    const rows = list.map((test) => `    (${js(test.arguments)}, ${js(test.expected)}),`);
    return `@pytest.mark.parametrize("arguments, expected", [\n${rows.join("\n")}\n])\ndef test_${name}(arguments, expected):\n    assert durations.${name}(*arguments) == expected\n`;
  });
  const more =
    "@pytest.fixture\ndef broken():\n    raise OSError('the disk is full')\n\n\ndef test_fixture(broken):\n    assert broken\n\n\n@pytest.mark.skip(reason='needs a network')\ndef test_network():\n    pass\n\n\n@pytest.mark.xfail\ndef test_negative():\n    assert durations.render(-1) == '-1s'\n";
  return `import pytest\n\nimport durations\n\n\n${tests.join("\n\n")}\n\n${more}`;
}

export function unittest() {
  const suites = groups.map(([name, list]) => {
    const tests = list.map(
      (test, index) =>
        `    def test_${name}_${index}(self):\n        """${name} of ${js(test.arguments).replaceAll("\\", "\\\\")}"""\n        self.assertEqual(durations.${name}(*${js(test.arguments)}), ${js(test.expected)})\n`,
    );
    return `class ${name[0].toUpperCase()}${name.slice(1)}Test(unittest.TestCase):\n${tests.join("\n")}`;
  });
  return `import unittest\n\nimport durations\n\n\n${suites.join("\n\n")}`;
}

export function rspec() {
  const suites = groups.map(([name, list]) => {
    const tests = list.map(
      (test) =>
        `    it ${js(`gives ${js(test.expected)} for ${js(test.arguments)}`)} do\n      expect(Durations.${name}(*${js(test.arguments)})).to eq(${js(test.expected)})\n    end`,
    );
    return `  describe ".${name}" do\n${tests.join("\n")}\n  end`;
  });
  return `require_relative "../durations"\n\nRSpec.describe Durations do\n${suites.join("\n\n")}\nend\n`;
}
