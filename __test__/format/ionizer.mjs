// The part of the decoder that reads columns, rows and rules: see "ionizer" in docs/format.md.
// A value is `{ text, isQuoted }`, `{ items }` or `{ fields }`; strings and keys keep their spelling as JSON.

const fail = (reason) => {
  throw new Error(reason);
};
const need = (value) => (value === undefined || value === null || value === false ? fail("not a fold") : value);
const HOW_TO_READ = "; A: columns of rows A, =rule: implied (^ as above, {x} cell x), ;k=v instead, k? absent";
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const isLiteral = (text) => /^(?:true|false|null)$/.test(text) || NUMBER.test(text);
const meaning = (text) => JSON.parse(`"${text}"`);
const nameOf = (at) => (at < 26 ? "" : nameOf(Math.floor(at / 26) - 1)) + String.fromCharCode(65 + (at % 26));
const quoted = (text) => ({ text, isQuoted: true });

// Steps: the next text of a sequence.

const stepped = (text, [, sign, digits, following]) => {
  const isNumber = NUMBER.test(text) && !/e/i.test(text);
  const runs = isNumber ? [{ 0: text, index: 0 }] : [...text.matchAll(/\d+/g)];
  const run = need(runs[runs.length - 1 - Number(following ?? 0)]);
  const whole = run[0].replace("-", "");
  const places = cutAt(whole, ".")[1].length;
  const sum = BigInt(run[0].replace(".", "")) + BigInt(digits) * (sign === "-" ? -1n : 1n);
  if (sum < 0n && !isNumber && run[0] !== text) fail("a word cannot turn negative");
  let next = String(sum < 0n ? -sum : sum).padStart(whole.startsWith("0") && !places ? whole.length : places + 1, "0");
  if (places > 0) next = `${next.slice(0, -places)}.${next.slice(-places)}`;
  return text.slice(0, run.index) + (sum < 0n ? "-" : "") + next + text.slice(run.index + run[0].length);
};
const cutAt = (text, mark) => {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
};

// Bodies.

const ENDS = { line: "\n", header: ",\n", row: ";\n", tuple: ";)\n", object: " }\n", array: " ]\n" };
const OPENS = { object: "{", array: "[", tuple: "(" };

const escapeWith = (escapes) => (text) => {
  const short = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f" };
  const hex = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const isHtml = (unit) => escapes.html && /[<>&\u2028\u2029]/.test(unit);
  const isHex = (unit) => unit < " " || isHtml(unit) || (escapes.ascii && unit > "\x7f");
  return text
    .split("")
    .map((unit) => short[unit] ?? (isHex(unit) ? hex(unit) : unit))
    .join("");
};

