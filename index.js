// The ES module face: one copy of the library serves `import` and `require`.
export * from "./dist/node/lib/index.js";
