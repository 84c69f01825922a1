/**
 * What a JSON Schema's `$ref` points at, where it is a pointer into the schema itself; `undefined` for any other, and for
 * one that leads nowhere.
 */
export function targetOf(root: unknown, reference: string): unknown {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  let node = root;
  for (const step of reference.split("/").slice(1)) {
    const name = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, name)) return undefined;
    node = (node as Record<string, unknown>)[name];
  }
  return node;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
