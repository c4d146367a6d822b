import { describe, expect, it } from 'vitest'
import { parseMoment, toIso, toTyped } from './moments'

describe('typed moments', () => {
  it('are read in their zone', () => {
    expect(toIso('2026-12-01T08:00', 'utc')).toBe('2026-12-01T08:00:00Z')
    expect(Date.parse(toIso('2026-12-01T08:00', 'local') ?? '')).toBe(new Date(2026, 11, 1, 8).getTime())
  })

  it('come back as they were typed', () => {
    for (const zone of ['utc', 'local'] as const) expect(toTyped(toIso('2026-07-01T23:45', zone), zone)).toBe('2026-07-01T23:45')
  })

  it('of an address are taken as REST takes them', () => {
    for (const text of ['2026-12-01T08:00:00Z', '2026-12-01T08:00:00.5+01:00']) expect(parseMoment(text)).toBe(text)
    for (const text of ['', 'yesterday', '2026-12-01', '2026-13-01T08:00:00Z', '2026-12-01T08:00:00']) expect(parseMoment(text)).toBe('')
  })

  it('that are none are nothing', () => {
    expect(toIso('', 'utc')).toBeNull()
    expect(toIso('2026-13-01T08:00', 'utc')).toBeNull()
    expect(toTyped(null, 'utc')).toBe('')
  })
})
