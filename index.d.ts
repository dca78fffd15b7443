// The types of the ES module face: what it exports again is declared once, in `index.d.cts`.
export * from "./index.cjs";
