import { expect, test } from "vitest";
import { isSecretLikePath } from "./secret-paths.ts";

test.each([
  ".env",
  "/app/.ENV",
  ".env.local",
  "certs/Server.PEM",
  "a.key",
  "a.p12",
  "a.pfx",
  "a.jks",
  "vault.kdbx",
  "id_rsa",
  "id_rsa.pub",
  "id_ed25519_work",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".pgpass",
  ".git-credentials",
  "credentials",
  "credentials.json",
  "/home/ann/.ssh/config",
  "/home/ann/.SSH/known_hosts",
  ".gnupg/x",
  ".aws/config",
  ".azure/x",
  ".kube/config",
  ".docker/config.json",
  "/home/ann/.config/gcloud/x.db",
])("%s is secret-like", (path) => {
  expect(isSecretLikePath(path)).toBe(true);
});

test.each([
  ".env.example",
  ".env.sample",
  ".env.prod.template",
  ".environment",
  "env",
  "a.keys",
  "monkey",
  "my_id_rsa",
  "credentials.ts",
  "ssh/config",
  ".config/other/x",
  ".ssh",
  "",
])("%j is not secret-like", (path) => {
  expect(isSecretLikePath(path)).toBe(false);
});
