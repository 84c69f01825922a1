import { expect, test } from "vitest";
import { childEnvironment } from "./child-environment.ts";

test("a command gets the host's variables without provider keys and the harness's own, whatever their case", () => {
  const host = {
    PATH: "/bin",
    MY_PROJECT_VAR: "kept",
    GITHUB_TOKEN: "kept",
    PORT: "3000",
    UNSET: undefined,
    OPENAI_API_KEY: "k",
    ANTHROPIC_API_KEY: "k",
    gemini_api_key: "k",
    CUSTOM_API_KEY: "k",
    GROQ_API_KEYS: "k",
    ANTHROPIC_AUTH_TOKEN: "k",
    CLAUDE_CODE_OAUTH_TOKEN: "k",
    ROOKERY_HOME: "/r",
    Rookery_Model: "m",
    FORCE_COLOR: "1",
    CLICOLOR_FORCE: "",
    NODE_TEST_CONTEXT: "child-v8",
  };
  const environment = childEnvironment(host);
  const own = ["MY_PROJECT_VAR", "GITHUB_TOKEN", "PATH", "PORT"];
  const fixed = [
    ..."GIT_EDITOR GIT_SEQUENCE_EDITOR EDITOR VISUAL".split(" "),
    ..."PAGER GIT_PAGER GIT_TERMINAL_PROMPT TERM NO_COLOR".split(" "),
  ];
  expect(Object.keys(environment).sort()).toEqual([...own, ...fixed].sort());
  expect(environment).toMatchObject({ PATH: "/bin", MY_PROJECT_VAR: "kept", GITHUB_TOKEN: "kept", PORT: "3000" });
});

test("the vault wins over the host and may put a withheld name back", () => {
  const environment = childEnvironment({ DEPLOY_KEY: "host" }, { DEPLOY_KEY: "vault", STRIPE_API_KEY: "vault" });
  expect(environment).toMatchObject({ DEPLOY_KEY: "vault", STRIPE_API_KEY: "vault" });
});

test("neither host nor vault can change what keeps commands from waiting for a person", () => {
  const wanted = {
    GIT_EDITOR: "false",
    GIT_SEQUENCE_EDITOR: "false",
    EDITOR: "false",
    VISUAL: "false",
    PAGER: "cat",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
    TERM: "dumb",
    NO_COLOR: "1",
  };
  const other = Object.fromEntries(Object.keys(wanted).map((name) => [name, "vim"]));
  expect(childEnvironment(other, other)).toEqual(wanted);
});
