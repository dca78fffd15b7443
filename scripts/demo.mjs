// Builds, folds the recorded session that ships with the project, and fetches one original back: `npm run demo`.
import path from "node:path";

import { build } from "./build.mjs";
import { main, root, run } from "./steps.mjs";

const session = path.join(root, "fixtures", "demo", "entire-explain.messages.json.gz");

main(async () => {
  await build();
  await run("fold a recorded session", process.execPath, [path.join(root, "dist", "node", "lib", "cli.js"), "analyze", session]);
});
