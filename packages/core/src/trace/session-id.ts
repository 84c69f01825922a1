import { randomBytes } from "node:crypto";

/** A fresh id, `session-YYYY-MM-DD-HH-mm-ss-<8hex>`: the moment in UTC, then random digits. */
export function newSessionId(now: Date = new Date()): string {
  const moment = now.toISOString().slice(0, 19).replace(/[T:]/g, "-");
  return `session-${moment}-${randomBytes(4).toString("hex")}`;
}

/** True for text of exactly the form of an id, and so for text that is safe as the name of a directory. */
export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}

/** When a session was created, ISO 8601 UTC, as its id tells. */
export function sessionStartedAt(sessionId: string): string {
  return sessionId.replace(SESSION_ID, "$1T$2:$3:$4.000Z");
}

const SESSION_ID = /^session-(\d{4}-\d{2}-\d{2})-(\d{2})-(\d{2})-(\d{2})-[0-9a-f]{8}$/;
