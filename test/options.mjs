// Options by their dotted names, as `fusion.enabled`.

/** What a dotted name names. */
export const at = (options, dotted) => dotted.split(".").reduce((value, name) => value?.[name], options);

/** Sets what a dotted name names. */
export function put(options, dotted, value) {
  const names = dotted.split(".");
  const last = names.pop();
  let holder = options;
  for (const name of names) holder = holder[name] ??= {};
  holder[last] = value;
}

/** The options of a manifest's schema, each with its name. */
export function leaves({ properties }, prefix = "") {
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema.default === undefined && schema.properties
      ? leaves(schema, `${prefix}${name}.`)
      : [[`${prefix}${name}`, schema]],
  );
}
