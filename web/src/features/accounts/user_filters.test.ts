import { expect, it } from 'vitest'
import type { Account } from '../../queries/accounts'
import { filterUsers, noUserFilters, parseUserFilters } from './user_filters'

const accounts = [
  { name: 'ada@lab', role: 'admin', disabled_at: null }, { name: 'bob', role: 'user', disabled_at: null },
  { name: 'Adam', role: 'user', disabled_at: '2026-11-01T00:00:00Z' }] as Account[]

const names = (raw: Partial<Record<'name' | 'role' | 'state', string>>) =>
  filterUsers(accounts, parseUserFilters({ ...noUserFilters, ...raw })).map((account) => account.name)

it('finds accounts by a part of the name, the role and the state', () => {
  expect(names({})).toHaveLength(3)
  expect(names({ name: ' ada ' })).toEqual(['ada@lab', 'Adam'])
  expect(names({ role: 'user' })).toEqual(['bob', 'Adam'])
  expect(names({ name: 'ada', state: 'disabled' })).toEqual(['Adam'])
  expect(names({ role: 'admin', state: 'disabled' })).toEqual([])
})

it('takes nothing out of an address that is no role and no state', () => {
  expect(names({ role: 'root', state: 'asleep' })).toHaveLength(3)
})
