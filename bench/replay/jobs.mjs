// Replays sessions in several processes, with a progress line.
import { fork } from "node:child_process";
import path from "node:path";

const worker = path.join(import.meta.dirname, "worker.mjs");

/**
 * Replays each file. Resolves to the replays in the order of the files, or rejects with the first failure. `label` is
 * the start of the progress line.
 */
export async function replayAll(files, options, jobs, label = "") {
  const results = [];
  const state = { next: 0, done: 0, now: new Map(), label, started: Date.now() };
  const clock = setInterval(() => show(state, files.length), process.stderr.isTTY ? 1000 : 15_000);
  const children = new Set();
  try {
    await Promise.all(
      Array.from({ length: Math.min(jobs, files.length) }, async (_, lane) => {
        const child = fork(worker);
        children.add(child);
        while (state.next < files.length) {
          const index = state.next++;
          results[index] = await ask(child, { file: files[index], options }, (progress) =>
            state.now.set(lane, { file: files[index], ...progress }),
          );
          state.now.delete(lane);
          state.done++;
        }
        child.disconnect();
      }),
    );
  } finally {
    clearInterval(clock);
    if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
    for (const child of children) child.kill();
  }
  return results;
}

function ask(child, request, progress) {
  return new Promise((resolve, reject) => {
    const settle = (end, value) => {
      child.off("message", hear);
      child.off("exit", left);
      end(value);
    };
    const left = (code, signal) =>
      settle(reject, new Error(`the replay of ${request.file} ended with ${signal ?? `exit ${code}`}`));
    const hear = (message) => {
      if (message.progress) progress(message.progress);
      else if (message.failed !== undefined) settle(reject, new Error(`replaying ${request.file}: ${message.failed}`));
      else settle(resolve, message.done);
    };
    child.on("message", hear);
    child.on("exit", left);
    child.send(request);
  });
}

function show({ done, now, label, started }, of) {
  const running = [...now.values()].map(
    ({ file, policy, call, of: calls }) => `${file.split("/").at(-1)}: ${policy}, call ${call} of ${calls}`,
  );
  const line = `${label}replayed ${done} of ${of} sessions in ${Math.round((Date.now() - started) / 1000)} s; ${running.join("; ")}`;
  process.stderr.write(
    process.stderr.isTTY ? `\r\x1b[K${line.slice(0, (process.stderr.columns ?? 120) - 1)}` : `${line}\n`,
  );
}
