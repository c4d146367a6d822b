import { useText } from '../../i18n/language'
import type { RunState } from '../../queries/probe_runs'
import { StatePill, type Tone } from '../../ui/state_pill'

const tones: Record<RunState, Tone> = { queued: 'busy', succeeded: 'good', failed: 'bad', cancelled: 'idle', lost: 'warn' }

export function RunStatePill({ state }: { state: RunState }) {
  const t = useText()
  return <StatePill tone={tones[state]}>{t(`runs.state.${state}`)}</StatePill>
}
