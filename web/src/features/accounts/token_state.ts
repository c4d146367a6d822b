import type { Token } from '../../queries/tokens'

export type TokenState = 'works' | 'revoked' | 'expired'

export function tokenState(token: Pick<Token, 'revoked_at' | 'expires_at'>, now: number): TokenState {
  if (token.revoked_at) return 'revoked'
  return token.expires_at && Date.parse(token.expires_at) <= now ? 'expired' : 'works'
}
