// A decoder of folds as docs/format.md specifies them: it shares no code with the library.
// Sizes are not limited here.
import { createHash } from "node:crypto";
import { json, table } from "./ionizer.mjs";

const fail = (reason) => {
  throw new Error(reason);
};
const need = (value) => (value === undefined || value === null || value === false ? fail("not a fold") : value);
const attempt = (decode) => {
  try {
    return decode();
  } catch {
    return undefined;
  }
};
const cut = (text, mark) => {
  const at = text.indexOf(mark);
  return at < 0 ? undefined : [text.slice(0, at), text.slice(at + mark.length)];
};
const before = (text, end) => (text.endsWith(end) ? text.slice(0, text.length - end.length) : undefined);
const blanks = (width, text) => " ".repeat(Math.max(0, width - [...text].length));
const times = (count, make) => Array.from({ length: count }, (_, at) => make(at));

// The envelope.

export const sealOf = (text) => {
  let rest = createHash("sha256").update(text).digest().readUInt32BE(0);
  let letters = "";
  for (let at = 0; at < 5; at++, rest = Math.floor(rest / 26))
    letters = String.fromCharCode(97 + (rest % 26)) + letters;
  return `a${letters}`;
};

const headerOf = (line) => {
  const found = /^\[\[FOLD:([^ \]]+) (\d+)(?: (below|[a-z]{6}))?\]\](?: ([^]+))?$/.exec(line);
  return found && { stage: found[1], count: Number(found[2]), mark: found[3], legend: found[4] ?? "" };
};

