// A decoder of folds, written from docs/format.md: it shares no code with the library. Sizes are not limited here.
import { createHash } from "node:crypto";

const fail = (reason = "not a fold") => {
  throw new Error(reason);
};
const need = (value) => (value === undefined || value === null || value === false ? fail() : value);
const attempt = (decode) => {
  try {
    return decode();
  } catch {
    return undefined;
  }
};
const either =
  (...decoders) =>
  (fold) =>
    need(decoders.map((decode) => attempt(() => decode(fold))).find((text) => text !== undefined));
const cut = (text, mark) => {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
};
const blanks = (width, text) => " ".repeat(Math.max(0, width - [...text].length));
const times = (count, make) => Array.from({ length: count }, make);
const linesOf = (fold) => need(fold.body).split("\n");
/** Names count `a` to `z`, then `aa`. */
const nameOf = (at, a) =>
  (at < 26 ? "" : nameOf(Math.floor(at / 26) - 1, a)) + String.fromCharCode(a.charCodeAt(0) + (at % 26));

// The envelope.

export const sealOf = (text) => {
  const number = createHash("sha256").update(text).digest().readUInt32BE(0) % 26 ** 5;
  const digits = number.toString(26).padStart(5, "0");
  return "a" + digits.replace(/./g, (digit) => nameOf(parseInt(digit, 26), "a"));
};

const headerOf = (line) => {
  const header = /^\[\[FOLD:([^ \]]+) (\d+)(?: (below|[a-z]{6}))?\]\](?: ([^]+))?$/;
  const [, stage, count, mark, legend = ""] = header.exec(line) ?? [];
  return stage && { stage, count: Number(count), mark, legend };
};

/** Restores a compressed text; throws if a sealed fold does not give the text of its seal. */
export const restore = (text) => {
  for (let round = 0; round < 8 && /^\[\[FOLD:/m.test(text); round++) text = restoreOnce(text);
  return text.split("\n").some((line) => headerOf(line)?.mark) ? fail("CONCERTINA_FOLD_DAMAGED") : text;
};

const restoreOnce = (text) => {
  const lines = text.split("\n");
  let done = "";
  for (let at = 0; at < lines.length; at++) {
    const header = headerOf(lines[at]);
    let found;
    if (header?.mark && at + header.count < lines.length) {
      const body = lines.slice(at + 1, at + 1 + header.count);
      const seal = header.mark === "below" ? body.pop() : header.mark;
      const fold = { ...header, body: body.length > 0 ? body.join("\n") : undefined };
      const ways = [() => decode(fold, done), () => behindPrefixes(fold)];
      found = ways.map(attempt).find((one) => one !== undefined && sealOf(one) === seal);
    }
    done += `${found ?? lines[at]}\n`;
    if (found !== undefined) at += header.count;
  }
  return done.slice(0, -1);
};

const decode = (fold, done) => need(DECODERS[fold.stage])(fold, done);

const behindPrefixes = (fold) => {
  const words = /^each line begins (?:"([^"]+)"|as in the last ([1-9]\d*) lines)(?:; ([^]+))?$/;
  const [, same, count, legend = ""] = need(words.exec(fold.legend));
  const body = linesOf(fold);
  let prefixes;
  if (count) {
    const [first, ...rest] = body.splice(-Number(count));
    const header = headerOf(first);
    if (header.stage !== fold.stage || header.count !== rest.length) fail();
    prefixes = rows({ ...header, body: rest.join("\n") }).split("\n");
  }
  const bare = { ...fold, legend, body: body.join("\n") };
  const lines = (legend === "" ? bare.body : decode(bare)).split("\n");
  if (prefixes && prefixes.length !== lines.length) fail();
  return lines.map((line, at) => (same ?? prefixes[at]) + line).join("\n");
};

// Numbered listings, moved lines, colours, repeats.

const numbered = (fold) => {
  if (fold.legend !== "a line without a number has the next one") fail();
  let next;
  return linesOf(fold)
    .map((line) => {
      const prefix = /^( *)(\d{1,9})(→|\t|:| ?[|│] ?)/;
      const whole = prefix.test(line) ? line : need(next) + line;
      const [, indent, number, mark] = need(prefix.exec(whole));
      next = String(Number(number) + 1).padStart(indent.length + number.length) + mark;
      return whole;
    })
    .join("\n");
};

const phrases = (fold) => {
  const [, mark, count] = need(/^([$%~@])N stands for line N of the first ([1-9]\d*) lines$/.exec(fold.legend));
  const lines = linesOf(fold);
  if (lines.length <= Number(count)) fail();
  const names = lines.splice(0, Number(count));
  return lines.join("\n").replace(new RegExp(`\\${mark}(\\d+)`, "g"), (_, number) => need(names[number - 1]));
};

const moved = (fold) => {
  const lines = linesOf(fold);
  const places = (line) => /^\[\[changes with each call: ([\d,]+)\]\]$/.exec(line)?.[1].split(",");
  const boundary = lines.findLastIndex((line, at) => places(line)?.length === lines.length - at - 1);
  const numbers = need(places(lines[boundary] ?? ""));
  const [stable, volatile] = [lines.slice(0, boundary), lines.slice(boundary + 1)];
  const next = (_, at) => need((numbers.includes(String(at + 1)) ? volatile : stable).shift());
  return times(lines.length - 1, next).join("\n");
};

const colours = (fold) => {
  const names = new Map(fold.legend.split(" ").map((entry) => cut(entry, "=")));
  return [...need(fold.body)].map((one) => names.get(one)?.replaceAll("\\e", "\x1b") ?? one).join("");
};

const quoteOf = (line) => {
  const trimmed = line.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "");
  const head = [...trimmed].slice(0, 48).join("");
  const words = head.slice(0, Math.max(0, head.lastIndexOf(" ")));
  if (head === trimmed) return trimmed;
  return Buffer.byteLength(words) >= 24 ? words.trimEnd() : head;
};

