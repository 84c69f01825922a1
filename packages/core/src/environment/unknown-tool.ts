import type { ToolDefinition } from "../omnimessage/message.ts";
import { shorten } from "./shorten.ts";

/** What the model reads when it calls a tool that is not there for it; hidden tools are not named. */
export function unknownTool(name: string, tools: readonly ToolDefinition[]): string {
  const names = tools.filter((tool) => !tool.hidden).map((tool) => tool.name);
  const advice = names.length === 0 ? "there are no tools" : `use one of ${names.join(", ")}`;
  return `no tool named ${JSON.stringify(shorten(name, 100))}; ${advice}`;
}
