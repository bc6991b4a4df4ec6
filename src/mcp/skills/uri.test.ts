import { describe, expect, it } from 'vitest'
import { filePathProblem, resolveReference, skillPathProblem, skillRoot } from './uri.ts'

describe('the URIs of skills', () => {
  it.each(['refunds', 'acme/billing/refunds', 'a', 'x-1', 'Acme_1.0/refunds', 'x'.repeat(64)])(
    'are made of paths such as %s',
    path => expect(skillPathProblem(path)).toBeUndefined(),
  )

  it.each([
    '',
    '/',
    'a/',
    '/a',
    'A',
    'a--b',
    '-a',
    'a-',
    'a b',
    '../a',
    '.git/a',
    'a?',
    'ä',
    'x'.repeat(65),
  ])('are not made of %j', path => expect(skillPathProblem(path)).toBeDefined())

  it.each(['', '/a', 'a/', 'a//b', '../a', 'a/./b', 'a\\b', 'SKILL.md', 'a\0'])(
    'have no file %j',
    path => expect(filePathProblem(path)).toBeDefined(),
  )

  it('say which folder a SKILL.md is in', () => {
    expect(skillRoot('skill://a/b/SKILL.md')).toBe('skill://a/b')
    expect(skillRoot('skill://a/b')).toBeUndefined()
    expect(skillRoot('SKILL.md')).toBeUndefined()
  })

  it('resolve references, but none that lead out of the folder', () => {
    const resolve = (reference: string) => resolveReference('skill://a/b', reference)
    expect(resolve('x/y z.md')).toBe('skill://a/b/x/y%20z.md')
    expect(resolve('./x/../y.md')).toBe('skill://a/b/y.md')
    expect(resolve('skill://a/b/x%20y')).toBe('skill://a/b/x%20y')
    for (const other of [
      '',
      '.',
      '..',
      '../c',
      'x/../../c',
      '/etc/passwd',
      'skill://a/c/x',
      'file:///x',
    ]) {
      expect(resolve(other), other).toBeUndefined()
    }
    expect(resolve('skill://a/b/%2e%2e/c')).toBeUndefined()
    expect(resolve('skill://a/b/../c')).toBeUndefined()
  })
})
