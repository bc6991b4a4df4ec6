import { expect, test } from 'vitest'
import { hideValue, hideValues } from './hidden-values.ts'

test('a hidden value is replaced wherever it appears, in any encoding of a URL', () => {
  hideValue('hv sk/live+0001', `\${HV_TOKEN}`)
  expect(hideValues('a hv sk/live+0001 b')).toBe(`a \${HV_TOKEN} b`)
  expect(hideValues('http://h/s/hv%20sk%2Flive%2B0001/mcp')).toBe(`http://h/s/\${HV_TOKEN}/mcp`)
  expect(hideValues('http://h/s/hv%20sk/live+0001/mcp')).toBe(`http://h/s/\${HV_TOKEN}/mcp`)
  expect(hideValues('xhv sk/live+0001x')).toBe(`x\${HV_TOKEN}x`)
  expect(hideValues('HV SK/LIVE+0001')).toBe(`\${HV_TOKEN}`)
})

test('a short value is replaced only as a word, and a very short one not at all', () => {
  hideValue('hvqz', `\${HV_SHORT}`)
  hideValue('q', `\${HV_LETTER}`)
  expect(hideValues('hvqz hvqzz q')).toBe(`\${HV_SHORT} hvqzz q`)
})

test('the longest value wins where one contains another', () => {
  hideValue('hv-prefix', `\${HV_A}`)
  hideValue('hv-prefix-and-more', `\${HV_B}`)
  expect(hideValues('hv-prefix-and-more hv-prefix')).toBe(`\${HV_B} \${HV_A}`)
})

test('characters with a meaning in expressions are taken literally', () => {
  hideValue('hv.*(a|b)[c]{2}^$\\x', `\${HV_ODD}`)
  expect(hideValues('hv.*(a|b)[c]{2}^$\\x')).toBe(`\${HV_ODD}`)
  expect(hideValues('hvxx(a')).toBe('hvxx(a')
})

test.each(['8080', 'TRUE', 'localhost', '127.0.0.1', '0.0.0.0', '[::1]'])(
  '%s is not hidden',
  value => {
    hideValue(value, `\${HV_HARMLESS}`)
    expect(hideValues(`at ${value}/mcp`)).toBe(`at ${value}/mcp`)
  },
)
