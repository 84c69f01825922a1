import { randomBytes } from "node:crypto";
import type { ToolCallIdAllocator } from "./contract.ts";

/**
 * Makes a registry that keeps the call ids of a session distinct (PC-037, PC-048 to PC-050).
 *
 * An id that comes again gains `#2`, `#3` and so on; an empty one is replaced by a fresh `call_<hex>`. `toProvider` takes
 * off only what was put on: an id the provider itself ended in `#3` stays as it is.
 *
 * @param usedIds - Ids of the session so far, as they stand in its records; default none.
 */
export function createToolCallIdAllocator(usedIds: Iterable<string> = []): ToolCallIdAllocator {
  const used = new Set(usedIds);
  const providerIds = new Map<string, string>();
  const lastNumbers = new Map<string, number>();
  for (const id of used) {
    const base = SUFFIXED.exec(id)?.[1];
    if (base !== undefined && used.has(base)) providerIds.set(id, base);
  }

  const distinct = (id: string): string => {
    if (!used.has(id)) return id;
    for (let n = (lastNumbers.get(id) ?? 1) + 1; ; n += 1) {
      if (used.has(`${id}#${n}`)) continue;
      lastNumbers.set(id, n);
      providerIds.set(`${id}#${n}`, id);
      return `${id}#${n}`;
    }
  };
  return {
    allocate(providerId) {
      const id = distinct(providerId || `call_${randomBytes(12).toString("hex")}`);
      used.add(id);
      return id;
    },
    toProvider: (id) => providerIds.get(id) ?? id,
  };
}

const SUFFIXED = /^(.+)#\d+$/s;
