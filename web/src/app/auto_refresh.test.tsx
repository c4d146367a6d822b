import { focusManager, QueryClientProvider, useQuery } from '@tanstack/react-query'
import { act, cleanup, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RefreshingClient, setAutoRefreshing } from './auto_refresh'

const read = vi.fn(() => Promise.resolve('answer'))

beforeEach(() => {
  vi.useFakeTimers()
  read.mockClear()
})
afterEach(() => {
  cleanup()
  act(() => setAutoRefreshing(true))
  focusManager.setFocused(undefined)
  vi.useRealTimers()
})

function Shown({ interval }: { interval: number | (() => number) }) {
  return <p>{useQuery({ queryKey: ['anything'], queryFn: read, refetchInterval: interval }).data}</p>
}

async function pass(ms: number) {
  await act(() => vi.advanceTimersByTimeAsync(ms))
}

async function show(interval: number | (() => number)) {
  const client = new RefreshingClient()
  render(<QueryClientProvider client={client}><Shown interval={interval} /></QueryClientProvider>)
  await pass(0)
  return client
}

it.each([{ interval: 1000 }, { interval: () => 1000 }])('what is shown stays as it is until somebody asks, and then is refreshed again', async ({ interval }) => {
  const client = await show(interval)
  await pass(2500)
  expect(read).toHaveBeenCalledTimes(3)

  act(() => setAutoRefreshing(false))
  await pass(10_000)
  expect(read).toHaveBeenCalledTimes(3)
  await act(() => client.invalidateQueries())
  await pass(10_000)
  expect(read).toHaveBeenCalledTimes(4)
  screen.getByText('answer')

  act(() => setAutoRefreshing(true))
  await pass(1500)
  expect(read).toHaveBeenCalledTimes(5)
})

it('a page that gets the focus asks only while that is wanted, and this browser remembers it', async () => {
  await show(0)
  for (const [isOn, count] of [[true, 2], [false, 2]] as const) {
    act(() => {
      setAutoRefreshing(isOn)
      focusManager.setFocused(false)
      focusManager.setFocused(true)
    })
    await pass(0)
    expect(read).toHaveBeenCalledTimes(count)
  }
  expect(localStorage.getItem('fathom.refresh')).toBe('by-hand')
})
