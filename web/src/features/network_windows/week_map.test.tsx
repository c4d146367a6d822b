import { MantineProvider } from '@mantine/core'
import { cleanup, render, screen, within } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import { en } from '../../i18n/en'
import { LanguageProvider } from '../../i18n/language'
import type { NetworkWindow } from '../../queries/network_windows'
import { WeekMap } from './week_map'

afterEach(cleanup)

/** Timed once on Sunday from 20:00 UTC on, when the bandwidth changed for good: the 167th hour of a week less three. */
const window = {
  center: 'alpha', unit_type: 'core', hour_s: 3600, good_hours: { first_hour: 20, hour_count: 1 },
  hours: [{ hour_of_week: 164, count: 3, median_rate_bytes: 5e6, spread: 0 }], hours_of_day: [{ hour_of_day: 20, count: 3, median_rate_bytes: 5e6, spread: 0 }],
  steps: [{ at: '2026-03-08T20:10:00Z', before_rate_bytes: 1e6, after_rate_bytes: 5e6 }],
} as unknown as NetworkWindow

function mapBy(offsetMin: number) {
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><WeekMap window={window} offsetMin={offsetMin} /></LanguageProvider>
    </MantineProvider>)
  const map = screen.getByRole('region')
  const columns = within(map).getAllByRole('columnheader').map((one) => one.textContent)
  const cells = within(map).getAllByTitle(/transfers/).map((cell) => {
    const row = cell.closest('tr')
    return [row?.querySelector('th')?.textContent, columns[[...(row?.children ?? [])].indexOf(cell)], cell.title.split(',')[0]]
  })
  return { label: map.getAttribute('aria-label'), cells }
}

it('shows hours in UTC', () => {
  const { label, cells } = mapBy(0)
  expect(label).toContain('(UTC)')
  expect(cells).toEqual([['Sun', '20', 'Sun 20:00'], ['Any day', '20', 'Any day 20:00']])
})

it('shows the same hours by a local clock, on the day that it has then, and names the zone', () => {
  const { label, cells } = mapBy(330)
  expect(label).toContain('(UTC+05:30)')
  expect(cells).toEqual([['Mon', '01:30', 'Mon 01:30'], ['Any day', '01:30', 'Any day 01:30']])
  expect(screen.getByRole('columnheader', { name: 'From (UTC+05:30)', hidden: true })).toBeTruthy()
})
