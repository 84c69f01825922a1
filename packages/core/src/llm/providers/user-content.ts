import type { UserPart } from "../file-part.ts";

/** What a user's message holds for services that refuse blank texts, and messages of nothing. */
export function userContent(content: readonly UserPart[], sendable: (part: UserPart) => UserPart): UserPart[] {
  const parts = content.filter((part) => part.type === "file" || part.text.trim() !== "");
  return parts.length === 0 ? [{ type: "text", text: "[empty message]" }] : parts.map(sendable);
}
