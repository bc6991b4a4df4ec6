import { expect, test } from 'vitest'
import { addressText } from './address-text.ts'

test.each([
  ['http://127.0.0.1:3000/mcp', 'http://127.0.0.1:3000/mcp'],
  ['https://user:password@example.com/mcp', 'https://example.com/mcp'],
  ['https://example.com/mcp?api_key=abc#frag', 'https://example.com/mcp?…'],
  ['https://example.com/s/sk0live9f8e7d6c5b4a/mcp', 'https://example.com/s/…/mcp'],
  ['https://example.com/api/a-name-of-words/mcp', 'https://example.com/api/a-name-of-words/mcp'],
  ['https://example.com/YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo', 'https://example.com/…'],
  ['ws://example.com:80/a?token=1', 'ws://example.com/a?…'],
  ['not an address', 'not an address'],
])('%s is shown as %s', (address, shown) => {
  expect(addressText(address)).toBe(shown)
})
