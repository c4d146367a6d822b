import type { Translate } from '../../../i18n/language'
import { knownWord } from '../../../ui/known_word'

const states = ['file', 'waiting', 'applied', 'differs', 'forbidden', 'failed', 'unsupported'] as const
const permissions = ['off', 'within', 'machine'] as const
const codes = [
  'fewer_devices', 'fewer_cores', 'fewer_nodes', 'less_memory', 'not_permitted', 'kept_by_file', 'operator_missing', 'device_missing',
  'processor_missing', 'not_supported',
] as const

/** In words; a newer server may have other states. */
export function stateText(t: Translate, state: string): string {
  const known = knownWord(states, state)
  return known ? t(`centers.resources.state.${known}`) : state
}

/** What the file of an agent allows, in words; a newer agent may have other settings. */
export function permissionText(t: Translate, permission: string): string {
  const known = knownWord(permissions, permission)
  return known ? t(`centers.resources.permission.${known}`) : permission
}

/** A kind of difference in words; a newer agent may know others. */
export function codeText(t: Translate, code: string): string {
  const known = knownWord(codes, code)
  return known ? t(`centers.resources.code.${known}`) : code
}
