import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import type { ReactElement } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ApiError } from '../../api/problem'
import { en } from '../../i18n/en'
import { LanguageProvider } from '../../i18n/language'
import type * as CycleQueries from '../../queries/cycles'
import type { Cycle, CycleJob, CycleReplay } from '../../queries/cycles'
import { CyclePage } from './cycle_page'
import { CyclesPage } from './cycles_page'

const cycle: Cycle = { id: 'cyc_1', decided_at: '2026-11-01T00:00:00Z', decided_by: 'rep_1', job_count: 3, start_count: 1, decision_s: 0.25, bytes: 5000 }
const place = { unit_type_id: 'ut_1', center: 'alpha', unit_type: 'core', unit_count: 2, start_s: 0, run_s: 10, completion_s: 10 }
const starts: CycleJob = { job_id: 'job_a', project: 'p', label: 'job', priority: 0, waited_s: 3, is_start: true, position: 1, place, waits_for: null, priority_rank: null }
const waits: CycleJob = { ...starts, job_id: 'job_b', is_start: false, position: null, waits_for: 'units', priority_rank: 4 }
const same: CycleReplay = { cycle, is_same: true, differences: [], start_count: 1, wait_count: 2, job: null }

const known = {
  cycles: [cycle] as readonly Cycle[],
  error: null as unknown,
  replay: same,
  asked: [] as string[],
  filters: { since: '', until: '' },
}

function ready<T>(data: T) {
  return { data, isPending: false, isError: false, isFetching: false, error: null, dataUpdatedAt: 0, refetch: () => undefined }
}
const pages = <T,>(items: readonly T[]) => ({ ...ready(items), items, hasNextPage: false, isFetchingNextPage: false, fetchNextPage: () => undefined })

vi.mock('../../queries/cycles', async (original) => ({
  ...await original<typeof CycleQueries>(),
  useCycles: (filters: CycleQueries.CycleFilters) => {
    known.filters = filters
    return pages(known.cycles)
  },
  useCycle: () => (known.error ? { ...ready(undefined), isError: true, error: known.error } : ready(cycle)),
  useCycleJobs: () => pages([starts, waits]),
  useReplay: (_: string, job: string, isAsked: boolean) => {
    if (isAsked) known.asked.push(job)
    return ready(isAsked ? known.replay : undefined)
  },
}))

beforeEach(() => {
  Object.assign(known, { cycles: [cycle], error: null, replay: same, asked: [] })
  window.history.replaceState(null, '', '/cycles/cyc_1')
})
afterEach(cleanup)

function show(page: ReactElement) {
  render(<MantineProvider env="test"><LanguageProvider language="en" dictionary={en}>{page}</LanguageProvider></MantineProvider>)
}
const cells = () => [...document.querySelectorAll('tbody tr')].map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent))

it('lists cycles with how many jobs started and were left, and how long it took', () => {
  show(<CyclesPage />)
  expect(cells()).toEqual([['2026-11-01 00:00:00 UTC', '3', '1', '2', '250 ms', 'rep_1']])
  expect(document.querySelector('tbody a')?.getAttribute('href')).toBe('/cycles/cyc_1')
})

it('says why there are no cycles', () => {
  known.cycles = []
  show(<CyclesPage />)
  expect(screen.getByText('No scheduling cycle is kept')).toBeTruthy()
})

it('asks for the cycles of a time that stands in the address, and says when there are none of it', () => {
  known.cycles = []
  window.history.replaceState(null, '', '/cycles?since=2026-11-01T08:00:00Z&until=yesterday')
  show(<CyclesPage />)
  expect(known.filters).toEqual({ since: '2026-11-01T08:00:00Z', until: '' })
  expect(screen.getByLabelText<HTMLInputElement>('Decided from (in UTC)').value).toBe('2026-11-01T08:00')
  expect(screen.queryByText('No scheduling cycle is kept')).toBeNull()
  fireEvent.click(screen.getByText('Clear the filters'))
  expect(window.location.search).toBe('')
})

it('shows the jobs of a cycle, and decides it again only when that is asked for', () => {
  show(<CyclePage params={{ id: 'cyc_1' }} />)
  expect(cells().map((row) => [row[0], row[1], row[3], row[4]])).toEqual([
    ['1', 'job_a', 'starts', 'alpha / core × 2'], ['–', 'job_b', 'waits for units', 'alpha / core × 2']])
  expect(screen.getByLabelText('Explain the place of job_b').getAttribute('href')).toBe('/cycles/cyc_1?job=job_b')
  expect(known.asked).toEqual([])
  fireEvent.click(screen.getByText('Decide again', { selector: 'button *' }))
  expect(screen.getByText('the same plan, bit for bit')).toBeTruthy()
  expect(known.asked).toContain('')
})

it('names the differences of another plan', () => {
  known.replay = { ...same, is_same: false, differences: ['job_a: starts on 2 of alpha/core was stored, waits for no place came out'] }
  show(<CyclePage params={{ id: 'cyc_1' }} />)
  fireEvent.click(screen.getByText('Decide again', { selector: 'button *' }))
  expect(screen.getByText('another plan')).toBeTruthy()
  expect(screen.getByText(/waits for no place came out/)).toBeTruthy()
})

it('explains the place of the job that the address names', () => {
  window.history.replaceState(null, '', '/cycles/cyc_1?job=job_b')
  known.replay = { ...same, job: {
    job_id: 'job_b', is_start: false, position: null, decision: { winner: null, candidates: [], assumptions: [] } as never,
    starts_before: [{ job_id: 'job_a', center: 'alpha', unit_type: 'core', unit_count: 2, run_s: 10 }],
    waiting: { reason: 'waits for a unit of alpha/core', priority_rank: 4, jobs_ahead: 7, planned: null },
  } }
  show(<CyclePage params={{ id: 'cyc_1' }} />)
  expect(screen.getByText('waits for a unit of alpha/core')).toBeTruthy()
  expect(screen.getByText('Started before it, at places that it could have had', { selector: 'h2' })).toBeTruthy()
  fireEvent.click(screen.getByText('Close', { selector: 'button *' }))
  expect(window.location.search).toBe('')
})

it('says of a cycle that is gone that it is, and leads to the others', () => {
  known.error = new ApiError(404, 'there is no such cycle')
  show(<CyclePage params={{ id: 'cyc_1' }} />)
  expect(screen.getByText('This scheduling cycle is not kept')).toBeTruthy()
  expect(screen.getByText('Those that are kept').getAttribute('href')).toBe('/cycles')
})
