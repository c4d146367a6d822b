import { useText } from '../../i18n/language'
import type { JobState } from '../../queries/jobs'
import { StatePill, type Tone } from '../../ui/state_pill'

const tones: Record<JobState, Tone> = {
  queued: 'idle', metering: 'idle', placed: 'busy', dispatched: 'busy', running: 'busy', succeeded: 'good', failed: 'bad',
  cancelled: 'idle', lost: 'warn',
}

export function JobStatePill({ state }: { state: JobState }) {
  const t = useText()
  return <StatePill tone={tones[state]}>{t(`jobs.state.${state}`)}</StatePill>
}

type OutcomeName = 'exited' | 'signalled' | 'wall_limit' | 'cancelled' | 'failed_to_start' | 'lost' | 'succeeded' | 'failed'

const outcomeTones: Record<OutcomeName, Tone> = {
  exited: 'good', succeeded: 'good', failed: 'bad', signalled: 'bad', wall_limit: 'bad', failed_to_start: 'bad', cancelled: 'idle', lost: 'warn',
}

/** How an attempt ended. */
export function Outcome({ outcome }: { outcome: OutcomeName }) {
  const t = useText()
  const text = outcome === 'succeeded' || outcome === 'failed' || outcome === 'cancelled' || outcome === 'lost'
    ? t(`jobs.state.${outcome}`) : t(`jobs.outcome.${outcome}`)
  return <StatePill tone={outcomeTones[outcome]}>{text}</StatePill>
}
