import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { en } from '../../i18n/en'
import { LanguageProvider } from '../../i18n/language'
import type { NetworkWindow, WindowFilters } from '../../queries/network_windows'
import { NetworkWindowsPage } from './windows_page'

const asked: { last: WindowFilters | null } = { last: null }
const timed = {
  center: 'alpha', unit_type: 'core', unit_type_id: 'ut_1', hour_s: 3600, good_hours: { first_hour: 20, hour_count: 4 }, sample_count: 3,
  newest_at: '2026-03-01T12:00:00Z', now: { rate_bytes: 5e6, basis: 'overall' }, steps: [], hours_of_day: [],
  hours: [{ hour_of_week: 164, count: 3, median_rate_bytes: 5e6, spread: 0 }],
} as unknown as NetworkWindow

vi.mock('../../queries/network_windows', () => ({
  useNetworkWindows: (filters: WindowFilters) => {
    asked.last = filters
    return { data: {}, items: [timed], isError: false, hasNextPage: false }
  },
}))
vi.mock('../centers/center_options', () => ({ useCenterOptions: () => [] }))

beforeEach(() => {
  vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(-480)
})
afterEach(() => {
  cleanup()
  vi.restoreAllMocks()
  window.history.replaceState(null, '', '/')
})

function open(search: string) {
  window.history.replaceState(null, '', `/network-windows${search}`)
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><NetworkWindowsPage /></LanguageProvider>
    </MantineProvider>)
}

it('shows the hours in the zone that the address names, else in UTC', () => {
  open('')
  expect(screen.getByText('20:00–00:00 UTC')).toBeTruthy()
  cleanup()
  open('?zone=local')
  expect(screen.getByText('04:00–08:00 UTC+08:00')).toBeTruthy()
  expect(screen.getByRole('region', { name: /hour of the week \(UTC\+08:00\)/ })).toBeTruthy()
  expect(screen.getByLabelText('Start by (local time)')).toBeTruthy()
})

it('keeps the choice of the zone in the address', () => {
  open('?center=alpha')
  fireEvent.change(screen.getByLabelText('Hours in'), { target: { value: 'local' } })
  expect(window.location.search).toBe('?center=alpha&zone=local')
  expect(screen.getByText('04:00–08:00 UTC+08:00')).toBeTruthy()
  fireEvent.change(screen.getByLabelText('Hours in'), { target: { value: 'utc' } })
  expect(window.location.search).toBe('?center=alpha&zone=utc')
})

it('asks for the same latest start whatever the zone', () => {
  open('?size=40&latest=2026-03-02T08:00&zone=local')
  expect(asked.last?.latestStart).toBe('2026-03-02T08:00:00Z')
  expect(screen.getByLabelText<HTMLInputElement>('Start by (local time)').value).toBe('2026-03-02T16:00')
})
