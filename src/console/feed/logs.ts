import { events } from '../../observe/events.ts'
import { fieldsText } from '../../observe/log/line.ts'
import { redact, redactText } from '../../observe/log/redact.ts'
import type { ServerStatus } from '../../router/status.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import type { LogRow } from '../wire.ts'
import { Ring } from './ring.ts'

/** Keeps the lines of the log at all times, and the error output of servers while it is looked at. */
export class LogFeed {
  readonly #ring = new Ring<LogRow>(limits.consoleLogLines.default)
  readonly #now: () => number
  readonly #end: () => void
  /** The error output of each instance that was read already. */
  readonly #tails = new Map<string, string>()
  #isFirst = true

  constructor(now: () => number) {
    this.#now = now
    this.#end = events.logWritten.subscribe(({ level, what, fields }) => {
      const redacted = redact(fields)
      const shown = isRecord(redacted) ? redacted : {}
      const { server, instance, ...rest } = shown
      this.#add({
        at: now(),
        level,
        ...(typeof server === 'string' && { server }),
        ...(typeof instance === 'string' && { instance }),
        text: `${redactText(what)}${fieldsText(rest)}`,
      })
    })
  }

  get count(): number {
    return this.#ring.count
  }

  list(): readonly LogRow[] {
    return this.#ring.list()
  }

  after(count: number): readonly LogRow[] {
    return this.#ring.after(count)
  }

  /** Adds the error output that is new since the last call. That of the first call has no time. */
  read(servers: readonly ServerStatus[]): void {
    const at = this.#isFirst ? undefined : this.#now()
    this.#isFirst = false
    for (const { name: server, instances } of servers) {
      for (const { key: instance, stderr } of instances) {
        const id = JSON.stringify([server, instance])
        const text = newText(this.#tails.get(id) ?? '', stderr)
        if (text === '') continue
        this.#tails.set(id, stderr)
        for (const line of text.split('\n').filter(each => each.trim() !== '')) {
          const row = { level: 'stderr', server, instance, text: redactText(line) } as const
          this.#add(at === undefined ? row : { ...row, at })
        }
      }
    }
  }

  /** Stops collecting. Idempotent. */
  close(): void {
    this.#end()
  }

  #add(row: Omit<LogRow, 'seq'>): void {
    this.#ring.push({ seq: this.#ring.count + 1, ...row })
  }
}

/** Returns what a tail of output has that the earlier one had not, in whole lines as far as these are known. */
export function newText(before: string, now: string): string {
  if (now === before) return ''
  if (now.startsWith(before)) return now.slice(before.length)
  // The beginning was cut: the end of the earlier tail is somewhere in the new one.
  const known = before.slice(-overlap)
  const at = known === '' ? -1 : now.lastIndexOf(known)
  return at === -1 ? now : now.slice(at + known.length)
}

/** Characters by which two tails are matched. */
const overlap = 200
