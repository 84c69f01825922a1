import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { ensurePrivateDirectory } from "../../trace/private-files.ts";
import { realPathOf } from "../files/resolve-path.ts";
import { type Area, areasOf, depth, isWithin, isWritable, privateTmp } from "./areas.ts";
import { completeRepository, gitGuards } from "./git-guards.ts";
import { hostSockets } from "./host-sockets.ts";
import type { SandboxPlace, SandboxSettings } from "./settings.ts";

/** One step towards what a command sees; a path that is covered later can still be the source of a mount. */
export type Mount =
  | {
      readonly kind: "read-only" | "writable";
      readonly path: string;
      readonly from?: string;
      /** May be gone by now. */
      readonly optional?: true;
    }
  /** An empty directory; `sealed` when it has its entries. */
  | { readonly kind: "empty" | "dev" | "proc" | "sealed"; readonly path: string }
  /** A file that cannot be read. */
  | { readonly kind: "hidden"; readonly path: string }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

/** With these, root could change the machine although it has no privileges; the kernel asks for no more than the owner. */
const PROC_SETTINGS = ["acpi", "bus", "fs", "irq", "scsi", "sys", "sysrq-trigger"].map((name) => `/proc/${name}`);

/** What is protected inside of what may be written, real paths; found before the first command runs. */
export interface Fixtures {
  readonly readOnly: readonly string[];
  readonly hidden: readonly string[];
  /** Directories on the way to these: mounted on themselves, they can be neither renamed nor replaced. */
  readonly pinned: readonly string[];
}

/**
 * To be found once, before any command of the session runs. What a command makes later is never mounted, since it could put a link
 * in its place at the right moment.
 */
export function findFixtures(settings: SandboxSettings, place: SandboxPlace): Fixtures {
  const areas = areasOf(settings, place);
  const workspace = realPathOf(place.workspaceDir);
  const isOpen = isWritable(areas, workspace);
  if (isOpen) completeRepository(workspace);
  const guards = isOpen ? gitGuards(workspace) : [];
  // A link may lead elsewhere, and a mount on what is hidden would show it.
  const readOnly = guards.filter((path) => isWithin(workspace, path) && isWritable(areas, path));
  const hidden = secretsOf(place).elsewhere.filter(existsSync);
  const temporary = place.scratchpadDir === undefined ? [] : [join(temporaryOf(place.scratchpadDir), "x")];
  const kept = [...readOnly, ...hidden, ...areas.map(({ path }) => path), ...temporary];
  return { readOnly, hidden, pinned: kept.flatMap((path) => waysTo(path, areas)) };
}

/**
 * What a command of a session sees, outer mounts first. Makes the session's scratchpad and private `/tmp`.
 *
 * @throws the system's own error.
 */
export function mountPlan(settings: SandboxSettings, place: SandboxPlace, fixtures: Fixtures): Mount[] {
  const areas = areasOf(settings, place).filter(({ path }) => existsSync(path));
  const { readOnly, hidden, pinned } = fixtures;
  const layers: Mount[] = [
    { kind: "read-only", path: sep },
    ...mountEach("writable", pinned.filter(existsSync)),
    { kind: "dev", path: "/dev" },
    { kind: "proc", path: "/proc" },
    ...mountEach("read-only", PROC_SETTINGS.filter(existsSync)),
    ...runtimeDirectory(settings),
    temporaryDirectory(place.scratchpadDir),
    ...areas.map(({ path, writable }): Mount => ({ kind: writable ? "writable" : "read-only", path })),
    ...mountEach("read-only", readOnly.filter(existsSync)),
    ...withoutSecrets(secretsOf(place).ofRoot, areas),
    ...[...hidden.filter(existsSync), ...reachableSockets(areas)].map(hiding),
  ];
  // Of one path the later one covers the earlier one, so that a pin never opens what is closed.
  const ordered = layers.toSorted((a, b) => depth(a.path) - depth(b.path));
  const sealed = ordered.filter(({ kind, path }) => kind === "empty" && path !== TMP);
  return [...ordered, ...sealed.map(({ path }): Mount => ({ kind: "sealed", path }))];
}

