import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, cleanup, renderHook } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, expect, it } from 'vitest'
import { type Page, readAll, useListInParts, useWholeList } from './pages'

afterEach(cleanup)

/** A list of numbers that is given two at a time. */
function listOf(count: number) {
  const asked: (string | undefined)[] = []
  const read = (token: string | undefined) => {
    asked.push(token)
    const first = Number(token ?? 0)
    const next = first + 2
    return Promise.resolve({ items: [first, first + 1].filter((n) => n < count), next_page_token: next < count ? String(next) : null })
  }
  return { asked, read }
}

it('a list is read page by page to its end', async () => {
  const { asked, read } = listOf(5)
  expect(await readAll(read)).toEqual({ items: [0, 1, 2, 3, 4], isCut: false })
  expect(asked).toEqual([undefined, '2', '4'])
})

it('a list that is longer than is read says so', async () => {
  const { asked, read } = listOf(7)
  expect(await readAll(read, 4)).toEqual({ items: [0, 1, 2, 3], isCut: true })
  expect(asked).toEqual([undefined, '2'])
})

it('a list that ends where reading ends is whole', async () => {
  expect((await readAll(listOf(4).read, 4)).isCut).toBe(false)
  expect(await readAll(listOf(0).read)).toEqual({ items: [], isCut: false })
})

/** Lets timers that are due have their turns, one after another, however long these take. */
const settle = () => act(async () => {
  for (let turn = 0; turn < 20; ++turn) await new Promise((resolve) => setTimeout(resolve))
})

/** A list of three pages, each of which comes when it is let go. */
function slowList() {
  const waiting: (() => void)[] = []
  const read = (token: string | undefined) => {
    const n = Number(token ?? 0)
    return new Promise<Page<number>>((resolve, reject) => {
      waiting.push(() => {
        if (n === 9) reject(new Error('gone'))
        else resolve({ items: [n], next_page_token: n < 2 ? String(n + 1) : null })
      })
    })
  }
  const letGo = async () => {
    await settle() // until it is asked for
    waiting.shift()?.()
    await settle()
  }
  return { read, letGo }
}

function within(client: QueryClient) {
  return ({ children }: { children: ReactNode }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>
}

it('shows what has come of a list, and who needs all of it waits', async () => {
  const { read, letGo } = slowList()
  const client = new QueryClient()
  const { result } = renderHook(() => ({ inParts: useListInParts({ key: ['n'], read }), whole: useWholeList({ key: ['n'], read }) }), { wrapper: within(client) })
  await letGo()
  expect(result.current.inParts).toMatchObject({ data: [0], isPart: true, isCut: false })
  expect(result.current.whole.data).toBeUndefined()
  await letGo()
  expect(result.current.inParts).toMatchObject({ data: [0, 1], isPart: true })
  await letGo()
  expect(result.current.inParts).toMatchObject({ data: [0, 1, 2], isPart: false })
  expect(result.current.whole.data).toEqual([0, 1, 2])
  client.clear()
})

it('a list that is there stays whole while it is read anew', async () => {
  const { read, letGo } = slowList()
  const client = new QueryClient()
  const { result } = renderHook(() => useListInParts({ key: ['n'], read }), { wrapper: within(client) })
  for (let page = 0; page < 3; page++) await letGo()
  act(() => void result.current.refetch())
  await letGo()
  expect(result.current).toMatchObject({ data: [0, 1, 2], isPart: false })
  client.clear()
})

it('a list of which a page fails is an error, not a part', async () => {
  const { read, letGo } = slowList()
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const failing = (token: string | undefined) => read(token === undefined ? token : '9')
  const { result } = renderHook(() => useListInParts({ key: ['n'], read: failing }), { wrapper: within(client) })
  await letGo()
  expect(result.current).toMatchObject({ data: [0], isPart: true })
  await letGo()
  expect(result.current).toMatchObject({ data: undefined, isPart: false, isError: true })
  client.clear()
})
