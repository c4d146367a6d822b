import { expect, it } from 'vitest'
import type { Center } from '../../../queries/centers'
import type { NetworkWindow } from '../../../queries/network_windows'
import { mapCenters } from './map_center'

const center = (name: string, change: Partial<Center> = {}) =>
  ({ id: `id of ${name}`, name, state: 'online', drained: false, revoked_at: null, quarantined_at: null, units_in_use: 0, unit_count: 0, ...change }) as Center
const window = (of: string, rate: number, samples: number, good: NetworkWindow['good_hours'] = null) =>
  ({ center_id: `id of ${of}`, now: { rate_bytes: rate, basis: 'overall' }, sample_count: samples, good_hours: good }) as NetworkWindow

it('a center on the map has its health, what of it is in use, and the way that was timed most often', () => {
  const [alpha, beta, gone] = mapCenters(
    [center('alpha', { units_in_use: 3, unit_count: 6 }), center('beta', { state: 'suspect' }), center('gone', { revoked_at: '2026-01-01T00:00:00Z' })],
    [window('alpha', 5e6, 3), window('alpha', 2e8, 30, { first_hour: 22, hour_count: 4 }), window('alpha', 9e8, 4), window('beta', 0, 7)], true)
  expect(alpha).toEqual({ id: 'id of alpha', name: 'alpha', health: 'online', isConnected: true, used: 3, all: 6,
    link: { rateBytes: 2e8, sampleCount: 30, goodHours: { first_hour: 22, hour_count: 4 } } })
  expect(beta).toMatchObject({ health: 'suspect', isConnected: false, used: 0, all: 0, link: null })
  expect(gone).toMatchObject({ health: 'revoked', isConnected: false })
})

it('of a center whose network is not among what was read so far, nothing is said of its way', () => {
  expect(mapCenters([center('alpha')], [], false)[0]?.link).toBeUndefined()
  expect(mapCenters([center('alpha')], [], true)[0]?.link).toBeNull()
})
