/**
 * Observing: everything runs, but what is sent is unchanged. The figures of an observed session are those of a replay
 * as it happens, so they must not be added to figures of what was sent, and are in a store of their own.
 */
import path from "node:path";

import type { AnyMessage, StorePlace } from "./api.js";

const DIRECTORY = "observed";

/** Returns the directory of the store of observed sessions beside another one. */
export function observedDirectory(dir: string): string {
  return path.join(dir, DIRECTORY);
}

/** Returns the place of the store of observed sessions: a directory in that of the other one, or another namespace. */
export function observedPlace(place: StorePlace): StorePlace {
  return place.url === undefined
    ? { ...place, dir: observedDirectory(place.dir) }
    : { ...place, namespace: `${place.namespace ?? "concertina"}_${DIRECTORY}` };
}

/** Returns messages without the usage that the provider reported: it belongs to what was sent. */
export function withoutUsage(messages: readonly AnyMessage[]): AnyMessage[] {
  return messages.map((message) => ({ ...message, usage: undefined }));
}
