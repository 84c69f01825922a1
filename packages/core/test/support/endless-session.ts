// A session that works until it is killed: replies, parallel commands and writes, over and over. Prints its trace's path.
import { createAgent } from "../../src/agent/agent.ts";
import { userText } from "../../src/omnimessage/build.ts";
import { scriptedLLM } from "../../src/testing/scripted-llm.ts";

const [root = "", workspaceDir = ""] = process.argv.slice(2);
const turns = Array.from({ length: 10_000 }, (_, i) => ({
  thinking: "Next.",
  text: `Turn ${i} ${"x".repeat(i % 7 === 0 ? 200_000 : 100)}`,
  calls: [
    { name: "exec_command", args: { description: "print", cmd: `printf 'turn %s' ${i}` } },
    { name: "write_file", args: { file_path: `f${i % 5}.txt`, content: `${i}\n`.repeat(1000) } },
  ],
}));
const agent = await createAgent({ root, env: {}, createLLM: () => scriptedLLM(...turns) });
const session = await agent.createSession({ workspaceDir });
let announced = false;
for await (const _ of session.run([userText("Go on until the end.")], { approve: async () => "allow" })) {
  if (!announced) process.stdout.write(`${session.traceFile}\n`);
  announced = true;
}