/** The text that a compressed one stands for; throws where a sealed fold does not give the text of its seal. */
export const restore = (text) => {
  for (let round = 0; round < 8 && /^\[\[FOLD:/m.test(text); round++) text = restoreOnce(text);
  if (text.split("\n").some((line) => headerOf(line)?.mark)) fail("CONCERTINA_FOLD_DAMAGED");
  return text;
};

const restoreOnce = (text) => {
  const lines = text.split("\n");
  let done = "";
  for (let at = 0; at < lines.length; at++) {
    const header = headerOf(lines[at]);
    let restored;
    if (header?.mark && at + header.count < lines.length) {
      const body = lines.slice(at + 1, at + 1 + header.count);
      const seal = header.mark === "below" ? body.pop() : header.mark;
      const fold = { ...header, body: body.length > 0 ? body.join("\n") : undefined };
      const whole = (decode) => {
        const found = attempt(decode);
        return found !== undefined && sealOf(found) === seal ? found : undefined;
      };
      restored = whole(() => decode(fold, done)) ?? whole(() => behindPrefixes(fold, (bare) => decode(bare, done)));
      if (restored !== undefined) at += header.count;
    }
    done += `${restored ?? lines[at]}\n`;
  }
  return done.slice(0, -1);
};

const decode = (fold, done) => {
  const either = (...decoders) => {
    for (const decoder of decoders) {
      const found = attempt(() => decoder(fold));
      if (found !== undefined) return found;
    }
    return fail("no decoder reads it");
  };
  const plain = (bare) => (bare.legend === "" ? need(bare.body) : fail("not bare"));
  const behind = (one) => behindPrefixes(one, plain);
  switch (fold.stage) {
    case "quantumLock":
      return moved(fold);
    case "photon":
      return colours(fold);
    case "rle":
    case "logCrunch":
      return rows(fold);
    case "semanticDedup":
      return repeated(fold, done);
    case "ionizer":
      return either(json, table);
    case "searchCrunch":
      return either(hits, listing);
    case "diffCrunch":
      return diff(fold);
    case "structuralCollapse":
      return either(numbered, behind, rows);
    case "neurosyntax":
      return either(numbered, behind);
    default:
      return fail("unknown stage");
  }
};

// Prefixes and numbered listings.

const behindPrefixes = (fold, decodeBare) => {
  const [, same, count, legend = ""] = need(
    /^each line begins (?:"([^"]+)"|as in the last ([1-9]\d*) lines)(?:; ([^]+))?$/.exec(fold.legend),
  );
  let lines = need(fold.body).split("\n");
  let prefixes;
  if (same === undefined) {
    const [first, ...rest] = lines.splice(-Number(count));
    const header = need(headerOf(first));
    if (header.stage !== fold.stage || header.count !== rest.length) fail("not its prefixes");
    prefixes = rows({ ...header, body: rest.join("\n") }).split("\n");
  }
  lines = decodeBare({ ...fold, legend, body: lines.join("\n") }).split("\n");
  if (prefixes && prefixes.length !== lines.length) fail("not as many prefixes as lines");
  return lines.map((line, at) => (same ?? prefixes[at]) + line).join("\n");
};

const NUMBER_PREFIX = /^ *(\d{1,9})(?:→|\t|:| ?[|│] ?)/;

const numbered = (fold) => {
  if (fold.legend !== "a line without a number has the next one") fail("not a listing");
  let expected;
  const lines = need(fold.body)
    .split("\n")
    .map((line) => {
      const whole = NUMBER_PREFIX.test(line) ? line : need(expected) + line;
      const [prefix, number] = need(NUMBER_PREFIX.exec(whole));
      const separator = prefix.replace(/^ *\d+/, "");
      expected = String(Number(number) + 1).padStart(prefix.length - separator.length) + separator;
      return whole;
    });
  return lines.join("\n");
};

// Moved lines, colours and repeats.

const moved = (fold) => {
  const lines = need(fold.body).split("\n");
  const places = (line) => /^\[\[changes with each call: ([\d,]+)\]\]$/.exec(line)?.[1].split(",").map(Number);
  const boundary = lines.findLastIndex((line, at) => places(line)?.length === lines.length - at - 1);
  if (boundary < 0) fail("no boundary");
  const [stable, volatile, moved] = [lines.slice(0, boundary), lines.slice(boundary + 1), places(lines[boundary])];
  return times(lines.length - 1, (at) => need((moved.includes(at + 1) ? volatile : stable).shift())).join("\n");
};

const colours = (fold) => {
  const names = new Map(
    fold.legend.split(" ").map((entry) => {
      const [name, sequence] = need(cut(entry, "="));
      return [name, sequence.replaceAll("\\e", "\x1b")];
    }),
  );
  return [...need(fold.body)].map((one) => names.get(one) ?? one).join("");
};

const quoteOf = (line) => {
  const trimmed = line.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "");
  const characters = [...trimmed];
  if (characters.length <= 48) return trimmed;
  const head = characters.slice(0, 48).join("");
  const blank = head.lastIndexOf(" ");
  return Buffer.byteLength(head.slice(0, Math.max(0, blank))) >= 24 ? head.slice(0, blank).trimEnd() : head;
};

const repeated = (fold, done) => {
  const [, count, line, quote] = need(/^repeats (\d+) lines? above; line (\d+): "([^]*)"$/.exec(fold.legend));
  const lines = done.split("\n").slice(0, -1);
  const first = lines.findIndex((one) => quoteOf(one) === quote) - (Number(line) - 1);
  const found = first < 0 ? [] : lines.slice(first, first + Number(count));
  return found.length === Number(count) ? found.join("\n") : fail("not above");
};

// Rows of templates.

const numberOf = (text, isHex) =>
  (isHex ? /^[\da-f]{1,15}$/ : /^\d{1,18}$/).test(text) ? BigInt((isHex ? "0x" : "") + text) : undefined;

