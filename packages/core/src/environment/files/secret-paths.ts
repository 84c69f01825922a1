const SECRET_DIRECTORIES = [".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud"];
const SECRET_NAMES = [
  /^\.env(\..*)?(?<!\.(example|sample|template))$/,
  /\.(pem|key|p12|pfx|jks|kdbx)$/,
  /^id_(rsa|ed25519)/,
  /^\.(netrc|npmrc|pypirc|pgpass|git-credentials)$/,
  /^credentials(\.json)?$/,
];

/**
 * True for a path whose name or place says that it holds a secret; reading one is asked about like a write.
 *
 * Compared without case. Ask for the path as given and for its real path: a link may hide either.
 */
export function isSecretLikePath(path: string): boolean {
  const parts = path.toLowerCase().split(/[\\/]/);
  const name = parts.pop() ?? "";
  const directories = `/${parts.join("/")}/`;
  return (
    SECRET_NAMES.some((pattern) => pattern.test(name)) ||
    SECRET_DIRECTORIES.some((directory) => directories.includes(`/${directory}/`))
  );
}
