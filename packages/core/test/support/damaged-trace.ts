import type { OmniMessage } from "../../src/omnimessage/message.ts";

/** Where a conversation is none that a service takes. */
export function conversationBreaches(messages: readonly OmniMessage[]): string[] {
  const found: string[] = [];
  let open = new Set<string>();
  let before = "";
  for (const { payload } of messages) {
    const { type, role, tool_call_id: id = "" } = payload as { type: string; role: string; tool_call_id?: string };
    if (before === "" && role !== "user") found.push("it does not begin with the user");
    if (type === "tool_call_output") {
      if (!open.delete(id)) found.push(`an output of ${id} without its call`);
    } else if (role !== before || role === "user") {
      if (open.size > 0) found.push(`${type} before the output of ${[...open]}`);
      open = new Set();
    }
    if (type === "tool_call") open.add(id);
    before = role;
  }
  return open.size > 0 ? [...found, `no output of ${[...open]}`] : found;
}

/** The places, in bytes, around and inside of every line at which a trace may be cut off. */
export function cutsOf(lines: readonly string[]): number[] {
  let start = 0;
  return lines.flatMap((line) => {
    const bytes = Buffer.byteLength(line);
    const at = [start, start + Math.floor(bytes / 2), start + bytes];
    start += bytes + 1;
    return at;
  });
}
