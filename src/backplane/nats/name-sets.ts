import { BackplaneError } from '../backplane-error.ts'
import type { Moment } from '../rules/moment.ts'
import type { Codec, Document, DocumentChange } from './documents.ts'

/** Names with the time when each ends. */
export type NameSet = ReadonlyMap<string, number>

/** A set as text: pairs in JSON. */
export const nameSetTexts: Codec<NameSet> = {
  parse: text => new Map(JSON.parse(text)),
  format: names => JSON.stringify([...names]),
}

/** A name to add to a set. */
export interface AddedName {
  readonly set: string
  readonly name: string
  readonly ttlMs: number
  readonly max: number | undefined
}

/** Adds a name to a set. */
export function added(
  document: Document<NameSet> | undefined,
  { set, name, ttlMs, max }: AddedName,
  { least, most }: Moment,
): DocumentChange<NameSet, undefined> {
  const names = new Map(document?.value)
  for (const [other, until] of names) if (until <= least) names.delete(other)
  if (max !== undefined && !names.has(name) && names.size >= max) {
    throw new BackplaneError('full', `the set "${set}" has ${max} names already`)
  }
  return change(names.set(name, most + ttlMs))
}

/** Removes a name from a set. */
export function removed(
  document: Document<NameSet> | undefined,
  name: string,
): DocumentChange<NameSet, undefined> {
  if (document?.value.has(name) !== true) return { result: undefined }
  const names = new Map(document.value)
  names.delete(name)
  return change(names)
}

/** Returns the names of a set in the order of their expiry. */
export function namesOf(document: Document<NameSet> | undefined, { least }: Moment): string[] {
  return [...(document?.value ?? [])]
    .filter(([, until]) => until > least)
    .sort(([a, one], [b, other]) => one - other || (a < b ? -1 : 1))
    .map(([name]) => name)
}

function change(names: NameSet): DocumentChange<NameSet, undefined> {
  let last = 0
  for (const until of names.values()) last = Math.max(last, until)
  return { result: undefined, next: { value: names, until: last } }
}
