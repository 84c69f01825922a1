import {
  keySource,
  type ModelName,
  type ProjectConfig,
  type RunOutcome,
  readProjectConfig,
  storedModel,
  vendorKeyVariable,
} from "@rookery/core";

/** Where the key of a run's model was looked for. */
export interface KeyPlace {
  readonly projectConfigFile: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What to do about a run that did not complete, at the commonest places. */
export async function runHint(
  { status, code, message = "", turns }: Pick<RunOutcome, "status" | "code" | "message" | "turns">,
  model: ModelName,
  place: KeyPlace,
): Promise<string | undefined> {
  if (status === "auth") return keyHint(model, place);
  // Once a reply has come, the name and the address were right; a proxy's refusal says itself what to do.
  if (code === "provider-refused" && turns === 0 && !message.startsWith("the proxy in ")) return refusalHint(message);
  return code === "retries-exhausted" ? networkHint(message) : undefined;
}

/** What a refusal can be helped with, by its status and the provider's name for it. */
function refusalHint(message: string): string | undefined {
  const [, status, types = ""] = /^the provider answered HTTP (\d+)(?: \(([^)]*)\))?/.exec(message) ?? [];
  if (/quota|credit|balance|billing|funds/i.test(message) || status === "402") return "add credit at the provider";
  if (status === "403" || /permission|forbidden/.test(types))
    return "this key may not use this model; take another one";
  if (status !== "404" && !/not_?found|model/.test(types) && !/model .*(not exist|not found|unknown)/i.test(message)) {
    return undefined;
  }
  return "check the model's name and the address (known names: rookery config model list --available)";
}

function networkHint(message: string): string | undefined {
  if (/ECONNREFUSED (127\.|::1)/.test(message)) return "is the server running?";
  return /\b(ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)\b/.test(message)
    ? "check the network and the address; behind a company's proxy set HTTPS_PROXY"
    : undefined;
}

/** Leads to where the refused key came from. */
async function keyHint(model: ModelName, { projectConfigFile, env }: KeyPlace): Promise<string> {
  const { provider, model_id } = model;
  // What is wrong with the file by now is no news of this run.
  const config = await readProjectConfig(projectConfigFile).catch((): ProjectConfig => ({}));
  const source = await keySource({ ...storedModel(config, model), provider, model_id }, env);
  const store = `with rookery config model add ${provider}/${model_id}`;
  if (source === "stored") return `the stored key was refused; store another ${store}`;
  if (source === "key_command") return `check what its key_command prints, or store another key ${store}`;
  if (source !== undefined) return `check ${source}, or store another key ${store}`;
  return `set ${await vendorKeyVariable(provider)}, or store a key ${store}`;
}
