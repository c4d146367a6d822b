import { useSentence, useText } from '../../i18n/language'
import type { BalanceStep } from '../../queries/balance'
import { StatePill, type Tone } from '../../ui/state_pill'
import { knownOutcome, type Outcome } from './steps'

const tones: Record<Outcome, Tone> = {
  acted: 'busy', in_band: 'good', neutral: 'good', paused: 'idle', looks_again: 'idle', no_room: 'warn', let_go: 'warn', no_sample: 'bad',
}

export function OutcomePill({ step }: { step: BalanceStep }) {
  const t = useText()
  const say = useSentence()
  const known = knownOutcome(step.outcome)
  return <StatePill tone={known ? tones[known] : 'idle'} title={say(step.reason)}>{known ? t(`balance.outcome.${known}`) : step.outcome}</StatePill>
}
