import { RookeryError } from "../errors/rookery-error.ts";
import { imagePart } from "../llm/file-part.ts";
import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { messageProblems } from "../omnimessage/validate.ts";

/**
 * Checks what a caller wants the model to read: user text, images and data, at least one of them with content, and no
 * image that cannot be sent.
 *
 * @throws {RookeryError} `input-empty`.
 */
export function checkInput(messages: readonly OmniMessage[]): void {
  if (!Array.isArray(messages)) {
    throw new RookeryError("input-empty", `the input is ${typeof messages}, not a list of messages`, {
      hint: "pass [userText(...)]",
    });
  }
  // Of a program that nobody checks anything may come.
  const problem = messages.flatMap((message) => messageProblems(message))[0];
  if (problem !== undefined) {
    throw new RookeryError("input-empty", `the input holds what is no message: ${problem}`, { hint: HINT });
  }
  const stranger = messages.find((message) => !isUserContent(message));
  if (stranger) {
    const found = JSON.stringify(stranger.payload?.type ?? stranger.type);
    throw new RookeryError("input-empty", `the input holds ${found}, which is not something a user says`, {
      hint: HINT,
    });
  }
  if (!messages.some(hasContent)) {
    throw new RookeryError("input-empty", "the input is empty", { hint: "pass a prompt with text or an image" });
  }
  for (const message of messages) {
    const part = isType(message, "image_url") ? imagePart(message.payload.image_url) : undefined;
    if (part?.type !== "text") continue;
    throw new RookeryError("input-empty", `the input holds an image without content: ${part.text}`, {
      hint: "pass an http(s) address or a base64 data URL of a png, jpeg, gif or webp image",
    });
  }
}

const HINT = "pass userText(...), userImage(...) or userData(...) messages";

/**
 * Checks what a goal is given: an objective in words, and no more than images with it.
 *
 * @throws {RookeryError} `input-empty`.
 */
export function checkGoalInput(messages: readonly OmniMessage[]): void {
  checkInput(messages);
  const stranger = messages.find((message) => !isType(message, "text") && !isType(message, "image_url"));
  if (stranger) {
    const found = JSON.stringify(stranger.payload.type);
    throw new RookeryError("input-empty", `the input of a goal holds ${found}, and it is text and images alone`, {
      hint: "put the file into the workspace and name it in the text",
    });
  }
  if (messages.some((message) => isType(message, "text") && hasContent(message))) return;
  throw new RookeryError("input-empty", "the input of a goal has no text, which is its objective", {
    hint: "pass userText(...) with what is to be reached",
  });
}

function isUserContent(message: OmniMessage): boolean {
  const isContent = isType(message, "text") || isType(message, "image_url") || isType(message, "inline_data");
  return isContent && message.payload.role === "user" && message.origin === undefined;
}

function hasContent(message: OmniMessage): boolean {
  return !isType(message, "text") || message.payload.text.trim() !== "";
}
