import type { Io } from "../io.ts";
import { spendingLine } from "./figures.ts";
import type { View } from "./view.ts";

/** A view that ends with what the task took, dim, on standard error; for a person alone. */
export function spendingView(view: View, { stderr, env }: Pick<Io, "stderr" | "env">): View {
  if (!stderr.isTTY) return view;
  const isStyled = !env.NO_COLOR && env.TERM !== "dumb";
  return {
    show: (message) => view.show(message),
    end(outcome, hint) {
      view.end(outcome, hint);
      if (outcome.usage.total === 0) return;
      const line = spendingLine(outcome);
      stderr.write(isStyled ? `\x1b[2m${line}\x1b[22m\n` : `${line}\n`);
    },
  };
}
