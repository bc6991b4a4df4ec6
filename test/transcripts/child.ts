import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { Conversation } from '../../src/testing/conversation.ts'
import { cuts, type Raw, rawEnds } from '../judges/raw.ts'
import type { Fixture } from './fixtures.ts'

/** Printed by the child process between two conversations; not a message of any protocol. */
const between = '"another conversation"'

/**
 * A program that serves on its stdio. One with `begins` starts a new conversation when its parent sends
 * a message, and is used for many conversations in turn; any other exits after its first one.
 */
export class Child {
  readonly #process: ChildProcess
  readonly #raw: Raw
  readonly #exit: Promise<unknown>
  readonly #begins: boolean
  #current: Queue | undefined
  #onBetween: () => void = () => {}

  constructor({ program, begins }: Fixture) {
    const child = spawn(process.execPath, program, {
      stdio: ['pipe', 'pipe', 'inherit', ...(begins ? (['ipc'] as const) : [])],
    })
    this.#process = child
    this.#begins = begins
    this.#exit = once(child, 'exit')
    // The check: both are pipes.
    this.#raw = rawEnds(child.stdout as Readable, child.stdin as Writable, cuts.lines)
    void this.#pump()
  }

  begin(): Conversation {
    const queue = new Queue()
    this.#current = queue
    return {
      send: text => this.#raw.send(text),
      next: () => queue.next(),
      close: async () => {
        queue.end()
        await (this.#begins ? this.#again() : this.end())
      },
    }
  }

  async end(): Promise<void> {
    this.#raw.close()
    if (this.#process.connected) this.#process.disconnect()
    await this.#exit
  }

  async #again(): Promise<void> {
    const isBetween = new Promise<void>(resolve => {
      this.#onBetween = resolve
    })
    this.#process.send('again')
    await Promise.race([isBetween, this.#exit])
  }

  async #pump(): Promise<void> {
    try {
      for (;;) {
        const line = await this.#raw.next()
        if (line === between) this.#onBetween()
        else this.#current?.put(line)
      }
    } catch {
      this.#current?.end()
    }
  }
}

/** The lines of one conversation. */
class Queue {
  readonly #lines: string[] = []
  #onChange: () => void = () => {}
  #isOver = false

  put(line: string): void {
    if (this.#isOver) return
    this.#lines.push(line)
    this.#onChange()
  }

  end(): void {
    this.#isOver = true
    this.#onChange()
  }

  async next(): Promise<string> {
    for (;;) {
      const line = this.#lines.shift()
      if (line !== undefined) return line
      if (this.#isOver) throw new Error('the connection has ended')
      await new Promise<void>(resolve => {
        this.#onChange = resolve
      })
    }
  }
}
