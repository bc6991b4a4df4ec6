import { expect, test } from 'vitest'
import { sources, withoutComments } from '../sources.ts'

/**
 * Files that write by index, and why no peer chooses the name: a number, or a name from a table of ours.
 * Any other file uses `setMember`, `assignMembers` or `copyWithout` of src/util/objects.ts.
 */
const allowed: ReadonlyMap<string, string> = new Map([
  ['backplane/nats/engine/jetstream.ts', 'a number'],
  ['backplane/redis/scripts/log-scripts.ts', 'a table of Lua'],
  ['backplane/redis/scripts/membership-scripts.ts', 'a table of Lua'],
  ['cli/arguments.ts', 'the options of our commands'],
  ['cli/commands/serve.ts', 'a constant'],
  ['client/server-requests/capabilities.ts', 'the server requests of the protocol'],
  ['console/feed/calls.ts', 'a number'],
  ['console/feed/figures.ts', 'a number'],
  ['console/feed/ring.ts', 'a number'],
  ['jsonrpc/codec/detach.ts', 'a number'],
  ['jsonrpc/codec/meta-cache.ts', 'a constant'],
  ['jsonrpc/codec/raw-json-reader.ts', 'the names of a shape of ours'],
  ['jsonrpc/peer/id-table.ts', 'a number'],
  ['jsonrpc/peer/reply-batch.ts', 'a number'],
  ['mcp/content/content.ts', 'a number'],
  ['mcp/regex/nfa.ts', 'a number'],
  ['mcp/schema/validator/json-schema-issues.ts', 'a number'],
  ['mcp/schema/validator/validator.ts', 'a keyword of ours'],
  ['mcp/uri-template/match.ts', 'a number'],
  ['mcp/uri-template/slots.ts', 'a number'],
  ['observe/metrics/registry.ts', 'a number'],
  ['observe/tracing/context.ts', 'the keys of trace contexts'],
  ['router/catalog/lists.ts', 'the lists of the protocol'],
  ['router/dispatch/dead-letters.ts', 'a number'],
  ['router/policy/breaker.ts', 'a number'],
  ['router/policy/retry.ts', 'a number'],
  ['util/crypto/base64url.ts', 'a number'],
  ['util/objects.ts', 'the one place that handles any name'],
  ['util/random.ts', 'a number'],
  ['wire/link-frames.ts', 'a number'],
])

/** Files that use `Object.assign` with members of ours only. */
const assigning: ReadonlySet<string> = new Set([
  'connect.ts',
  'http/handlers.ts',
  'mcp/schema/validator/validator.ts',
  'server/features/completion.ts',
  'transport/process/termination.ts',
  'transport/stdio.ts',
  'util/objects.ts',
])

/** `a[name] = b` and its relatives, but not `a['name'] = b`, `a[0] = b` or a type. */
const indexedWrite = /[\w)\]]\[(?!['"\d])[^\]\n]+\]\s*(?:\?\?|\|\||&&)?=(?![=>])/
const declaration =
  /^\s*(?:export\s+)?(?:const|let|type)\s|readonly|^\s*\w+ extends |: \w+\['\w+'\] =/

const modules = sources().map(({ path, text }) => ({ path, code: withoutComments(text) }))

test('no name that a peer chooses is written by index', () => {
  const writing = modules.filter(({ code }) =>
    code.split('\n').some(line => indexedWrite.test(line) && !declaration.test(line)),
  )
  const unexpected = writing.map(({ path }) => path).filter(path => !allowed.has(path))
  expect(unexpected).toEqual([])
  const gone = [...allowed.keys()].filter(path => !writing.some(module => module.path === path))
  expect(gone).toEqual([])
})

test('no object of a peer is copied with Object.assign, which would set the prototype', () => {
  const using = modules.filter(({ code }) => /Object\.assign\(|Reflect\.set\(/.test(code))
  expect(using.map(({ path }) => path).filter(path => !assigning.has(path))).toEqual([])
})
