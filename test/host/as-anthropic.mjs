// Preloaded into the host's processes: resolves Anthropic's host name to this machine, so that the host takes the
// scripted model for the real service.

import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";

const HERE = { address: "127.0.0.1", family: 4 };
const isAnthropic = (name) => name === "api.anthropic.com";

const { lookup } = dns;
dns.lookup = (name, options, done = options) => {
  if (!isAnthropic(name)) return lookup(name, options, done);
  if (options?.all) return process.nextTick(done, null, [HERE]);
  return process.nextTick(done, null, HERE.address, HERE.family);
};

const { lookup: lookupLater } = dns.promises;
dns.promises.lookup = async (name, options) => {
  if (!isAnthropic(name)) return lookupLater(name, options);
  return options?.all ? [HERE] : HERE;
};

syncBuiltinESMExports();
