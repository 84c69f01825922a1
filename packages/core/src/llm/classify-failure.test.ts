import { expect, test } from "vitest";
import { RookeryError } from "../errors/rookery-error.ts";
import { BrokenReply, classifyFailure, type FailureContext } from "./classify-failure.ts";
import { Interruption } from "./idle-timeout.ts";

const context: FailureContext = {
  timeoutMs: 50,
  secrets: ["sk-canary-1111"],
};

/** An error as the packages throw it for an HTTP answer. */
function answer(status: number, body: unknown = "", headers: Record<string, string> = {}): Error {
  const responseBody = typeof body === "string" ? body : JSON.stringify(body);
  return Object.assign(new Error("Status Text"), {
    name: "AI_APICallError",
    statusCode: status,
    responseBody,
    responseHeaders: headers,
  });
}

function apiError(status: number, error: Record<string, unknown>): Error {
  return answer(status, { error });
}

function caused(message: string, cause: unknown, fields: Record<string, unknown> = {}): Error {
  return Object.assign(new Error(message, { cause }), fields);
}

test("an abort is aborted, silence is timeout and names the time (PC-021, PC-024)", () => {
  expect(classifyFailure(new Interruption("aborted"), context)).toEqual({ status: "aborted" });
  expect(classifyFailure(new Interruption("timeout"), context)).toEqual({
    status: "timeout",
    message: "the provider sent nothing for 50 ms",
  });
});

test.each([
  ["a broken reply", new BrokenReply()],
  [
    "an event that is not JSON",
    caused("JSON parsing failed", new SyntaxError("Unexpected end"), { name: "AI_JSONParseError" }),
  ],
  [
    "an event of another shape",
    caused("Type validation failed", undefined, { name: "AI_TypeValidationError", value: { choices: 1 } }),
  ],
  ["no body", caused("Empty response body", undefined, { name: "AI_EmptyResponseBodyError" })],
])("%s is malformed (PC-022)", (_, error) => {
  expect(classifyFailure(error, context)).toMatchObject({ status: "malformed" });
});

test.each([
  [401, {}],
  [401, { error: { message: "Incorrect API key provided.", type: "invalid_request_error", code: "invalid_api_key" } }],
  [403, { error: { message: "bad key", type: "authentication_error" } }],
  [400, { error: { message: "bad key", code: "invalid_api_key" } }],
  [403, { object: "error", message: "no", type: "AuthenticationError", code: 403 }],
])("HTTP %i %j refuses the credentials (PC-025)", (status, body) => {
  expect(classifyFailure(answer(status, body), context).status).toBe("auth");
});

test("a bare 403 is not about the key and may pass (PC-023)", () => {
  const outcome = classifyFailure(answer(403, "quota exceeded for today"), context);
  expect(outcome).toEqual({ status: "failed", message: "the provider answered HTTP 403: quota exceeded for today" });
});

test.each([
  answer(400, "Bad Request"),
  answer(402, { error: { message: "Insufficient Balance", type: "unknown_error", code: "invalid_request_error" } }),
  apiError(404, { message: "The model `x` does not exist", type: "invalid_request_error", code: "model_not_found" }),
  answer(413),
  answer(415),
  answer(422, { detail: "unknown variant image_url" }),
  apiError(429, { message: "You exceeded your current quota", type: "insufficient_quota", code: "insufficient_quota" }),
  apiError(403, { message: "Country not supported", type: "request_forbidden" }),
  apiError(500, { message: "prompt refused", code: "content_policy_violation" }),
  Object.assign(new Error("'audio/flac' is not supported"), { name: "AI_UnsupportedFunctionalityError" }),
])("$responseBody$message is final", (error) => {
  expect(classifyFailure(error, context)).toMatchObject({ status: "failed", permanent: true });
});

test.each([
  answer(408),
  answer(429, { error: { message: "slow down" } }),
  apiError(429, { message: "Rate limit reached", type: "invalid_request_error", code: "rate_limit_exceeded" }),
  answer(500, "<html>"),
  answer(502),
  answer(503),
  answer(504),
  answer(524),
  apiError(529, { message: "Overloaded", type: "overloaded_error" }),
  caused(
    "Cannot connect to API: ",
    Object.assign(new AggregateError([new Error("connect ECONNREFUSED 127.0.0.1:9")]), { code: "ECONNREFUSED" }),
  ),
  caused(
    "Failed to process successful response",
    caused("terminated", caused("other side closed", undefined, { code: "UND_ERR_SOCKET" })),
    { statusCode: 200 },
  ),
  caused("fetch failed", caused("getaddrinfo EAI_AGAIN x", undefined, { code: "EAI_AGAIN" })),
])("$message $responseBody passes with time (PC-021)", (error) => {
  const outcome = classifyFailure(error, context);
  expect(outcome.status).toBe("timeout");
  expect(outcome.permanent).toBeUndefined();
});