const bodyOf = (text, escapes) => {
  let at = 0;
  const [texts, entries, classes, escape] = [[], [], [], escapeWith(escapes)];
  const peek = (start) => text.startsWith(start, at);
  const take = (start) => peek(start) && ((at += start.length), true);
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = need(pattern.exec(text));
    at = pattern.lastIndex;
    return found;
  };
  const number = () => Number(match(/\d+/y)[0]);
  const string = () => match(/"((?:[^"\\]|\\[^])*)"/y)[1];
  const bare = (around) => {
    const [start, ends] = [at, ENDS[around.kind] + (around.mark ?? "")];
    for (let depth = 0; at < text.length; at++) {
      if (depth > 0 && ")]}".includes(text[at]) && ends.includes(text[at])) depth--;
      else if (ends.includes(text[at])) break;
      else if (text[at] === OPENS[around.kind]) depth++;
    }
    return text.slice(start, at);
  };
  const stringOrBare = (around) => (peek('"') ? string() : bare(around));
  const shared = () => need(texts[number() - 1]);

  const scalar = (around) => {
    if (take('"""')) return quoted(escape(match(/([^]*?)"""/y)[1]));
    if (peek('"')) return quoted(string());
    if (take("&")) return quoted(shared() + stringOrBare(around));
    const found = bare(around);
    if (found === "[]") return { items: [] };
    if (found === "{}") return { fields: [] };
    return isLiteral(found) ? { text: found, isQuoted: false } : quoted(need(found !== "" && found));
  };
  const value = (around) => {
    if (take("[]")) return { items: [] };
    if (take("{}")) return { fields: [] };
    if (take("[")) return { items: array() };
    if (take("{")) return { fields: object() };
    if (take("(")) {
      const own = classOf(match(/[A-Z]+ /y)[0].trim());
      const { node } = row(own, { kind: "tuple", mark: own.mark });
      return need(take(")")) && node;
    }
    if (take("`")) {
      const end = take("n") ? "\n" : "";
      return quoted(escape(print(value(around), MINIFIED) + end));
    }
    const reference = peek("&") && /&(\d+)/y;
    if (reference) {
      reference.lastIndex = at;
      const entry = Number(need(reference.exec(text))[1]) - 1 - texts.length;
      if (entry >= 0) return ((at = reference.lastIndex), need(entries[entry]));
    }
    return scalar(around);
  };
  const classOf = (name) => need(classes.find((one) => one.name === name));
  const block = (isKeyed) => {
    const pattern = /([A-Z]+)\n/y;
    pattern.lastIndex = at;
    const name = pattern.exec(text)?.[1];
    const own = classes.find((one) => one.name === name && one.isKeyed === isKeyed);
    if (own) at += own.name.length + 1;
    return own;
  };
  const array = () => {
    const items = [];
    const own = block(false);
    if (own) {
      for (; !take("]"); need(take("\n"))) items.push(line(own).node);
      return items;
    }
    const isMatrix = peek("#") || peek("=");
    if (isMatrix) {
      const [, mark, numbers] = match(/([#=])([^\]]*)\]/y);
      const literal = (text) => ({ text, isQuoted: false });
      if (mark === "#") return numbers.split(" ").map((row) => ({ items: row.split(",").map(literal) }));
      const unpacked = (one) => (one[0] === " " ? one.trim() : one.replace(/^(-?)0{1,2}(?=\d)/, "$1"));
      const all = numbers.match(/ \S+ |-?\d{3}/g).map((one) => literal(unpacked(one)));
      while (all.length > 0) items.push({ items: all.splice(0, 2) });
      return items;
    }
    for (;;) {
      items.push(value({ kind: "array" }));
      if (take("]")) return items;
      need(peek(",[") ? take(",") : take(" "));
    }
  };
  const object = () => {
    const fields = [];
    const own = block(true);
    if (own) {
      for (; !take("}"); need(take("\n"))) {
        const { key, node } = line(own);
        fields.push([need(key), node]);
      }
      return fields;
    }
    for (;;) {
      const start = take("&") ? shared() : "";
      const key = start + (peek('"') ? string() : match(/[^:\n]*/y)[0]);
      need(take(":"));
      fields.push([key, value({ kind: "object" })]);
      if (take("}")) return fields;
      need(take(" "));
    }
  };
  const line = (own) => {
    if (!take("|")) return row(own, { kind: "row", mark: own.mark });
    const other = match(/[A-Z]*/y)[0];
    if (other !== "") {
      need(take(" "));
      return row(classOf(other), { kind: "row", mark: classOf(other).mark });
    }
    const key = peek('"') ? string() : undefined;
    need(take(":"));
    return { key, node: value({ kind: "line" }) };
  };

  // Classes and rows. A cell is a value, or `ABSENT`.
  const ABSENT = {};
  const columnName = () => need(match(/(?:"(?:[^"\\]|\\[^])*"|[^"=?,;\n~])*/y)[0]);
  const header = () => {
    need(take(nameOf(classes.length)));
    const mark = take(" ") ? " " : take("\t") ? "\t" : ",";
    need(take(":"));
    const columns = [];
    do {
      const [name, start] = [columnName(), at];
      if (take("=")) {
        if (take('"""')) match(/[^]*?"""/y);
        else {
          if (take("&")) number();
          stringOrBare({ kind: "header" });
        }
      } else take("?");
      columns.push({ name, start, end: at });
    } while (take(","));
    const end = at;
    for (const column of columns) column.rule = rule(column, columns);
    at = end;
    const last = ({ name }) => {
      const dot = Math.max(...['"', ".", "["].map((mark) => name.lastIndexOf(mark)));
      return name[dot] === "." ? name.slice(dot + 1) : name;
    };
    const counts = columns.flatMap((column) => [...new Set([last(column), column.name])]);
    for (const column of columns) {
      const isAlone = counts.filter((name) => name === last(column)).length === 1;
      column.short = isAlone ? last(column) : column.name;
      column.path =
        column.name === "@"
          ? undefined
          : column.name
              .match(/"(?:[^"\\]|\\[^])*"|[^.]+/g)
              .map((key) => (key.startsWith('"') ? key.slice(1, -1) : key));
    }
    classes.push({ name: nameOf(classes.length), mark, columns, isKeyed: columns[0].path === undefined, rows: [] });
  };
  const rule = ({ start, end }, columns) => {
    const own = text.slice(start, end);
    if (own === "") return { isShown: true };
    if (own === "?") return { fixed: ABSENT };
    const above = /^=\^(\d*)(?:([+-])(\d+)(?:#(\d+))?)?$/.exec(own);
    if (above) return { back: Number(above[1] || 1), step: above[2] && above.slice(1) };
    const inner = /^="([^]*)"$/.exec(own)?.[1];
    const parts = partsOf(inner ?? own.slice(1), columns);
    const isMade = parts.some((part) => typeof part !== "string") && !own.startsWith('="""');
    if (isMade && (inner !== undefined || (own.startsWith("={") && own !== "={}"))) {
      return { parts, isQuoted: inner !== undefined, isShown: parts.some((part) => part.isHole) };
    }
    at = start + 1;
    return { fixed: scalar({ kind: "header" }) };
  };
  const partsOf = (template, columns) =>
    template.split(/(\{[^{}]*\})/).map((part) => {
      if (part === "{}") return { isHole: true };
      const [, up, name] = /^\{(\^?)([^]*)\}$/.exec(part) ?? [];
      const find = (name) => columns.findIndex((column) => column.name === name);
      if (name === undefined || (find(name) < 0 && find(name.replace(/\/$/, "")) < 0)) return part;
      const isTail = find(name) < 0;
      return { column: find(isTail ? name.slice(0, -1) : name), isAbove: up !== "", isTail };
    });
  const row = (own, around) => {
    const { columns, rows, mark } = own;
    const [cells, holes] = [[], []];
    columns
      .filter((column) => column.rule.isShown)
      .forEach((column, index) => {
        const place = columns.indexOf(column);
        if (index > 0) need(take(mark));
        const isEmpty = at >= text.length || (ENDS[around.kind] + mark).includes(text[at]);
        if (column.rule.parts) holes[place] = stringOrBare(around);
        else cells[place] = isEmpty ? ABSENT : value(around);
      });
    while (take(";")) {
      const name = columnName();
      const place = columns.findIndex((column) => column.short === name);
      cells[need(place >= 0) && place] = take("?") ? ABSENT : need(take("=")) && value(around);
    }
    const cell = (place) => (cells[place] ??= predicted(place));
    const predicted = (place) => {
      const { fixed, back, step, parts, isQuoted } = columns[place].rule;
      if (fixed) return fixed;
      if (back) {
        const above = need(rows[rows.length - back])[place];
        return step ? { ...above, text: stepped(need(above.text), step) } : above;
      }
      const made = need(parts).map((part) => {
        if (typeof part === "string") return part;
        if (part.isHole) return need(holes[place]);
        const found = need((part.isAbove ? need(rows.at(-1))[part.column] : cell(part.column)).text);
        return part.isTail ? found.slice(found.lastIndexOf("/") + 1) : found;
      });
      return { text: made.join(""), isQuoted };
    };
    columns.forEach((_, place) => cell(place));
    rows.push(cells);
    const leaves = columns.map(({ path }, place) => [path, cells[place]]);
    const isThere = ([path, cell]) => path !== undefined && cell !== ABSENT;
    return { key: own.isKeyed ? cells[0].text : undefined, node: objectOf(leaves.filter(isThere), 0) };
  };
  const objectOf = (leaves, depth) => {
    const fields = [];
    for (let first = 0, next; first < leaves.length; first = next) {
      const key = leaves[first][0][depth];
      for (next = first; next < leaves.length && leaves[next][0][depth] === key;) next++;
      const isLeaf = leaves[first][0].length === depth + 1;
      fields.push([key, isLeaf ? leaves[first][1] : objectOf(leaves.slice(first, next), depth + 1)]);
    }
    return { fields };
  };

  for (;;) {
    if (take("&")) {
      const own = number();
      if (take("=")) texts.push((take("&") ? shared() : "") + match(/[^\n]*/y)[0]);
      else {
        need(take(":"));
        entries.push(value({ kind: "line" }));
      }
      if (own !== texts.length + entries.length) fail("not the next number");
    } else if (/[A-Z]/.test(text[at] ?? "")) header();
    else break;
    need(take("\n"));
  }
  const root = value({ kind: "line" });
  return at === text.length ? root : fail("more than a value");
};

// Printing.

const kindOf = ({ fields, items }) => (fields ? 0 : items[0]?.items || items[0]?.fields ? 1 : 2);
const MINIFIED = { layout: { Flat: { comma: "" } }, colon: ["", ""] };

/** The text of a value in a setting. */
const print = (root, setting) => {
  const { layout, colon, crlf, lines, missing = 0, except = [] } = setting;
  const [tokens, habits, flips] = [[], {}, [...(layout.Mixed?.flips ?? [])]];
  let since = 0;
  const newline = (depth) => (crlf ? "\r\n" : "\n") + (layout.Indent ?? layout.Mixed).unit.repeat(depth);
  const gap = (place, { depth, kind, isFlat }) => {
    if (layout.Flat) return place === 1 ? layout.Flat.comma : "";
    if (layout.Levels) {
      const own = layout.Levels.special.find(([at, of]) => at === Math.min(depth, 7) && of === kind);
      return (own?.[2] ?? layout.Levels.usual)[place];
    }
    if (!isFlat) return newline(place === 2 ? depth : depth + 1);
    return place === 1 || (layout.Mixed.padded && kind === 0) ? " " : "";
  };
  const walk = (node, depth, space, isInFlat) => {
    if (node.text !== undefined) return tokens.push([space, node.isQuoted ? `"${node.text}"` : node.text]);
    const [children, brackets] = [node.fields ?? node.items, node.fields ? "{}" : "[]"];
    const own = { depth, kind: kindOf(node), isFlat: isInFlat };
    if (layout.Mixed && !isInFlat && children.length > 0) {
      const habit = `${depth} ${own.kind}`;
      habits[habit] ??= false;
      if (flips[0] === since) {
        flips.shift();
        since = 0;
        habits[habit] = !habits[habit];
      } else since++;
      own.isFlat = habits[habit];
    }
    tokens.push([space, brackets[0]]);
    children.forEach((child, at) => {
      if (at > 0) tokens.push(["", ","]);
      const space = gap(at > 0 ? 1 : 0, own);
      if (!node.fields) return walk(child, depth + 1, space, own.isFlat);
      tokens.push([space, `"${child[0]}"`], [colon[0], ":"]);
      walk(child[1], depth + 1, colon[1], own.isFlat);
    });
    tokens.push([children.length > 0 ? gap(2, own) : "", brackets[1]]);
  };
  if (lines) {
    need(root.items).forEach((item, at) => {
      if (at > 0) tokens.push([crlf ? "\r" : "", "\n"]);
      walk(item, 0, "", false);
    });
  } else walk(root, 0, "", false);
  let [distance, exceptions] = [0, [...except]];
  return tokens
    .slice(0, Math.max(0, tokens.length - missing))
    .map(([space, token]) => {
      if (exceptions[0]?.[0] !== distance) return (distance++, space + token);
      distance = 0;
      return exceptions.shift()[1] + token;
    })
    .join("");
};

const settingOf = (words) => {
  if (words.startsWith("{")) {
    const end = [...words.matchAll(/\}/g)]
      .map(({ index }) => index + 1)
      .find((end) => {
        try {
          return JSON.parse(words.slice(0, end));
        } catch {
          return false;
        }
      });
    return [JSON.parse(words.slice(0, need(end))), words.slice(end)];
  }
  const pattern = /^(minified|spaced|indent=(tab|[1-8]))( tight)?( crlf)?( lines)?( tail)?(?: cut=(\d+))?/;
  const [whole, name, width, tight, crlf, lines, tail, missing] = need(pattern.exec(words));
  const unit = width === "tab" ? "\t" : " ".repeat(Number(width ?? 0));
  const layout = width ? { Indent: { unit } } : { Flat: { comma: name === "spaced" ? " " : "" } };
  const colon = ["", tight || name === "minified" ? "" : " "];
  const setting = { layout, colon, crlf: Boolean(crlf), lines: Boolean(lines), tail: Boolean(tail) };
  return [{ ...setting, missing: Number(missing ?? 0) }, words.slice(whole.length)];
};

