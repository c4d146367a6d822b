import { useText } from '../../i18n/language'
import type { ProbeTaskState } from '../../queries/probe_tasks'
import { StatePill, type Tone } from '../../ui/state_pill'

const tones: Record<ProbeTaskState, Tone> = { draft: 'idle', testing: 'busy', tested: 'warn', released: 'good', refused: 'bad', retired: 'idle' }

export function TaskStatePill({ state }: { state: ProbeTaskState }) {
  const t = useText()
  return <StatePill tone={tones[state]}>{t(`tasks.state.${state}`)}</StatePill>
}
