import { type ListKind, ofEachList } from '../../mcp/list-changes.ts'
import { mcpMethods } from '../../mcp/methods.ts'

/** The request that reads each list of a server. */
export const listRequests = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  templates: 'resources/templates/list',
  skills: 'skills/list',
} as const

/** A list of a server. */
export type ListName = keyof typeof listRequests

// The check: the names are the keys of the table.
/** All lists of a server. */
export const listNames = Object.keys(listRequests) as readonly ListName[]

/** Returns the kind of a list: lists of one kind share a change notification. */
export function listKindOf(list: ListName): ListKind {
  return mcpMethods[listRequests[list]].list
}

/** The lists of each kind. */
export const listsByKind = ofEachList(kind => listNames.filter(list => listKindOf(list) === kind))
