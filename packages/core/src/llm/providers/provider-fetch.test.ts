import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { collectReply } from "../../../test/support/collect-reply.ts";
import { userText } from "../../omnimessage/build.ts";
import { GenerativeModel } from "../generative-model.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(
  status: number,
  headers: Record<string, string>,
): Promise<{ url: string; asked: IncomingHttpHeaders[] }> {
  const asked: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers);
    response.writeHead(status, headers).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

test.each(
  ["openai-chat", "openai-responses", "anthropic-messages", "google"].flatMap((clientType) =>
    [301, 302, 303, 307, 308].map((status) => ({ clientType, status })),
  ),
)("$clientType takes neither key nor conversation where HTTP $status points", async ({ clientType, status }) => {
  const elsewhere = await serve(200, {});
  const server = await serve(status, { location: `${elsewhere.url}/v1/other?key=sk-canary-2222` });
  const llm = new GenerativeModel({
    modelId: "m",
    clientType,
    baseUrl: server.url,
    apiKey: "sk-canary-1111",
    tools: [],
  });
  const { outcome } = await collectReply(llm, { newMessages: [userText("go")] });
  expect(outcome).toMatchObject({ status: "failed", permanent: true });
  expect(outcome.message).toContain(`HTTP ${status} and points to "${elsewhere.url}/v1/other"`);
  expect(outcome.message).not.toContain("canary");
  expect([server.asked.length, elsewhere.asked.length]).toEqual([1, 0]);
});
