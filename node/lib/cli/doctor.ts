/** The command that checks whether Concertina works on this machine. */
import { describe } from "../binding/errors.js";
import { selfCheck } from "../library/self-check.js";
import { rightsFindings, storePaths } from "../terminal/rights.js";
import { byWeight, doctorStatus, doctorText, type Finding, finding } from "../terminal/status.js";
import { version } from "../terminal/version.js";
import { type Command, placeAsked, print, printJson, STORE, SWITCH, type Values, withStore } from "./command.js";

export const doctor: Command = {
  usage: "",
  about: [
    "check that folding works on this machine and, if one is named, that a store is whole",
    "exit status: 0 nothing to do, 1 a failure, 3 only warnings",
    "--json",
  ],
  options: { ...STORE, json: SWITCH },
  takes: { least: 0, most: 0 },
  async run(_args, values) {
    const findings = byWeight([
      finding("versions", "ok", `openclaw-concertina ${version()}, Node ${process.versions.node}`),
      await checked("self-check", "a text was folded and fetched back byte for byte", selfCheck, MEND_MACHINE),
      ...(await storeFindings(values)),
    ]);
    if (values.json) printJson(findings);
    else print(`${doctorText(findings)}\n`);
    process.exitCode = doctorStatus(findings);
  },
};

const MEND_MACHINE =
  "Mend what the error names, such as the directory for temporary files, or install the package again";
const MEND_STORE =
  "Name a store that exists and that this user may read and write. The gateway sets a damaged file aside at its next turn";

/** Runs a check. Returns a failure with the reason if it rejects. */
async function checked(key: string, fine: string, check: () => Promise<void>, remedy: string): Promise<Finding> {
  try {
    await check();
    return finding(key, "ok", fine);
  } catch (error) {
    return finding(key, "failure", describe(error), remedy);
  }
}

async function storeFindings(values: Values): Promise<Finding[]> {
  if (values.dir === undefined && values.url === undefined) return [];
  const { dir } = placeAsked(values);
  const rights = dir === undefined ? [] : rightsFindings(storePaths(dir));
  const check = () => withStore(values, async (store) => void (await store.check()));
  return [await checked("the store", "it can be read and is undamaged", check, MEND_STORE), ...rights];
}
