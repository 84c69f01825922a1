import { isJsonObject, parseJson } from "../../json-value.ts";

/** Answers that are failures, with what Google says in their details brought to where it is looked for. */
export function readableFailures(transport: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await transport(input, init);
    return response.ok ? response : readable(response);
  };
}

/** An error of the package's stream, with the wait that Google tells in its details where that of an answer is looked for. */
export function readableError(error: unknown): unknown {
  const event = isJsonObject(error) && isJsonObject(error.value) ? error.value : {};
  const delay = isJsonObject(event.error) ? retryDelay(event.error) : undefined;
  return delay === undefined ? error : { ...event, responseHeaders: { "retry-after": delay } };
}

/** What an error is about, where its status says something else: the key, or what has been paid for. */
export function errorType(error: Readonly<Record<string, unknown>>): string | undefined {
  const words = JSON.stringify([error.message, error.details]);
  if (KEY_WORDS.test(words)) return "invalid_api_key";
  return error.code === 429 && SPENT_WORDS.test(words) ? "insufficient_quota" : undefined;
}

const KEY_WORDS =
  /API_KEY_INVALID|API key (not valid|not found|expired)|key was reported as leaked|unregistered callers/i;
const SPENT_WORDS = /PerDay|credits are depleted/;

async function readable(response: Response): Promise<Response> {
  const body = await response.text();
  const parsed = parseJson(body);
  const answer: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isJsonObject(answer) && isJsonObject(answer.error) ? answer.error : undefined;
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  const type = error && errorType(error);
  const delay = error && retryDelay(error);
  if (delay !== undefined && !headers.has("retry-after")) headers.set("retry-after", delay);
  return new Response(type ? JSON.stringify({ error: { ...error, type } }) : body || null, {
    status,
    statusText,
    headers,
  });
}

/** In seconds. */
function retryDelay({ details }: Record<string, unknown>): string | undefined {
  for (const detail of Array.isArray(details) ? details : []) {
    const delay = isJsonObject(detail) && typeof detail.retryDelay === "string" ? detail.retryDelay : "";
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1];
    if (seconds !== undefined) return seconds;
  }
  return undefined;
}
