import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/**
 * They end what hangs and judge nothing, so they are far above what any test takes on a slow and busy
 * machine. What is waited for is looked at often.
 */
const limits = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // Routers remember lists in the folder for caches, which must not be the user's.
  env: { XDG_CACHE_HOME: join(tmpdir(), `trunkline-tests-${process.pid}`) },
  expect: { poll: { timeout: 60_000, interval: 5 } },
  setupFiles: 'test/seed.ts',
}

/**
 * What is the same on every Node: tests that look at texts and types, and whole conversations with other
 * people's programs, whose parts are tried on every Node by themselves.
 */
const once = [
  'test/{configuration,connections-mcp,docs,documented,engines,examples,hovers,layers,links,manifests,requirements,routing-policies,scripts,surface,tree,words}.test.ts',
  'test/{cli,cluster,conformance,console,interop,judges,mcp-interop,package,ports,router,transcripts,types}/**/*.test.ts',
  'test/matrix/mcp*.test.ts',
  'test/backplane/{nats,redis}*.test.ts',
  'test/fuzz/*.test.ts',
  'test/security/{memory,schema,terminal}.test.ts',
  'test/auth/{connect-pages,many-processes,mutants,official-clients,oidc-provider,router-kinds}.test.ts',
  'test/http/{evil-events,flood,ids,ledger,mutation,mutation-client,redirects,references,session-limits}.test.ts',
]

/** Links to third-party/node_modules lie in `test`. */
const installed = '**/node_modules/**'

/**
 * These weigh what is reachable in their process, or replace the global timers, with which other files may have
 * started the timers that the whole process shares. Each gets a process of its own.
 */
const alone = [
  'src/wire/{framing,gather,sse}.test.ts',
  'src/transport/stream/{backpressure,stream}.test.ts',
  'src/transport/websocket/heartbeat.test.ts',
  'src/util/time/deadline.test.ts',
  'src/cli/up/server-notes.test.ts',
  'test/auth/expiry.test.ts',
]

/**
 * One file after the other in the same worker: for each, loading the sources anew takes longer than
 * most of its tests.
 */
const shared = { isolate: false, ...limits }

/** These look at the package as it is shipped, so it is built before them if need be. */
const built = { globalSetup: 'test/built.js', ...shared }

export default defineConfig({
  test: {
    // Much of the suite waits for sockets and child processes: one more keeps the cores busy meanwhile.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        test: {
          name: 'src',
          include: ['src/**/*.test.ts', 'console/**/*.test.ts'],
          exclude: alone,
          ...shared,
        },
      },
      { test: { name: 'alone', include: alone, ...limits } },
      {
        test: {
          name: 'test',
          include: ['test/**/*.test.ts'],
          exclude: [installed, ...once, ...alone],
          ...built,
        },
      },
      { test: { name: 'once', include: once, exclude: [installed], ...built } },
    ],
  },
})
