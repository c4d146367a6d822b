import type { Center } from '../../queries/centers'
import type { ProbeFinding } from '../../queries/findings'
import type { UnitType } from '../../queries/unit_types'
import type { Tone } from '../../ui/state_pill'

export interface Alert {
  id: string
  center: string
  tone: Tone
  kind: 'revoked' | 'enrolled' | 'suspect' | 'lost' | 'quarantined' | 'certificate' | 'finding' | 'advice'
  values: Record<string, string>
  /** A sentence of the server's, which says what it is about. */
  said?: string
  /** Of a finding. */
  finding?: ProbeFinding['kind']
}

const certificateWarningMs = 14 * 86400e3

/** What somebody should look at, the worst first. */
export function alertsOf(centers: readonly Center[], findings: readonly ProbeFinding[], unitTypes: readonly UnitType[], now: number): Alert[] {
  const alerts: Alert[] = []
  for (const center of centers) {
    const add = (kind: Alert['kind'], tone: Tone, more: Partial<Alert> = {}) =>
      alerts.push({ id: `${center.id} ${kind}`, center: center.name, tone, kind, values: {}, ...more })
    if (center.revoked_at) {
      add('revoked', 'idle')
      continue // a revoked center is silent by intent
    }
    if (center.quarantined_at) add('quarantined', 'bad', center.quarantine_reason ? { said: center.quarantine_reason } : {})
    if (center.state === 'lost') add('lost', 'bad')
    if (center.state === 'suspect') add('suspect', 'warn')
    if (center.state === 'enrolled') add('enrolled', 'idle')
    if (center.certificate_not_after && Date.parse(center.certificate_not_after) - now < certificateWarningMs) {
      add('certificate', 'warn', { values: { time: center.certificate_not_after } })
    }
  }
  for (const finding of findings) {
    alerts.push({ id: finding.id, center: finding.center, tone: 'warn', kind: 'finding', values: {}, said: finding.detail, finding: finding.kind })
  }
  for (const unit of unitTypes) {
    for (const [i, advice] of unit.advice.entries()) {
      alerts.push({ id: `${unit.id} ${i}`, center: unit.center, tone: 'idle', kind: 'advice', values: { unit: unit.name }, said: advice.message })
    }
  }
  const order: Tone[] = ['bad', 'warn', 'busy', 'idle', 'good']
  return alerts.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone))
}
