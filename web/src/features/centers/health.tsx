import { useText } from '../../i18n/language'
import type { Center } from '../../queries/centers'
import { StatePill, type Tone } from '../../ui/state_pill'

export const healths = ['online', 'enrolled', 'suspect', 'lost', 'quarantined', 'drained', 'revoked'] as const
export type Health = (typeof healths)[number]

/** The one word for how a center is: what matters more hides what matters less. */
export function healthOf(center: Pick<Center, 'state' | 'revoked_at' | 'quarantined_at' | 'drained'>): Health {
  if (center.revoked_at) return 'revoked'
  if (center.state !== 'online') return center.state
  if (center.quarantined_at) return 'quarantined'
  return center.drained ? 'drained' : 'online'
}

const tones: Record<Health, Tone> = {
  online: 'good', enrolled: 'idle', suspect: 'warn', lost: 'bad', revoked: 'idle', quarantined: 'bad', drained: 'warn',
}

export function toneOf(health: Health): Tone {
  return tones[health]
}

export function HealthPill({ center }: { center: Center }) {
  const t = useText()
  const health = healthOf(center)
  return <StatePill tone={toneOf(health)}>{t(`centers.state.${health}`)}</StatePill>
}
