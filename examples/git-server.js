// A server for a git repository: tools to inspect and to commit, diffs as resources. It watches the
// index and notifies subscribers of git:/diff/staged when something is staged, even from another
// terminal. examples/git-client.js tries it on a temporary repository.
//
//   node examples/git-server.js --repository PATH

import { execFile } from 'node:child_process'
import { existsSync, watch } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { Server, serve } from 'trunkline'
import * as z from 'zod'

const { values } = parseArgs({
  options: { repository: { type: 'string', default: '.' } },
  strict: false,
})
const repository = resolve(values.repository)

/** Runs git in the repository, without optional locks: a refreshed index would look like a change. */
async function git(...args) {
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0' }
  try {
    const { stdout } = await promisify(execFile)('git', args, { cwd: repository, env })
    return stdout
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error('git is not installed, or not on the PATH')
    // The caller gets git's own message, some of which git prints to standard output.
    throw new Error(error.stderr?.trim() || error.stdout?.trim() || error.message)
  }
}

const server = new Server({
  name: 'git',
  version: '1.0.0',
  instructions: `The git repository in ${repository}. Stage with git/add, then git/commit.`,
})

const readOnly = { readOnlyHint: true, openWorldHint: false }
const path = z.string().min(1)

server.tool('git/status', { description: 'What has changed', annotations: readOnly }, () =>
  git('status', '--short', '--branch'),
)

server.tool(
  'git/add',
  { description: 'Stages files', input: z.object({ paths: z.array(path).min(1) }) },
  async ({ paths }) => {
    await git('add', '--', ...paths)
    return `Staged ${paths.join(', ')}`
  },
)

server.tool(
  'git/commit',
  {
    description: 'Commits what is staged',
    input: z.object({ message: z.string().min(1) }),
    output: z.object({ commit: z.string(), subject: z.string() }),
  },
  async ({ message }) => {
    await git('commit', '--quiet', `--message=${message}`)
    await look()
    const [commit, subject] = (await git('log', '-1', '--format=%H%n%s')).split('\n')
    return { commit, subject }
  },
)

server.tool(
  'git/log',
  {
    description: 'The latest commits',
    input: z.object({ count: z.int().min(1).max(100).default(10) }),
    output: z.object({ commits: z.array(z.object({ commit: z.string(), subject: z.string() })) }),
    annotations: readOnly,
  },
  async ({ count }) => {
    const lines = (await git('log', `-${count}`, '--format=%H %s')).trimEnd().split('\n')
    return { commits: lines.map(line => ({ commit: line.slice(0, 40), subject: line.slice(41) })) }
  },
)

const diff = { mimeType: 'text/x-diff' }
const staged = 'git:/diff/staged'

server.resource('staged', staged, { ...diff, description: 'What the next commit holds' }, () =>
  git('diff', '--cached'),
)
server.resource('unstaged', 'git:/diff/unstaged', { ...diff, description: 'What is not' }, () =>
  git('diff'),
)
server.resourceTemplate(
  'commit',
  'git:/commit/{name}',
  {
    ...diff,
    description: 'One commit, by its number, branch or tag',
    complete: {
      name: async typed => {
        const names = await git('for-each-ref', '--format=%(refname:short)')
        return names.split('\n').filter(name => name !== '' && name.startsWith(typed))
      },
    },
  },
  async ({ name }) => {
    // A name is never parsed as an option. An unknown name means that the resource does not exist.
    const known = await git(
      'rev-parse',
      '--verify',
      '--quiet',
      '--end-of-options',
      `${name}^{commit}`,
    ).catch(() => undefined)
    return known && git('show', known.trim())
  },
)

// Compares the staged diff with the last one. The comparisons run one at a time, whatever the number of
// events.
let last
let looking = Promise.resolve()

function look() {
  looking = looking.then(async () => {
    // Git may be in the middle of an operation; another event will follow.
    const now = await git('diff', '--cached').catch(() => last)
    if (last !== undefined && now !== last) server.updated(staged)
    last = now
  })
  return looking
}

try {
  // Git replaces the index file, so watch its folder. A commit appears in the log of HEAD.
  const folder = resolve(repository, (await git('rev-parse', '--git-dir')).trim())
  for (const place of [folder, join(folder, 'logs')].filter(existsSync)) {
    watch(place, (_, file) => /^(index|HEAD)$/.test(file) && void look()).unref()
  }
  await look()
} catch (error) {
  console.error(`git-server: ${error.message}`)
  process.exit(1)
}

await serve(server)
