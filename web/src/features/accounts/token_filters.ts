import { type Role, roles } from '../../queries/accounts'
import type { Token } from '../../queries/tokens'
import { knownWord } from '../../ui/known_word'
import { tokenState } from './token_state'

export const tokenFilterNames = ['name', 'role', 'show'] as const

export interface TokenFilters {
  /** A part of the name, in any case. */
  name: string
  /** '': any. */
  role: Role | ''
  /** '': those that work. */
  show: 'all' | ''
}

export const noTokenFilters = { name: '', role: '', show: '' } as const

export function parseTokenFilters(raw: Record<(typeof tokenFilterNames)[number], string>): TokenFilters {
  return { name: raw.name, role: knownWord(roles, raw.role) ?? '', show: raw.show === 'all' ? 'all' : '' }
}

/** The tokens that fit, `now` in milliseconds; all of them were read at once, so they are filtered here. */
export function filterTokens(tokens: readonly Token[], { name, role, show }: TokenFilters, now: number): readonly Token[] {
  const part = name.trim().toLowerCase()
  return tokens.filter((token) => (!part || token.name.toLowerCase().includes(part)) && (!role || token.role === role) &&
    (show === 'all' || tokenState(token, now) === 'works'))
}