const templateOf = (text, [open, close], isList) => {
  const template = { parts: [], rules: [], above: [], isList, isUsed: false, untold: 0 };
  for (let found; (found = cut(text, open));) {
    if (found[0]) template.parts.push(found[0]);
    const [spec, rest] = need(cut(found[1], close));
    text = rest;
    if (spec === "text") {
      template.parts.push({ isText: true });
      continue;
    }
    const [, pad, width, rule] = /^(?:([<>t])(\d+))?([^]*)$/.exec(spec);
    template.parts.push({ value: template.rules.length, pad, width: Number(width) });
    const step = /^([+-])(x?)([\da-f]+)(?: from ([\da-f]+))?$/.exec(rule);
    if (rule === "") template.rules.push({});
    else if ([...rule].length === 1) template.rules.push({ folder: rule });
    else if (rule.startsWith("=")) template.rules.push({ same: Number(rule.slice(1)) - 1 });
    else {
      const by = BigInt((need(step)[2] ? "0x" : "") + step[3]) * (step[1] === "-" ? -1n : 1n);
      template.rules.push({ by, isHex: step[2] !== "", first: step[4] });
    }
  }
  if (text) template.parts.push(text);
  template.told = template.rules.findIndex((rule) => rule.first !== undefined);
  return template;
};

const expectedOf = ({ by, isHex }, above) => {
  const number = by === undefined ? undefined : numberOf(above, isHex);
  if (number === undefined || number + by < 0n) return above;
  return (number + by).toString(isHex ? 16 : 10).padStart(isHex || above.startsWith("0") ? above.length : 0, "0");
};

const unquoted = (words) => {
  const [whole, value] = need(/^"((?:[^"]|"")*)"(?= |$)/.exec(words));
  return [value.replaceAll('""', '"'), words.length > whole.length ? words.slice(whole.length + 1) : undefined];
};

const dumpOf = (line) => {
  const [, bytes] = need(/^\s*\S+((?: {1,2}(?:[\da-fA-F]{2})+)+)/.exec(line));
  const shown = Buffer.from(bytes.replaceAll(" ", ""), "hex");
  return [...shown].map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
};

const columnOf = (line) => [...line].reduce((at, one) => (one === "\t" ? (Math.floor(at / 8) + 1) * 8 : at + 1), 0);

const rowOf = (template, words, names) => {
  const { rules, above } = template;
  let [rest, expected] = [words === "" ? undefined : words, 0];
  const last = rules.findLastIndex((rule) => rule.same === undefined && rule.first === undefined);
  const named = (word) => {
    const [, number, value] = /^\$(\d+)(?:=([^]*))?$/.exec(word) ?? [];
    if (number === undefined) return word;
    if (value !== undefined) names[Number(number) - 1] = value;
    return need(names[Number(number) - 1]);
  };
  rules.forEach((rule, at) => {
    if (rule.same !== undefined) above[at] = above[rule.same];
    else if (rule.first !== undefined) above[at] = template.isUsed ? expectedOf(rule, above[at]) : rule.first;
    else if (expected > 0 || rest === undefined) {
      above[at] = expectedOf(rule, need(template.isUsed && above[at]) ?? "");
      expected = Math.max(0, expected - 1);
    } else {
      const run = template.isUsed && /^\.([1-9]\d*)?(?: ([^]*))?$/.exec(rest);
      if (run && run[1] !== "1") {
        [expected, rest] = [Number(run[1] ?? 1) - 1, run[2]];
        above[at] = expectedOf(rule, above[at]);
        return;
      }
      if (rest.startsWith('"')) {
        [above[at], rest] = unquoted(rest);
        return;
      }
      const [word, behind] = (at === last ? undefined : cut(rest, " ")) ?? [rest, undefined];
      rest = behind;
      const up = /^\^+/.exec(rule.folder === undefined ? "" : word)?.[0].length;
      const folders = up ? [...above[at].split(rule.folder).slice(0, -up), word.slice(up)] : undefined;
      if (folders) above[at] = folders.join(rule.folder);
      else above[at] = word.split(" ").map(named).join(" ");
    }
  });
  if (rest !== undefined || expected > 0) fail("a row with too many words");
  template.isUsed = true;
  template.untold++;
  let text = "";
  const line = () => text.slice(text.lastIndexOf("\n") + 1);
  for (const part of template.parts) {
    const value = above[part.value];
    if (typeof part === "string") text += part;
    else if (part.isText) text += dumpOf(line());
    else if (part.pad === ">") text += blanks(part.width, value) + value;
    else text += value + (part.pad === "<" ? blanks(part.width, value) : "");
    if (part.pad === "t") {
      text += "\t".repeat(Math.ceil(Math.max(0, part.width - Math.floor(columnOf(line()) / 8) * 8) / 8));
    }
  }
  return text;
};

