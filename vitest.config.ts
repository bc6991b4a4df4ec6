import { defineConfig } from 'vitest/config'

const limits = { testTimeout: 30_000, hookTimeout: 30_000 }

export default defineConfig({
  test: {
    // Much of the suite waits for sockets and child processes: a core kept free would be idle.
    maxWorkers: '100%',
    projects: [
      { test: { name: 'src', include: ['src/**/*.test.ts'], ...limits } },
      // These look at the package as it is shipped, so it is built before them if need be.
      {
        test: {
          name: 'test',
          include: ['test/**/*.test.ts'],
          globalSetup: 'test/built.js',
          ...limits,
        },
      },
    ],
  },
})
