import { type Agent, RookeryError } from "@rookery/core";

/**
 * The session that has this in its id; the text itself where none has, so that the agent says what is wrong with it.
 *
 * @throws {RookeryError} `usage` when several have.
 */
export async function sessionOfPart(agent: Agent, part: string): Promise<string> {
  // To list the sessions their records are read; a whole id is no part of another.
  if (WHOLE_ID.test(part)) return part;
  const sessions = await agent.listSessions();
  const matches = sessions.filter(({ id }) => part !== "" && id.includes(part));
  if (matches.length < 2) return matches[0]?.id ?? part;
  throw new RookeryError("usage", `${matches.length} sessions have ${JSON.stringify(part)} in their id`, {
    hint: `name one of ${matches
      .slice(0, 3)
      .map(({ id }) => id)
      .join(", ")}`,
  });
}

const WHOLE_ID = /^session-\d{4}(-\d\d){5}-[0-9a-f]{8}$/;
