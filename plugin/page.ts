/**
 * The page of figures in the host's Control UI, behind the gateway's own authentication.
 *
 * The host shows it in a frame with an opaque origin, which can read nothing from the gateway. Therefore the document
 * contains the figures, and an original is a document of its own to which the frame navigates.
 */

import type { IncomingMessage, ServerResponse } from "node:http";

import {
  agentOf,
  type Concertina,
  type ContentBlock,
  type Document,
  originalOf,
  originalPage,
  page,
  periodsOf,
} from "../node/lib/for-plugin.js";
import type { PluginApi } from "./host.js";
import type { PluginState } from "./state.js";
import { statusOf } from "./status.js";

const ROUTE = "/plugins/concertina";

/** Registers the tab and its route. */
export function registerPage(api: PluginApi, state: PluginState): void {
  api.registerHttpRoute({
    path: ROUTE,
    auth: "gateway",
    match: "prefix",
    handler: (request, response) => answer(state, request, response),
  });
  // Older hosts have no tabs.
  api.session?.controls.registerControlUiDescriptor({
    surface: "tab",
    id: "figures",
    label: "Concertina",
    description: "The savings of folding, with times, reasons and costs",
    icon: "barChart",
    group: "control",
    path: `${ROUTE}/page`,
    slug: "concertina",
    requiredScopes: ["operator.read"],
  });
}

async function answer(state: PluginState, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD");
    return send(response, 405, "text/plain", "Only GET and HEAD are supported.\n");
  }
  try {
    const document = await documentAt(state, new URL(request.url ?? "", "http://localhost"));
    if (document === undefined) return send(response, 404, "text/plain", "There is no such page.\n");
    response.setHeader("Content-Security-Policy", document.policy);
    return send(response, 200, "text/html", document.html);
  } catch (error) {
    state.tell("showing the page of figures", error, "the page stays empty");
    return send(response, 500, "text/plain", "The figures cannot be read; see the gateway's log for the reason.\n");
  }
}

function send(response: ServerResponse, status: number, type: string, text: string): true {
  response.statusCode = status;
  response.setHeader("Content-Type", `${type}; charset=utf-8`);
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("X-Content-Type-Options", "nosniff");
  response.setHeader("Referrer-Policy", "no-referrer");
  response.setHeader("Cross-Origin-Resource-Policy", "same-origin");
  response.end(text);
  return true;
}

async function documentAt(state: PluginState, { pathname, searchParams }: URL): Promise<Document | undefined> {
  const [name, named, ...rest] = pathname.slice(ROUTE.length + 1).split("/");
  if (name === "page" && named === undefined) return figuresPage(state);
  if (named === undefined || rest.length > 0) return undefined;
  const id = decodeURIComponent(named);
  const theme = searchParams.get("theme") ?? undefined;
  if (name === "session") return sessionPage(state, id, theme);
  if (name !== "original" || !/^[0-9a-f]{16,64}$/.test(id)) return undefined;
  const session = searchParams.get("session");
  const place = session === null ? "page" : `session/${encodeURIComponent(session)}`;
  const back = `../${place}#${new URLSearchParams({ days: searchParams.get("days") ?? "", id })}`;
  return originalPage(id, await find(state, id), { theme, back });
}

async function figuresPage(state: PluginState): Promise<Document> {
  const now = Date.now();
  const health = await statusOf(state);
  // If the store cannot be used, the status reports it.
  const periods =
    health.store.path === "" ? [] : await state.use((store) => periodsOf((request) => store.figures(request), now));
  return page({ periods: periods ?? [], health, observes: state.observes, now });
}

/** Returns the page of one session, or undefined if the store does not know it. */
async function sessionPage(state: PluginState, sessionId: string, theme: string | undefined) {
  return state.use(async (store) => {
    const known = (await store.sessions()).find((one) => one.sessionId === sessionId);
    if (known === undefined) return undefined;
    const { agentId, sessionKey } = known;
    const figures = await store.figures({ sessionId, agentId });
    const session = { sessionId, sessionKey };
    return page({ periods: [{ days: 0, figures }], health: null, session, observes: state.observes, theme });
  });
}

/** Returns an original of any agent. A user who may see this page may see all of them. */
async function find(state: PluginState, refId: string): Promise<ContentBlock | undefined> {
  const agents = new Set([agentOf(undefined), ...(await state.hostSessions()).map(({ agentId }) => agentId)]);
  // While this observes, placeholders in transcripts are those of another store.
  for (const one of new Set([state, state.folding])) {
    const found = await (one.hasStore ? one.use((store) => firstOf(store, agents, refId)) : undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function firstOf(store: Concertina, agents: Set<string>, refId: string): Promise<ContentBlock | undefined> {
  for (const agentId of agents) {
    const original = await originalOf(store, agentId, refId);
    if (original !== undefined) return original;
  }
  return undefined;
}
