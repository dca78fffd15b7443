/** JSON objects whose fields are not known. */

export type Json = Record<string, unknown>;

/** Parses a JSON object. Returns undefined for any other text. */
export function objectIn(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
