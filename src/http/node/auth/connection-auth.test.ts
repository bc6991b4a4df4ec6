import { expect, test } from 'vitest'
import { alternativeNames } from './connection-auth.ts'

test.each([
  ['', []],
  ['DNS:a.example.com, URI:spiffe://b', ['DNS:a.example.com', 'URI:spiffe://b']],
  ['DNS:"a, URI:spiffe://admin", DNS:b', ['DNS:"a, URI:spiffe://admin"', 'DNS:b']],
  ['DNS:"a\\", URI:x", DNS:b', ['DNS:"a\\", URI:x"', 'DNS:b']],
])('the names of a certificate in %s cannot contain another name', (text, names) => {
  expect(alternativeNames(text)).toEqual(names)
})
