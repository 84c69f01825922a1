/** True when the reason why a reply ended says that it reached a limit of length: every service and server has its own word. */
export function isLimit(reason: string): boolean {
  return LIMIT.test(reason);
}

const LIMIT =
  /^(max_?(\w+_)?(tokens?|length)|((model|token|output|context|length)_)*(length|limit)|(model_)?context_window)(_(exceeded|reached))?$/i;
