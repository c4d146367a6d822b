import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query'
import { act, cleanup, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { setAutoRefreshing } from './auto_refresh'
import { LiveProvider, useLive } from './live'

/** A stream of events as a browser has it, without a server. */
class Stream {
  static readonly CLOSED = 2
  static all: Stream[] = []
  static get open() {
    return Stream.all.filter((stream) => stream.readyState !== Stream.CLOSED)
  }
  readyState = 0
  onopen: (() => void) | null = null
  onerror: (() => void) | null = null
  constructor() {
    Stream.all.push(this)
  }
  addEventListener() {
    return undefined
  }
  close() {
    this.readyState = Stream.CLOSED
  }
}

let isHidden = false
const read = vi.fn(() => Promise.resolve('answer'))

beforeEach(() => {
  Stream.all = []
  isHidden = false
  read.mockClear()
  vi.stubGlobal('EventSource', Stream)
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden })
})
afterEach(() => {
  cleanup()
  setAutoRefreshing(true)
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function hide(hidden: boolean) {
  isHidden = hidden
  act(() => void document.dispatchEvent(new Event('visibilitychange')))
}

async function open() {
  await act(async () => {
    Stream.open[0]?.onopen?.()
    await Promise.resolve()
  })
}

function Shown() {
  useQuery({ queryKey: ['anything'], queryFn: read, staleTime: Infinity, refetchOnWindowFocus: false })
  return <p>{useLive().state}</p>
}

async function show() {
  await act(async () => {
    render(<QueryClientProvider client={new QueryClient()}><LiveProvider><Shown /></LiveProvider></QueryClientProvider>)
    await Promise.resolve()
  })
}

it('a page that is looked at has one stream, and what it shows is read once', async () => {
  await show()
  await open()
  screen.getByText('live')
  expect(Stream.open).toHaveLength(1)
  expect(read).toHaveBeenCalledTimes(1)
})

it('a hidden page has none; shown again it has one, and reads again what it shows', async () => {
  await show()
  await open()
  hide(true)
  expect(Stream.open).toHaveLength(0)
  expect(read).toHaveBeenCalledTimes(1)
  hide(false)
  expect(Stream.open).toHaveLength(1)
  screen.getByText('connecting')
  await open()
  screen.getByText('live')
  expect(read).toHaveBeenCalledTimes(2)
})

it('a page that is opened in the background waits until it is looked at', async () => {
  isHidden = true
  await show()
  expect(Stream.all).toHaveLength(0)
  hide(false)
  await open()
  expect(Stream.open).toHaveLength(1)
  expect(read).toHaveBeenCalledTimes(2)
})

it('a stream that broke is not tried again while the page is hidden', async () => {
  vi.useFakeTimers()
  await show()
  await open()
  const [stream] = Stream.open
  act(() => {
    stream?.close()
    stream?.onerror?.()
  })
  screen.getByText('broken')
  hide(true)
  vi.advanceTimersByTime(60_000)
  expect(Stream.open).toHaveLength(0)
  hide(false)
  expect(Stream.open).toHaveLength(1)
})

it('while nothing is to be refreshed there is no stream; then there is one, and what is shown is read again', async () => {
  await show()
  await open()
  act(() => setAutoRefreshing(false))
  screen.getByText('stopped')
  expect(Stream.open).toHaveLength(0)
  hide(true)
  hide(false)
  expect(Stream.open).toHaveLength(0)
  expect(read).toHaveBeenCalledTimes(1)
  act(() => setAutoRefreshing(true))
  expect(Stream.open).toHaveLength(1)
  await open()
  screen.getByText('live')
  expect(read).toHaveBeenCalledTimes(2)
})

it('a page that is left ends its stream', async () => {
  await show()
  await open()
  cleanup()
  expect(Stream.open).toHaveLength(0)
  hide(true)
  hide(false)
  expect(Stream.open).toHaveLength(0)
})
