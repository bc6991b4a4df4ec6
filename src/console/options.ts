import type { Observer } from '../observe/observe.ts'
import { checkOptions, type OptionTableOf } from '../util/options.ts'
import type {
  CheckStepRow,
  ConfigAnswer,
  ConfigCheckAnswer,
  ConsoleActions,
  HostSnippet,
} from './wire.ts'

/** What the console shows of a configuration file. */
export interface ConsoleConfig {
  /** Returns the effective configuration, without secrets. */
  read(): ConfigAnswer
  /** Returns the entry of one server, without secrets; undefined if there is none. */
  entry(server: string): unknown
  /** Checks the text of a file and compares it with the effective configuration, without using it. */
  check(text: string): ConfigCheckAnswer | Promise<ConfigCheckAnswer>
}

/** How the console checks whether a server follows the protocol. */
export interface ConsoleCheck {
  /** Returns what can be checked: names of servers, and `router` for the router itself as callers reach it. */
  targets(): readonly string[]
  /**
   * Checks one target, and reports each step when it is done; again if it is rated otherwise in the end. Rejects when
   * the signal is aborted.
   */
  run(target: string, signal: AbortSignal, onStep: (step: CheckStepRow) => void): Promise<void>
}

/** Options of `consoleOf`. */
export interface ConsoleOptions {
  /** The observer whose metrics and log the console shows. Without it there are no figures. */
  readonly observer?: Pick<Observer, 'registry' | 'log'>
  /** What viewers may do: everything (`'all'`, the default), or only look. */
  readonly actions?: ConsoleActions
  /** Whether the principals of callers are shown as they are (`'shown'`, the default), or as eight digits of a digest. */
  readonly people?: 'shown' | 'hash'
  /** Whether viewers may record the arguments and results of calls for some minutes; true by default. */
  readonly record?: boolean
  /** What the page "Configuration" shows; without it the page says that there is no file. */
  readonly config?: ConsoleConfig
  /** What the page "Check" does; without it the page says how to check from the command line. */
  readonly check?: ConsoleCheck
  /** Returns how hosts are connected to the router, for the page "Connect". */
  readonly connect?: () => {
    /** The addresses of the router. */
    readonly addresses: readonly string[]
    /** What to paste, for each host. */
    readonly hosts: readonly HostSnippet[]
  }
  /** The folder of the page; by default the one in this package. */
  readonly assets?: string
  /** Called with errors that a response does not reveal. By default they are written to the log of the observer. */
  readonly onError?: (error: unknown) => void
}

const consoleTable: OptionTableOf<ConsoleOptions> = {
  observer: 'object',
  actions: ['all', 'look'],
  people: ['shown', 'hash'],
  record: 'boolean',
  config: 'object',
  check: 'object',
  connect: 'function',
  assets: 'string',
  onError: 'function',
}

/** Throws a TypeError for unknown or invalid options of `consoleOf`. */
export function checkConsoleOptions(options: ConsoleOptions): void {
  checkOptions(options, consoleTable)
}
