import type { Translate } from '../../i18n/language'
import { knownWord } from '../../ui/known_word'

const filters = ['policy', 'operators', 'device', 'memory', 'unit_count', 'software', 'data_site', 'wall_limit', 'quota', 'drain', 'health', 'deadline', 'budget', 'speedup'] as const

/** A filter by its name. Decisions are kept: one of an earlier version may name another. */
export function filterText(t: Translate, filter: string): string {
  const known = knownWord(filters, filter)
  return known ? t(`jobs.why.filter.${known}`) : filter
}
