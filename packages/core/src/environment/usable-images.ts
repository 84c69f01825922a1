const URL_HEAD = /^data:image\/(?:png|jpeg|gif|webp);base64,/;
const MAX_BYTES = 5 * 1024 * 1024;

/** Why an image cannot be sent, of one and of several. */
const REASONS = {
  kind: [
    "it is no base64 data URL of a png, jpeg, gif or webp image",
    "they are no base64 data URLs of png, jpeg, gif or webp images",
  ],
  broken: ["its base64 is broken", "their base64 is broken"],
  empty: ["it is empty", "they are empty"],
  size: ["it is over 5 MiB", "they are over 5 MiB"],
} as const;

/**
 * Takes out the images that no provider accepts: one of them in the history, and every later request would fail.
 *
 * @returns The others, and a line for each reason why some were left out.
 */
export function usableImages(urls: readonly string[]): { images: string[]; leftOut: string[] } {
  const problems = urls.map(problemOf);
  const images = urls.filter((_, i) => problems[i] === undefined);
  const leftOut = Object.entries(REASONS).flatMap(([reason, [one, several]]) => {
    const count = problems.filter((problem) => problem === reason).length;
    if (count === 0) return [];
    return [count === 1 ? `[an image was left out: ${one}]` : `[${count} images were left out: ${several}]`];
  });
  return { images, leftOut };
}

function problemOf(url: string): keyof typeof REASONS | undefined {
  const head = URL_HEAD.exec(url)?.[0];
  if (head === undefined) return "kind";
  const base64 = url.slice(head.length);
  if (base64 === "") return "empty";
  if (decodedBytes(base64) > MAX_BYTES) return "size";
  return base64.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? undefined : "broken";
}

function decodedBytes(base64: string): number {
  return (base64.length / 4) * 3 - (/=*$/.exec(base64.slice(-2))?.[0].length ?? 0);
}
