// A worker process that replays the sessions that it is sent, one after the other.
import { replaySession } from "./session.mjs";
import { load } from "./sessions.mjs";

process.on("message", async ({ file, options }) => {
  try {
    const session = load(file);
    process.send({ done: await replaySession(session, options, (policy, call, of) => tell({ policy, call, of })) });
  } catch (error) {
    process.send({ failed: error.message });
  }
});

let last = 0;
function tell(progress) {
  if (Date.now() - last < 1000) return;
  last = Date.now();
  process.send({ progress });
}
