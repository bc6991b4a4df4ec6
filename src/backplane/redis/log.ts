import { fencedError } from '../backplane-error.ts'
import type { LogEntry, LogPage, LogPosition, LogRetention, SharedLog } from '../log.ts'
import type { RedisEngine } from './engine.ts'
import { arrayReply, textReply } from './replies.ts'
import { appendScript, readScript } from './scripts/log-scripts.ts'

/** Logs in an engine: streams whose ids are the positions. */
export class RedisLog implements SharedLog {
  readonly #engine: RedisEngine

  constructor(engine: RedisEngine) {
    this.#engine = engine
  }

  async append(key: string, entries: readonly LogEntry[], retention: LogRetention): Promise<void> {
    const args: (string | number)[] = [retention.ttlMs, retention.max]
    for (const { epoch, n, fields } of entries) {
      // In a fixed order, because an entry that is sent again must be the same.
      const names = Object.keys(fields).sort()
      args.push(epoch, n, names.length, ...names.flatMap(name => [name, fields[name] ?? '']))
    }
    if (entries.length === 0) return
    const reply = await this.#engine.run(appendScript, [this.#engine.keys.log(key)], args)
    if (arrayReply(reply)[0] !== 'done') throw fencedError(key, undefined)
  }

  async readAfter(key: string, position: LogPosition | undefined, max: number): Promise<LogPage> {
    const args = [position?.epoch ?? '', position?.n ?? '', max]
    const reply = await this.#engine.run(readScript, [this.#engine.keys.log(key)], args)
    const [isComplete, entries] = arrayReply(reply)
    return { entries: arrayReply(entries).map(entryOf), isComplete: isComplete === 1 }
  }

  async delete(key: string): Promise<void> {
    const name = this.#engine.keys.log(key)
    await this.#engine.commands.send(name, ['DEL', name])
  }
}

function entryOf(reply: unknown): LogEntry {
  const [id, flat] = arrayReply(reply)
  const [epoch, n] = textReply(id).split('-').map(Number)
  const texts = arrayReply(flat).map(textReply)
  const fields = texts.flatMap((name, at) => (at % 2 === 0 ? [[name, texts[at + 1] ?? '']] : []))
  return { epoch: epoch ?? 0, n: n ?? 0, fields: Object.fromEntries(fields) }
}
