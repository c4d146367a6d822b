import { MantineProvider } from '@mantine/core'
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { en } from '../../../i18n/en'
import { LanguageProvider } from '../../../i18n/language'
import type { Job } from '../../../queries/jobs'
import { JobLogTab } from './job_log_tab'

const asked: string[] = []

beforeEach(() => {
  asked.length = 0
  window.history.replaceState(null, '', '/jobs/job_1?tab=log')
  vi.stubGlobal('fetch', vi.fn((url: string) => {
    asked.push(url)
    return Promise.resolve(new Response(url.includes('attempt=1') ? 'the first try' : 'the second try'))
  }))
})
afterEach(cleanup)

async function show(attempt: Partial<NonNullable<Job['attempt']>> | null) {
  await act(async () => {
    render(
      <MantineProvider env="test">
        <LanguageProvider language="en" dictionary={en}><JobLogTab job={{ id: 'job_1', attempt } as Job} /></LanguageProvider>
      </MantineProvider>)
    await new Promise((resolve) => setTimeout(resolve))
  })
}
const choose = (value: string) => act(async () => {
  fireEvent.change(screen.getByLabelText('Attempt'), { target: { value } })
  for (let turn = 0; turn < 20; ++turn) await new Promise((resolve) => setTimeout(resolve))
})

it('shows what an earlier attempt wrote when that is chosen, and has the choice in the address', async () => {
  await show({ epoch: 2, started_at: '2026-11-01T00:00:00Z' })
  expect(await screen.findByText('the second try')).toBeTruthy()
  await choose('1')
  expect(await screen.findByText('the first try')).toBeTruthy()
  expect(window.location.search).toBe('?tab=log&attempt=1')
  await choose('2')
  expect(await screen.findByText('the second try')).toBeTruthy()
  expect(window.location.search).toBe('?tab=log')
  const log = '/api/v1/jobs/job_1/logs/stdout?follow=true'
  expect(asked).toEqual([log, `${log}&attempt=1`, log])
})

it('has the output of earlier attempts also while the newest has not started', async () => {
  await show({ epoch: 2, started_at: null })
  expect(screen.getByText('It has not started, so there is no output.')).toBeTruthy()
  expect(asked).toEqual([])
  await choose('1')
  expect(await screen.findByText('the first try')).toBeTruthy()
})

it('has nothing to choose of a job that was tried once', async () => {
  await show({ epoch: 1, started_at: '2026-11-01T00:00:00Z' })
  expect(await screen.findByText('the second try')).toBeTruthy()
  expect(screen.queryByLabelText('Attempt')).toBeNull()
})