const repeated = (fold, done) => {
  const [, count, line, quote] = need(/^repeats (\d+) lines? above; line (\d+): "([^]*)"$/.exec(fold.legend));
  const lines = done.split("\n").slice(0, -1);
  const start = lines.findIndex((one) => quoteOf(one) === quote) - (Number(line) - 1);
  const found = start < 0 ? [] : lines.slice(start, start + Number(count));
  return found.length === Number(count) ? found.join("\n") : fail();
};

// Steps: `+1`, or `+1#2` where two numbers follow the one that counts.

const STEP = /^([+-]\d+)(?:#(\d+))?$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Returns the next text of a sequence, by counting a number. */
const stepped = (text, [, by, following = 0]) => {
  const isNumber = NUMBER.test(text) && !/e/i.test(text);
  const run = need((isNumber ? [{ 0: text, index: 0 }] : [...text.matchAll(/\d+/g)]).at(-1 - following));
  if (run[0].length > 30) fail();
  const [whole, places] = [run[0].replace("-", ""), (run[0].split(".")[1] ?? "").length];
  const sum = BigInt(run[0].replace(".", "")) + BigInt(by);
  if (sum < 0n && run[0] !== text) fail();
  let next = String(sum)
    .replace("-", "")
    .padStart(whole[0] === "0" && !places ? whole.length : places + 1, "0");
  if (places > 0) next = `${next.slice(0, -places)}.${next.slice(-places)}`;
  return text.slice(0, run.index) + (sum < 0n ? "-" : "") + next + text.slice(run.index + run[0].length);
};

// Templates.

const ruleOf = (rule) => {
  if (rule === "") return {};
  if ([...rule].length === 1) return { folder: rule };
  if (rule[0] === "=") return { same: Number(rule.slice(1)) - 1 };
  return { step: need(STEP.exec(rule)) };
};

const templateOf = (text, [open, close], isList) => {
  const [head, ...parts] = text.split(open);
  const values = parts.map((part) => {
    const [spec, literal] = cut(part, close);
    const [, pad, width, rule] = /^(?:([<>])(\d+))?([^]*)$/.exec(spec);
    return { pad, width: Number(width ?? 0), literal: need(literal), ...ruleOf(rule) };
  });
  return { head, values, isList, isUsed: false };
};

const expectedOf = ({ step, now }) => (step && attempt(() => stepped(now, step))) ?? now;

const rowOf = (template, words, names) => {
  const { head, values, isUsed } = template;
  const last = values.findLastIndex((value) => value.same === undefined);
  let rest = words === "" ? undefined : words;
  const take = (length) => {
    rest = rest.length > length ? rest.slice(length + 1) : undefined;
  };
  const valueOf = (value, at) => {
    if (value.same !== undefined) return values[value.same].now;
    if (rest === undefined) return need(isUsed) && expectedOf(value);
    if (isUsed && /^\.(?: |$)/.test(rest)) return (take(1), expectedOf(value));
    if (rest[0] === '"') {
      const [whole, quoted] = need(/^"((?:[^"]|"")*)"(?= |$)/.exec(rest));
      return (take(whole.length), quoted.replaceAll('""', '"'));
    }
    const word = at === last ? rest : cut(rest, " ")[0];
    take(word.length);
    const up = value.folder ? /^\^*/.exec(word)[0].length : 0;
    if (up > 0) return [...value.now.split(value.folder).slice(0, -up), word.slice(up)].join(value.folder);
    return word.replace(
      /(?<![^ ])\$(\d+)(?:=([^ ]*))?(?![^ ])/g,
      (_, number, named) => (names[number] = named ?? need(names[number])),
    );
  };
  values.forEach((value, at) => {
    value.now = valueOf(value, at);
  });
  if (rest !== undefined) fail();
  template.isUsed = true;
  const filled = ({ pad, width, now }) => (pad === "<" ? now + blanks(width, now) : blanks(width, now) + now);
  return head + values.map((value) => filled(value) + value.literal).join("");
};

