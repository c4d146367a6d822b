import { useText } from '../../i18n/language'
import type { JobState } from '../../queries/jobs'
import { knownWord } from '../../ui/known_word'
import { StatePill, type Tone } from '../../ui/state_pill'

const tones: Record<JobState, Tone> = {
  queued: 'idle', metering: 'idle', placed: 'busy', dispatched: 'busy', running: 'busy', succeeded: 'good', failed: 'bad',
  cancelled: 'idle', lost: 'warn',
}

export function JobStatePill({ state }: { state: JobState }) {
  const t = useText()
  return <StatePill tone={tones[state]}>{t(`jobs.state.${state}`)}</StatePill>
}

const outcomes = [
  'exited', 'signalled', 'wall_limit', 'cancelled', 'failed_to_start', 'lost', 'out_of_memory', 'node_failure', 'preempted', 'succeeded', 'failed',
] as const
type OutcomeName = (typeof outcomes)[number]

const outcomeTones: Record<OutcomeName, Tone> = {
  exited: 'idle', succeeded: 'good', failed: 'bad', signalled: 'bad', wall_limit: 'bad', failed_to_start: 'bad', cancelled: 'idle', lost: 'warn',
  out_of_memory: 'bad', node_failure: 'warn', preempted: 'warn',
}

/** How an attempt ended. */
export function Outcome({ outcome }: { outcome: string }) {
  const t = useText()
  const known = knownWord(outcomes, outcome)
  if (!known) return <StatePill tone="idle">{outcome}</StatePill>
  const text = known === 'succeeded' || known === 'failed' || known === 'cancelled' || known === 'lost'
    ? t(`jobs.state.${known}`) : t(`jobs.outcome.${known}`)
  return <StatePill tone={outcomeTones[known]}>{text}</StatePill>
}
