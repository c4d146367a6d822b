import type { Translate } from '../../i18n/language'
import { roles } from '../../queries/accounts'
import { knownWord } from '../../ui/known_word'

/** A role by its name; a newer server may have others. What each may is told by `accounts.role.…`. */
export function roleName(t: Translate, role: string): string {
  const known = knownWord(roles, role)
  return known ? t(`accounts.role.name.${known}`) : role
}
