import { describe, expect, it } from 'vitest'
import { toIso, toTyped } from './moments'

describe('typed moments', () => {
  it('are read in their zone', () => {
    expect(toIso('2026-12-01T08:00', 'utc')).toBe('2026-12-01T08:00:00Z')
    expect(Date.parse(toIso('2026-12-01T08:00', 'local') ?? '')).toBe(new Date(2026, 11, 1, 8).getTime())
  })

  it('come back as they were typed', () => {
    for (const zone of ['utc', 'local'] as const) expect(toTyped(toIso('2026-07-01T23:45', zone), zone)).toBe('2026-07-01T23:45')
  })

  it('that are none are nothing', () => {
    expect(toIso('', 'utc')).toBeNull()
    expect(toIso('2026-13-01T08:00', 'utc')).toBeNull()
    expect(toTyped(null, 'utc')).toBe('')
  })
})
