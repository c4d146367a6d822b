import { expect, it } from 'vitest'
import type { Center } from '../../../queries/centers'
import type { NetworkWindow } from '../../../queries/network_windows'
import type { UnitType } from '../../../queries/unit_types'
import { mapCenters } from './map_center'

const center = (name: string, change: Partial<Center> = {}) =>
  ({ id: `id of ${name}`, name, state: 'online', drained: false, revoked_at: null, quarantined_at: null, ...change }) as Center
const unit = (of: string, used: number, all: number, active = true) => ({ center_id: `id of ${of}`, units_in_use: used, unit_count: all, active }) as UnitType
const window = (of: string, rate: number, samples: number, good: NetworkWindow['good_hours'] = null) =>
  ({ center_id: `id of ${of}`, now: { rate_bytes: rate, basis: 'overall' }, sample_count: samples, good_hours: good }) as NetworkWindow

it('a center on the map has its health, what of it is in use, and the way that was timed most often', () => {
  const [alpha, beta, gone] = mapCenters(
    [center('alpha'), center('beta', { state: 'suspect' }), center('gone', { revoked_at: '2026-01-01T00:00:00Z' })],
    [unit('alpha', 1, 4), unit('alpha', 2, 2), unit('alpha', 0, 9, false)],
    [window('alpha', 5e6, 3), window('alpha', 2e8, 30, { first_hour: 22, hour_count: 4 }), window('alpha', 9e8, 4), window('beta', 0, 7)])
  expect(alpha).toEqual({ id: 'id of alpha', name: 'alpha', health: 'online', isConnected: true, used: 3, all: 6,
    link: { rateBytes: 2e8, sampleCount: 30, goodHours: { first_hour: 22, hour_count: 4 } } })
  expect(beta).toMatchObject({ health: 'suspect', isConnected: false, used: 0, all: 0, link: null })
  expect(gone).toMatchObject({ health: 'revoked', isConnected: false })
})
