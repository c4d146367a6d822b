import { expect, it } from 'vitest'
import { readAll } from './pages'

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
