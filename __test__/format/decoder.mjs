// A decoder of folds, written from docs/format.md without the library's code. A reader returns the lines that a body
// may stand for. The checksum selects the reader, so readers check little: on another form they are wrong, or throw.
import { createHash } from "node:crypto";

// The envelope.
const HEADER = /^\[\[FOLD:[^ \]]+ (\d+)(?: (below|[a-z]{6}))?\]\](?: (.+))?$/s;
/** Names count `a` to `z`, then `aa`. */
const nameOf = (at) => (at < 26 ? "" : nameOf(Math.floor(at / 26) - 1)) + String.fromCharCode(97 + (at % 26));
const sealOf = (text) => {
  const number = createHash("sha256").update(text).digest().readUInt32BE(0) % 26 ** 5;
  const digits = number.toString(26).padStart(5, "0");
  return "a" + digits.replace(/./g, (digit) => nameOf(parseInt(digit, 26)));
};

/** Restores a compressed text; throws if a sealed fold does not give the text of its seal. */
export const restore = (text, rounds = 8) => {
  const [lines, done] = [text.split("\n"), []];
  for (let at = 0; at < lines.length; at++) {
    const fold = foldAt(lines, at);
    const found = fold.seal && decode(fold, done);
    for (const line of found ?? [lines[at]]) done.push(line);
    if (found) at += fold.count;
  }
  if (rounds > 1) return restore(done.join("\n"), rounds - 1);
  if (done.some((line) => HEADER.exec(line)?.[2])) throw new Error("CONCERTINA_FOLD_DAMAGED");
  return done.join("\n");
};
/** Returns the fold that begins at a line, if it is whole. */
const foldAt = (lines, at) => {
  const [header, digits, mark, legend = ""] = HEADER.exec(lines[at]) ?? [];
  const count = Number(digits);
  if (!header || at + count >= lines.length) return {};
  const body = lines.slice(at + 1, at + 1 + count);
  return { count, legend, seal: mark === "below" ? body.pop() : mark, body };
};
/** Returns the lines that a fold stands for; `above` are the restored lines before it. */
const decode = (fold, above) => {
  const bare = ({ body }) => body;
  for (const read of [rows, json, table, numbered, phrases, hits, listing, diff, repeated, colours, moved, bare]) {
    try {
      const text = withPrefixes(read, fold, above).join("\n");
      if (sealOf(text) === fold.seal) return text.split("\n");
    } catch {} // The body has another form.
  }
};
const withPrefixes = (read, fold, above) => {
  const words = /^each line begins (?:"([^"]+)"|as in the last (\d+) lines)(?:; (.+))?$/s;
  const [found, same, count = 0, legend] = words.exec(fold.legend) ?? [];
  if (!found) return read(fold, above);
  const body = fold.body.slice(0, fold.body.length - count);
  const prefixes = same ? [] : rows(foldAt(fold.body, body.length)).join("\n").split("\n");
  const lines = withPrefixes(read, { legend, body }, above).join("\n").split("\n");
  return lines.map((line, at) => (same ?? prefixes[at]) + line);
};

