import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionOptions } from "../../src/agent/agent-options.ts";
import { reportedId } from "../../src/engine/background-report.ts";
import { defineTool } from "../../src/environment/agent-tool.ts";
import { Environment } from "../../src/environment/environment.ts";
import type { CommandSessions } from "../../src/environment/process/command-sessions.ts";
import type { CreateLLM } from "../../src/llm/contract.ts";
import { isType } from "../../src/omnimessage/guards.ts";
import type { OmniMessage } from "../../src/omnimessage/message.ts";
import type { Session } from "../../src/session/session.ts";
import { type ScriptedTurn, scriptedLLM, type TempAgent, tempAgent } from "../../src/testing/index.ts";

/** A session whose model starts commands that wait for a gate, each its own. */
export interface BackgroundScene {
  readonly home: TempAgent;
  readonly session: Session;
  /** What the models of all contexts were sent, request by request. */
  readonly asked: (readonly OmniMessage[])[];
  /** Lets a command end, and waits until it has. */
  settle(gate?: string): Promise<void>;
  /** The id of the command that waits for a gate. */
  idOf(gate?: string): string;
  /** Goes on with the session as another process would, after `dispose`. */
  resume(...turns: readonly ScriptedTurn[]): Promise<Session>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The call that starts a command; `then` is what the command does behind its gate. */
export function starting(gate = "gate", then = "echo over"): ScriptedTurn {
  const cmd = `read -r _ < ${gate}; ${then}`;
  const args = { description: "Waits.", cmd, run_in_background: true };
  return { calls: [{ name: "exec_command", args, id: `start_${gate}` }] };
}

/** After so many the models fail: a task that never ends leaves no timer a turn, that of the test included. */
const MOST_REQUESTS = 50;

/** @param point - Passed before each step of a reply, at each approval and in each output. */
export async function backgroundScene(
  turns: readonly ScriptedTurn[],
  options: SessionOptions = {},
  point: () => Promise<void> = async () => undefined,
): Promise<BackgroundScene> {
  let commands: CommandSessions | undefined;
  const asked: (readonly OmniMessage[])[] = [];
  const home = await tempAgent({
    tools: [say],
    createEnvironment(config) {
      commands = config.services?.commandSessions?.sessions;
      return new Environment(config);
    },
  });
  for (const gate of ["gate", "second"]) execFileSync("mkfifo", [join(home.workspaceDir, gate)]);
  const createLLM = (script: readonly ScriptedTurn[]): CreateLLM => {
    const left = [...script];
    return () => ({
      async *streamGenerate(parameters) {
        asked.push(parameters.newMessages);
        const turn = left.shift() ?? (asked.length > MOST_REQUESTS ? undefined : "noted");
        const reply = scriptedLLM(...(turn === undefined ? [] : [turn])).streamGenerate(parameters);
        for (;;) {
          await point();
          const step = await reply.next();
          if (step.done) return step.value;
          yield step.value;
        }
      },
    });
  };
  const open = { workspaceDir: home.workspaceDir, ...options };
  const session = await home.agent.createSession({ ...open, createLLM: createLLM(turns) });
  const idOf = (gate = "gate"): string => {
    const job = commands?.list().find(({ title }) => title.includes(`< ${gate};`));
    if (job === undefined) throw new Error(`no command waits for ${gate}`);
    return job.id;
  };
  return {
    home,
    session,
    asked,
    idOf,
    async settle(gate = "gate") {
      const command = commands?.peek(idOf(gate));
      await writeFile(join(home.workspaceDir, gate), "go\n");
      await command?.ended;
    },
    resume: (...script) => home.agent.resumeSession(session.sessionId, { ...open, createLLM: createLLM(script) }),
    [Symbol.asyncDispose]: () => home.dispose(),
  };
}

/** The reports among messages, as their texts. */
export function reportsIn(messages: readonly OmniMessage[]): string[] {
  return messages.flatMap((message) =>
    reportedId(message) !== undefined && isType(message, "text") ? message.payload.text : [],
  );
}

/** A call of a tool that does nothing. */
export const SAY: ScriptedTurn = { calls: [{ name: "say", args: {}, id: "say_1" }] };

const say = defineTool({
  name: "say",
  label: "Say",
  description: "Says something.",
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [{ type: "text", text: "said" }], details: undefined }),
});
