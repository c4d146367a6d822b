import { expect, it } from 'vitest'
import type { Token } from '../../queries/tokens'
import { filterTokens, noTokenFilters, parseTokenFilters } from './token_filters'

const tokens = [
  { name: 'ci', role: 'user', revoked_at: null, expires_at: null }, { name: 'CI of ada', role: 'admin', revoked_at: null, expires_at: null },
  { name: 'old ci', role: 'user', revoked_at: '2026-01-01T00:00:00Z', expires_at: null }] as Token[]

const names = (raw: Partial<Record<'name' | 'role' | 'show', string>>) =>
  filterTokens(tokens, parseTokenFilters({ ...noTokenFilters, ...raw }), Date.parse('2026-11-25T12:00:00Z')).map((token) => token.name)

it('shows tokens that work unless all are asked for', () => {
  expect(names({})).toEqual(['ci', 'CI of ada'])
  expect(names({ show: 'all' })).toHaveLength(3)
})

it('finds tokens by a part of the name and by the role', () => {
  expect(names({ name: ' ADA ' })).toEqual(['CI of ada'])
  expect(names({ name: 'ci', role: 'user', show: 'all' })).toEqual(['ci', 'old ci'])
  expect(names({ role: 'root', show: 'some' })).toEqual(['ci', 'CI of ada'])
})
