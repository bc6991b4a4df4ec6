const names = [
  'tools/list',
  'resources/list',
  'prompts/list',
  'resources/templates/list',
  'tools/call',
  'completion/complete',
  'ping',
  'roots/list',
]
const words = ['revenue', 'invoices', 'shipments', 'contracts', 'forecast', 'inventory', 'claims']
const regions = ['emea', 'apac', 'latam', 'nordics', 'dach']

const word = i => words[i % words.length]
const region = i => regions[i % regions.length]

/** `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}` with varying ids and names. */
export function smallRequest(i) {
  return { jsonrpc: '2.0', id: i, method: names[i % names.length], params: {} }
}

/** A typical tool call. */
export function toolCall(i) {
  return {
    jsonrpc: '2.0',
    id: i,
    method: 'tools/call',
    params: {
      name: 'search_documents',
      arguments: {
        query: `quarterly ${word(i)} by region and product line`,
        limit: 10 + (i % 40),
        filters: { year: 2020 + (i % 7), department: 'sales', archived: false },
        tags: ['finance', region(i), `draft-${i % 97}`],
        exact: i % 2 === 0,
      },
      _meta: { progressToken: `call-${i}` },
    },
  }
}

/** A typical tool result. */
export function toolResult(i) {
  return {
    jsonrpc: '2.0',
    id: i,
    result: {
      content: [
        {
          type: 'text',
          text: `Found ${i % 50} documents about ${word(i)}; the newest is from ${region(i)}, last changed on day ${i % 365}. The figures agree with the ledger to the cent.`,
        },
      ],
      structuredContent: { total: i % 50, newest: `doc-${i}`, score: (i % 100) / 100 },
      isError: false,
    },
  }
}

/** A tool result in a script that needs two bytes per character. */
export function foreignResult(i) {
  return {
    jsonrpc: '2.0',
    id: i,
    result: {
      content: [
        {
          type: 'text',
          text: `Найдено документов: ${i % 50}, раздел «${word(i)}»; последний изменён в день ${i % 365}.`,
        },
      ],
      isError: false,
    },
  }
}

export function failure(i) {
  return {
    jsonrpc: '2.0',
    id: i,
    error: {
      code: -32602,
      message: `Unknown tool: search_${word(i)}`,
      data: { tool: `search_${word(i)}`, known: 12 },
    },
  }
}

export function notification(i) {
  return {
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: `call-${i}`, progress: i % 100, total: 100 },
  }
}

export function batchOfTen(i) {
  return Array.from({ length: 10 }, (_, k) => smallRequest(i * 10 + k))
}

/** A result of about `size` bytes: rows as a database tool returns them. */
export function largeResult(i, size) {
  const row = toolCall(i).params.arguments
  const rows = Math.ceil(size / (JSON.stringify(row).length + 1))
  return {
    jsonrpc: '2.0',
    id: i,
    result: { rows: Array.from({ length: rows }, (_, k) => toolCall(i + k).params.arguments) },
  }
}

/** A result of about `size` bytes made of a few long texts, as from reading files. */
export function longTexts(i, size) {
  const text = 'All work and no play makes for a dull log file, line after line. '.repeat(126)
  const content = Array.from({ length: Math.ceil(size / text.length) }, (_, k) => ({
    type: 'text',
    text: `${k} ${text}`,
  }))
  return { jsonrpc: '2.0', id: i, result: { content } }
}

/** The members in the order in which the official SDK sends them. */
export function sdkOrder({ jsonrpc, id, method, params }) {
  return { method, params, jsonrpc, id }
}

/** JSON with a space after each colon and comma, as in the examples of the specification. */
export function spaced(value) {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, item]) => `"${key}": ${spaced(item)}`)
  return `{${members.join(', ')}}`
}

/** The message as the package under test represents it. */
export function plain(wire) {
  if (Array.isArray(wire)) return wire.map(plain)
  const { id, method, params } = wire
  if (method !== undefined) {
    if (id !== undefined) return { type: 'request', id, method, params }
    return { type: 'notification', method, params }
  }
  if (wire.error !== undefined) return { type: 'error', id, error: wire.error }
  return { type: 'result', id, result: wire.result }
}

/**
 * Returns a flat copy of a string. V8 flattens concatenated strings on first use, at the cost of the
 * first reader.
 */
export function flat(text) {
  return Buffer.from(text).toString()
}
