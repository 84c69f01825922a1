import { type ModelTest, RookeryError, testModel } from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { FAILED, runExitCode } from "../exit-code.ts";
import { type AgentFlags, addDebugFlag, addOutputFlag, addRootFlags, debugFileOf, modelFlags } from "../flags.ts";
import { watchInterruption } from "../interruption.ts";
import { spendingLine } from "../render/figures.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/neutralise.ts";
import { notice, warningNotice } from "../report-error.ts";
import { type KeyPlace, runHint } from "../run-hint.ts";
import { type ConfigFlags, configFile } from "./config-file.ts";

interface TestFlags extends ConfigFlags, Pick<AgentFlags, "debug"> {
  readonly model?: string;
  readonly provider?: string;
  readonly modelId?: string;
  readonly clientType?: string;
  readonly baseUrl?: string;
}

/** `rookery config model test`: one real call, and what it shows. */
export function defineModelTest(model: Command, context: CommandContext): void {
  const command = model
    .command("test")
    .description("Call a model once and say what works: streaming, tools, images, thinking.")
    .argument("[PROVIDER/MODEL_ID]", "default: as for run")
    .option("--model <PROVIDER/MODEL_ID>", "the same as a flag")
    .option("--provider <PROVIDER>", "the same in two parts, with --model-id")
    .option("--model-id <MODEL_ID>", "the same in two parts, with --provider")
    .option("--client-type <TYPE>", "the protocol the server speaks")
    .option("--base-url <URL>", "the server's address");
  addOutputFlag(addRootFlags(addDebugFlag(command)), ["text", "json"]).action(
    async (name: string | undefined, flags: TestFlags) => {
      context.exitCode = await test(name, flags, context);
    },
  );
}

async function test(name: string | undefined, flags: TestFlags, context: CommandContext): Promise<number> {
  const { io, stdout } = context;
  if (name !== undefined && [flags.model, flags.provider, flags.modelId].some((flag) => flag !== undefined)) {
    throw new RookeryError("usage", "PROVIDER/MODEL_ID came together with a flag for it", { hint: "use one form" });
  }
  const debugFile = debugFileOf(flags, io.cwd);
  const interruption = watchInterruption(io, stdout);
  try {
    const result = await testModel({
      ...modelFlags({ ...flags, ...(name !== undefined && { model: name }) }),
      ...(flags.clientType !== undefined && { clientType: flags.clientType }),
      ...(flags.baseUrl !== undefined && { baseUrl: flags.baseUrl }),
      ...(flags.root !== undefined && { root: flags.root }),
      ...(flags.project !== undefined && { projectId: flags.project }),
      ...(debugFile !== undefined && { debugFile }),
      env: io.env,
      onWarning: warningNotice(io),
      signal: interruption.signal,
    });
    if (debugFile !== undefined) notice(io, `requests and answers are added to ${debugFile}`);
    const place = { projectConfigFile: configFile(flags, context), env: io.env };
    const failure = await failureOf(result, place);
    if (flags.output === "json") stdout.write(jsonLine(reportOf(result, failure)));
    else {
      stdout.write(findings(result));
      if (failure) notice(io, failure.hint === undefined ? failure.message : `${failure.message}; ${failure.hint}`);
    }
    return failure ? (interruption.exitCode ?? failureExitCode(result)) : 0;
  } finally {
    interruption.stop();
  }
}

function reportOf({ outcome, ...seen }: ModelTest, error: Failure | undefined): object {
  return { status: outcome.status, ...seen, ...(error && { error }) };
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** A call that did not complete, as `run` tells of one. */
async function failureOf(result: ModelTest, place: KeyPlace): Promise<Failure | undefined> {
  const { status, message = `the call ended: ${status}`, permanent } = result.outcome;
  if (status === "completed") return undefined;
  const hint = await hintOf(result, message, place);
  return { code: permanent ? "provider-refused" : status, message, ...(hint !== undefined && { hint }) };
}

async function hintOf(
  { outcome, refused, provider, model_id }: ModelTest,
  message: string,
  place: KeyPlace,
): Promise<string | undefined> {
  if (refused.includes("images")) {
    return `if it sees no images, store that: rookery config model add ${provider}/${model_id} --no-vision`;
  }
  if (refused.length > 0) return undefined;
  const code = outcome.permanent ? "provider-refused" : "retries-exhausted";
  const status = outcome.status === "auth" ? "auth" : "failed";
  return runHint({ status, code, message, turns: 0 }, { provider, model_id }, place);
}

/** A time-out is the model's own: the command has no limit. */
function failureExitCode({ outcome: { status } }: ModelTest): number {
  return status === "auth" || status === "aborted" ? runExitCode({ status }) : FAILED;
}

function findings(result: ModelTest): string {
  const { provider, model_id, client_type, base_url, usage, cost_usd } = result;
  const lines = (["streaming", "tools", "images", "thinking"] as const).map((name) => {
    const { verdict, reason } = result[name];
    return `  ${name.padEnd(9)}  ${verdict.padEnd(8)}  ${oneLine(reason)}`;
  });
  const head = oneLine(`${provider}/${model_id} by ${client_type} at ${base_url}`);
  const spent =
    usage && usage.total > 0 ? [`  ${spendingLine({ usage, ...(cost_usd !== undefined && { cost_usd }) })}`] : [];
  return [head, ...lines, ...spent, ""].join("\n");
}