const rows = (fold) => {
  const [, marks] = need(/^(\{\}|«»): /.exec(fold.legend));
  const [templates, names, text, lines] = [[], {}, [], linesOf(fold)];
  let [current, last] = [];
  while (lines.length > 0) {
    const line = lines.shift();
    const [definition, name, list, height = 1] = /^([a-z]+)(\*?)(?:\/(\d+))?:(?: |$)/.exec(line) ?? [];
    if (line[0] === "|") {
      last = () => line.slice(1);
      text.push(last());
    } else if (line[0] === "*") {
      text.push(...times(Number(line.slice(1)), need(last)));
    } else if (name === nameOf(templates.length, "a")) {
      const whole = [line.slice(definition.length), ...lines.splice(0, height - 1)].join("\n");
      current = templateOf(whole, [...marks], list !== "");
      templates.push(current);
    } else {
      const [word, rest = ""] = cut(line, " ");
      const named = templates.find((_, at) => nameOf(at, "a") === word);
      const [template, words] = named ? [named, rest] : [need(current), line];
      current = template;
      last = () => rowOf(template, words, names);
      const cells = template.isList ? words.split(" ") : [words];
      text.push(...cells.map((cell) => rowOf(template, cell, names)));
    }
  }
  return text.join("\n");
};

// Diffs.

const FILES = [
  ["diff ", "", (path) => [`--- a/${path}`, `+++ b/${path}`]],
  ["new file ", "new file mode 100644", (path) => ["--- /dev/null", `+++ b/${path}`]],
  ["deleted file ", "deleted file mode 100644", (path) => [`--- a/${path}`, "+++ /dev/null"]],
];
const HUNK = /^@@ -(0|[1-9]\d{0,17}) \+(0|[1-9]\d{0,17})((?: (?!@@)[^]*)?)$/;
const isShort = (line) => HUNK.test(line) || /^commit [^]*; |^(?:diff|(?:new|deleted) file) (?!-|mode )[^]/.test(line);

