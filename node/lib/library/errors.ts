/** Errors, for users. */
import { describe } from "../binding/errors.js";

export { describe };
export type { CodedError } from "../binding/errors.js";

/** {@link describe} under a name that no test runner has. */
export const describeError: typeof describe = describe;
