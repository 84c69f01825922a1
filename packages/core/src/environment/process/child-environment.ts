/**
 * The environment variables of a command, later entries winning: the host's, the vault's, the fixed ones.
 *
 * Of the host's, what would give a command the harness's own credentials, defeat the fixed variables, or make a test run
 * of the command a part of one around the harness is left out, whatever the case of the name: `*_API_KEY`, `*_API_KEYS`,
 * `ANTHROPIC_AUTH_TOKEN`, `CLAUDE_CODE_OAUTH_TOKEN`, `ROOKERY_*`, `FORCE_COLOR`, `CLICOLOR_FORCE`, `NODE_TEST_CONTEXT`.
 * The vault may put any of these back; it cannot change a fixed one.
 */
export function childEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  vault: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const inherited = Object.entries(host).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !WITHHELD.test(entry[0]),
  );
  return { ...Object.fromEntries(inherited), ...vault, ...FIXED };
}

const WITHHELD =
  /_API_KEYS?$|^(?:ANTHROPIC_AUTH_TOKEN|CLAUDE_CODE_OAUTH_TOKEN|FORCE_COLOR|CLICOLOR_FORCE|NODE_TEST_CONTEXT)$|^ROOKERY_/i;

/** Nothing waits for an editor, a pager or a password, and nothing is coloured. */
const FIXED = {
  // An editor that fails, not one that succeeds at once: `git rebase -i` would go on with the latter.
  GIT_EDITOR: "false",
  GIT_SEQUENCE_EDITOR: "false",
  EDITOR: "false",
  VISUAL: "false",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  TERM: "dumb",
  NO_COLOR: "1",
} as const;
