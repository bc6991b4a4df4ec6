import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A complete HTTP response. */
export interface Reply {
  readonly status: number
  /** By name in lower case; the last one of several with the same name. */
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect it member by member
  readonly json: any
  /** The data of each event, for a stream. */
  readonly events: readonly string[]
}

interface Head {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly length: number
}

/** A raw socket without any code of the package: bytes are sent as they are. */
export class Wire {
  readonly socket: Socket
  /** Resolves when either side has closed the connection. */
  readonly ended: Promise<void>
  #bytes: Buffer = Buffer.alloc(0)
  #isOver = false
  #watchers: (() => void)[] = []
  /** The unread rest of the response whose stream is being read. */
  #stream: { text: string; isOver: boolean } | undefined

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
      this.#moved()
    })
    this.ended = new Promise(resolve => {
      socket.once('close', () => {
        this.#isOver = true
        this.#moved()
        resolve()
      })
    })
  }

  static async open(port: number): Promise<Wire> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new Wire(socket)
  }

  send(bytes: string | Uint8Array): this {
    this.socket.write(bytes)
    return this
  }

  /** Returns the next complete response. Rejects if the connection closes first. */
  async reply(): Promise<Reply> {
    const head = await this.#take(() => headOf(this.#bytes))
    if (head.status === 100) {
      this.#skip(head.length)
      return this.reply()
    }
    const isEmpty = head.status === 204 || head.status === 304
    const length = isEmpty ? '0' : head.headers.get('content-length')
    this.#skip(head.length)
    let text = ''
    if (length !== undefined) {
      await this.#take(() => (this.#bytes.length >= Number(length) ? true : undefined))
      text = this.#skip(Number(length))
    } else if (head.headers.get('transfer-encoding') === 'chunked') {
      for (let part = await this.#chunk(); part !== ''; part = await this.#chunk()) text += part
    } else {
      await this.ended
      text = this.#skip(this.#bytes.length)
    }
    return replyOf(head, text)
  }

  /** Returns the status and the headers of an event stream, whose events are then read one by one. */
  async begin(): Promise<Pick<Reply, 'status' | 'headers'>> {
    const head = await this.#take(() => headOf(this.#bytes))
    this.#skip(head.length)
    this.#stream = { text: '', isOver: false }
    return head
  }

  /** Returns the data of the next event; undefined at the end of the stream, clean or not. */
  async event(): Promise<string | undefined> {
    const found = await this.block()
    const data = found === undefined ? undefined : dataOf(found)
    return found !== undefined && data === undefined ? this.event() : data
  }

  /** Returns the next event or comment, unparsed. */
  async block(): Promise<string | undefined> {
    const stream = this.#stream
    if (stream === undefined) throw new Error('there is no stream')
    for (;;) {
      const end = stream.text.indexOf('\n\n')
      if (end >= 0) {
        const block = stream.text.slice(0, end)
        stream.text = stream.text.slice(end + 2)
        return block
      }
      if (stream.isOver) return undefined
      try {
        const part = await this.#chunk()
        if (part === '') stream.isOver = true
        stream.text += part
      } catch {
        stream.isOver = true
      }
    }
  }

  cut(): void {
    this.socket.destroy()
  }

  async #chunk(): Promise<string> {
    const end = await this.#take(() => {
      const at = this.#bytes.indexOf('\r\n')
      return at < 0 ? undefined : at
    })
    const size = Number.parseInt(this.#bytes.toString('latin1', 0, end), 16)
    await this.#take(() => (this.#bytes.length >= end + 2 + size + 2 ? true : undefined))
    this.#skip(end + 2)
    const text = this.#skip(size)
    this.#skip(2)
    return text
  }

  async #take<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      if (this.#isOver) throw new Error(`the connection has ended: ${this.#bytes}`)
      await new Promise<void>(resolve => this.#watchers.push(resolve))
    }
  }

  #skip(length: number): string {
    const text = this.#bytes.toString('utf8', 0, length)
    this.#bytes = this.#bytes.subarray(length)
    return text
  }

  #moved(): void {
    for (const watcher of this.#watchers.splice(0)) watcher()
  }
}

/** Sends one text over a new connection, and returns the response. */
export async function ask(port: number, text: string | Uint8Array): Promise<Reply> {
  const wire = await Wire.open(port)
  try {
    return await wire.send(text).reply()
  } finally {
    wire.cut()
  }
}

/** Headers of a test request: undefined ones are left out, lists are sent as several headers. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

export interface Asking {
  readonly method?: string
  readonly path?: string
  readonly headers?: Headers
  readonly body?: string | Uint8Array
}

/** Returns the bytes of a request. */
export function written(port: number, asking: Asking = {}): Buffer {
  const { method = 'POST', path = '/mcp', body = '' } = asking
  const hasBody = method !== 'GET' && method !== 'DELETE' && method !== 'OPTIONS'
  const headers: Headers = {
    host: `127.0.0.1:${port}`,
    accept: 'application/json, text/event-stream',
    'content-type': hasBody ? 'application/json' : undefined,
    'content-length': hasBody ? String(Buffer.byteLength(body)) : undefined,
    ...asking.headers,
  }
  let head = `${method} ${path} HTTP/1.1\r\n`
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value ?? []].flat()) head += `${name}: ${one}\r\n`
  }
  return Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), Buffer.from(body)])
}

function headOf(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
  }
  return { status: Number(first.split(' ')[1]), headers, length: end + 4 }
}

function replyOf({ status, headers }: Head, text: string): Reply {
  const isStream = headers.get('content-type') === 'text/event-stream'
  const blocks = isStream ? text.split('\n\n') : []
  return {
    status,
    headers,
    text,
    events: blocks.map(dataOf).filter(data => data !== undefined),
    get json() {
      return JSON.parse(text)
    },
  }
}

function dataOf(block: string): string | undefined {
  const lines = block.split('\n').filter(line => line.startsWith('data:'))
  return lines.length === 0 ? undefined : lines.map(line => line.slice(5).trimStart()).join('\n')
}
