import { useText } from '../../i18n/language'
import type { PriceBookVersion } from '../../queries/price_books'
import { StatePill, type Tone } from '../../ui/state_pill'

export const bookStates = ['force', 'coming', 'past'] as const
type State = (typeof bookStates)[number]
const tones: Record<State, Tone> = { force: 'good', coming: 'busy', past: 'idle' }

export function stateOf(book: Pick<PriceBookVersion, 'in_force' | 'valid_from'>, now: number): State {
  return book.in_force ? 'force' : Date.parse(book.valid_from) > now ? 'coming' : 'past'
}

export function BookState({ book, now }: { book: Pick<PriceBookVersion, 'in_force' | 'valid_from'>; now: number }) {
  const t = useText()
  const state = stateOf(book, now)
  return <StatePill tone={tones[state]}>{t(`prices.state.${state}`)}</StatePill>
}