const diff = (fold) => {
  if (fold.legend !== "short headers: diff path, @@ -old +new") fail();
  const [lines, text] = [linesOf(fold), []];
  const next = (test) => {
    const end = lines.findIndex((line) => !test(line));
    return lines.splice(0, end < 0 ? lines.length : end);
  };
  let author;
  while (lines.length > 0) {
    const line = lines.shift();
    if (!isShort(line)) text.push(line[0] === ">" && isShort(line.replace(/^>+/, "")) ? line.slice(1) : line);
    else if (HUNK.test(line)) {
      const [, old, now, section] = HUNK.exec(line);
      const body = next((line) => /^[ +\-\\]/.test(line));
      const count = (signs) => body.filter((line) => signs.includes(line[0])).length;
      const range = (signs) => (count(signs) === 1 ? "" : `,${count(signs)}`);
      text.push(`@@ -${old}${range(" -")} +${now}${range(" +")} @@${section}`, ...body);
    } else if (line.startsWith("commit ")) {
      const [hash, ...parts] = line.split("; ");
      const merge = parts[0].startsWith("merge ") ? [`Merge: ${parts.shift().slice(6)}`] : [];
      author = parts[1] ?? author;
      text.push(hash, ...merge, `Author: ${need(author)}`, `Date:   ${need(parts[0])}`, "");
    } else {
      const [word, mode, sides] = FILES.find(([word]) => line.startsWith(word));
      const path = line.slice(word.length);
      const extended = next((line) => /^(?:index|old mode|new mode) /.test(line));
      text.push(`diff --git a/${path} b/${path}`, ...(mode ? [mode] : []), ...extended, ...sides(path));
    }
  }
  return text.join("\n");
};

// Hits and listings.

/** Returns a reader of path lines, which returns the path of a line, or undefined for a directory. */
const directories = () => {
  const stack = [];
  return (line) => {
    const [, indent, text] = /^( *)>?([^]*)$/.exec(line);
    if (indent.length > stack.length) fail();
    stack.length = indent.length;
    const path = (stack.at(-1) ?? "") + text;
    if (!text.endsWith("/")) return path;
    stack.push(path);
    return undefined;
  };
};

const QUOTED = '("(?:[^"\\\\]|\\\\.)*")';
const HITS = new RegExp(
  "^(hits by file: line text|by file: line:hit; line or tab, then context)" +
    `(; -- at gaps)?(?:; …x is ${QUOTED})?(?:; x… is ${QUOTED})?` +
    "(?:; (?:(paths|hits|context) but )?~ below (.+))?$",
  "s",
);

