// Skills: instructions that a server offers beside its tools. A client finds them, loads one when it is
// needed, and verifies every file.

import assert from 'node:assert/strict'
import { connect, parseSkill, Server } from 'trunkline'

const server = new Server({ name: 'shop', version: '1.0.0' })

// The files become resources: skill://billing/refunds/SKILL.md and …/references/policy.md.
const refunds = server.skill(
  'billing/refunds',
  {
    description: 'Refund an order. Use it when a customer wants money back.',
    frontmatter: { license: 'MIT', metadata: { version: '1.0' } },
    files: { 'references/policy.md': '# Policy\n\nWithin 30 days.\n' },
  },
  '# Refunds\n\nRead `references/policy.md` first.\n',
)

// An existing SKILL.md.
const file = `---
name: greeting
description: Greet a customer
---
# Greeting

Be kind.
`
const { name, definition, instructions } = await parseSkill(file)
server.skill(name, definition, instructions)

const client = await connect(server)

// The entries say what there is. No file is read.
const entries = []
for await (const entry of client.skills()) entries.push(entry)
assert.deepEqual(
  entries.map(({ frontmatter }) => frontmatter.name),
  ['refunds', 'greeting'],
)
assert.equal(entries[0].resources.length, 2)

// Loading reads SKILL.md; other files are read when they are needed. Each is compared with its digest.
const skill = await client.skill(entries[0])
assert.match(skill.instructions, /# Refunds/)
assert.match((await skill.read('references/policy.md')).text, /30 days/)

const children = []
for await (const child of client.directory('skill://billing/refunds')) children.push(child.name)
assert.deepEqual(children, ['refunds', 'references'])

// The skill changes: what was loaded no longer fits, and must be loaded again.
refunds.update({ files: { 'references/policy.md': '# Policy\n\nWithin 14 days.\n' } })
await assert.rejects(skill.read('references/policy.md'), { code: 'framing' })
const again = await client.skill(skill.entry.uri)
assert.match((await again.read('references/policy.md')).text, /14 days/)

await assert.rejects(client.skill('skill://unknown/SKILL.md'), { code: -32602 })

console.log(`${skill.name}: ${skill.description}`)
await client.close()
await server.close()
