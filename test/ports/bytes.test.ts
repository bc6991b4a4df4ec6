import { expect, test } from 'vitest'
import { bytesOf, portedServers } from './api-layers.ts'

test.each(portedServers)('$package', ({ original, port }) => {
  const theirs = bytesOf('third-party/node_modules', original)
  const ours = bytesOf('examples/ports', port)
  console.log(theirs, ours, ours.all / theirs.all, ours.code / theirs.code)
  expect(ours.code / theirs.code).toBeLessThanOrEqual(0.5)
})