test.each([
  answer(400, { code: "invalid-argument", error: "Incorrect API key provided: xa***gA." }),
  apiError(400, { message: "API key not valid. Please pass a valid API key.", code: 400, status: "INVALID_ARGUMENT" }),
])("a wrong key is known by the words of those who answer HTTP 400 to it (PC-025)", (error) => {
  expect(classifyFailure(error, context).status).toBe("auth");
});

test.each([
  apiError(429, { message: "Your account is suspended, please recharge", type: "exceeded_current_quota_error" }),
  apiError(429, { message: "Insufficient balance or no resource package. Please recharge.", code: "1113" }),
  answer(403, { code: "permission", error: "Your newly created team doesn't have any credits yet." }),
  ...["cyber_policy", "bio_policy", "invalid_image_url", "image_parse_error", "failed_to_download_image"].map(
    (code) => ({
      code,
      message: "no",
    }),
  ),
])("spent credit and what the content is refused for stay so (PC-023)", (error) => {
  expect(classifyFailure(error, context)).toMatchObject({ status: "failed", permanent: true });
});

test("of an error that a gateway passes on, the words and the type of the provider behind it count", () => {
  const behind = { type: "error", error: { type: "context_length_exceeded", message: "prompt is too long" } };
  const metadata = { raw: JSON.stringify(behind), provider_name: "Anthropic" };
  const error = apiError(400, { message: "Provider returned error", code: 400, metadata });
  expect(classifyFailure(error, context)).toMatchObject({
    overflow: true,
    message: expect.stringContaining("Provider returned error: prompt is too long"),
  });
  const plain = { raw: "it is temporarily rate-limited upstream" };
  const limited = apiError(429, { message: "Provider returned error", code: 429, metadata: plain });
  expect(classifyFailure(limited, context)).toMatchObject({
    status: "timeout",
    message: expect.stringContaining("rate-limited upstream"),
  });
});

test.each([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_HAS_EXPIRED",
])("a certificate that is not trusted (%s) will not be at the next attempt either, and what helps is named", (code) => {
  const outcome = classifyFailure(caused("fetch failed", caused("no", undefined, { code })), context);
  expect(outcome).toMatchObject({ status: "failed", permanent: true });
  expect(outcome.message).toContain("not trusted");
  expect(outcome.message).toContain("NODE_EXTRA_CA_CERTS");
});

test("a certificate for another name is final, and the base URL is what can be changed", () => {
  const refused = caused("Hostname/IP does not match", undefined, { code: "ERR_TLS_CERT_ALTNAME_INVALID" });
  const outcome = classifyFailure(caused("fetch failed", refused), context);
  expect(outcome).toMatchObject({ status: "failed", permanent: true, message: expect.stringContaining("base URL") });
});

test.each([
  ["EPROTO", "write EPROTO 80:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:x.c:350:"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "80:error:0A00010B:SSL routines::wrong version number:x.c:354:"],
])("https that is answered in another language (%s) is final, and what may be wrong is said", (code, words) => {
  const outcome = classifyFailure(caused("fetch failed", caused(words, undefined, { code })), context);
  expect(outcome).toMatchObject({ status: "failed", permanent: true, message: expect.stringMatching(/is it http/) });
});

test.each([new Error("boom"), "boom", answer(409, "boom"), new Error("boom: terminated by content filter")])(
  "anything else is failed, and may be tried again (PC-023)",
  (error) => {
    const outcome = classifyFailure(error, context);
    expect(outcome.status).toBe("failed");
    expect(outcome.message).toContain("boom");
    expect(outcome.permanent).toBeUndefined();
  },
);

test("an error inside a stream keeps its type, and is judged by it", () => {
  expect(classifyFailure({ message: "Overloaded", type: "overloaded_error" }, context)).toEqual({
    status: "timeout",
    message: "the provider reported an error (overloaded_error): Overloaded",
  });
  expect(classifyFailure({ message: "no", type: "odd_error", code: null }, context)).toEqual({
    status: "failed",
    message: "the provider reported an error (odd_error): no",
  });
  expect(classifyFailure({ message: "no", type: "invalid_request_error" }, context)).toMatchObject({ permanent: true });
  expect(classifyFailure({ message: "upstream", code: 502 }, context)).toMatchObject({
    status: "timeout",
    message: "the provider answered HTTP 502: upstream",
  });
  const odd = caused("Type validation failed", undefined, {
    name: "AI_TypeValidationError",
    value: { error: "overloaded" },
  });
  expect(classifyFailure(odd, context)).toEqual({
    status: "failed",
    message: "the provider reported an error: overloaded",
  });
});

