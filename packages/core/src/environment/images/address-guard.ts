import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { FileProblem } from "../files/file-problem.ts";

/** All addresses of a host by its name. */
export type ResolveHost = (hostname: string) => Promise<readonly HostAddress[]>;

interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/**
 * Keeps connections away from addresses that are not allowed.
 *
 * `lookup` answers with the very addresses it judged, so that a name cannot lead elsewhere between judgement and
 * connection. It is not asked where a host is written as an address, or where a proxy resolves the name: for these there
 * is `check`.
 */
export class AddressGuard {
  readonly #isAllowed: (address: string) => boolean;
  readonly #resolve: ResolveHost;

  constructor(isAllowed: (address: string) => boolean, resolve: ResolveHost = resolveHost) {
    this.#isAllowed = isAllowed;
    this.#resolve = resolve;
  }

  /** For the sockets of direct connections. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.#judged(hostname).then(
      ([first, ...others]) => {
        if (options.all) callback(null, [first, ...others]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };

  /**
   * @param throughProxy - Names are judged too, as far as they can be resolved here.
   * @throws {FileProblem} The host of `url` is, or has, an address that is not allowed.
   */
  async check({ hostname }: URL, throughProxy: boolean): Promise<void> {
    const host = hostname.replace(/^\[|\]$/g, "");
    if (isIP(host)) this.#assertAllowed(host, [{ address: host, family: isIP(host) }]);
    else if (throughProxy) this.#assertAllowed(host, await this.#resolve(host).catch(() => []));
  }

  async #judged(host: string): Promise<[HostAddress, ...HostAddress[]]> {
    const [first, ...others] = await this.#resolve(host);
    if (first === undefined) throw new FileProblem(`${host} has no address; check the name`);
    this.#assertAllowed(host, [first, ...others]);
    return [first, ...others];
  }

  #assertAllowed(host: string, found: readonly HostAddress[]): void {
    const refused = found.find(({ address }) => !this.#isAllowed(address));
    if (refused === undefined) return;
    const name = host === refused.address ? host : `${host}, which leads to ${refused.address},`;
    throw new FileProblem(
      `${name} is not on the public internet, and images are not fetched from private addresses; save the image to a ` +
        "file, or ask the user to set images.allow_private_addresses",
    );
  }
}

function resolveHost(hostname: string): Promise<HostAddress[]> {
  return lookup(hostname, { all: true });
}
