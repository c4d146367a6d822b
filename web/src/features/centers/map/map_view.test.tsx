import { MantineProvider } from '@mantine/core'
import { cleanup, render, screen, within } from '@testing-library/react'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { en } from '../../../i18n/en'
import { LanguageProvider } from '../../../i18n/language'
import type { Center } from '../../../queries/centers'
import type { NetworkWindow } from '../../../queries/network_windows'
import { MapView } from './map_view'

const known: { windows: NetworkWindow[] | undefined; state: object; isNarrow: boolean } = { windows: [], state: {}, isNarrow: false }
const read = { isPart: false, isCut: false, isError: false, error: null, refetch: () => undefined }

vi.mock('../../../queries/network_windows', () => ({ useTimedNetworks: () => ({ ...read, ...known.state, data: known.windows }) }))

beforeAll(() => {
  // Tells Mantine how wide the window is.
  vi.stubGlobal('matchMedia', (query: string) => ({ matches: known.isNarrow && query.includes('max-width'), addEventListener: () => undefined, removeEventListener: () => undefined }))
})
beforeEach(() => {
  known.windows = []
  known.state = {}
  known.isNarrow = false
})
afterEach(cleanup)

const center = (name: string, change: Partial<Center> = {}) =>
  ({ id: name, name, state: 'online', drained: false, revoked_at: null, quarantined_at: null, units_in_use: 0, unit_count: 0, ...change }) as Center

function show(centers: readonly Center[]) {
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><MapView centers={centers} tools={<span>filters</span>} empty={<p>none</p>} /></LanguageProvider>
    </MantineProvider>)
}

const links = () => within(screen.getByRole('region', { name: 'Map of the network' })).queryAllByRole('link')

it('each center is a link to its page, with its state, its load and its bandwidth', () => {
  known.windows = [{ center_id: 'alpha', now: { rate_bytes: 1.18e8, basis: 'overall' }, sample_count: 9, good_hours: { first_hour: 22, hour_count: 4 } } as NetworkWindow]
  show([center('beta', { state: 'lost' }), center('alpha', { units_in_use: 3, unit_count: 8 })])
  expect(links().map((link) => [link.getAttribute('href'), link.querySelector('title')?.textContent])).toEqual([
    ['/centers/alpha', 'alpha: online, 3 / 8 units in use, 118 MB/s'],
    ['/centers/beta', 'beta: lost, 0 / 0 units in use, its network was never timed'],
  ])
  screen.getByText('1 of 2 connected')
})

it('on a narrow screen all centers are below each other, so that none is out of sight', () => {
  known.isNarrow = true
  show([center('beta'), center('alpha'), center('gamma')])
  expect(links().map((link) => link.getAttribute('href'))).toEqual(['/centers/alpha', '/centers/beta', '/centers/gamma'])
  expect(new Set(links().map((link) => link.querySelector('text')?.getAttribute('x'))).size).toBe(1)
})

it('a table says the same as the map', () => {
  known.windows = [{ center_id: 'alpha', now: { rate_bytes: 1.18e8, basis: 'overall' }, sample_count: 9, good_hours: { first_hour: 22, hour_count: 4 } } as NetworkWindow]
  show([center('alpha', { units_in_use: 3, unit_count: 8 }), center('beta', { drained: true })])
  const rows = screen.getAllByRole('row', { hidden: true }).slice(1)
  expect(rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent))).toEqual([
    ['alpha', 'online', '3 / 8', '118 MB/s', '22:00–02:00 UTC', '9'], ['beta', 'drained', '0 / 0', '–', '–', '–']])
})

it('of a thousand centers some are drawn, which is said, and the table has the others', () => {
  show(Array.from({ length: 1000 }, (_, i) => center(`c${i}`, i === 999 ? { state: 'lost' } : {})))
  expect(links()).toHaveLength(40)
  expect(links().map((link) => link.getAttribute('href'))).toContain('/centers/c999')
  expect(screen.getByRole('status').textContent).toMatch(/^40 of 1000 centers are drawn/)
})

it('is there before the bandwidths are, and says of no center that it was never timed meanwhile', () => {
  known.windows = undefined
  show([center('alpha', { units_in_use: 3, unit_count: 8 })])
  expect(links()[0]?.querySelector('title')?.textContent).toBe('alpha: online, 3 / 8 units in use, its bandwidth has not been read')
  expect(screen.getByRole('status').textContent).toBe('The bandwidths are being read…')
})

it('draws the bandwidths that have come while others are read', () => {
  known.windows = [{ center_id: 'alpha', now: { rate_bytes: 1.18e8, basis: 'overall' }, sample_count: 9, good_hours: null } as NetworkWindow]
  known.state = { isPart: true }
  show([center('alpha'), center('beta')])
  expect(links().map((link) => link.querySelector('title')?.textContent)).toEqual([
    'alpha: online, 0 / 0 units in use, 118 MB/s', 'beta: online, 0 / 0 units in use, its bandwidth has not been read'])
})

it('is there, too, where the bandwidths cannot be read, and says why', () => {
  known.windows = undefined
  known.state = { isError: true, error: new Error('no answer') }
  show([center('alpha')])
  expect(links().map((link) => link.querySelector('title')?.textContent)).toEqual(['alpha: online, 0 / 0 units in use, its bandwidth has not been read'])
  screen.getByRole('button', { name: 'Try again' })
})

it('says of no center that it was never timed where only some of what was timed is read', () => {
  known.state = { isCut: true }
  show([center('alpha')])
  expect(links()[0]?.querySelector('title')?.textContent).toBe('alpha: online, 0 / 0 units in use, its bandwidth has not been read')
})

it('where no center fits, that is said instead', () => {
  show([])
  screen.getByText('none')
  expect(screen.queryByRole('region')).toBeNull()
})