test("too long an input comes before everything else the answer says", () => {
  const error = apiError(400, { message: "too long", type: "invalid_request_error", code: "context_length_exceeded" });
  expect(classifyFailure(error, context)).toEqual({
    status: "failed",
    message: "the provider answered HTTP 400 (invalid_request_error, context_length_exceeded): too long",
    overflow: true,
  });
});

test.each([
  [{ "retry-after": "3" }, 3000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "3", "retry-after-ms": "1500" }, 1500],
  [{ "retry-after": " 5 " }, 5000],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, undefined],
  [{ "retry-after": "0x10" }, undefined],
  [{ "retry-after": "1e9" }, undefined],
  [{ "retry-after": "2, 3" }, undefined],
  [{ "retry-after-ms": "0x10", "retry-after": "2" }, 2000],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-1" }, undefined],
  [{}, undefined],
])("%j asks for %s ms", (headers, expected) => {
  expect(classifyFailure(answer(429, "", headers), context).retryAfterMs).toBe(expected);
});

test.each<[string, (date: Date) => string]>([
  ["HTTP", (date) => date.toUTCString()],
  ["HTTP, without its weekday,", (date) => date.toUTCString().replace(/^\w+, /, "")],
  ["ISO", (date) => date.toISOString()],
])("a date of retry in the form of %s is counted from now", (_, write) => {
  const inTwoDays = write(new Date(Date.now() + 172_800_000));
  const { retryAfterMs } = classifyFailure(answer(503, "", { "retry-after": inTwoDays }), context);
  expect(retryAfterMs).toBeGreaterThan(172_700_000);
  expect(retryAfterMs).toBeLessThanOrEqual(172_800_000);
});

test("a message has the status and the provider's words, a page only its title (PC-017)", () => {
  const page = "<!doctype html><html><head><title>502 Bad\n Gateway</title></head><body>nginx</body></html>";
  expect(classifyFailure(answer(502, page), context).message).toBe("the provider answered HTTP 502: 502 Bad Gateway");
  expect(classifyFailure(answer(502, "<h1>Down</h1><style>h1{}</style>"), context).message).toBe(
    "the provider answered HTTP 502: Down",
  );
  expect(classifyFailure(answer(503), context).message).toBe("the provider answered HTTP 503: Status Text");
  expect(classifyFailure(answer(500, [{ error: { message: "listed" } }]), context).message).toBe(
    "the provider answered HTTP 500: listed",
  );
});

test("a broken connection is told by each of its causes once, with the code", () => {
  const socket = caused("other side closed", undefined, { code: "UND_ERR_SOCKET" });
  const wrapped = caused("Failed to process successful response", caused("terminated", socket), { statusCode: 200 });
  expect(classifyFailure(wrapped, context).message).toBe(
    "the connection to the provider failed: terminated: other side closed: UND_ERR_SOCKET",
  );
  expect(classifyFailure(caused("terminated", socket), context).message).toBe(
    "the connection to the provider failed: terminated: other side closed: UND_ERR_SOCKET",
  );
});

test("causes that go in a circle are walked once", () => {
  const [a, b] = [new Error("one"), new Error("two")];
  Object.assign(a, { cause: b });
  Object.assign(b, { cause: a });
  expect(classifyFailure(a, context)).toEqual({ status: "failed", message: "the request failed: one: two" });
});

test("a message is at most 2000 characters long and splits no character", () => {
  for (const filler of ["x", "🙂", "x🙂"]) {
    const message = classifyFailure(answer(500, filler.repeat(3000)), context).message ?? "";
    expect(message.length).toBeLessThanOrEqual(2000);
    expect(message).not.toMatch(/\p{Surrogate}/u);
    expect(message.endsWith("…")).toBe(true);
  }
});

test("no message holds a key, wherever the answer repeats it", () => {
  const body = { error: { message: "bad key sk-canary-1111 in Bearer abcdefgh12345, see https://x/?api_key=zzz&a=1" } };
  expect(classifyFailure(answer(401, body), context)).toEqual({
    status: "auth",
    message:
      "the provider answered HTTP 401: bad key [redacted] in Bearer [redacted], see https://x/?api_key=[redacted]&a=1",
  });
  const late = `${"x".repeat(1960)}sk-canary-1111`;
  expect(classifyFailure(answer(500, late), context).message).not.toContain("sk-c");
});

test("errors of this package are final, a missing key is auth", () => {
  const config = new RookeryError("config-invalid", "no such protocol", { hint: "use another" });
  expect(classifyFailure(config, context)).toEqual({
    status: "failed",
    message: "no such protocol; use another",
    permanent: true,
  });
  const key = new RookeryError("model-auth", "key_command of a/b failed with 1");
  expect(classifyFailure(key, context)).toEqual({ status: "auth", message: "key_command of a/b failed with 1" });
});
