import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { proves } from '../../../test/requirements.ts'
import { allRevisions, answeringClient } from '../../../test/support/answering-client.ts'
import { Server } from '../server.ts'

const many = Array.from({ length: 250 }, (_, n) => `v${n}`)

function make() {
  const server = new Server({ name: 'test', version: '1' }, { onError: () => {} })
  const seen = vi.fn()
  server.prompt(
    'p',
    {
      args: z.object({ city: z.string(), street: z.string(), plain: z.string() }),
      complete: {
        city: value => ['Bonn', 'Berlin'].filter(city => city.startsWith(value)),
        street: async (value, context) => {
          seen(value, context.arguments, context.signal.aborted)
          return many
        },
      },
    },
    () => '',
  )
  server.resourceTemplate(
    'users',
    'db://users/{id}{?fields}',
    { complete: { id: value => [`${value}1`, `${value}2`] } },
    ({ id }) => id,
  )
  server.resource('single', 'db://one', {}, () => '')
  return { server, seen }
}

const prompt = { type: 'ref/prompt', name: 'p' }
const users = { type: 'ref/resource', uri: 'db://users/{id}{?fields}' }

describe.each(allRevisions)('completion in %s', revision => {
  const complete = async (params: Record<string, unknown>) => {
    const { server, seen } = make()
    const client = await answeringClient(server, revision)
    const { result, error } = await client.request('completion/complete', params)
    return { completion: result?.completion, error, seen }
  }

  it('suggests values for arguments of prompts and variables of templates, in their order', async () => {
    proves('U9', 'U9g')
    const city = await complete({ ref: prompt, argument: { name: 'city', value: 'B' } })
    expect(city.completion).toEqual({ values: ['Bonn', 'Berlin'], total: 2, hasMore: false })
    const id = await complete({ ref: users, argument: { name: 'id', value: 'a' } })
    expect(id.completion).toEqual({ values: ['a1', 'a2'], total: 2, hasMore: false })
  })

  it('returns at most a hundred values, and their total number', async () => {
    proves('U9b')
    const { completion } = await complete({ ref: prompt, argument: { name: 'street', value: '' } })
    expect(completion).toEqual({ values: many.slice(0, 100), total: 250, hasMore: true })
  })

  it('gets the other arguments in revisions that send them', async () => {
    const context = { arguments: { city: 'Bonn' } }
    const argument = { name: 'street', value: 'x' }
    const { seen } = await complete({ ref: prompt, argument, context })
    const isTold = revision >= '2025-06-18'
    expect(seen).toHaveBeenCalledWith('x', isTold ? context.arguments : {}, false)
  })

  it.each([
    ['an argument without a completer', prompt, 'plain'],
    ['a variable without a completer', users, 'fields'],
    ['a single resource', { type: 'ref/resource', uri: 'db://one' }, 'id'],
  ])('has nothing to suggest for %s', async (_, ref, name) => {
    const { completion } = await complete({ ref, argument: { name, value: '' } })
    expect(completion).toEqual({ values: [], total: 0, hasMore: false })
  })

  it.each([
    ['an unknown prompt', { type: 'ref/prompt', name: 'q' }, { name: 'city', value: '' }],
    ['an unknown template', { type: 'ref/resource', uri: 'db://x' }, { name: 'id', value: '' }],
    ['an unknown argument', prompt, { name: 'constructor', value: '' }],
    ['an unknown variable', users, { name: 'x', value: '' }],
    ['an unknown kind of reference', { type: 'ref/tool', name: 'p' }, { name: 'city', value: '' }],
    ['no reference', undefined, { name: 'city', value: '' }],
    ['a reference without a name', { type: 'ref/prompt' }, { name: 'city', value: '' }],
    ['no argument', prompt, undefined],
    ['an argument without a name', prompt, { value: '' }],
    ['a value that is no text', prompt, { name: 'city', value: 5 }],
  ])('is refused for %s', async (_, ref, argument) => {
    proves('U9d', 'U9j')
    expect((await complete({ ref, argument })).error).toMatchObject({ code: -32602 })
  })

  it.each([5, { arguments: 5 }, { arguments: { city: 5 } }])(
    'refuses the context %j',
    async context => {
      proves('U9j')
      const argument = { name: 'street', value: '' }
      const { error } = await complete({ ref: prompt, argument, context })
      if (revision >= '2025-06-18') expect(error).toMatchObject({ code: -32602 })
      else expect(error).toBeUndefined()
    },
  )
})