// Numbered listings, phrases, moved lines, colours, repeats, and steps.
const numbered = ({ body }) => {
  const form = /^( *\d{1,9})(→|\t|:| ?[|│] ?).*$/s;
  let next = "";
  return body.map((line) => {
    const [whole, number, mark] = form.exec(line) ?? form.exec(next + line);
    next = String(Number(number) + 1).padStart(number.length) + mark;
    return whole;
  });
};
const phrases = ({ legend, body }) => {
  const [, mark, count] = /^(.)N stands for line N of the first (\d+) lines$/.exec(legend);
  return body.slice(count).map((line) => line.replace(RegExp(`\\${mark}(\\d+)`, "g"), (_, at) => body[at - 1]));
};
const moved = ({ body }) => {
  const places = (line) => /^\[\[changes with each call: ([\d,]+)\]\]$/.exec(line)?.[1].split(",");
  const boundary = body.findLastIndex((line, at) => places(line)?.length === body.length - at - 1);
  const lines = body.slice(0, boundary);
  for (const [at, place] of places(body[boundary]).entries()) lines.splice(place - 1, 0, body[boundary + 1 + at]);
  return lines;
};
const colours = ({ legend, body }) => {
  const names = new Map(legend.split(" ").map((entry) => [entry[0], entry.slice(2).replaceAll("\\e", "\x1b")]));
  return body.map((line) => Array.from(line, (character) => names.get(character) ?? character).join(""));
};
const quoteOf = (line) => {
  const trimmed = line.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "");
  const head = [...trimmed].slice(0, 48).join("");
  const [, words = ""] = /^(.*) /s.exec(head) ?? [];
  return head === trimmed || Buffer.byteLength(words) < 24 ? head : words.trimEnd();
};
const repeated = ({ legend }, above) => {
  const [, count, line, quote] = /^repeats (\d+) lines? above; line (\d+): "(.*)"$/s.exec(legend);
  const start = above.findIndex((one) => quoteOf(one) === quote) + 1 - line;
  return above.slice(start, start + Number(count));
};
/** Returns the text after a step such as `+5#2`; the same text if it lacks the number that counts. */
const stepped = (text, step) => {
  const [by, following = 0] = step.split("#");
  const parts = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) ? ["", text, ""] : text.split(/(\d+)/);
  const at = parts.length - 2 - 2 * following;
  const [whole, decimals = ""] = (parts[at] ?? "").split(".");
  const sum = BigInt(whole + decimals) + BigInt(by);
  if (!whole || parts[at].length > 30 || (sum < 0n && parts[at] !== text)) return text;
  const width = Math.max(decimals.length + 1, whole[0] === "0" ? whole.length : 0);
  const next = String(sum).replace(/\d+/, (digits) => digits.padStart(width, "0"));
  parts[at] = next.replace(new RegExp(`(\\d{${decimals.length}})$`), decimals && ".$1");
  return parts.join("");
};

// Templates.
const rows = ({ legend, body }) => {
  const [, open, close] = /^([{«])([}»]): /.exec(legend);
  const rule = `(?<step>[+-]\\d[^${close}]*)|=(?<same>\\d+)|(?<folder>.?)`;
  const form = new RegExp(`^(?:(?<pad>[<>])(?<width>\\d+))?(?:${rule})[${close}](?<literal>.*)$`, "su");
  const [text, templates, names] = [[], new Map(), {}];
  let current;
  const add = (line) => {
    if (line[0] === "|") return text.push(line.slice(1));
    const [word] = line.split(" ", 1);
    const words = templates.has(word) ? line.slice(word.length + 1) : line;
    current = templates.get(word) ?? current;
    return (current.isList ? words.split(" ") : [words]).forEach((row) => text.push(rowOf(current, row, names)));
  };
  for (let at = 0; at < body.length; at++) {
    const [start, name, list, height = 1] = /^([a-z]+)(\*?)(?:\/(\d+))?:(?: |$)/.exec(body[at]) ?? [];
    if (name === nameOf(templates.size)) {
      const lines = [body[at].slice(start.length), ...body.slice(at + 1, at + Number(height))];
      const [head, ...parts] = lines.join("\n").split(open);
      const values = parts.map((part) => ({ ...form.exec(part).groups }));
      current = { head, values, isList: list === "*", last: values.findLastIndex(({ same }) => !same) };
      templates.set(name, current);
      at += height - 1;
    } else if (body[at][0] === "*") {
      for (let times = Number(body[at].slice(1)); times > 0; times--) add(body[at - 1]);
    } else add(body[at]);
  }
  return text;
};
const rowOf = ({ head, values, last }, words, names) => {
  let rest = words && ` ${words}`;
  const read = ({ step, same, folder, now }, at) => {
    if (same) return values[same - 1].now;
    const word = at === last ? /^ (?:"((?:[^"]|"")*)"$|(.*))/s : /^ (?:"((?:[^"]|"")*)"(?= |$)|([^ ]*))/;
    const [whole, quoted, plain] = word.exec(rest || " .");
    rest = rest.slice(whole.length);
    if (quoted !== undefined) return quoted.replaceAll('""', '"');
    if (plain === "." && now !== undefined) return step ? stepped(now, step) : now;
    const up = folder ? /^\^*/.exec(plain)[0].length : 0;
    if (up > 0) return [...now.split(folder).slice(0, -up), plain.slice(up)].join(folder);
    const named = (_, number, own) => (names[number] = own ?? names[number]);
    return plain.replace(/(?<![^ ])\$(\d+)(?:=([^ ]*))?(?![^ ])/g, named);
  };
  const filled = (value, at) => {
    value.now = read(value, at);
    const width = Number(value.width ?? 0) + value.now.length - [...value.now].length;
    return (value.pad === "<" ? value.now.padEnd(width) : value.now.padStart(width)) + value.literal;
  };
  return head + values.map(filled).join("");
};

