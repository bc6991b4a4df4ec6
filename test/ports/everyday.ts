import { read } from '../sources.ts'

/** An everyday task: the example that does it, and what it takes with other libraries. */
export interface EverydayTask {
  readonly task: string
  /** The name of the example in `examples/everyday`. */
  readonly example: string
  /** Bytes, or what the library has for it; in the order of `otherLibraries`. */
  readonly others: readonly (number | string)[]
}

export const otherLibraries = [
  'SDK 2.4',
  'FastMCP TS 4.20',
  'tmcp 1.20',
  'FastMCP Python 4 beta',
  'xmcp 1.1, mcp-use 1.34',
]

/** Measured by us in November 2026: code that we wrote with each library and that compiles. */
export const everydayTasks: readonly EverydayTask[] = [
  {
    task: 'a tool for signed-in users of one plan',
    example: 'plan',
    others: [299, 282, '211 without sign-in', '`auth=` of the tool', 'middleware; an OAuth option'],
  },
  {
    task: 'a file up and down as a resource',
    example: 'files',
    others: [451, 461, 435, 'decorators', 'tools and resources'],
  },
  {
    task: 'progress',
    example: 'progress',
    others: [358, 167, 181, '`ctx.report_progress`', 'through the SDK'],
  },
  {
    task: 'lists from a database, paged',
    example: 'lists',
    others: [238, '–', '193, not paged by the source', 'providers', '–'],
  },
  {
    task: 'logging, cache and rate limit',
    example: 'middleware',
    others: ['–', '–', '–', 'all three ready-made', 'middleware of HTTP'],
  },
  {
    task: 'mount another server',
    example: 'mount',
    others: ['–', '–', '–', 'one line', '`proxy`'],
  },
  {
    task: 'proxy a remote server',
    example: 'proxy',
    others: ['–', '–', '–', 'one line', '`proxy`'],
  },
  {
    task: 'versions of a tool, deprecation',
    example: 'versions',
    others: ['by name', 'by name', 'by name', '`version=`', 'by name'],
  },
  {
    task: 'titles by language',
    example: 'languages',
    others: ['a factory per request', '–', '–', 'middleware', '–'],
  },
  {
    task: 'icons of a tool',
    example: 'icons',
    others: [170, 'of the server only', 'in the options', 'in the decorator', '–'],
  },
  {
    task: 'sampling with tools',
    example: 'sampling',
    others: [
      'throws in 2026-07-28',
      '`requestSampling`',
      '`message`',
      'rounds by hand',
      'through the SDK',
    ],
  },
  {
    task: 'a background task, followed by a client',
    example: 'background',
    others: ['an extension', '–', '–', '`task=True`', '–'],
  },
]

/** The bytes of the code of an example that is about its task, as it is formatted, without comments. */
export function bytesOfTask({ example }: EverydayTask): number {
  const source = read(`examples/everyday/${example}.js`)
  const [, task] = /^\/\/ ---- the task\n(.*?)^\/\/ ---- the check$/ms.exec(source) ?? []
  if (task === undefined) throw new Error(`examples/everyday/${example}.js does not mark its task`)
  const code = task.replaceAll(/^ *\/\*\*.*?\*\/\n/gms, '').replaceAll(/\/\*\*.*?\*\/ /gs, '')
  return Buffer.byteLength(code.trim())
}

/** The fewest bytes that another library takes; undefined where none was counted. */
export function fewestOf({ others }: EverydayTask): number | undefined {
  const counts = others.flatMap(count => Number.parseInt(`${count}`, 10) || [])
  return counts.length === 0 ? undefined : Math.min(...counts)
}
