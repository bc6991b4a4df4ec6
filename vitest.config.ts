import { defineConfig } from 'vitest/config'

const limits = { testTimeout: 30_000, hookTimeout: 30_000 }

/**
 * What is the same on every Node: tests that look at texts and types, and whole conversations with other
 * people's programs, whose parts are tried on every Node by themselves.
 */
const once = [
  'test/{configuration,connections-mcp,docs,documented,examples,layers,links,requirements,routing-policies,surface}.test.ts',
  'test/{cli,conformance,interop,judges,mcp-interop,package,router,transcripts,types}/**/*.test.ts',
  'test/matrix/mcp*.test.ts',
  'test/http/{evil-events,flood,ids,ledger,mutation,mutation-client,openings,redirects}.test.ts',
]

/** These look at the package as it is shipped, so it is built before them if need be. */
const built = { globalSetup: 'test/built.js', ...limits }

export default defineConfig({
  test: {
    // Much of the suite waits for sockets and child processes: a core kept free would be idle.
    maxWorkers: '100%',
    projects: [
      // One after the other in the same worker: loading the sources anew for each takes half the time.
      { test: { name: 'src', include: ['src/**/*.test.ts'], isolate: false, ...limits } },
      { test: { name: 'test', include: ['test/**/*.test.ts'], exclude: once, ...built } },
      { test: { name: 'once', include: once, ...built } },
    ],
  },
})