const templateName = (at) =>
  (at < 26 ? "" : templateName(Math.floor(at / 26) - 1)) + String.fromCharCode(97 + (at % 26));

const rows = (fold) => {
  const marks = /^(\{\}|«»|‹›|⟨⟩): /.exec(fold.legend);
  const [templates, names, text, lines] = [[], [], [], need(marks && fold.body).split("\n")];
  let [current, last] = [undefined, undefined];
  const told = (template, words) => {
    const [, number, rest = ""] = /^@(\S+)(?: ([^]*))?$/.exec(words) ?? [];
    const { rules, above, told: at } = template;
    if (number === undefined || at < 0 || template.untold < 10) return words;
    if (expectedOf(rules[at], above[at]) !== number) return words;
    template.untold = 0;
    return rest;
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at];
    const definition = /^([a-z]+)(\*?)(?:\/(\d+))?:(?: |$)/.exec(line);
    if (line.startsWith("|")) {
      text.push(line.slice(1));
      last = () => line.slice(1);
    } else if (line.startsWith("*")) text.push(...times(Number(line.slice(1)), need(last)));
    else if (definition?.[1] === templateName(templates.length)) {
      const more = lines.slice(at + 1, at + Number(definition[3] ?? 1));
      at += more.length;
      current = templateOf([line.slice(definition[0].length), ...more].join("\n"), [...marks[1]], definition[2] !== "");
      templates.push(current);
    } else {
      const [word, rest] = cut(line, " ") ?? [line, ""];
      const named = templates.find((_, index) => templateName(index) === word);
      current = named ?? current;
      const words = named ? rest : line;
      if (need(current).isList) {
        for (const word of words.split(" ")) {
          const row = told(current, word);
          if (row !== "" || word === "") text.push(rowOf(current, row, names));
        }
        last = undefined;
      } else {
        const [template, row] = [current, told(current, words)];
        last = () => rowOf(template, row, names);
        text.push(last());
      }
    }
  }
  return text.join("\n");
};

// Diffs.

const FILES = [
  ["diff ", undefined, (path) => [`--- a/${path}`, `+++ b/${path}`]],
  ["new file ", "new file mode 100644", (path) => ["--- /dev/null", `+++ b/${path}`]],
  ["deleted file ", "deleted file mode 100644", (path) => [`--- a/${path}`, "+++ /dev/null"]],
];
const HUNK = /^@@ -(0|[1-9]\d{0,17}) \+(0|[1-9]\d{0,17})((?: (?!@@)[^]*)?)$/;
const COUNT = "([1-9]\\d?|[1-3]\\d\\d|400)";
const BAR = "(0|[1-9]\\d{0,17}) ([+-]{1,400})";
const STAT = new RegExp(`^([^ +\\-\\\\>][^]*?) (?:\\+${COUNT} -${COUNT}|\\+${COUNT}|-${COUNT}|${BAR})$`);

const statOf = (line) => {
  const [, path, plus, minus, added, removed, sum, bar] = STAT.exec(line) ?? [];
  const counts = [plus ?? added ?? 0, minus ?? removed ?? 0].map(Number);
  return path === undefined ? undefined : { path, counts, sum: sum ?? String(counts[0] + counts[1]), bar };
};
const isShortHeader = (line) =>
  HUNK.test(line) || /^commit [^]*; /.test(line) || /^(?:diff|(?:new|deleted) file) (?!-|mode )[^]/.test(line);
const isShort = (line) => isShortHeader(line) || statOf(line) !== undefined;

