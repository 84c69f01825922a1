import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import {
  agentPaths,
  dataRoot,
  keySource,
  type ProjectConfig,
  proxyFor,
  RookeryError,
  readProjectConfig,
  readSystemConfig,
  readUserConfig,
  resolveModel,
  secretFiles,
  storedModel,
  type UserConfig,
} from "@rookery/core";
import { type AgentFlags, agentOptions } from "../flags.ts";
import { errorReport } from "../report-error.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** What was configured, whether it can be read, and whether a model could be called; calls none. */
export async function configurationFindings(
  flags: AgentFlags,
  env: NodeJS.ProcessEnv,
): Promise<{ findings: Finding[]; user: UserConfig }> {
  const { projectId = "default_project", agentId = "default_agent" } = agentOptions(flags);
  const root = dataRoot(flags.root, env);
  const paths = agentPaths(root, projectId, agentId);
  const user = await readable("config.yaml", paths.userConfigFile, readUserConfig);
  const project = await readable("project_config.yaml", paths.projectConfigFile, readProjectConfig);
  const agent = await readable("system_config.yaml", paths.systemConfigFile, readSystemConfig);
  return {
    findings: [
      directory(root),
      ...modes(secretFiles(paths)),
      user.finding,
      project.finding,
      agent.finding,
      ...(project.value ? [await model(project.value, env)] : []),
      ...["https", "http"].flatMap((scheme) => proxy(scheme, env)),
    ],
    user: user.value ?? {},
  };
}

function directory(root: string): Finding {
  const name = "data directory";
  let place = root;
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  if (!isUsable(place)) {
    return fail(name, `${root} cannot be written`, "make it writable, or name another one with --root or ROOKERY_HOME");
  }
  if (place !== root) return ok(name, `${root}, made when it is needed`);
  const { mode } = statSync(root);
  const found = `${root} (${octal(mode)})`;
  return (mode & 0o022) === 0 ? ok(name, found) : warn(name, `others can write in ${found}`, `chmod go-w ${root}`);
}

function isUsable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return statSync(directory).isDirectory();
  } catch {
    return false;
  }
}

/** Secret files that others can read; of those that are in order nothing is said. */
function modes(files: readonly string[]): Finding[] {
  return files.flatMap((file) => {
    const mode = existsSync(file) ? statSync(file).mode : 0;
    const isOpen = (mode & 0o077) !== 0;
    return isOpen ? [warn("secret file", `others can open ${file} (${octal(mode)})`, `chmod 600 ${file}`)] : [];
  });
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

async function readable<T>(
  name: string,
  file: string,
  read: (file: string) => Promise<T>,
): Promise<{ finding: Finding; value?: T }> {
  try {
    const value = await read(file);
    return { value, finding: ok(name, existsSync(file) ? `${file} is in order` : "there is none, and none is needed") };
  } catch (error) {
    const { message, hint = "correct the file" } = errorReport(error);
    return { finding: fail(name, message, hint) };
  }
}

/** A model that is not chosen yet is nothing broken; a chosen one that cannot be called is. */
async function model(config: ProjectConfig, env: NodeJS.ProcessEnv): Promise<Finding> {
  try {
    const { provider, modelId, clientType, baseUrl } = await resolveModel({}, config, env);
    const name = { provider, model_id: modelId };
    const source = await keySource(storedModel(config, name) ?? name, env);
    const key = source === undefined ? "no key is needed" : `key: ${source}`;
    return ok("model", `${provider}/${modelId} by ${clientType} at ${withoutPassword(baseUrl)}, ${key}`);
  } catch (error) {
    const { message, hint = "see docs/configuration.md" } = errorReport(error);
    const isMissing = RookeryError.is(error) && error.code === "model-missing";
    return isMissing ? warn("model", message, hint) : fail("model", message, hint);
  }
}

function withoutPassword(address: string): string {
  return address.replace(/\/\/[^/@]*@/, "//");
}

function proxy(scheme: string, env: NodeJS.ProcessEnv): Finding[] {
  const name = `${scheme} proxy`;
  try {
    const found = proxyFor(new URL(`${scheme}://host.example`), env);
    return found === undefined ? [] : [ok(name, `${found.origin} (${found.variable})`)];
  } catch (error) {
    const { message, hint = "correct it" } = errorReport(error);
    return [fail(name, message, hint)];
  }
}
