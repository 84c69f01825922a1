import type { CallAssessment } from "../approval/contract.ts";
import { errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import type { OmniMessage, ToolCallPayload, ToolDefinition, ToolPermission } from "../omnimessage/message.ts";
import { assessCall } from "./assess-call.ts";
import { callLimits } from "./call-limits.ts";
import { closeOut } from "./close-out.ts";
import type { ConnectableEnvironment } from "./connect.ts";
import type {
  EnvironmentConfig,
  OnWarning,
  SourceReport,
  ToolDefinitionConfig,
  ToolExecutionRequest,
  ToolResult,
} from "./contract.ts";
import { FileGuard } from "./files/file-guard.ts";
import { type OfferedTool, toToolDefinition } from "./offered-tool.ts";
import { outputDelta } from "./output-delta.ts";
import { ProcessRegistry } from "./process/process-registry.ts";
import { createSandbox, type Sandbox } from "./sandbox/sandbox.ts";
import type { BuiltinTool } from "./tool.ts";
import { ToolCatalogue } from "./tool-catalogue.ts";
import { findToolset } from "./toolset-registry.ts";
import { quietly } from "./warn-on-stderr.ts";

/**
 * Executes tools: built-in ones by their definitions, given ones, and those of sources, in this order.
 *
 * It knows no tool by name, prints nothing and never throws into the engine: an unknown tool, bad arguments and a tool
 * that fails each end in one `tool_call_output` the model can read (PT-028). Which tools suit the model is decided by
 * whoever makes the configuration.
 *
 * @throws {RookeryError} `config-invalid` when `toolConfig.customTools` names a tool that the toolset does not have, or
 *   `toolset` one that is not known, `sandbox-unavailable`, `tool-duplicate` when two tools have one name; the latter from `listTools` where a source is concerned.
 *
 * @example
 * const environment = new Environment({ workspaceDir, toolConfig: { customTools: STANDARD_TOOLSET, mcpServers: [] } });
 * for await (const { payload } of environment.executeTool({ toolCall })) render(payload);
 * await environment.dispose();
 */
export class Environment implements ConnectableEnvironment {
  readonly #config: EnvironmentConfig & { readonly onWarning: OnWarning };
  readonly #catalogue: ToolCatalogue;
  #disposal: Promise<void> | undefined;

  constructor(config: EnvironmentConfig) {
    this.#config = withDefaults(config);
    const groups = [
      { origin: "toolConfig.customTools", tools: config.toolConfig.customTools.map((tool) => this.#createTool(tool)) },
      { origin: "tools", tools: config.tools ?? [] },
    ];
    this.#catalogue = new ToolCatalogue(groups, config.toolSources ?? [], this.#config.onWarning);
  }

  async listTools(): Promise<ToolDefinition[]> {
    return [...(await this.#catalogue.current()).values()].map(toToolDefinition);
  }

  toolPermission(name: string): ToolPermission | undefined {
    return this.#catalogue.known.get(name)?.permission;
  }

  get unconnected(): readonly string[] {
    return this.#catalogue.unconnected;
  }

  connect(signal: AbortSignal): Promise<SourceReport[]> {
    return this.#catalogue.connect(signal);
  }

  async assessCall(toolCall: OmniMessage<ToolCallPayload>): Promise<CallAssessment> {
    return this.#withinSandbox(await assessCall(toolCall.payload, await this.#tools(), this.#config.workspaceDir));
  }

  /** Yields what `closeOut` describes. Without an assessment the call is assessed first. */
  async *executeTool(request: ToolExecutionRequest): AsyncGenerator<OmniMessage> {
    const { payload } = request.toolCall;
    const tools = await this.#tools();
    const offered = tools.get(payload.name);
    const assessment = this.#withinSandbox((offered && request.assessment) ?? (await this.#assess(request, tools)));
    const { sessionScratchpadDir, services, onWarning } = this.#config;
    yield* closeOut({
      toolName: payload.name,
      toolCallId: payload.tool_call_id,
      limits: callLimits(offered?.tool.definition ?? {}),
      signal: request.signal,
      scratchpadDir: sessionScratchpadDir,
      onWarning,
      start: (signal) => this.#start(offered, assessment, request, signal),
    });
    // After a command the next shell is started anyway.
    if (offered?.permission === "rw" && offered.tool.risk !== "process") services?.commandSessions?.renewShell?.();
  }

  /** Ends the sources, every process and every child session. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#dispose();
    return this.#disposal;
  }

  #createTool(definition: ToolDefinitionConfig): BuiltinTool {
    const { name } = definition;
    const { tools } = findToolset(this.#config.toolset);
    const module = tools.find((tool) => tool.definition.name === name);
    if (module) return module.create(definition, this.#config);
    throw new RookeryError("config-invalid", `no built-in tool is named ${JSON.stringify(name)}`, {
      hint: `use one of ${tools.map((tool) => tool.definition.name).join(", ")}`,
    });
  }

  #tools(): Promise<ReadonlyMap<string, OfferedTool>> {
    return this.#catalogue.current().catch(() => this.#catalogue.known);
  }

  async #assess(
    { toolCall: { payload }, args }: ToolExecutionRequest,
    tools: ReadonlyMap<string, OfferedTool>,
  ): Promise<CallAssessment> {
    const { workspaceDir } = this.#config;
    if (!args) return await assessCall(payload, tools, workspaceDir);
    try {
      return await assessCall({ ...payload, arguments: JSON.stringify(args) }, tools, workspaceDir);
    } catch (error) {
      const text = `the arguments that replaced those of ${payload.name} cannot be made JSON: ${errorText(error)}`;
      return { error: text, risk: "process", summary: payload.name, executionMode: "parallel" };
    }
  }

  /** A call that would write where the sandbox lets nobody write cannot run. */
  #withinSandbox(assessment: CallAssessment): CallAssessment {
    if (assessment.error !== undefined) return assessment;
    for (const path of assessment.paths?.write ?? []) {
      const error = this.#config.services?.sandbox?.writeProblem(path);
      if (error !== undefined) return { ...assessment, error };
    }
    return assessment;
  }

  #start(
    offered: OfferedTool | undefined,
    { args, error, paths, state }: CallAssessment,
    { toolCall, approve }: ToolExecutionRequest,
    signal: AbortSignal,
  ): AsyncIterator<unknown, unknown> {
    const { tool_call_id: toolCallId } = toolCall.payload;
    if (offered === undefined || args === undefined || error !== undefined) {
      return refuse(error ?? "the arguments of this call could not be read", toolCallId);
    }
    const { workspaceDir, toolContext } = this.#config;
    return offered.tool.execute(args, {
      workspaceDir,
      toolCallId,
      signal,
      ...(approve && { approve }),
      ...(paths && { paths }),
      ...(state !== undefined && { state }),
      ...(toolContext !== undefined && { toolContext }),
    });
  }

  async #dispose(): Promise<void> {
    const { toolSources = [], services } = this.#config;
    const owned = [...toolSources, services?.commandSessions, services?.subagentSessions];
    for (const outcome of await Promise.allSettled(owned.map(async (part) => part?.dispose()))) {
      if (outcome.status === "fulfilled") continue;
      const message = `a part of the environment could not be ended: ${errorText(outcome.reason)}`;
      this.#config.onWarning({ code: "dispose-failed", message });
    }
  }
}

function withDefaults(config: EnvironmentConfig): EnvironmentConfig & { readonly onWarning: OnWarning } {
  const onWarning = quietly(config.onWarning);
  const given = config.services ?? {};
  const sandbox = given.sandbox ?? sandboxOf(config);
  const { commandSessions = new ProcessRegistry({ onWarning, confine: sandbox?.confine }), files = new FileGuard() } =
    given;
  return { ...config, services: { ...given, commandSessions, files, sandbox }, onWarning };
}

function sandboxOf(config: EnvironmentConfig): Sandbox | undefined {
  const { workspaceDir, sessionScratchpadDir: scratchpadDir, protectedPaths = [], services } = config;
  const place = { workspaceDir, protectedPaths, ...(scratchpadDir !== undefined && { scratchpadDir }) };
  const sandbox = createSandbox(config.sandbox, place);
  if (sandbox === undefined || services?.commandSessions === undefined) return sandbox;
  throw new RookeryError("config-invalid", "services.commandSessions came without the sandbox that is asked for", {
    hint: "give services.sandbox too, by whose confine they run, or leave both to the environment",
  });
}

async function* refuse(text: string, toolCallId: string): AsyncGenerator<OmniMessage, ToolResult> {
  yield outputDelta(toolCallId, text);
  return { stopReason: "failed" };
}
