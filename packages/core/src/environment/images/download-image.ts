import { errorCode, errorText } from "../../errors/error-text.ts";
import { RookeryError } from "../../errors/rookery-error.ts";
import { proxyFor } from "../../llm/network/proxy-for.ts";
import type { ImageOptions } from "../contract.ts";
import { FileProblem } from "../files/file-problem.ts";
import { AddressGuard, type ResolveHost } from "./address-guard.ts";
import { describeTooLarge, MAX_IMAGE_BYTES } from "./image-limits.ts";
import { assertUsable, parseAddress, spellSource } from "./image-source.ts";
import { isPublicAddress } from "./public-address.ts";

/** Fetches what an address holds, whatever that is. @throws {FileProblem} Why not; otherwise the signal's reason. */
export type DownloadImage = (address: URL, signal?: AbortSignal) => Promise<Buffer>;

export interface DownloadOptions {
  /** Default: public ones. */
  readonly isAllowed?: (address: string) => boolean;
  /** Default: as the system resolves names. */
  readonly resolve?: ResolveHost;
  /** Names the proxies; default: the process's own. */
  readonly env?: NodeJS.ProcessEnv;
}

const MAX_REDIRECTS = 5;
const HEADERS = {
  accept: "image/png, image/jpeg, image/webp, image/gif",
  "accept-encoding": "identity",
  "user-agent": "rookery",
};

/** What downloads as a person has configured it. */
export function configuredDownloader({ allowPrivateAddresses, env }: ImageOptions = {}): DownloadImage {
  return downloader({ ...(allowPrivateAddresses && { isAllowed: () => true }), ...(env && { env }) });
}

/**
 * Makes what fetches images: over http and https, through the proxies of the environment, at most 5 MiB after decoding.
 *
 * Every host on the way, of redirects too, is judged by its addresses, and the connection goes to one of those that were
 * judged. No more than five redirects are followed, and none from https to http.
 */
export function downloader({
  isAllowed = isPublicAddress,
  resolve,
  env = process.env,
}: DownloadOptions): DownloadImage {
  const guard = new AddressGuard(isAllowed, resolve);
  const proxyOf = (url: URL) => proxyFor(url, env);
  let sender: Promise<typeof fetch> | undefined;
  const fetchImage: DownloadImage = async (address, signal) => {
    sender ??= import("../../llm/network/fetch-through.ts").then(({ fetchThrough }) =>
      fetchThrough(proxyOf, { lookup: guard.lookup }),
    );
    const send = await sender;
    let url = address;
    for (let redirects = 0; ; redirects++) {
      await guard.check(url, proxyOf(url) !== undefined);
      const response = await send(url, { redirect: "manual", headers: HEADERS, ...(signal && { signal }) });
      const target = await redirectOf(response, url);
      if (target === undefined) return await bodyOf(response);
      if (redirects === MAX_REDIRECTS) throw new FileProblem(`it was redirected more than ${MAX_REDIRECTS} times`);
      url = target;
    }
  };
  return (address, signal) =>
    fetchImage(address, signal).catch((error: unknown) => {
      throw signal?.aborted ? error : new FileProblem(reasonOf(error));
    });
}

/** The last cause says most: `fetch failed` is only its frame. */
function reasonOf(error: unknown): string {
  let last = error;
  for (let depth = 0; last instanceof Error && last.cause !== undefined && depth < 5; depth++) last = last.cause;
  if (last instanceof FileProblem) return last.message;
  if (RookeryError.is(last)) return `${last.message}; ${last.hint}`;
  const code = errorCode(last);
  const text = errorText(last);
  const told = code === undefined || text.includes(code) ? text : `${text} (${code})`;
  return `the connection failed: ${told}; check the address`;
}

/** Where an answer sends its reader; `undefined` for one that is the end of the way. */
async function redirectOf(response: Response, from: URL): Promise<URL | undefined> {
  if (![301, 302, 303, 307, 308].includes(response.status)) return undefined;
  await response.body?.cancel();
  const location = response.headers.get("location");
  if (location === null) throw new FileProblem(`the server answered HTTP ${response.status} without an address`);
  const target = parseAddress(location, from);
  assertUsable(target, "it was redirected to an address that");
  if (from.protocol === "https:" && target.protocol === "http:") {
    throw new FileProblem(`it was redirected from https to ${spellSource(target.href)}, which is not encrypted`);
  }
  return target;
}

async function bodyOf(response: Response): Promise<Buffer> {
  const { status, body } = response;
  const announced = Number(response.headers.get("content-length"));
  if (status !== 200 || announced > MAX_IMAGE_BYTES) {
    await body?.cancel();
    throw new FileProblem(
      status === 200 ? describeTooLarge(announced) : `the server answered HTTP ${status}; check the address`,
    );
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    // Leaving the loop gives up what has not been read.
    if (length > MAX_IMAGE_BYTES) throw new FileProblem(describeTooLarge());
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
