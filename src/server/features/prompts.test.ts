import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { proves } from '../../../test/requirements.ts'
import { allRevisions, answeringClient } from '../../../test/support/answering-client.ts'
import { audio, embed, image } from '../../mcp/content/content.ts'
import { Server } from '../server.ts'

function make(onError: (error: unknown) => void = () => {}) {
  return new Server({ name: 'test', version: '1' }, { onError })
}

describe.each(allRevisions)('prompts in %s', revision => {
  it('are listed with their arguments', async () => {
    const server = make()
    const args = z.object({
      code: z.string().describe('What to look at'),
      style: z.string().optional(),
    })
    server.prompt('review', { description: 'Reviews', args }, () => '')
    server.prompt('plain', {}, () => '')
    const client = await answeringClient(server, revision)
    expect((await client.request('prompts/list')).result).toMatchObject({
      prompts: [
        {
          name: 'review',
          description: 'Reviews',
          arguments: [
            { name: 'code', description: 'What to look at', required: true },
            { name: 'style', required: false },
          ],
        },
        { name: 'plain' },
      ],
    })
  })

  it('run only with arguments that fit', async () => {
    proves('S17', 'S17b', 'S17g', 'S17j')
    const server = make()
    const code = vi.fn(() => 'ok')
    const args = z.object({ size: z.enum(['s', 'm']), note: z.string().optional() })
    server.prompt('p', { args }, code)
    const client = await answeringClient(server, revision)
    const refused = [
      [{ name: 'nope' }, 'prompt_not_found'],
      [{ name: 'p' }, 'prompt_argument_missing'],
      [{ name: 'p', arguments: {} }, 'prompt_argument_missing'],
      [{ name: 'p', arguments: { size: 'xl' } }, 'invalid_prompt_arguments'],
      [{ name: 'p', arguments: { size: 's', note: 5 } }, 'invalid_prompt_arguments'],
      [{ name: 'p', arguments: [] }, 'invalid_params'],
      [{ name: 5 }, 'invalid_params'],
      [{}, 'invalid_params'],
    ] as const
    for (const [params, kind] of refused) {
      const { error } = await client.request('prompts/get', params)
      expect(error).toMatchObject({ code: -32602, data: { kind } })
    }
    expect(code).not.toHaveBeenCalled()
    await client.request('prompts/get', { name: 'p', arguments: { size: 's' } })
    expect(code).toHaveBeenCalledWith({ size: 's' }, expect.anything())
  })

  it('hold images, audio and resources in the form of the revision', async () => {
    proves('S17d', 'S17e', 'S17f', 'S9')
    const server = make()
    const bytes = new Uint8Array([1, 2, 3])
    server.prompt('media', {}, () => [
      image(bytes, 'image/png'),
      audio(bytes, 'audio/wav'),
      embed({ uri: 'r:///1', mimeType: 'text/plain', text: 'hi' }),
      embed({ uri: 'r:///2', mimeType: 'image/png', blob: bytes }),
    ])
    const client = await answeringClient(server, revision)
    const { result } = await client.request('prompts/get', { name: 'media' })
    const messages = result?.messages as { readonly content: object }[]
    const hasAudio = revision !== '2024-11-05'
    expect(messages.map(({ content }) => content)).toMatchObject([
      { type: 'image', data: 'AQID', mimeType: 'image/png' },
      hasAudio
        ? { type: 'audio', data: 'AQID', mimeType: 'audio/wav' }
        : { type: 'resource', resource: { blob: 'AQID', mimeType: 'audio/wav' } },
      { type: 'resource', resource: { uri: 'r:///1', mimeType: 'text/plain', text: 'hi' } },
      { type: 'resource', resource: { uri: 'r:///2', mimeType: 'image/png', blob: 'AQID' } },
    ])
  })

  it('that give what no prompt can are an internal error', async () => {
    proves('S17c', 'S17j')
    const onError = vi.fn()
    const server = make(onError)
    server.prompt('odd', {}, () => 5 as never)
    const client = await answeringClient(server, revision)
    expect((await client.request('prompts/get', { name: 'odd' })).error).toMatchObject({
      code: -32603,
    })
    expect(onError).toHaveBeenCalledOnce()
  })
})
