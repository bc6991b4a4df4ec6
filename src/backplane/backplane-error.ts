import type { RecordOwner } from './record-store.ts'

/**
 * Why an operation of a backplane failed. `down`: it was certainly not executed. `unknown`: it was sent and not
 * answered in time, so it may have been executed. `fenced`: a greater epoch is stored. `final`: the record cannot
 * change any more. `full`: the engine or the set has no room. `too-large`: the input is over a limit; nothing
 * was sent. `closed`: the backplane was closed before.
 */
export type BackplaneErrorCode =
  | 'down'
  | 'unknown'
  | 'fenced'
  | 'final'
  | 'full'
  | 'too-large'
  | 'closed'

/** A failed operation of a backplane. */
export class BackplaneError extends Error {
  /** Why the operation failed, and whether it can have been executed. */
  readonly code: BackplaneErrorCode
  /** With `fenced`: the owner that is stored, if there is one. */
  readonly owner: RecordOwner | undefined

  constructor(
    code: BackplaneErrorCode,
    message: string,
    details: { readonly owner?: RecordOwner; readonly cause?: unknown } = {},
  ) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.name = 'BackplaneError'
    this.code = code
    this.owner = details.owner
  }
}

/** Whether an operation failed because a greater epoch is stored. */
export function isFenced(error: unknown): boolean {
  return error instanceof BackplaneError && error.code === 'fenced'
}

/** Makes the error for a write whose epoch is not the greatest. */
export function fencedError(key: string, owner: RecordOwner | undefined): BackplaneError {
  const why =
    owner === undefined
      ? 'there is no record'
      : `its owner is the node "${owner.node}" with epoch ${owner.epoch}`
  return new BackplaneError('fenced', `the write to "${key}" was refused: ${why}`, {
    ...(owner === undefined ? {} : { owner }),
  })
}

/** Makes the error for a write to a final record. */
export function finalError(key: string): BackplaneError {
  return new BackplaneError('final', `the record "${key}" is final and cannot change any more`)
}

/** Makes the error for an operation after `close`. */
export function closedError(name: string): BackplaneError {
  return new BackplaneError('closed', `the backplane ${name} is closed`)
}
