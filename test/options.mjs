// Access to options by their dotted names, such as `fusion.enabled`.

/** Returns the value of a dotted name. */
export const at = (options, dotted) => dotted.split(".").reduce((value, name) => value?.[name], options);

/** Sets the value of a dotted name. */
export function put(options, dotted, value) {
  const names = dotted.split(".");
  const last = names.pop();
  let holder = options;
  for (const name of names) holder = holder[name] ??= {};
  holder[last] = value;
}

/** Returns the options of a manifest's schema with their names. */
export function leaves({ properties }, prefix = "") {
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema.default === undefined && schema.properties
      ? leaves(schema, `${prefix}${name}.`)
      : [[`${prefix}${name}`, schema]],
  );
}
