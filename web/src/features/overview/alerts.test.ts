import { expect, it } from 'vitest'
import type { Center } from '../../queries/centers'
import { alertsOf } from './alerts'

const now = Date.parse('2026-03-01T00:00:00Z')

function center(change: Partial<Center>): Center {
  return {
    id: 'ctr_1', name: 'alpha', state: 'online', drained: false, drain_reason: null, version: 1, created_at: '2026-01-01T00:00:00Z',
    certificate_not_after: '2027-01-01T00:00:00Z', revoked_at: null, connected_at: null, last_seen_at: null, agent_version: null,
    facts: {}, unit_type_count: 0, unit_count: 0, units_in_use: 0, probe_budget: { share: 0, limit_s: 0, used_s: 0, reserved_s: 0 }, probe_requested_at: null,
    probe_request_reason: null, quarantined_at: null, quarantine_reason: null, ...change,
  }
}

it('a center that is well needs no attention', () => {
  expect(alertsOf([center({})], [], [], now)).toEqual([])
})

it('the worst comes first', () => {
  const kinds = alertsOf([
    center({ certificate_not_after: '2026-03-10T00:00:00Z' }), center({ id: 'ctr_2', name: 'beta', state: 'lost' })], [], [], now)
    .map((alert) => `${alert.center} ${alert.kind}`)
  expect(kinds).toEqual(['beta lost', 'alpha certificate'])
})

it('of a revoked center nothing else is said', () => {
  expect(alertsOf([center({ revoked_at: '2026-02-01T00:00:00Z', state: 'lost' })], [], [], now).map((a) => a.kind)).toEqual(['revoked'])
})

it('what the server says of it is kept apart from what it is', () => {
  const [alert] = alertsOf([center({ quarantined_at: '2026-02-28T00:00:00Z', quarantine_reason: '3 of 3 attempts failed' })], [], [], now)
  expect([alert?.kind, alert?.said, alert?.values]).toEqual(['quarantined', '3 of 3 attempts failed', {}])
})
