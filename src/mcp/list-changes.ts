import { type MethodName, type MethodRow, mcpMethods } from './methods.ts'
import type { SubscriptionFilter } from './types/subscriptions.ts'

/** A list of a server with its own change notification; `resources` includes the templates and the skills. */
export type ListKind = {
  [M in MethodName]: M extends `notifications/${infer K}/list_changed`
    ? (typeof mcpMethods)[M] extends { readonly from: 'server' }
      ? K
      : never
    : never
}[MethodName]

/** The member of a subscription filter that selects the changes of a list. */
export type ListFilterMember = `${ListKind}ListChanged`

const rows: readonly (readonly [method: string, row: MethodRow])[] = Object.entries(mcpMethods)

/** The lists of a server that have a change notification, by that notification. */
const kindsByNotification = new Map<string, ListKind>(
  rows.flatMap(([method, { from }]) => {
    const [, kind] = /^notifications\/(\w+)\/list_changed$/.exec(method) ?? []
    // The check: the type takes its names from the same rows.
    return kind !== undefined && from === 'server' ? [[method, kind as ListKind]] : []
  }),
)

/** All lists of a server that have a change notification. */
export const listKinds: readonly ListKind[] = [...kindsByNotification.values()]

/** Returns the list whose change a notification reports; undefined for other notifications. */
export function changedList(method: string): ListKind | undefined {
  return kindsByNotification.get(method)
}

/** The notification that a list has changed. */
export const listChangedMethods = ofEachList(kind => `notifications/${kind}/list_changed`)

/** The member of a subscription filter for each list. */
export const listFilterMembers = ofEachList((kind): ListFilterMember => `${kind}ListChanged`)

/** The methods whose results are out of date once a list has changed. */
export const listMethods = ofEachList(kind =>
  rows.flatMap(([method, { list }]) => (list === kind ? [method] : [])),
)

/** Returns the part of a subscription filter that selects the changes of some lists. */
export function listFilter(
  isSelected: (kind: ListKind) => boolean,
): Pick<SubscriptionFilter, ListFilterMember> {
  const selected = listKinds.filter(isSelected)
  return Object.fromEntries(selected.map(kind => [listFilterMembers[kind], true]))
}

/** Returns an object with a value for each list. */
export function ofEachList<T>(of: (kind: ListKind) => T): Readonly<Record<ListKind, T>> {
  // The check: every kind gets a member.
  return Object.fromEntries(listKinds.map(kind => [kind, of(kind)])) as Record<ListKind, T>
}