/** A fold of a JSON text. */
export const json = (fold) => {
  const [setting, rest] = settingOf(need(/^json ([^]*)$/.exec(fold.legend))[1]);
  const [, ascii, html, how] = need(/^( ascii)?( html)?(; [^]*)?$/.exec(rest));
  if (how !== undefined && how !== HOW_TO_READ) fail("another legend");
  let [body, tail] = [need(fold.body), ""];
  if (setting.tail) [body, tail] = [body.slice(0, body.lastIndexOf("\n")), body.slice(body.lastIndexOf("\n") + 1)];
  return print(bodyOf(body, { ascii: Boolean(ascii), html: Boolean(html) }), setting) + tail;
};

const QUOTED = {
  "": () => false,
  " quoted": () => true,
  " quoted filled": (field) => field !== "",
  " quoted texts": (field) => !isLiteral(field),
  " quoted filled-texts": (field) => field !== "" && !isLiteral(field),
};

/** A fold of a table. */
export const table = (fold) => {
  const words = /( quoted(?: filled-texts| filled| texts)?)?( crlf(?: open)?)?( bare)?(; [^]*)$/.source;
  const pattern = new RegExp(`^table (tsv|csv|split=([;|]))${words}`);
  const [, word, split, quotes = "", ends, isBare, how] = need(pattern.exec(fold.legend));
  if (how !== HOW_TO_READ) fail("another legend");
  const mark = split ?? (word === "tsv" ? "\t" : ",");
  const records = need(bodyOf(need(fold.body), {}).items).map((record) => new Map(need(record.fields)));
  const names = [...need(records[0]).keys()];
  const field = (cell) => (cell === undefined ? "" : cell.isQuoted ? meaning(cell.text) : need(cell.text));
  const rows = records.map((record) => names.map((name) => field(record.get(name))));
  if (!isBare) rows.unshift(names.map(meaning));
  const written = (field) =>
    QUOTED[quotes](field) || /["\n\r]/.test(field) || field.includes(mark) ? `"${field.replaceAll('"', '""')}"` : field;
  const text = rows.map((row) => row.map(written).join(mark)).join(ends ? "\r\n" : "\n");
  return ends === " crlf" ? `${text}\r` : text;
};
