// Checks the plugin against the types of the host that is installed here.
import type { OpenClawPluginDefinition } from "openclaw/plugin-sdk/core";

import plugin from "../../../plugin/index.js";

plugin satisfies OpenClawPluginDefinition;
