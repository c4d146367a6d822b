import { MantineProvider } from '@mantine/core'
import { cleanup, render, screen, within } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import { en } from '../../i18n/en'
import { LanguageProvider } from '../../i18n/language'
import type { LoadCurve } from '../../queries/load_curves'
import { BusyNeighbours } from './busy_neighbours'

const answer: { data: LoadCurve[] | undefined; asked: string } = { data: undefined, asked: '' }
vi.mock('../../queries/load_curves', () => ({
  useLoadCurves: (unitType: string) => {
    answer.asked = unitType
    return { data: answer.data, isError: false, isPending: answer.data === undefined, error: null, dataUpdatedAt: 0, refetch: () => undefined }
  },
}))
// A canvas is more than jsdom has.
vi.mock('../../ui/chart', () => ({ Chart: ({ label }: { label: string }) => <div role="img" aria-label={label} /> }))

afterEach(cleanup)

const place = { center_id: 'ctr_1', center: 'alpha', unit_type_id: 'ut_1', unit_type: 'core', measured_at: '2026-03-01T12:00:00Z' }

function open(data: LoadCurve[] | undefined) {
  answer.data = data
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><BusyNeighbours unitType="ut_1" /></LanguageProvider>
    </MantineProvider>)
}

it('tells how much slower an operator is beside all and half of the busy cores that it was measured beside', () => {
  open([
    { ...place, operator: 'spmv', slope: 0.09, largest_busy_cores: 4, result_count: 12, points: [
      { busy_cores: 1, factor: 1.09, low: 1.05, high: 1.14 }, { busy_cores: 2, factor: 1.2, low: 1.1, high: 1.3 }, { busy_cores: 4, factor: 1.43, low: 1.2, high: 1.7 }] },
    { ...place, operator: 'stream_triad', largest_busy_cores: 3, points: [], bubbles: [
      { copies: 2, run_count: 1, busy_cores: 1, factor: 1.1, low: 1, high: 1.2 }, { copies: 4, run_count: 1, busy_cores: 3, factor: 1.9, low: 1.7, high: 2.1 }],
    pressure: { per_core: 0.97, low: 0.9, high: 1.04, run_count: 2 } },
    { ...place, operator: 'dgemm', problem: 'no size of it was measured beside two loads that differ by half a core or more' },
  ])
  expect(answer.asked).toBe('ut_1')
  expect(screen.getByRole('img', { name: /^Time over that alone .*: spmv\./ })).toBeTruthy()
  const [, spmv, triad, dgemm] = within(screen.getByRole('table')).getAllByRole('row').map((row) => row.textContent)
  expect(spmv).toContain('1.43 × (1.2 – 1.7)')
  expect(spmv).toContain('1.2 × (1.1 – 1.3)')
  expect(triad).toContain('1.9 × (1.7 – 2.1)')
  expect(triad).toContain('0.97 (0.9 – 1.04)')
  expect(dgemm).toContain('no size of it was measured beside two loads')
})

it('says what would tell it where nothing was measured, and that it is being asked for before that', () => {
  open(undefined)
  expect(screen.getByText('Loading…')).toBeTruthy()
  cleanup()
  open([])
  expect(screen.getByText(/^Nothing was measured beside different loads yet/)).toBeTruthy()
  expect(screen.queryByRole('table')).toBeNull()
})
