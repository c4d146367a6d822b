import { InfiniteQueryObserver, QueryClient, type QueryKey, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { followJobs } from './live_refresh'

const keys = [{ key: ['jobs', 'list'], everyMs: 1500 }, { key: ['unit-types'], everyMs: 10_000 }]
const page = { hidden: false }
let client: QueryClient
let stops: (() => void)[]

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('document', page)
  page.hidden = false
  client = new QueryClient({ defaultOptions: { queries: { staleTime: 5000, retry: false } } })
  stops = []
})
afterEach(() => {
  for (const stop of stops) stop()
  client.clear()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** Something that a page shows, read once when it is shown; the function counts how often it was read. */
async function shown(queryKey: QueryKey, ms = 0) {
  const read = vi.fn(() => new Promise((resolve) => setTimeout(() => resolve('answer'), ms)))
  stops.push(new QueryObserver(client, { queryKey, queryFn: read }).subscribe(() => undefined))
  await pass(ms)
  read.mockClear()
  return read
}

/** A list of which so many pages are shown. */
async function shownPages(queryKey: QueryKey, pages: number) {
  const read = vi.fn(({ pageParam }: { pageParam: number }) => Promise.resolve(pageParam))
  const observer = new InfiniteQueryObserver(client, { queryKey, queryFn: read, initialPageParam: 0, getNextPageParam: (last: number) => last + 1 })
  stops.push(observer.subscribe(() => undefined))
  await pass(0)
  for (let i = 1; i < pages; i++) await observer.fetchNextPage()
  read.mockClear()
  return read
}

function followed() {
  const jobs = followJobs(client, keys)
  stops.push(jobs.stop)
  return jobs
}

describe('what follows jobs', () => {
  it('is read again once for many events, and once more for those that came meanwhile', async () => {
    const list = await shown(['jobs', 'list', 'all'])
    const jobs = followed()
    await pass(5000)
    for (let i = 0; i < 20; i++) jobs.changed(`job_${i}`)
    await pass(0)
    expect(list).toHaveBeenCalledTimes(1)
    await pass(1500)
    expect(list).toHaveBeenCalledTimes(2)
    await pass(60_000)
    expect(list).toHaveBeenCalledTimes(2)
  })

  it('has the unit types read again every 10 s at most while jobs change all the time, and a last time after', async () => {
    const units = await shown(['unit-types', 'list', ''])
    const jobs = followed()
    await pass(60_000)
    for (let second = 0; second < 30; second++) {
      jobs.changed('job_1')
      await pass(1000)
    }
    expect(units.mock.calls.length).toBeGreaterThanOrEqual(3)
    expect(units.mock.calls.length).toBeLessThanOrEqual(4)
    await pass(10_000)
    const all = units.mock.calls.length
    await pass(60_000)
    expect(units).toHaveBeenCalledTimes(all)
  })

  it('costs no more requests when more pages of a list are shown', async () => {
    const few = await shownPages(['jobs', 'list', 'few'], 1)
    const many = await shownPages(['jobs', 'list', 'many'], 10)
    const jobs = followed()
    await pass(60_000)
    for (let second = 0; second < 60; second++) {
      jobs.changed('job_1')
      await pass(1000)
    }
    expect(few.mock.calls.length).toBeGreaterThan(25)
    expect(many.mock.calls.length).toBeGreaterThanOrEqual(40)
    expect(many.mock.calls.length).toBeLessThanOrEqual(50)
  })

  it('is not read where no page shows it, but when one shows it again', async () => {
    const list = await shown(['jobs', 'list', 'all'])
    stops.splice(0).forEach((stop) => stop())
    const jobs = followed()
    jobs.changed('job_1')
    await pass(5000)
    expect(list).not.toHaveBeenCalled()
    stops.push(new QueryObserver(client, { queryKey: ['jobs', 'list', 'all'], queryFn: list, staleTime: Infinity }).subscribe(() => undefined))
    await pass(0)
    expect(list).toHaveBeenCalledTimes(1)
  })

  it('is not read while the page is hidden', async () => {
    const list = await shown(['jobs', 'list', 'all'])
    const units = await shown(['unit-types', 'list', ''])
    const jobs = followed()
    await pass(1500)
    jobs.changed('job_1')
    await pass(0)
    page.hidden = true
    await pass(60_000)
    expect(list).toHaveBeenCalledTimes(1)
    expect(units).not.toHaveBeenCalled()
  })

  it('is read after an answer that was on its way when the job changed', async () => {
    const list = await shown(['jobs', 'list', 'all'], 4000)
    const jobs = followed()
    await pass(5000)
    jobs.changed('job_1')
    await pass(1000)
    expect(list).toHaveBeenCalledTimes(1)
    jobs.changed('job_2')
    await pass(10_000)
    expect(list).toHaveBeenCalledTimes(2)
  })

  it('has the parts of a job read again that has changed, and of no other', async () => {
    const changed = await shown(['jobs', 'one', 'job_1', 'self'])
    const other = await shown(['jobs', 'one', 'job_2', 'self'])
    followed().changed('job_1')
    await pass(5000)
    expect(changed).toHaveBeenCalledTimes(1)
    expect(other).not.toHaveBeenCalled()
  })
})
