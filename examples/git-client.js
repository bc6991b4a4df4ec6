// Tries examples/git-server.js on a temporary repository. Needs git.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from 'trunkline'

const repository = await mkdtemp(join(tmpdir(), 'trunkline-git-'))
const git = (...args) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' })
const program = fileURLToPath(new URL('git-server.js', import.meta.url))

try {
  git('init', '--quiet', '--initial-branch=main')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.com')
  git('config', 'commit.gpgsign', 'false')
  await writeFile(join(repository, 'notes.txt'), 'one\n')
  git('add', 'notes.txt')
  git('commit', '--quiet', '--message=first')

  const client = await connect({
    command: process.execPath,
    args: [program, '--repository', repository],
  })
  const changes = client.changes({ resources: ['git:/diff/staged'] })
  await changes.ready
  assert.equal((await client.read('git:/diff/staged')).text, '')

  // A change from outside the server, as from another terminal.
  await writeFile(join(repository, 'notes.txt'), 'one\ntwo\n')
  assert.match((await client.call('git/status')).text, / M notes\.txt/)
  git('add', 'notes.txt')

  const { value: change } = await changes.next()
  assert.deepEqual(change, { type: 'resource', uri: 'git:/diff/staged' })
  const { text } = await client.read('git:/diff/staged')
  assert.match(text, /^\+two$/m)
  console.log(`${change.uri} has changed:\n${text}`)

  const { structured } = await client.call('git/commit', { message: 'second' })
  assert.equal(structured.subject, 'second')
  assert.equal(structured.commit, git('rev-parse', 'HEAD').trim())
  await changes.next()
  assert.equal((await client.read('git:/diff/staged')).text, '')

  const again = await client.call('git/commit', { message: 'third' })
  assert.equal(again.isError, true)
  console.log(`A commit of nothing:\n${again.text}`)

  const { structured: log } = await client.call('git/log')
  assert.deepEqual(
    log.commits.map(({ subject }) => subject),
    ['second', 'first'],
  )
  assert.match((await client.read('git:/commit/main')).text, /second/)
  await assert.rejects(client.read('git:/commit/--help'), { kind: 'resource_not_found' })
  const branches = await client.complete({ resource: 'git:/commit/{name}' }, 'name', 'm')
  assert.deepEqual(branches.values, ['main'])

  await changes.return()
  await client.close()
} catch (error) {
  if (error.code !== 'ENOENT' || error.path !== 'git') throw error
  console.error('this example needs git, which is not installed or not on the PATH')
  process.exitCode = 1
} finally {
  await rm(repository, { recursive: true, force: true, maxRetries: 3 })
}
