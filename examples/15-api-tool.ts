/*
 * A tool with a schema that is enforced, and with results for everything that can go wrong: what the service refuses, what is
 * no JSON, and a service that is not there. Tools can be called without any agent; in one, arguments are checked before.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Environment, modelMessage, type OmniMessage, ofType, toBuiltinTool } from "@rookery/core";
import type { AgentTool } from "@rookery/core/pi";
import { Type } from "typebox";

interface ApiDetails {
  readonly url: string;
  readonly method?: string;
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly error?: string;
}

const parameters = Type.Object({
  url: Type.String({ format: "uri" }),
  method: Type.Optional(Type.Enum(["GET", "POST", "PUT", "DELETE"])),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  body: Type.Optional(Type.String()),
});

const apiTool: AgentTool<typeof parameters, ApiDetails> = {
  name: "make_api_call",
  label: "Make API Call",
  description: "Make HTTP request to external API",
  parameters,
  execute: async (_toolCallId, params, signal) => {
    const { url, method = "GET", headers = {}, body = null } = params;
    try {
      const response = await fetch(url, { method, headers, body, signal: signal ?? null });
      const text = await response.text();
      if (!response.ok) {
        return {
          content: [{ type: "text", text: `HTTP ${response.status}: ${response.statusText}\n${text}` }],
          details: { url, method, statusCode: response.status, body: text },
          isError: true,
        };
      }
      const isJson = (response.headers.get("content-type") ?? "").includes("application/json");
      return {
        content: [{ type: "text", text: isJson ? indented(text) : text }],
        details: { url, method, statusCode: response.status, headers: Object.fromEntries(response.headers) },
      };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return {
        content: [{ type: "text", text: `Network error: ${message}` }],
        details: { url, error: message },
        isError: true,
      };
    }
  },
};

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    // Not valid JSON, so as it is.
    return json;
  }
}

const api = createServer((request, response) => {
  const { method, url } = request;
  if (url === "/missing") response.writeHead(404, "Not Found").end("no such thing");
  else
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(url === "/broken" ? "{oops" : `{"method":"${method}"}`);
});
await once(api.listen(0, "127.0.0.1"), "listening");
const base = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;

const json = await apiTool.execute("call_1", { url: `${base}/` });
assert.deepEqual(json.content, [{ type: "text", text: '{\n  "method": "GET"\n}' }]);
const broken = await apiTool.execute("call_2", { url: `${base}/broken`, method: "POST", body: "x" });
assert.deepEqual(broken.content, [{ type: "text", text: "{oops" }]);
const missing = await apiTool.execute("call_3", { url: `${base}/missing`, headers: { accept: "text/plain" } });
assert.deepEqual(missing.content, [{ type: "text", text: "HTTP 404: Not Found\nno such thing" }]);
assert.equal(missing.isError, true);
assert.equal(missing.details?.statusCode, 404);
api.close();
api.closeAllConnections();
const gone = await apiTool.execute("call_4", { url: base });
assert.deepEqual(gone.content, [{ type: "text", text: "Network error: fetch failed" }]);
assert.equal(gone.isError, true);

// Where tools are run for a model, the schema holds.
const environment = new Environment({
  workspaceDir: process.cwd(),
  toolConfig: { customTools: [], mcpServers: [] },
  tools: [toBuiltinTool(apiTool)],
});
for (const args of [{ url: base, method: "PATCH" }, { url: "not an address" }]) {
  const messages: OmniMessage[] = [];
  const toolCall = modelMessage({
    type: "tool_call",
    role: "assistant",
    name: "make_api_call",
    arguments: JSON.stringify(args),
    tool_call_id: "call_5",
  });
  for await (const message of environment.executeTool({ toolCall })) messages.push(message);
  const [output] = ofType(messages, "tool_call_output");
  console.log(output?.payload.output);
  assert.equal(output?.payload.stop_reason, "failed");
  assert.match(output.payload.output, /make_api_call was not run; correct its arguments/);
}
await environment.dispose();