// Diffs.
const HUNK = /@@ -(0|[1-9]\d{0,17}) \+(0|[1-9]\d{0,17})((?: (?!@@)[^\n]*)?)(?![^\n])/.source;
const COMMIT = /(commit [^\n]*?)(?:; merge ([^\n]*?))?; ([^\n]*?)(?:; ([^\n]*))?(?![^\n])/.source;
const FILE = /(diff|new file|deleted file) ((?!-|mode )[^\n]+)/.source;
const diff = ({ body }) => {
  let [text, last] = [body.join("\n")];
  const expand = (form, long) => (text = text.replace(new RegExp(`(?<![^\\n])${form}`, "g"), long));
  expand(`${HUNK}((?:\\n[ +\\-\\\\][^\\n]*)*)`, (_, old, now, section, lines) => {
    const range = (sign) => `,${lines.match(sign)?.length ?? 0}`.replace(/^,1$/, "");
    return `@@ -${old}${range(/\n[ -]/g)} +${now}${range(/\n[ +]/g)} @@${section}${lines}`;
  });
  expand(COMMIT, (_, hash, merge, date, author = last) => {
    last = author;
    return `${hash}\n${merge ? `Merge: ${merge}\n` : ""}Author: ${author}\nDate:   ${date}\n`;
  });
  expand(`${FILE}((?:\\n(?:index|old mode|new mode) [^\\n]*)*)`, (_, word, path, extended) => {
    const mode = word === "diff" ? "" : `\n${word} mode 100644`;
    const old = word === "new file" ? "/dev/null" : `a/${path}`;
    const now = word === "deleted file" ? "/dev/null" : `b/${path}`;
    return `diff --git a/${path} b/${path}${mode}${extended}\n--- ${old}\n+++ ${now}`;
  });
  expand(`>(?=>*(?:${HUNK}|${COMMIT}|${FILE}))`, "");
  return [text];
};

