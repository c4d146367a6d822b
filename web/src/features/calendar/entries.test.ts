import { describe, expect, it } from 'vitest'
import type { Maintenance, Reservation } from '../../queries/calendar'
import { entriesByCenter, mayCancel } from './entries'

const times = { starts_at: '2026-11-25T10:00:00Z', ends_at: '2026-11-25T12:00:00Z', cancelled_at: null, state: 'planned', created_by: 'tok_1' }
const reservation = (change: object = {}) => ({ id: 'rsv_1', center: 'beta', ...times, ...change }) as Reservation
const maintenance = (change: object = {}) => ({ id: 'mnt_1', center: 'alpha', ...times, ...change }) as Maintenance

describe('entries', () => {
  it('are together by center, and end where they were cancelled', () => {
    const cancelled = reservation({ id: 'rsv_2', state: 'cancelled', cancelled_at: '2026-11-25T11:00:00Z' })
    const early = reservation({ id: 'rsv_3', state: 'cancelled', cancelled_at: '2026-11-25T09:00:00Z' })
    const centers = entriesByCenter([reservation(), cancelled, early], [maintenance()])
    expect(centers.map(([center, entries]) => [center, entries.map((e) => (e.end - e.start) / 3_600_000)])).toEqual([['alpha', [2]], ['beta', [2, 1, 0]]])
  })

  it('are cancelled by administrators, and reservations by who made them, while they are open', () => {
    const [admin, maker, other] = [{ isAdmin: true, identity: 'tok_0' }, { isAdmin: false, identity: 'tok_1' }, { isAdmin: false, identity: undefined }]
    const can = (kind: 'reservation' | 'maintenance', of: { state: string; created_by: string }) => [admin, maker, other].map((who) => mayCancel({ kind, of }, who))
    expect(can('reservation', reservation())).toEqual([true, true, false])
    expect(can('maintenance', maintenance())).toEqual([true, false, false])
    expect(can('reservation', reservation({ state: 'ended' }))).toEqual([false, false, false])
  })
})
