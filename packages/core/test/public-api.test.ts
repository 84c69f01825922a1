import { expect, expectTypeOf, test } from "vitest";
import type * as core from "../src/index.ts";
import * as values from "../src/index.ts";
import * as pi from "../src/pi/index.ts";

type Message = core.OmniMessage<core.ToolCallPayload>;

test("every type that the seed names is exported (PC-003) [type]", () => {
  expectTypeOf<core.LLMInterface>().not.toBeNever();
  expectTypeOf<core.GenerativeModelParameters>().not.toBeNever();
  expectTypeOf<core.LLMOutcome>().not.toBeNever();
  expectTypeOf<core.GenerativeModelConfig>().not.toBeNever();
  expectTypeOf<core.ThinkingLevelName>().not.toBeNever();
  expectTypeOf<core.ToolCallIdAllocator>().not.toBeNever();
  expectTypeOf<core.EnvironmentInterface>().not.toBeNever();
  expectTypeOf<core.ToolExecutionRequest>().not.toBeNever();
  expectTypeOf<core.EnvironmentConfig>().not.toBeNever();
  expectTypeOf<core.EnvironmentServices>().not.toBeNever();
  expectTypeOf<core.ToolConfig>().not.toBeNever();
  expectTypeOf<core.ToolDefinition>().not.toBeNever();
  expectTypeOf<core.ToolDefinitionConfig>().not.toBeNever();
  expectTypeOf<core.MCPServerConfig>().not.toBeNever();
  expectTypeOf<core.BuiltinTool>().not.toBeNever();
  expectTypeOf<core.ToolExecutionContext>().not.toBeNever();
  expectTypeOf<core.ToolResult>().not.toBeNever();
  expectTypeOf<core.RunOptions>().not.toBeNever();
  expectTypeOf<core.ApprovalDecision>().not.toBeNever();
  expectTypeOf<core.ApproveFn>().not.toBeNever();
  expectTypeOf<core.SubagentRunner>().not.toBeNever();
  expectTypeOf<core.SubagentHandle>().not.toBeNever();
  expectTypeOf<core.VisionDescriberService>().not.toBeNever();
  expectTypeOf<core.CommandSessionManager>().not.toBeNever();
  expectTypeOf<core.SubagentSessionManager>().not.toBeNever();
  expectTypeOf<core.OmniMessage>().not.toBeNever();
  expectTypeOf<core.ToolCallPayload>().not.toBeNever();
  expectTypeOf<core.StopReason>().not.toBeNever();
});

test("ApproveFn takes the call's message and promises allow or deny (PT-171, PC-086) [type]", () => {
  expectTypeOf<core.ApprovalDecision>().toEqualTypeOf<"allow" | "deny">();
  expectTypeOf<core.ApproveFn>().parameter(0).toEqualTypeOf<Message>();
  expectTypeOf<(toolCall: Message) => Promise<"allow" | "deny">>().toExtend<core.ApproveFn>();
});

test("a released name stays: the values that the package exports", () => {
  expect(Object.keys(values).sort()).toMatchInlineSnapshot(`
    [
      "BUILTIN_TOOL_FACTORIES",
      "Environment",
      "GenerativeModel",
      "MAX_RECONNECTS",
      "ProcessRegistry",
      "ReplayLLM",
      "RookeryError",
      "STANDARD_TOOLSET",
      "addModel",
      "addRules",
      "agentPaths",
      "approver",
      "assistantText",
      "catalogueAge",
      "catalogueModel",
      "catalogueProvider",
      "catalogueProviders",
      "checkCommand",
      "createAgent",
      "createBashTool",
      "createEditTool",
      "createReadTool",
      "createSandbox",
      "createToolCallIdAllocator",
      "createWriteTool",
      "dataRoot",
      "defineTool",
      "errorText",
      "eventMessage",
      "isCompleteModelMessage",
      "isEventMessage",
      "isModelMessage",
      "isPartialPayload",
      "isSessionMeta",
      "isType",
      "keySource",
      "modelMessage",
      "modelPair",
      "modelSettings",
      "modelVisiblePath",
      "ofType",
      "parseModelName",
      "policyRules",
      "providerMeant",
      "proxyFor",
      "readGoalInput",
      "readProjectConfig",
      "readSystemConfig",
      "readTraceAt",
      "readUserConfig",
      "readUserImage",
      "redactSecrets",
      "removeModel",
      "removeRule",
      "replayTrace",
      "resolveModel",
      "ruleText",
      "runToEnd",
      "sandboxAvailability",
      "secretFiles",
      "setDefaultModel",
      "setVisionModel",
      "storedModel",
      "terminalProblem",
      "testModel",
      "toBuiltinTool",
      "toJsonLine",
      "toolsetDefinitions",
      "userData",
      "userImage",
      "userText",
      "vendorKeyVariable",
      "withOrigin",
    ]
  `);
});

test("the values that pi's entry exports", () => {
  expect(Object.keys(pi).sort()).toEqual([
    "Agent",
    "AgentEventView",
    "AgentHarness",
    "agentEvents",
    "createBashTool",
    "createEditTool",
    "createReadTool",
    "createWriteTool",
    "defineTool",
  ]);
});
