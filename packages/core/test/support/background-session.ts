// A session whose model starts commands in the background, half of which leave their group, and that never ends. Prints
// the id of the session when it has begun.
import { createAgent } from "../../src/agent/agent.ts";
import { userText } from "../../src/omnimessage/build.ts";
import { scriptedLLM } from "../../src/testing/scripted-llm.ts";
import { escapingCommands } from "./escaping-commands.ts";

const [root = "", workspaceDir = "", count = "0"] = process.argv.slice(2);
const calls = escapingCommands(Number(count)).map((cmd) => ({
  name: "exec_command",
  args: { description: "Goes on.", cmd, run_in_background: true },
}));
const agent = await createAgent({ root, env: {}, createLLM: () => scriptedLLM({ calls }, { hang: true }) });
const session = await agent.createSession({ workspaceDir });
process.stdout.write(`${session.sessionId}\n`);
for await (const _ of session.run([userText("Start them.")], { approve: async () => "allow" }));
