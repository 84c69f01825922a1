import type { SourceReport, ToolSource } from "../environment/contract.ts";

/** A tool source that several sessions use: connected once for all, and disposed of by its owner alone. */
export function sharedSource(source: ToolSource): ToolSource {
  let connection: Promise<SourceReport> | undefined;
  const connect = source.connect?.bind(source);
  return {
    id: source.id,
    tools: () => source.tools(),
    ...(source.onChange && { onChange: source.onChange.bind(source) }),
    ...(connect && {
      async connect(signal: AbortSignal) {
        connection ??= connect(signal);
        try {
          const report = await connection;
          if (report.status === "aborted") connection = undefined;
          return report;
        } catch (error) {
          connection = undefined;
          throw error;
        }
      },
    }),
    dispose: () => undefined,
  };
}
