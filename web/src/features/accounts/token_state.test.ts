import { expect, it } from 'vitest'
import { tokenState } from './token_state'

it('tokens work until they are revoked or expire', () => {
  const now = Date.parse('2026-11-25T12:00:00Z')
  expect(tokenState({ revoked_at: null, expires_at: null }, now)).toBe('works')
  expect(tokenState({ revoked_at: null, expires_at: '2026-11-25T12:00:01Z' }, now)).toBe('works')
  expect(tokenState({ revoked_at: null, expires_at: '2026-11-25T12:00:00Z' }, now)).toBe('expired')
  expect(tokenState({ revoked_at: '2026-01-01T00:00:00Z', expires_at: '2026-01-01T00:00:00Z' }, now)).toBe('revoked')
})