function hiding(path: string): Mount {
  return { kind: statSync(path).isDirectory() ? "empty" : "hidden", path };
}

function mountEach(kind: "read-only" | "writable", paths: readonly string[]): Mount[] {
  return paths.map((path) => ({ kind, path }));
}

/** Secret files by where they lie, real paths. */
function secretsOf({ dataRoot, protectedPaths = [] }: SandboxPlace): { ofRoot: string[]; elsewhere: string[] } {
  const root = dataRoot === undefined ? undefined : realPathOf(dataRoot);
  const isOfRoot = (path: string): boolean => root !== undefined && isWithin(root, path);
  const secrets = protectedPaths.map(realPathOf);
  return { ofRoot: secrets.filter(isOfRoot), elsewhere: secrets.filter((path) => !isOfRoot(path)) };
}

/** The real path of the private `/tmp`, which is made here. */
function temporaryOf(scratchpadDir: string): string {
  const path = join(realPathOf(scratchpadDir), basename(privateTmp(scratchpadDir)));
  ensurePrivateDirectory(path);
  if (lstatSync(path).isDirectory()) return path;
  throw new Error(`${path} must be a directory; remove it`);
}

const TMP = "/tmp";

/** `/run` is full of sockets through which processes outside do what they are told; of its files only these are needed. */
function* runtimeDirectory({ network }: SandboxSettings): Generator<Mount> {
  yield { kind: "empty", path: "/run" };
  for (const path of network === "on" ? ["/etc/resolv.conf", NIX_SYSTEM] : [NIX_SYSTEM]) {
    const real = existsSync(path) ? realpathSync(path) : "";
    if (path === NIX_SYSTEM && real !== "") yield { kind: "read-only", path, from: real };
    else if (isWithin("/run", real)) yield { kind: "read-only", path: real };
  }
}

const NIX_SYSTEM = "/run/current-system";

function temporaryDirectory(scratchpadDir: string | undefined): Mount {
  if (scratchpadDir === undefined) return { kind: "empty", path: TMP };
  return { kind: "writable", path: TMP, from: temporaryOf(scratchpadDir) };
}

/**
 * The directories of secret files made anew with everything else in them. A mount over the file itself would go when
 * somebody outside replaces it, while a command runs that then could read the new one.
 */
function* withoutSecrets(secrets: readonly string[], areas: readonly Area[]): Generator<Mount> {
  const directories = [...new Set(secrets.map(dirname))].filter(existsSync).toSorted((a, b) => depth(a) - depth(b));
  for (const directory of directories) {
    yield { kind: "empty", path: directory };
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      // What a secret file is called while it is written begins like it.
      if (secrets.some((secret) => path.startsWith(secret)) || areas.some((area) => area.path === path)) continue;
      if (lstatSync(path).isSymbolicLink()) yield { kind: "link", path, target: readlinkSync(path) };
      else yield { kind: "read-only", path, optional: true };
    }
  }
}

/** Those in a writable place stay: commands of the session may have made them. */
function reachableSockets(areas: readonly Area[]): string[] {
  const covered = ["/run", TMP, "/dev", "/proc"];
  return hostSockets()
    .map(realPathOf)
    .filter((path) => !isWritable(areas, path))
    .filter((path) => !covered.some((directory) => isWithin(directory, path)));
}

/** The directories between the writable area around a path and the path itself. */
function waysTo(path: string, areas: readonly Area[]): string[] {
  const around = areas.findLast((area) => area.path !== path && isWithin(area.path, path));
  if (!around?.writable) return [];
  const ways: string[] = [];
  for (let way = dirname(path); way !== around.path; way = dirname(way)) ways.push(way);
  return ways;
}
