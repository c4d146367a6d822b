import { expect, it } from 'vitest'
import { isPublicKey } from './public_key'

const pem = (kind: string) => `-----BEGIN ${kind} KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END ${kind} KEY-----\n`

it('a public key is taken, with blanks around it and line ends of either kind', () => {
  expect(isPublicKey(pem('PUBLIC'))).toBe(true)
  expect(isPublicKey(`\n ${pem('PUBLIC').replaceAll('\n', '\r\n')} `)).toBe(true)
})

it('a private key is not sent anywhere, and neither is anything else', () => {
  expect(isPublicKey(pem('PRIVATE'))).toBe(false)
  expect(isPublicKey(pem('PUBLIC') + pem('PRIVATE'))).toBe(false)
  expect(isPublicKey('MCowBQYDK2VwAyEA')).toBe(false)
  expect(isPublicKey('')).toBe(false)
})
