/** What is known while a value is being completed. */
export interface CompletionContext {
  /** Arguments that have their values already. */
  readonly arguments: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Suggests values that begin with, or fit, what was typed so far. */
export type Completer = (
  value: string,
  context: CompletionContext,
) => readonly string[] | Promise<readonly string[]>
