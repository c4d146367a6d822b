import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ApiError } from '../../../api/problem'
import { en } from '../../../i18n/en'
import { LanguageProvider } from '../../../i18n/language'
import type * as JobQueries from '../../../queries/jobs'
import type { Job } from '../../../queries/jobs'
import { CancelMany } from './cancel_many'

/** Jobs whose cancellation was asked for, each with what answers. */
const asked: { id: string; answer: () => void; refuse: (error: unknown) => void }[] = []

vi.mock('../../../queries/jobs', async (original) => ({
  ...await original<typeof JobQueries>(),
  cancelJob: (id: string) => new Promise<void>((answer, refuse) => {
    asked.push({ id, answer, refuse })
  }),
}))

beforeEach(() => {
  asked.length = 0
})
afterEach(cleanup)

const jobs = ['a', 'b', 'c'].map((id) => ({ id, name: `job ${id}`, state: 'running' }) as Job)

function show() {
  const close = vi.fn()
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}>
        <QueryClientProvider client={new QueryClient()}><CancelMany jobs={jobs} onClose={close} /></QueryClientProvider>
      </LanguageProvider>
    </MantineProvider>)
  return close
}

// jsdom has no layout: a dialog opens, but counts as hidden.
const lines = () => [...document.querySelectorAll('li')].map((line) => line.textContent)
const press = (text: string) => fireEvent.click(screen.getByText(text, { selector: 'button *' }))
const settle = (what: () => void) => act(async () => {
  what()
  await new Promise((resolve) => setTimeout(resolve))
})

it('shows which jobs, asks for one after the other, and says what became of each', async () => {
  const close = show()
  expect(lines()).toHaveLength(3)
  expect(asked).toHaveLength(0)
  press('Cancel 3 jobs')
  expect(asked.map((one) => one.id)).toEqual(['a'])
  await settle(() => asked[0]?.answer())
  await settle(() => asked[1]?.refuse(new ApiError(409, 'it has ended')))
  await settle(() => asked[2]?.answer())
  expect(screen.getByText('2 of 3 cancellations asked for')).toBeTruthy()
  expect(lines()[1]).toContain('it has ended')
  press('Close')
  expect(close).toHaveBeenCalledTimes(1)
})

it('stays until it is done; stopped on the way it says which were left', async () => {
  const close = show()
  press('Cancel 3 jobs')
  press('Stop')
  expect(close).not.toHaveBeenCalled()
  await settle(() => asked[0]?.answer())
  expect(asked.map((one) => one.id)).toEqual(['a'])
  expect(lines()[0]).toContain('cancellation asked for')
  expect(lines()[1]).toContain('left as it is')
  expect(screen.getByText('1 of 3 cancellations asked for')).toBeTruthy()
})
