import { keyVariable, type RunOutcome, type Session } from "@rookery/core";

/** What to do about a run that did not complete, at the commonest places. */
export function runHint(
  { status, code, message = "", turns }: Pick<RunOutcome, "status" | "code" | "message" | "turns">,
  { provider, model_id }: Pick<Session["meta"], "provider" | "model_id">,
): string | undefined {
  if (status === "auth") {
    return `check ${keyVariable(provider)}, or store another key with rookery config model add ${provider}/${model_id}`;
  }
  // Once a reply has come, the name and the address were right; a proxy's refusal says itself what to do.
  const isProxys = message.startsWith("the proxy in ");
  if (code === "provider-refused" && turns === 0 && !isProxys) return "check the model's name and the address";
  const isNobodyThere = code === "retries-exhausted" && /ECONNREFUSED (127\.|::1)/.test(message);
  return isNobodyThere ? "is the server running?" : undefined;
}
