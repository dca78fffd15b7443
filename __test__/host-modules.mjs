// Substitutes for the modules that the plugin imports lazily from the host, for tests without a host.
import { register } from "node:module";

const HOST = {
  "openclaw/plugin-sdk/core": `export const buildMemorySystemPromptAddition = ({ availableTools, citationsMode, agentSessionKey }) => {
    if (citationsMode === "on") throw new Error("no memory today");
    return availableTools.has("memory_search") ? "## Memory Recall for " + agentSessionKey : undefined;
  };`,
  "openclaw/plugin-sdk/routing": `export const isSubagentSessionKey = (key) => key.includes(":subagent:");
    export const isCronSessionKey = (key) => key.includes(":cron:");`,
  "openclaw/plugin-sdk/logging-core": "export const redactToolPayloadText = undefined;",
};
const asUrl = (code) => `data:text/javascript,${encodeURIComponent(code)}`;
const urls = Object.fromEntries(Object.entries(HOST).map(([name, code]) => [name, asUrl(code)]));
register(
  asUrl(`const urls = ${JSON.stringify(urls)};
  export const resolve = (name, context, next) => (name in urls ? { url: urls[name], shortCircuit: true } : next(name, context));`),
);
