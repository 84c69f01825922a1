/*
 * pi's `Agent` with a tool that asks a service over HTTP. The tool hands its signal on to `fetch`; what goes wrong with the
 * service is a result that the model reads, and an abort is thrown, which ends the call as interrupted.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, type AgentTool } from "@rookery/core/pi";
import { startProviderServer } from "@rookery/core/testing";
import { Type } from "typebox";

interface WeatherDetails {
  readonly city: string;
  readonly temp: number;
  readonly humidity: number;
  readonly condition: string;
}

const parameters = Type.Object({ city: Type.String({ description: "City name" }) });

const weatherTool: AgentTool<typeof parameters, WeatherDetails | { error: string }> = {
  name: "get_weather",
  label: "Get Weather",
  description: "Get current weather for a city",
  parameters,
  execute: async (_toolCallId, params, signal) => {
    try {
      const response = await fetch(`${weatherUrl}/v1/weather?city=${params.city}`, { signal: signal ?? null });
      if (!response.ok) throw new Error(`Weather API error: ${response.status}`);
      const data = (await response.json()) as Omit<WeatherDetails, "city">;
      return {
        content: [{ type: "text", text: `Temperature: ${data.temp}°C` }],
        details: { city: params.city, temp: data.temp, humidity: data.humidity, condition: data.condition },
        usage: {
          input: 0,
          output: 0,
          cacheRead: 0,
          cacheWrite: 0,
          totalTokens: 0,
          cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
        },
      };
    } catch (error) {
      if (error instanceof Error && error.name === "AbortError") throw error;
      const message = error instanceof Error ? error.message : String(error);
      return { content: [{ type: "text", text: `Error: ${message}` }], details: { error: message }, isError: true };
    }
  },
};

// The service: it knows Oslo, has never heard of Atlantis, and takes its time over Rome.
let onGivenUp = (): void => undefined;
const givenUp = new Promise<void>((resolve) => {
  onGivenUp = resolve;
});
const weather = createServer((request, response) => {
  const city = new URL(request.url ?? "", "http://localhost").searchParams.get("city");
  if (city === "Rome") {
    response.on("close", onGivenUp);
    agent.abort();
  } else {
    response.statusCode = city === "Oslo" ? 200 : 404;
    response.end(JSON.stringify({ temp: 21, humidity: 40, condition: "clear" }));
  }
});
await once(weather.listen(0, "127.0.0.1"), "listening");
const weatherUrl = `http://127.0.0.1:${(weather.address() as AddressInfo).port}`;

const server = await startProviderServer({
  replies: [
    {
      calls: ["Oslo", "Atlantis"].map((city) => ({ name: "get_weather", args: { city } })),
    },
    "Oslo is warm. Nobody knows about Atlantis.",
    { calls: [{ name: "get_weather", args: { city: "Rome" } }] },
  ],
});
const directory = await mkdtemp(join(tmpdir(), "rookery-example-"));
const agent = new Agent({
  initialState: {
    systemPrompt: "Be brief.",
    model: { id: "local", provider: "custom", api: "openai-completions", baseUrl: server.baseUrl("openai-chat") },
    tools: [weatherTool],
  },
  cwd: directory,
  root: join(directory, "root"),
});
agent.subscribe((event) => {
  if (event.type === "tool_execution_end") console.log(event.toolName, event.isError, JSON.stringify(event.result));
});

await agent.prompt("How warm is it in Oslo and in Atlantis?");
const results = agent.state.messages.filter((message) => message.role === "toolResult");
assert.deepEqual(
  results.map(({ content, isError }) => [content, isError]),
  [
    [[{ type: "text", text: "Temperature: 21°C" }], false],
    [[{ type: "text", text: "Error: Weather API error: 404" }], true],
  ],
);
assert.deepEqual(results[0]?.details, { city: "Oslo", temp: 21, humidity: 40, condition: "clear" });
assert.deepEqual(results[1]?.details, { error: "Weather API error: 404" });
const { cost, ...tokens } = results[0]?.usage ?? {};
assert.deepEqual(
  [Object.keys(tokens), Object.keys(cost ?? {})].map(({ length }) => length),
  [5, 5],
);
assert.ok([...Object.values(tokens), ...Object.values(cost ?? {})].every((spent) => spent === 0));
assert.equal(JSON.stringify(server.requests[1]?.body).includes("humidity"), false);

await agent.prompt("And in Rome?");
const last = agent.state.messages.at(-1);
assert.deepEqual(last?.role === "toolResult" && last.content, [{ type: "text", text: "[interrupted]" }]);
await givenUp;

await agent.dispose();
await server.close();
weather.close();
await rm(directory, { recursive: true });
