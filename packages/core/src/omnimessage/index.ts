/** The message and its parts: what a client reads and writes. */

/** Aggregation: complete messages from fragments. */
export { aggregateAll, PartialAggregator } from "./aggregate.ts";

/** Builders: messages stamped now. */
export {
  assistantText,
  eventMessage,
  modelMessage,
  sessionMetaMessage,
  userData,
  userImage,
  userText,
  withOrigin,
} from "./build.ts";
/** What a round of a goal says to the model, read back from its message. */
export { type GoalInput, readGoalInput } from "./goal-input.ts";
/** Guards: from any message to the one at hand. */
export {
  isCompleteModelMessage,
  isEventMessage,
  isModelMessage,
  isPartialPayload,
  isSessionMeta,
  isType,
  ofType,
} from "./guards.ts";
/** JSON lines: messages from bytes, and back. */
export { type LineProblem, readJsonLines, readMessages, toJsonLine } from "./json-lines.ts";

/** Validation: whether an unknown value is a message, and the schema that says the same in other languages. */
export { omniMessageJsonSchema } from "./json-schema.ts";
export type {
  CompletePayload,
  EventPayload,
  FinishReason,
  ImageUrlPayload,
  InlineDataPayload,
  InlineThinkingPayload,
  ModelPayload,
  OmniMessage,
  OmniPayload,
  PartialPayload,
  PartialTextPayload,
  PartialThinkingPayload,
  PartialToolCallOutputPayload,
  PartialToolCallPayload,
  Sender,
  SessionMetaPayload,
  StopReason,
  TextPayload,
  ThinkingPayload,
  TokenCounts,
  ToolCallOutputPayload,
  ToolCallPayload,
  ToolDefinition,
  ToolPermission,
  ToolRisk,
  ToolUsage,
} from "./message.ts";
/** Where messages belong: what a trace keeps of a stream. */
export { isOnRecord } from "./on-record.ts";
export { isOmniMessage, messageProblems } from "./validate.ts";