const hits = (fold) => {
  const [, form, gaps, start, end, who, root = ""] = need(HITS.exec(fold.legend));
  const isContext = form.startsWith("by");
  const [read, text] = [directories(), []];
  let [path, above, run] = [undefined, undefined, []];
  const whole = (part) => {
    if (end && part.endsWith("…")) part = part.slice(0, -1) + JSON.parse(end);
    return start && part[0] === "…" ? JSON.parse(start) + part.slice(1) : part;
  };
  const prefix = (kind, isFlipped, mark) => {
    const isRooted = (who === "paths" || who === kind) !== isFlipped;
    return (isRooted ? root : "") + need(path) + mark;
  };
  const follow = (number) => {
    if (gaps && above && !(above.isHere && above.number + 1 === number)) text.push("--");
    above = { number, isHere: true };
  };
  const flush = () => {
    if (run.isMerged) run.sort((a, b) => a[0] - b[0]);
    text.push(...run.map(([, line]) => line));
    run = [];
  };
  for (const line of linesOf(fold)) {
    const isFlipped = line[0] === "~";
    const rest = line.slice(isFlipped ? 1 : 0);
    const [, number, column = "", mark, part] = /^(\d+)(:[1-9]\d*(?=:))?([: ])([^]*)$/.exec(rest) ?? [];
    if (/^[\d\t]/.test(rest) && isContext) {
      const isHit = mark === ":";
      const own = rest[0] === "\t" ? need(above?.isHere) && above.number + 1 : Number(need(number));
      const head = prefix(isHit ? "hits" : "context", isFlipped, isHit ? ":" : "-");
      follow(own);
      text.push(head + own + (isHit ? `${column}:` : "-") + whole(rest[0] === "\t" ? rest.slice(1) : part));
    } else if (/^\d/.test(rest)) {
      const head = prefix("hits", isFlipped, ":");
      const [places, part] = cut(rest, " ");
      for (const place of places.split(",")) {
        const [first, last = first] = place.split("-").map((number) => Number(number.split(":")[0]));
        const shown = (number) => (place.includes("-") ? number : place);
        for (let n = first; n <= last; n++) run.push([n, `${head}${shown(n)}:${whole(need(part))}`]);
      }
      run.isMerged ||= /[,-]/.test(places);
    } else {
      flush();
      if (/^[:(]/.test(rest)) {
        above = undefined;
        text.push(prefix("hits", isFlipped, "") + rest);
      } else if (/^(?:\\|$|--$)/.test(line)) {
        above = undefined;
        text.push(line.replace(/^\\/, ""));
      } else {
        const found = isFlipped ? fail() : read(line);
        path = found ?? path;
        if (above && found) above.isHere = false;
      }
    }
  }
  flush();
  return text.join("\n");
};

const listing = (fold) => {
  if (!["paths: a/ b c = a/b a/c", "paths: a/*.x b c.y = a/b.x a/c.y"].includes(fold.legend)) fail();
  const [read, suffixes, text] = [directories(), [], []];
  for (const line of linesOf(fold)) {
    const words = line === "" || line[0] === "\\" ? [] : line.trimStart().split(" ");
    if (words.length === 0) text.push(line.slice(1));
    let depth = /^ */.exec(line)[0].length;
    suffixes.length = Math.min(depth, suffixes.length);
    const directory = /^([^]*\/)(?:\*(\.[^/]*))?$/.exec(words[0] ?? "");
    if (directory) {
      read(" ".repeat(depth) + directory[1]);
      suffixes[depth++] = directory[2];
      words.shift();
    }
    const suffix = suffixes[depth - 1];
    const named = (word) => {
      if (!suffix) return word;
      return word.endsWith(".") ? word.slice(0, -1) : word + (word.includes(".") ? "" : suffix);
    };
    text.push(...words.map((word) => need(read(" ".repeat(depth) + named(word)))));
  }
  return text.join("\n");
};

// JSON: a value is `{ text, isQuoted }`, `{ items }` or `{ fields }`; strings and keys keep their spelling.

const quoted = (text) => ({ text, isQuoted: true });
const literal = (text) => ({ text, isQuoted: false });
const escaped = (text) => quoted(JSON.stringify(text).slice(1, -1));

/** The characters that end a bare text, by context; rows add the mark between their cells. */
const [LINE, HEADER, ROW, TUPLE, OBJECT, ARRAY] = ["\n", ",\n", ";\n", ";)\n", " }\n", " ]\n"];
const ABSENT = {};

const bodyOf = (source) => {
  let at = 0;
  const [texts, entries, classes] = [[], [], []];
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    at = found ? pattern.lastIndex : at;
    return found ?? [];
  };
  const take = (start) => source.startsWith(start, at) && (at += start.length) > 0;
  const number = () => Number(need(match(/\d+/y)[0]));
  const shared = () => need(texts[number() - 1]);
  const string = () => match(/"((?:[^"\\]|\\[^])*)"/y)[1];
  const bare = (ends) => {
    const [start, close] = [at, /[)}\]]/.exec(ends)?.[0]];
    const open = { ")": "(", "}": "{", "]": "[" }[close];
    for (let depth = 0; at < source.length; at++) {
      if (depth > 0 && source[at] === close) depth--;
      else if (ends.includes(source[at])) break;
      else if (source[at] === open) depth++;
    }
    return source.slice(start, at);
  };
  const scalar = (ends) => {
    if (take('"""')) return escaped(need(match(/([^]*?)"""/y)[1]));
    if (take("&")) return quoted(shared() + (string() ?? bare(ends)));
    const inner = string();
    if (inner !== undefined) return quoted(inner);
    const text = need(bare(ends) || undefined);
    if (text === "[]") return { items: [] };
    if (text === "{}") return { fields: [] };
    return /^(?:true|false|null)$/.test(text) || NUMBER.test(text) ? literal(text) : quoted(text);
  };
  const value = (ends) => {
    if (take("[]")) return { items: [] };
    if (take("{}")) return { fields: [] };
    if (take("[")) return { items: array() };
    if (take("{")) return { fields: object() };
    if (take("`")) {
      const end = take("n") ? "\n" : "";
      return escaped(print(value(ends), settingOf("minified")) + end);
    }
    if (take("(")) {
      const own = classOf(match(/([A-Z]+) /y)[1]);
      const { node } = row(own, TUPLE);
      return need(take(")")) && node;
    }
    const start = at;
    const entry = take("&") && entries[number() - 1 - texts.length];
    if (entry) return entry;
    at = start;
    return scalar(ends);
  };
  const classOf = (name) => need(classes.find((one) => one.name === name));
  /** Reads the rows of a class up to a bracket, if there are any. */
  const block = (isKeyed, close) => {
    const name = match(/([A-Z]+)\n/y)[1];
    if (!name) return undefined;
    const rows = [];
    for (; !take(close); need(take("\n"))) rows.push(line(classOf(name)));
    return classOf(name).isKeyed === isKeyed ? rows : fail();
  };
  const line = (own) => {
    if (!take("|")) return row(own, ROW);
    const other = match(/([A-Z]+) /y)[1];
    if (other) return row(classOf(other), ROW);
    const key = string();
    return need(take(":")) && { key, node: value(LINE) };
  };
  const array = () => {
    const rows = block(false, "]");
    if (rows) return rows.map(({ node }) => node);
    const [, numbers] = match(/=([^\]]*)\]/y);
    if (numbers) {
      const plain = (one) => (one[0] === " " ? one.trim() : one.replace(/^(-?)0{1,2}(?=\d)/, "$1"));
      const all = numbers.match(/ \S+ |-?\d{3}/g).map(plain);
      return times(all.length / 2, (_, at) => ({ items: all.slice(2 * at, 2 * at + 2).map(literal) }));
    }
    for (const items = []; ; need(source.startsWith(",[", at) ? take(",") : take(" "))) {
      items.push(value(ARRAY));
      if (take("]")) return items;
    }
  };
  const object = () => {
    const rows = block(true, "}");
    if (rows) return rows.map(({ key, node }) => [need(key), node]);
    for (const fields = []; ; need(take(" "))) {
      const start = take("&") ? shared() : "";
      const key = start + (string() ?? match(/[^:\n]*/y)[0]);
      fields.push([key, need(take(":")) && value(OBJECT)]);
      if (take("}")) return fields;
    }
  };

  const columnName = () => need(match(/(?:"(?:[^"\\]|\\[^])*"|[^"=?,;\n~])+/y)[0]);
  const header = () => {
    need(take(nameOf(classes.length, "A")));
    const mark = take(" ") ? " " : take("\t") ? "\t" : ",";
    need(take(":"));
    const columns = [];
    do {
      const [name, start] = [columnName(), at];
      if (!take("?") && take("=")) match(/"""[^]*?"""|(?:&\d+)?(?:"(?:[^"\\]|\\[^])*"|[^,\n]*)/y);
      columns.push({ name, start, rule: source.slice(start, at) });
    } while (take(","));
    const end = at;
    const lastOf = (name) => /\.([^".[]*)$/.exec(name)?.[1] ?? name;
    const names = columns.flatMap(({ name }) => [...new Set([lastOf(name), name])]);
    for (const column of columns) {
      const { name } = column;
      column.rule = ruleOfColumn(column, columns);
      column.short = names.filter((other) => other === lastOf(name)).length === 1 ? lastOf(name) : name;
      column.path = name.match(/"(?:[^"\\]|\\[^])*"|[^.]+/g).map((key) => key.replace(/^"([^]*)"$/, "$1"));
    }
    at = end;
    classes.push({ name: nameOf(classes.length, "A"), mark, columns, isKeyed: columns[0].name === "@", rows: [] });
  };
  const ruleOfColumn = ({ start, rule }, columns) => {
    if (rule === "") return { isShown: true };
    if (rule === "?") return { fixed: ABSENT };
    const [, back, step] = /^=\^(\d*)([^]*)$/.exec(rule) ?? [];
    if (back !== undefined) return { back: Number(back || 1), step: step && need(STEP.exec(step)) };
    const inner = /^="([^]*)"$/.exec(rule)?.[1];
    const parts = partsOf(inner ?? rule.slice(1), columns);
    const isMade = inner === undefined ? /^=\{[^}]/.test(rule) : !rule.startsWith('="""');
    if (isMade && parts.some((part) => typeof part !== "string")) {
      return { parts, isQuoted: inner !== undefined, isShown: parts.some((part) => part.isHole) };
    }
    at = start + 1;
    return { fixed: scalar(HEADER) };
  };
  const partsOf = (text, columns) =>
    text.split(/(\{[^{}]*\})/).map((part) => {
      const [, up, name] = /^\{(\^?)([^]*)\}$/.exec(part) ?? [];
      const find = (name) => columns.findIndex((column) => column.name === name);
      if (part === "{}") return { isHole: true };
      if (name === undefined) return part;
      if (find(name) >= 0) return { column: find(name), up };
      const tail = name.endsWith("/") ? find(name.slice(0, -1)) : -1;
      return tail >= 0 ? { column: tail, up, isTail: true } : part;
    });
  const row = (own, around) => {
    const { columns, rows, mark } = own;
    const [cells, holes, ends] = [[], [], around + mark];
    let isFirst = true;
    columns.forEach(({ rule }, place) => {
      if (!rule.isShown) return;
      if (!isFirst) need(take(mark));
      isFirst = false;
      if (rule.parts) holes[place] = string() ?? bare(ends);
      else cells[place] = at >= source.length || ends.includes(source[at]) ? ABSENT : value(ends);
    });
    while (take(";")) {
      const name = columnName();
      const place = columns.findIndex(({ short }) => short === name);
      cells[need(place >= 0) && place] = take("?") ? ABSENT : need(take("=")) && value(ends);
    }
    const cell = (place) => (cells[place] ??= implied(place, columns[place].rule));
    const implied = (place, { fixed, back, step, parts, isQuoted }) => {
      if (fixed) return fixed;
      const above = rows.at(-(back ?? 1));
      if (back) return step ? { ...above[place], text: stepped(need(above[place].text), step) } : above[place];
      const made = parts.map((part) => {
        if (typeof part === "string") return part;
        if (part.isHole) return need(holes[place]);
        const { text } = part.up ? above[part.column] : cell(part.column);
        return part.isTail ? text.slice(text.lastIndexOf("/") + 1) : need(text);
      });
      return { text: made.join(""), isQuoted };
    };
    columns.forEach((_, place) => cell(place));
    rows.push(cells);
    const leaves = columns.map(({ path }, place) => [path, cells[place]]).filter(([, cell]) => cell !== ABSENT);
    return own.isKeyed ? { key: cells[0].text, node: objectOf(leaves.slice(1), 0) } : { node: objectOf(leaves, 0) };
  };
  const objectOf = (leaves, depth) => {
    const fields = [];
    for (let start = 0, end; start < leaves.length; start = end) {
      const [path, cell] = leaves[start];
      for (end = start; end < leaves.length && leaves[end][0][depth] === path[depth];) end++;
      fields.push([path[depth], path.length === depth + 1 ? cell : objectOf(leaves.slice(start, end), depth + 1)]);
    }
    return { fields };
  };

  for (; ; need(take("\n"))) {
    if (take("&")) {
      const own = number();
      if (take("=")) texts.push(match(/[^\n]*/y)[0]);
      else entries.push(need(take(":")) && value(LINE));
      if (own !== texts.length + entries.length) fail();
    } else if (/^[A-Z]/.test(source[at] ?? "")) header();
    else break;
  }
  const root = value(LINE);
  return at === source.length ? root : fail();
};

/**
 * Prints a value in a setting. Places are 0 for the first element of a container, 1 for another one, 2 for the closing
 * bracket, 3 for a colon, 4 for the value after it, and 5 for a line end.
 */
const print = (root, { start, unit, crlf, lines, missing, except }) => {
  const blank = start === "minified" ? "" : " ";
  const newline = (depth) => (crlf ? "\r\n" : "\n") + unit.repeat(depth);
  const [tokens, levels, onLine] = [[], {}, [0, 1, 2].map(() => ["", blank, ""])];
  const others = { 3: "", 4: blank, 5: crlf ? "\r" : "" };
  const levelOf = (depth, kind) =>
    (levels[[depth, kind]] ??= { isOnLine: !unit, space: [newline(depth + 1), newline(depth + 1), newline(depth)] });
  let since = 0;
  const token = (text, slot) => {
    const known = () => (slot.place > 2 ? others : slot.isOnLine ? onLine[slot.kind] : slot.level.space);
    let space = slot.place === undefined ? "" : known()[slot.place];
    if (except[0]?.since === since++) {
      since = 0;
      const own = except.shift().space;
      if (slot.place === 0) {
        slot.isOnLine = own === undefined ? !slot.isOnLine : !own.includes("\n");
        if (!slot.isInside) slot.level.isOnLine = slot.isOnLine;
      }
      space = own ?? known()[0];
      if (own !== undefined && slot.place < 5) known()[slot.place] = own;
      if (own !== undefined && slot.place === 0 && !slot.isOnLine) known()[1] = own;
    }
    tokens.push(space + text);
  };
  const walk = (node, depth, slot) => {
    if (node.text !== undefined) return token(node.isQuoted ? `"${node.text}"` : node.text, slot);
    const [children, [open, close]] = [node.fields ?? node.items, node.fields ? "{}" : "[]"];
    token(open, slot);
    const kind = node.fields ? 0 : children[0]?.items || children[0]?.fields ? 1 : 2;
    const [level, isInside] = [levelOf(depth, kind), Boolean(slot.isOnLine || slot.isInside)];
    const own = { place: 0, kind, level, isInside, isOnLine: isInside || level.isOnLine };
    for (const child of children) {
      if (own.place > 0) token(",", {});
      if (node.fields) {
        token(`"${child[0]}"`, own);
        token(":", { ...own, place: 3 });
        walk(child[1], depth + 1, { ...own, place: 4 });
      } else walk(child, depth + 1, own);
      own.place = 1;
    }
    token(close, children.length > 0 ? { ...own, place: 2 } : {});
  };
  for (const [at, value] of (lines ? need(root.items) : [root]).entries()) {
    if (at > 0) token("\n", { place: 5 });
    walk(value, 0, {});
  }
  return tokens.slice(0, tokens.length - missing).join("");
};

const settingOf = (words) => {
  const setting = /^(minified|spaced|indent=(tab|[1-8]))( crlf)?( lines)?( tail)?(?: cut=(\d+))?(?: except=(\[.*\]))?$/;
  const [, start, width, crlf, lines, tail, missing = 0, list = "[]"] = need(setting.exec(words));
  const except = [];
  for (const entry of JSON.parse(list)) {
    if (typeof entry === "string") except.at(-1).space = entry;
    else except.push({ since: entry });
  }
  const unit = width === "tab" ? "\t" : " ".repeat(Number(width ?? 0));
  return { start, unit, crlf, lines, tail, missing: Number(missing), except };
};

const json = (fold) => {
  const setting = settingOf(cut(need(/^json ([^]*)$/.exec(fold.legend))[1], "; A: columns of rows A")[0]);
  const lines = linesOf(fold);
  const tail = setting.tail ? lines.pop() : "";
  return print(bodyOf(lines.join("\n")), setting) + tail;
};

const table = (fold) => {
  const [, word, split, ends] = need(/^table (tsv|csv|split=([;|]))( crlf(?: open)?)?; A: columns/.exec(fold.legend));
  const mark = split ?? (word === "tsv" ? "\t" : ",");
  const records = need(bodyOf(need(fold.body)).items).map((record) => new Map(need(record.fields)));
  const names = [...records[0].keys()];
  const meaning = (text) => JSON.parse(`"${text}"`);
  const fieldOf = (cell) => (cell?.isQuoted ? meaning(cell.text) : (cell?.text ?? ""));
  const written = (field) =>
    /["\n\r]/.test(field) || field.includes(mark) ? `"${field.replaceAll('"', '""')}"` : field;
  const rows = [names.map(meaning), ...records.map((record) => names.map((name) => fieldOf(record.get(name))))];
  const text = rows.map((row) => row.map(written).join(mark)).join(ends ? "\r\n" : "\n");
  return ends === " crlf" ? `${text}\r` : text;
};

const DECODERS = {
  quantumLock: moved,
  photon: colours,
  rle: rows,
  logCrunch: rows,
  semanticDedup: repeated,
  ionizer: either(json, table),
  searchCrunch: either(hits, listing),
  diffCrunch: diff,
  structuralCollapse: either(numbered, phrases, rows),
  neurosyntax: numbered,
};
