import { spawn } from "node:child_process";

/** What a script printed in a process of its own; Node reads `NODE_EXTRA_CA_CERTS` once, when it starts. */
export async function runTypeScript(script: string, env: NodeJS.ProcessEnv): Promise<string> {
  const tsx = import.meta.resolve("tsx");
  const child = spawn(process.execPath, ["--import", tsx, "--input-type=module", "-e", script], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  await new Promise((resolve) => child.on("close", resolve));
  return output;
}
