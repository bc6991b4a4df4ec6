import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A node in a process of its own. */
export interface FleetNode {
  readonly child: ChildProcess
  readonly address: string
}

/** Nodes in processes of their own that share an engine, and a ledger of what their tools have done. */
export class Fleet implements AsyncDisposable {
  readonly #engine: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'trunkline-fleet-'))
  readonly #ledger = join(this.#folder, 'ledger')
  readonly #nodes: FleetNode[] = []

  constructor(engine: string) {
    this.#engine = engine
    writeFileSync(this.#ledger, '')
  }

  /** The nodes that were started and not killed. */
  get nodes(): readonly FleetNode[] {
    return this.#nodes
  }

  /** Starts nodes. */
  async start(count: number): Promise<readonly FleetNode[]> {
    const started = await Promise.all(Array.from({ length: count }, () => this.#startOne()))
    this.#nodes.push(...started)
    return started
  }

  /** Kills a node. */
  async kill(node: FleetNode): Promise<void> {
    this.#remove(node)
    node.child.kill('SIGKILL')
    await ended(node.child)
  }

  /** Asks a node to end, and waits until it has. */
  async stop(node: FleetNode): Promise<void> {
    node.child.kill('SIGTERM')
    await ended(node.child)
    this.#remove(node)
  }

  /** Returns how often each id stands in the ledger. */
  written(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const id of readFileSync(this.#ledger, 'utf8').split('\n')) {
      if (id !== '') counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    return counts
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#nodes].map(node => this.kill(node)))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #remove(node: FleetNode): void {
    const at = this.#nodes.indexOf(node)
    if (at !== -1) this.#nodes.splice(at, 1)
  }

  async #startOne(): Promise<FleetNode> {
    const script = new URL('cluster-node.js', import.meta.url).pathname
    const child = spawn(process.execPath, [script, this.#engine, this.#ledger], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const address of createInterface({ input: child.stdout })) return { child, address }
    throw new Error(`the node ended with ${child.exitCode ?? child.signalCode}`)
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
