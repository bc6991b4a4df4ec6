import { expect, test } from 'vitest'
import { stdioNotice } from './stdio-notice.ts'

test.each([
  ['/home/me/server.js', 'node server.js'],
  ['/srv/server.js', 'node /srv/server.js'],
])('shows how to try the server %s', (file, command) => {
  const notice = stdioNotice({ argv: ['/usr/bin/node', file, '--loud'], cwd: '/home/me' })
  expect(notice).toContain(
    `npx trunkline list -- ${command} --loud, or ${command} --loud --http 3000`,
  )
})
