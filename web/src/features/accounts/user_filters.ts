import { type Account, type Role, roles } from '../../queries/accounts'
import { knownWord } from '../../ui/known_word'

const accountStates = ['enabled', 'disabled'] as const

export const userFilterNames = ['name', 'role', 'state'] as const

export interface UserFilters {
  /** A part of the name, in any case. */
  name: string
  /** '': any. */
  role: Role | ''
  /** '': any. */
  state: (typeof accountStates)[number] | ''
}

export const noUserFilters = { name: '', role: '', state: '' } as const

export function parseUserFilters(raw: Record<(typeof userFilterNames)[number], string>): UserFilters {
  return { name: raw.name, role: knownWord(roles, raw.role) ?? '', state: knownWord(accountStates, raw.state) ?? '' }
}

/** The accounts that fit; all of them were read at once, so they are filtered here. */
export function filterUsers(accounts: readonly Account[], { name, role, state }: UserFilters): readonly Account[] {
  const part = name.trim().toLowerCase()
  return accounts.filter((account) => (!part || account.name.toLowerCase().includes(part)) && (!role || account.role === role) &&
    (!state || (account.disabled_at ? 'disabled' : 'enabled') === state))
}