const diff = (fold) => {
  const plain = "short headers: diff path, @@ -old +new";
  if (![plain, `${plain}, path +added -removed, /name beside it`].includes(fold.legend)) fail("not a diff");
  const [lines, text] = [need(fold.body).split("\n"), []];
  let author;
  while (lines.length > 0) {
    const while_ = (test) =>
      lines.splice(
        0,
        [...lines, ""].findIndex((line, at) => at === lines.length || !test(line)),
      );
    if (!isShort(lines[0])) {
      const line = lines.shift();
      text.push(line.startsWith(">") && isShort(line.replace(/^>+/, "")) ? line.slice(1) : line);
    } else if (!isShortHeader(lines[0])) {
      text.push(...statsOf(while_((line) => !isShortHeader(line) && statOf(line)).map(statOf)));
    } else if (lines[0].startsWith("commit ")) {
      const [hash, ...parts] = lines.shift().split("; ");
      const merge = parts[0]?.startsWith("merge ") ? [`Merge: ${parts.shift().slice(6)}`] : [];
      author = parts[1] ?? author;
      text.push(hash, ...merge, `Author: ${need(author)}`, `Date:   ${need(parts[0])}`, "");
    } else if (HUNK.test(lines[0])) {
      const [, old, new_, section] = HUNK.exec(lines.shift());
      const body = while_((line) => /^[ +\-\\]/.test(line));
      const count = (signs) => {
        const found = body.filter((line) => signs.includes(line[0])).length;
        return found === 1 ? "" : `,${found}`;
      };
      text.push(`@@ -${old}${count(" -")} +${new_}${count(" +")} @@${section}`, ...body);
    } else {
      const [word, mode, sides] = FILES.find(([word]) => lines[0].startsWith(word));
      const path = lines.shift().slice(word.length);
      const extended = while_((line) => /^(?:index|old mode|new mode) /.test(line));
      text.push(`diff --git a/${path} b/${path}`, ...(mode ? [mode] : []), ...extended, ...sides(path));
    }
  }
  return text.join("\n");
};

const statsOf = (entries) => {
  entries.forEach((entry, at) => {
    if (entry.path.startsWith("/")) entry.path = entries[at - 1].path.replace(/\/[^/]*$/, "") + entry.path;
  });
  const [width, digits] = ["path", "sum"].map((key) => Math.max(...entries.map((entry) => [...entry[key]].length)));
  const lines = entries.map(
    ({ path, sum, bar, counts: [added, removed] }) =>
      ` ${path}${blanks(width, path)} | ${sum.padStart(digits)} ${bar ?? "+".repeat(added) + "-".repeat(removed)}`,
  );
  if (entries.length === 1 && entries[0].bar === undefined) {
    const [added, removed] = entries[0].counts.map((count, at) => {
      const [word, sign] = [
        ["insertion", "+"],
        ["deletion", "-"],
      ][at];
      return count === 0 ? "" : `, ${count} ${word}${count === 1 ? "" : "s"}(${sign})`;
    });
    lines.push(` 1 file changed${added}${removed}`);
  }
  return lines;
};

// Hits and listings.

const directories = () => {
  const stack = [];
  /** The path that a line stands for; nothing for a directory. */
  return (line) => {
    const [, indent, text] = /^( *)>?([^]*)$/.exec(line);
    if (indent.length > stack.length) fail("too deep");
    stack.length = indent.length;
    const path = (stack.at(-1) ?? "") + text;
    if (text.endsWith("/")) stack.push(path);
    return text.endsWith("/") ? undefined : path;
  };
};

const QUOTED = '("(?:[^"\\\\]|\\\\.)*")';
const HITS = new RegExp(
  "^(hits by file: line text|by file: line:hit; line or tab, then context)(; headings)?(; -- at gaps)?" +
    `(?:; …x is ${QUOTED})?(?:; x… is ${QUOTED})?(?:; (|paths but |hits but |context but )~ below (.+))?$`,
  "s",
);

