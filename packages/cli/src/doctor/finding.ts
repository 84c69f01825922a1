/** What was found about one thing. */
export interface Finding {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly found: string;
  /** What to do about it. */
  readonly todo?: string;
}

export function ok(name: string, found: string): Finding {
  return { name, status: "ok", found };
}

export function warn(name: string, found: string, todo: string): Finding {
  return { name, status: "warn", found, todo };
}

export function fail(name: string, found: string, todo: string): Finding {
  return { name, status: "fail", found, todo };
}
