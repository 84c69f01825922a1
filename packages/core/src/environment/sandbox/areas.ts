import { join, sep } from "node:path";
import { realPathOf } from "../files/resolve-path.ts";
import type { SandboxPlace, SandboxSettings } from "./settings.ts";

/** A directory and what may be done below it, further areas apart. */
export interface Area {
  /** Real. */
  readonly path: string;
  readonly writable: boolean;
}

/** The areas of a sandbox, outer ones first; of two with one path the last one counts. */
export function areasOf({ mode }: SandboxSettings, place: SandboxPlace): Area[] {
  const { workspaceDir, dataRoot, memoryDir, scratchpadDir } = place;
  const areas: Area[] = [{ path: realPathOf(workspaceDir), writable: mode === "workspace-write" }];
  if (dataRoot !== undefined) areas.push({ path: realPathOf(dataRoot), writable: false });
  if (memoryDir !== undefined && mode === "workspace-write")
    areas.push({ path: realPathOf(memoryDir), writable: true });
  if (scratchpadDir !== undefined) areas.push({ path: realPathOf(scratchpadDir), writable: true });
  return areas.toSorted((a, b) => depth(a.path) - depth(b.path));
}

/** Whether a real path may be written, as far as areas go. */
export function isWritable(areas: readonly Area[], path: string): boolean {
  return areas.findLast((area) => isWithin(area.path, path))?.writable ?? false;
}

/** The private `/tmp` of a session, as it is seen from outside. */
export function privateTmp(scratchpadDir: string): string {
  return join(scratchpadDir, "tmp");
}

export function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

export function depth(path: string): number {
  return path.split(sep).filter(Boolean).length;
}
