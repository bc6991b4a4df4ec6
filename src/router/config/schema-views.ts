import type { CallerRule, ViewOptions } from '../options.ts'
import { address, type Field, group, list, nonEmpty, string, union } from './field.ts'

/** Fields of a view. A file also says where the view is served. */
export const viewFields: Record<keyof ViewOptions | 'listen', Field> = {
  servers: {
    type: list(nonEmpty),
    meaning:
      'Servers whose tools, prompts and resources the view has. `*` matches any characters, here and in the other patterns.',
    default: '(all)',
    example: ['git', 'github'],
  },
  tools: {
    type: group('viewTools'),
    meaning: 'Which tools of these servers the view has.',
    example: { deny: ['*__delete_*'] },
  },
  toolSearch: {
    type: union({ kind: 'false' }, group('toolSearch')),
    meaning: 'Tool search in the view; `false` for none.',
    default: '(that of the router)',
    example: { above: 40 },
  },
  instructions: {
    type: string,
    meaning: 'Usage instructions for the callers of the view.',
    default: '(those of the router)',
    example: 'Read the issue before you change code.',
  },
  callers: {
    type: list(group('callers')),
    meaning:
      'Callers who have this view at the addresses of the router. The first view that matches a caller counts.',
    default: [],
    example: [{ client: 'cursor*' }],
  },
  listen: {
    type: union(address('listen'), list(address('listen'), 1)),
    meaning: 'One or more addresses at which every caller has this view.',
    default: '(none)',
    example: 'http://127.0.0.1:3001/mcp',
  },
}

/** Fields of the tools of a view. */
export const viewTools: Record<keyof NonNullable<ViewOptions['tools']>, Field> = {
  allow: {
    type: list(nonEmpty),
    meaning: 'Only these tools, by the names that callers see.',
    default: '(all)',
    example: ['git__*', 'github__get_*'],
  },
  deny: {
    type: list(nonEmpty),
    meaning: 'None of these tools. `deny` wins over `allow`.',
    default: [],
    example: ['*__delete_*'],
  },
}

/** Fields of a rule that selects callers. */
export const callerFields: Record<keyof CallerRule, Field> = {
  principal: {
    type: string,
    meaning: 'Id of the authenticated caller; empty for callers without one.',
    default: '(any)',
    example: 'ada',
  },
  client: {
    type: nonEmpty,
    meaning: 'Name that the client gives itself, which nobody has verified.',
    default: '(any)',
    example: 'cursor*',
  },
}
