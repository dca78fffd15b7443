/**
 * The reasons for folding, in words. Chats, terminals, the page and reports all use this table. The codes are those in
 * the store and in `report`.
 */

/**
 * A kind of epoch: the beginning of its code, its title and its meaning. The order is that of the lanes in the page's
 * chart.
 */
export interface EpochKind {
  code: string;
  title: string;
  meaning: string;
}

export const EPOCH_KINDS: readonly EpochKind[] = [
  { code: "cold", title: "Cold cache", meaning: "The provider had nothing cached, so folding cost nothing extra." },
  {
    code: "ski-rental",
    title: "Paid off",
    meaning: "Sending the content again and again had cost more than its removal would.",
  },
  { code: "limit", title: "Full context", meaning: "The context was full." },
  { code: "cliff", title: "Price step", meaning: "A request of this size would have been billed at a higher price." },
  {
    code: "bound",
    title: "Waited long",
    meaning: "Content had waited for as many turns as the settings allow, and earlier savings paid for its removal.",
  },
  { code: "asked", title: "On request", meaning: "A person asked for everything foldable to be folded." },
  {
    code: "returned",
    title: "Came back",
    meaning: "What had taken the content's place left the history, so the content is shown in full again.",
  },
  {
    code: "restored",
    title: "Restored",
    meaning: "A person asked for the content, or the settings protect it now, so it is shown in full again.",
  },
  { code: "large", title: "Too long", meaning: "An output was too long to be shown in full." },
  { code: "thinking", title: "Thinking", meaning: "Thinking of finished turns left the context." },
  { code: "stale", title: "Outdated", meaning: "Content was old, and the settings do not let it wait." },
  {
    code: "superseded",
    title: "Replaced",
    meaning: "A later read or write of the same file took its place, and the settings do not let it wait.",
  },
  {
    code: "duplicate",
    title: "Repeated",
    meaning: "The same text stands in a later result, and the settings do not let it wait.",
  },
];

/** Explanations of whole codes, in addition to their kind. */
const DETAILS: Record<string, string> = {
  "cold: first call": "first call of the session",
  "cold: idle": "the session was idle for longer than the cache lives",
  "cold: compacted": "the history was compacted",
  "cold: history rewritten": "the beginning of the history changed",
  "cold: cache not used": "the provider reported no cache hit",
};

/** The reasons for folding a single block. */
const FOLDS: Record<string, string> = {
  stale: "outdated",
  superseded: "replaced by a later read or write",
  duplicate: "repeated in a later result",
  large: "too long",
  thinking: "thinking of a finished turn",
  shortened: "shortened when it was new",
  shrunk: "an image made smaller",
  asked: "folded on request",
  restored: "shown in full on request",
  replay: "folded before",
};

/** Returns the kind of an epoch's code, or undefined if the code is unknown, because another version wrote it. */
function kindOf(code: string): EpochKind | undefined {
  return EPOCH_KINDS.find((kind) => code === kind.code || code.startsWith(`${kind.code}: `));
}

/** Returns the reason for an epoch in words. An unknown code is returned as it is. */
export function epochReason(code: string): string {
  const kind = kindOf(code);
  if (kind === undefined) return code;
  const detail = DETAILS[code];
  return detail === undefined ? kind.title : `${kind.title}: ${detail}`;
}

/** Returns the reason for folding a block in words. An unknown code is returned as it is. */
export function foldReason(code: string): string {
  return FOLDS[code] ?? code;
}