// Hits and listings. `paths` holds the last path of each depth.
const pathOf = (paths, depth, name) => (paths[depth] = (paths[depth - 1] ?? "") + name.replace(/^>/, ""));
const HITS = new RegExp(
  String.raw`^(hits by file: )?[^;]*(?:; line or tab[^;]*)?(; -- at gaps)?(?:; …x is ("(?:[^"\\]|\\.)*"))?` +
    String.raw`(?:; x… is ("(?:[^"\\]|\\.)*"))?(?:; (?:(\w+) but )?~ below (.+))?$`,
  "s",
);
const hits = ({ legend, body }) => {
  const [, plain, gaps, start = '"…"', end = '"…"', rooted, root = ""] = HITS.exec(legend);
  const form = plain ? /^(\d\S*) (.*)$/s : /^(\t|\d+(?::(?:0|[1-9]\d*)(?=:))?)(?:(?<=\t)|[: ])(.*)$/s;
  const [paths, text] = [[], []];
  let [path, previous, run, isMerged] = [undefined, undefined, 0, false];
  for (const line of body) {
    const [, flip, rest] = /^(~?)(.*)$/s.exec(line);
    const [, places, part] = form.exec(rest) ?? [];
    const [kind, sign] = plain || !/^(?:\t|\d+ )/.test(rest) ? ["hits", ":"] : ["context", "-"];
    const prefix = ((rooted === "paths" || rooted === kind) === (flip === "") ? root : "") + path;
    if (places) {
      const hit = part.replace(/…$/, () => JSON.parse(end)).replace(/^…/, () => JSON.parse(start));
      const range = (_, from, to) => Array.from({ length: to - from + 1 }, (_, at) => Number(from) + at).join(",");
      const all = places.replace("\t", previous + 1).replace(/(\d+)-(\d+)/g, range);
      for (const place of all.split(",")) {
        if (gaps && previous !== undefined && parseInt(place) !== previous + 1) text.push([0, "--"]);
        previous = parseInt(place);
        text.push([previous, [prefix, place, hit].join(sign)]);
      }
    } else if (/^(?:\\|$|--$|[:(])/.test(rest)) {
      previous = undefined;
      text.push([0, /^[:(]/.test(rest) ? prefix + rest : line.replace(/^\\/, "")]);
    } else {
      path = pathOf(paths, line.search(/[^ ]/), line.trimStart());
      previous &&= NaN;
    }
    if (!places) run = text.length;
    isMerged = places && (isMerged || /[,-]/.test(places));
    if (isMerged) text.push(...text.splice(run).sort(([a], [b]) => a - b));
  }
  return text.map(([, line]) => line);
};
const listing = ({ body }) => {
  const [paths, suffixes] = [[], []];
  return body.flatMap((line) => {
    if (line === "" || line[0] === "\\") return line.slice(1);
    const [, indent, directory, suffix, rest] = /^( *)(?:([^ ]*\/)(?:\*(\.[^ ]*))?(?: |$))?(.*)$/s.exec(line);
    const depth = indent.length + (directory ? 1 : 0);
    if (directory) pathOf(paths, depth - 1, directory);
    const ending = (suffixes[depth] = directory ? suffix : suffixes[depth]);
    const full = (word) => (ending ? word.replace(/^[^.]*$/, (name) => name + ending).replace(/\.$/, "") : word);
    return rest ? rest.split(" ").map((word) => pathOf(paths, depth, full(word))) : [];
  });
};

// JSON is read as minified text, in which strings and numbers keep their spelling. An absent cell is empty. A context
// is the characters that end a bare text, beginning with the closing bracket. Rows add the mark between their cells.
const [LINE, COLUMNS, OBJECT, ARRAY, ROW, TUPLE] = ["\n", ",\n", "} \n", "] \n", ";\n", ");\n"];
const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|)$/;
const PAIRS = /( \S+ |-?\d{3})( \S+ |-?\d{3})/g;
const plain = (number) => number.trim().replace(/^(-?)0{1,2}(?=\d)/, "$1");

const jsonOf = (source) => {
  let at = 0;
  const [shared, classes] = [[], {}];
  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    at += found?.[0].length ?? 0;
    return found;
  };
  const string = () => take(/"((?:[^"\\]|\\.)*)"/sy)?.[1];
  const bare = (ends) => {
    const [start, open] = [at, { "}": "{", "]": "[", ")": "(" }[ends[0]]];
    for (let depth = 0; at < source.length; at++) {
      if (ends.includes(source[at]) && !(depth > 0 && source[at] === ends[0])) break;
      depth += Number(source[at] === open) - Number(source[at] === ends[0]);
    }
    return source.slice(start, at);
  };
  const reference = () => shared[take(/&(\d+)/y)?.[1] - 1] ?? { text: "" };
  const value = (context) => {
    const [, numbers] = take(/\[=([^\]]*)\]/y) ?? [];
    if (numbers) return `[${Array.from(numbers.matchAll(PAIRS), (pair) => `[${pair.slice(1).map(plain)}]`)}]`;
    if (take(/\[/y)) return `[${elements(/\]/y, () => value(ARRAY))}]`;
    if (take(/\{/y)) return `{${elements(/\}/y, () => field(OBJECT))}}`;
    const [, line] = take(/`(n?)/y) ?? [];
    if (line !== undefined) return JSON.stringify(value(context) + (line && "\n"));
    const [, name] = take(/\(([A-Z]+) /y) ?? [];
    if (name) return row(classes[name], TUPLE);
    const [, block] = take(/"""(.*?)"""/sy) ?? [];
    if (block) return JSON.stringify(block);
    const { text, json } = reference();
    if (json) return json;
    const inner = string();
    const whole = text + (inner ?? bare(context));
    return text === "" && inner === undefined && LITERAL.test(whole) ? whole : `"${whole}"`;
  };
  const field = (context) => `"${reference().text}${string() ?? take(/[^:\n]*/y)[0]}"${take(/:/y)}${value(context)}`;
  /** Reads elements, or rows of a class, up to a bracket. */
  const elements = (close, element) => {
    const [all, [, name] = []] = [[], take(/([A-Z]+)\n/y) ?? []];
    while (!take(close)) {
      if (!name) all.push(element());
      else if (take(/\|:/y)) all.push(value(LINE));
      else if (take(/\|(?=")/y)) all.push(field(LINE));
      else all.push(row(classes[take(/\|([A-Z]+) /y)?.[1] ?? name], ROW));
      if (!take(/\n|,(?=\[)| |(?=[\]}])/y)) throw new Error("a container has no end");
    }
    return all;
  };
  const column = () => {
    const [, name, rule, back, step] = take(/((?:"(?:[^"\\]|\\.)*"|[^"=?,;\n])+)(\?|=\^(\d*)([^,\n]*)|=|)/sy);
    if (rule !== "=") return { name, fixed: rule === "?" ? "" : undefined, back, step, isShown: rule === "" };
    const isMade = /^(?:"(?!"")|\{(?!\}))/.test(source.slice(at, at + 3));
    const fixed = source[at] === "{" ? bare(COLUMNS) : value(COLUMNS);
    return { name, fixed, isMade, isShown: isMade && fixed.includes("{}") };
  };
  const row = ({ mark, columns, above }, around) => {
    const [cells, holes, context] = [{}, {}, around + mark];
    for (const [place, { name, isMade }] of columns.filter(({ isShown }) => isShown).entries()) {
      if (place > 0) at += mark.length;
      if (isMade) holes[name] = string() ?? bare(context);
      else cells[name] = value(context);
    }
    while (take(/;/y)) {
      const [, name, absent] = take(/((?:"(?:[^"\\]|\\.)*"|[^"=?;\n])+)(\?|=)/sy);
      const own = columns.find((one) => one.name === name) ?? columns.find((one) => one.name.endsWith(`.${name}`));
      cells[own.name] = absent === "?" ? "" : value(context);
    }
    if (around === TUPLE) take(/\)/y);
    const inner = (json) => json.replace(/^"(.*)"$/s, "$1");
    const cellOf = (own) => (cells[own.name] ??= implied(own));
    const implied = ({ name, fixed, back, step, isMade }) => {
      const json = fixed ?? above.at(-(back || 1))[name];
      if (step) return json.replace(inner(json), (text) => stepped(text, step));
      const cell = (whole, up, other, tail) => {
        const own = columns.find((one) => one.name === other);
        if (!own) return whole === "{}" ? holes[name] : whole;
        const text = inner(up ? above.at(-1)[other] : cellOf(own));
        return tail ? text.slice(text.lastIndexOf("/") + 1) : text;
      };
      return isMade ? json.replace(/\{(\^?)([^{}]*?)(\/?)\}/g, cell) : json;
    };
    let [fields, before] = ["", [undefined]];
    for (const { name } of columns.filter((own) => cellOf(own) !== "" && own.name !== "@")) {
      const path = name.match(/"(?:[^"\\]|\\.)*"|[^.]+/gs).map(inner);
      const same = path.findIndex((key, depth) => key !== before[depth]);
      const keys = path.slice(same).map((key) => `"${key}":`);
      fields += "}".repeat(before.length - 1 - same) + (fields && ",") + keys.join("{") + cells[name];
      before = path;
    }
    above.push(cells);
    return `${cells["@"] ? `${cells["@"]}:` : ""}{${fields}${"}".repeat(before.length)}`;
  };
  for (; ; take(/\n/y)) {
    const [, name, mark] = take(/([A-Z]+)([ \t]?):/y) ?? [];
    if (name) {
      classes[name] = { mark: mark || ",", columns: [column()], above: [] };
      while (take(/,/y)) classes[name].columns.push(column());
    } else if (take(/&\d+=/y)) shared.push({ text: take(/[^\n]*/y)[0] });
    else if (take(/&\d+:/y)) shared.push({ json: value(LINE) });
    else return value(LINE);
  }
};
const tokensOf = (json) => json.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^{}[\],:"]+/gs);

/** Prints JSON with its white space. A token before or behind an element has a place in the element's container. */
const print = (json, [, start, width, crlf, lines, , cut = 0, except = "[]"]) => {
  const [exceptions, spaces, forms, stack] = [JSON.parse(except), {}, {}, []];
  const [blank, newline] = [start === "minified" ? "" : " ", crlf ? "\r\n" : "\n"];
  const unit = width === "tab" ? "\t" : " ".repeat(width ?? 0);
  /** Returns the name of a place and the space that it has at first. */
  const spaceOf = (place, own) => {
    if (!["first", "next", "close"].includes(place)) return [place, { value: blank, end: crlf && "\r" }[place] ?? ""];
    if (own.isInline) return [place + own.kind, place === "next" ? blank : ""];
    return [[place, own.kind, own.depth], newline + unit.repeat(own.depth + (place === "close" ? 0 : 1))];
  };
  let since = 0;
  const spaced = (token, at, tokens) => {
    const own = stack.at(-1);
    let place = own && { "[": "first", "{": "first", ",": "next", ":": "value" }[tokens[at - 1]];
    if (token === ":") place = "colon";
    if (token === ",") place = own ? "" : "end";
    if ("]}".includes(token)) place = place === "first" ? "" : "close";
    const isException = exceptions[0] === since++;
    if (isException) [since] = [0, exceptions.shift()];
    const given = isException && typeof exceptions[0] === "string" ? exceptions.shift() : undefined;
    if (isException && place === "first") {
      own.isInline = given === undefined ? !own.isInline : !given.includes("\n");
      if (!own.isInside) forms[[own.kind, own.depth]] = own.isInline;
      if (given !== undefined && !own.isInline) spaces[spaceOf("next", own)[0]] = given;
    }
    const [name, initial] = spaceOf(place, own);
    if (given !== undefined && place && place !== "end") spaces[name] = given;
    if ("[{".includes(token)) {
      const [kind, depth] = [token + "[{".includes(tokens[at + 1]), stack.length];
      const isInside = own?.isInline || own?.isInside;
      stack.push({ kind, depth, isInside, isInline: isInside || (forms[[kind, depth]] ?? unit === "") });
    } else if ("]}".includes(token)) stack.pop();
    return (given ?? spaces[name] ?? initial) + (place === "end" ? "\n" : token);
  };
  const printed = (lines ? tokensOf(json).slice(1, -1) : tokensOf(json)).map(spaced);
  return printed.slice(0, printed.length - cut).join("");
};
const json = ({ legend, body }) => {
  const words = /^json (\w+)(?:=(tab|\d))?( crlf)?( lines)?( tail)?(?: cut=(\d+))?(?: except=(\[.*?\]))?/.exec(legend);
  const end = body.length - (words[5] ? 1 : 0);
  return [print(jsonOf(body.slice(0, end).join("\n")), words) + (body[end] ?? "")];
};
const table = ({ legend, body }) => {
  const [, tsv, split, crlf, open] = /^table (?:(tsv)|csv|split=(.))( crlf)?( open)?;/.exec(legend);
  const mark = tsv ? "\t" : (split ?? ",");
  const tokens = tokensOf(jsonOf(body.join("\n")));
  const keys = tokens.slice(0, tokens.indexOf("}")).filter((_, at) => tokens[at + 1] === ":");
  const strings = tokens.map((token) => (/^["{}[\],:]/.test(token) ? token : `"${token}"`)).join("");
  const [names, records] = [JSON.parse(`[${keys}]`), JSON.parse(strings).map((one) => new Map(Object.entries(one)))];
  const field = (text = "") => (new RegExp(`["\n\r${mark}]`).test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [names, ...records.map((record) => names.map((name) => record.get(name)))];
  return [lines.map((line) => line.map(field).join(mark)).join(crlf ? "\r\n" : "\n") + (crlf && !open ? "\r" : "")];
};
