import type { Translate } from '../../i18n/language'
import { knownWord } from '../../ui/known_word'

const changes = ['wait', 'price', 'trust', 'deadline', 'budget', 'preference', 'units', 'measurement', 'priority'] as const
const rungs = ['runs', 'reference', 'operators', 'type'] as const

/** What would have to be otherwise, by its kind. Decisions are kept: one of another version may name another. */
export function changeText(t: Translate, kind: string): string {
  const known = knownWord(changes, kind)
  return known ? t(`jobs.why.change.${known}`) : kind
}

/** What a run time rests on, by its name. */
export function rungText(t: Translate, rung: string): string {
  const known = knownWord(rungs, rung)
  return known ? t(`jobs.why.rung.${known}`) : rung
}
