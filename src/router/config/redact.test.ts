// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
import { expect, test } from 'vitest'
import { readConfig } from './read.ts'
import { redactedConfig } from './redact.ts'

const env = { TOKEN: 'hidden-1', HOST: '127.0.0.1', PASSWORD: 'hidden-2' }

test('a redacted configuration has references and no secrets', () => {
  const text = JSON.stringify({
    listen: 'http://${HOST}:3000/mcp',
    mcpServers: {
      files: {
        command: 'run',
        args: ['--token', 'hidden-3', '--api-key=hidden-4', '-y', '${PASSWORD}', 'plain', '--auth'],
        cwd: './data',
        env: { A: 'hidden-5', B: '${TOKEN}', C: 'hidden-6${TOKEN:-hidden-7}' },
      },
      search: {
        url: 'https://me:hidden-8@${HOST}/mcp?key=hidden-9&q=${TOKEN}',
        headers: { Authorization: 'Bearer ${TOKEN}', 'X-Key': 'hidden-10' },
        limits: { concurrent: 2 },
        breaker: false,
      },
    },
  })
  const shown = redactedConfig(readConfig(text, { env }))
  expect(shown).toEqual({
    listen: ['http://${HOST}:3000/mcp'],
    public: false,
    metrics: false,
    logLevel: 'info',
    servers: {
      files: {
        command: 'run',
        args: ['--token', '***', '--api-key=***', '-y', '${PASSWORD}', 'plain', '--auth'],
        cwd: './data',
        env: { A: '***', B: '${TOKEN}', C: '***${TOKEN:-…}' },
      },
      search: {
        url: 'https://***@${HOST}/mcp?key=***&q=${TOKEN}',
        headers: { Authorization: 'Bearer ${TOKEN}', 'X-Key': '***' },
        limits: { concurrent: 2 },
        breaker: false,
      },
    },
  })
  expect(JSON.stringify(shown)).not.toContain('hidden')
})

test('servers may be named like fields of a server', () => {
  const text = JSON.stringify({
    mcpServers: { env: { command: 'x', args: ['a'] }, args: { command: 'y' } },
  })
  expect(redactedConfig(readConfig(text, { env })).servers).toEqual({
    env: { command: 'x', args: ['a'] },
    args: { command: 'y' },
  })
})
