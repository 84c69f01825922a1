import { bash } from "../tools/minimal/bash.ts";
import { edit } from "../tools/minimal/edit.ts";
import { read } from "../tools/minimal/read.ts";
import { write } from "../tools/minimal/write.ts";
import type { Toolset } from "../toolset.ts";

/** Four tools with few arguments (PI-053). */
export const minimal: Toolset = { name: "minimal", tools: [bash, read, write, edit] };
