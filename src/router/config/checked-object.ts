import type { ObjectNode } from './text.ts'

/** Reports an error, or a warning, at a member, or at the object itself for an undefined key. */
export type Report = (
  key: string | undefined,
  message: string,
  severity?: 'error' | 'warning',
) => void

/** An object whose members have been checked individually. */
export interface CheckedObject {
  readonly node: ObjectNode
  /** The valid members, with variables expanded. */
  readonly value: Readonly<Record<string, unknown>>
  readonly report: Report
  /** Whether other machines may reach the router even if the file does not set `public`. */
  readonly allowPublic: boolean
  /** Whether callers need tokens even if the file has no `auth`, as with `trunkline up --dev-auth`. */
  readonly hasCallerTokens: boolean
}
