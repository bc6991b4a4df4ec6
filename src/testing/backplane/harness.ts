import type { Backplane } from '../../backplane/backplane.ts'

/** What the contract needs of the engine under test. */
export interface BackplaneHarness {
  /**
   * Opens a backplane that uses the engine under test, in the cluster `cluster` if it is given. An
   * engine that is not shared starts anew each time.
   */
  connect(cluster?: string): Promise<Backplane>
  /** Deletes everything that the engine has stored, as a restart without its data does. */
  empty?(): Promise<void>
  /** Cuts all connections between backplanes and the engine. */
  cut?(): Promise<void>
  /** Keeps the engine from answering. Resolves to a function that lets it answer again. */
  stall?(): Promise<() => Promise<void>>
}

/** One requirement of the contract. */
export interface BackplaneCase {
  /** A sentence about the behavior. */
  readonly name: string
  /** Rejects if a backplane does not behave like that. */
  run(): Promise<void>
}

/** What a case uses. */
export interface CaseTools {
  readonly harness: BackplaneHarness
  /** A backplane for this case. */
  readonly one: Backplane
  /** Another one that uses the same engine; if the engine is not shared, the same one. */
  readonly other: Backplane
  /** A prefix for keys that no other case uses. */
  readonly key: string
}

/** A case before it is bound to a harness. */
export interface CaseDefinition {
  readonly name: string
  /** What the engine must be able to do for this case. */
  readonly needs?: 'shared' | 'empty' | 'cut' | 'stall'
  run(tools: CaseTools): Promise<void>
}