const hits = (fold) => {
  const [, form, headings, gaps, start, end, who, root = ""] = need(HITS.exec(fold.legend));
  const isContext = form.startsWith("by");
  const [read, text] = [directories(), []];
  let [path, previous, run] = [undefined, undefined, []];
  const whole = (part) => {
    if (end && part.endsWith("…")) part = part.slice(0, -1) + JSON.parse(end);
    return start && part.startsWith("…") ? JSON.parse(start) + part.slice(1) : part;
  };
  const prefix = (isContextLine, isFlipped, mark) => {
    need(path);
    if (headings) return isFlipped ? fail("a heading has no root") : "";
    const isRooted = ["paths but ", isContextLine ? "context but " : "hits but "].includes(who);
    return (root && isRooted !== isFlipped ? root : "") + path + mark;
  };
  const follow = (number) => {
    if (gaps && previous && !(previous.isHere && previous.number + 1 === number)) text.push("--");
    previous = { number, isHere: true };
  };
  const flush = () => {
    if (run.isMerged) run.sort((a, b) => a[0] - b[0]);
    text.push(...run.map(([, line]) => line));
    run = [];
  };
  for (const line of need(fold.body).split("\n")) {
    const isFlipped = line.startsWith("~");
    const rest = line.slice(isFlipped ? 1 : 0);
    const [, number, column, mark, part] = /^(\d+)(:[1-9]\d*(?=:))?([: ])([^]*)$/.exec(rest) ?? [];
    const context = (number, part) => {
      const head = prefix(true, isFlipped, "-");
      follow(number);
      text.push(`${head}${number}-${whole(part)}`);
    };
    if (/^\d/.test(rest) && !isContext) {
      const head = prefix(false, isFlipped, ":");
      const [places, part] = need(cut(rest, " "));
      for (const place of places.split(",")) {
        const [first, last] = place.split("-").map((number) => Number(number.split(":")[0]));
        if (last === undefined) run.push([first, `${head}${place}:${whole(part)}`]);
        for (let number = first; number <= (last ?? -1); number++)
          run.push([number, `${head}${number}:${whole(part)}`]);
      }
      run.isMerged ||= /[,-]/.test(places);
    } else if (/^\d/.test(rest)) {
      if (need(mark) === " ") context(Number(number), part);
      else {
        const head = prefix(false, isFlipped, ":");
        follow(Number(number));
        text.push(`${head}${number}${column ?? ""}:${whole(part)}`);
      }
    } else if (rest.startsWith("\t")) context(need(previous?.isHere) && previous.number + 1, rest.slice(1));
    else if (/^[:(]/.test(rest)) {
      flush();
      previous = undefined;
      text.push(prefix(false, isFlipped, "") + rest);
    } else {
      if (isFlipped) fail("nothing to flip");
      flush();
      if (line.startsWith("\\") || line === "" || line === "--") {
        previous = undefined;
        text.push(line.replace(/^\\/, ""));
        continue;
      }
      const found = read(line);
      if (found === undefined) continue;
      path = found;
      if (previous) previous.isHere = false;
      if (headings) {
        previous = undefined;
        text.push(...(text.length > 0 ? [""] : []), path);
      }
    }
  }
  flush();
  return text.join("\n");
};

const listing = (fold) => {
  if (!["paths: a/ b c = a/b a/c", "paths: a/*.x b c.y = a/b.x a/c.y"].includes(fold.legend)) fail("not a listing");
  const [read, suffixes, text] = [directories(), [], []];
  for (const line of need(fold.body).split("\n")) {
    if (line === "" || line.startsWith("\\")) {
      text.push(line.slice(1));
      continue;
    }
    let depth = /^ */.exec(line)[0].length;
    suffixes.length = Math.min(depth, suffixes.length);
    line
      .slice(depth)
      .split(" ")
      .forEach((word, at) => {
        const star = at === 0 ? word.lastIndexOf("/*.") : -1;
        if (at === 0 && (star >= 0 || word.endsWith("/"))) {
          read(" ".repeat(depth) + (star >= 0 ? word.slice(0, star + 1) : word));
          suffixes.length = depth;
          suffixes.push(star >= 0 ? word.slice(star + 2) : undefined);
          depth++;
          return;
        }
        const shared = suffixes[depth - 1];
        const name = shared === undefined ? word : (before(word, ".") ?? (word.includes(".") ? word : word + shared));
        text.push(need(read(" ".repeat(depth) + name)));
      });
  }
  return text.join("\n");
};
