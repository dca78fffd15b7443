// Builds, folds the recorded session that ships with the project, and fetches one original back: `npm run demo`.
// The model in it was scripted; `npm run record` records it.
import path from "node:path";

import { build } from "./build.mjs";
import { main, root, run } from "./steps.mjs";

const session = path.join(root, "fixtures", "demo", "taking-over.messages.json.gz");

main(async () => {
  await build({ checked: true });
  await run("fold a recorded session, in which the model was scripted", process.execPath, [path.join(root, "dist", "node", "lib", "cli.js"), "analyze", session]);
});
