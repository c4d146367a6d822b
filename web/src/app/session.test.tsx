import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import { ApiError } from '../api/problem'
import type * as SessionApi from '../api/session'
import { en } from '../i18n/en'
import { LanguageProvider } from '../i18n/language'
import { SessionGate } from './session'
import { Header } from './shell/header'

const { signOut } = vi.hoisted(() => ({ signOut: vi.fn<() => Promise<void>>() }))
vi.mock('../api/session', async (original) => ({
  ...await original<typeof SessionApi>(),
  signOut,
  readProvider: () => Promise.resolve(null),
  readSession: () => Promise.resolve({ name: 'ada', role: 'user', permissions: [], projects: {}, csrf_token: 'token' }),
}))
afterEach(cleanup)

async function leave() {
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}>
        <QueryClientProvider client={new QueryClient()}>
          <SessionGate><Header isMenuOpen={false} onMenu={() => undefined} onPalette={() => undefined} /></SessionGate>
        </QueryClientProvider>
      </LanguageProvider>
    </MantineProvider>)
  fireEvent.click(await screen.findByText('ada', { selector: 'button *' }))
  // jsdom has no layout: menus open, but count as hidden, so their items are found by text.
  fireEvent.click(await screen.findByText('Sign out'))
}

it('says that one is still signed in where the server could not be asked to end the session', async () => {
  signOut.mockRejectedValueOnce(new ApiError(0, 'No answer from the server.'))
  await leave()
  await screen.findByText('You are still signed in')
  expect(screen.queryByLabelText('Name')).toBeNull()
})

it('leads to the sign-in once the session is over, also when it was so already', async () => {
  for (const answer of [() => Promise.resolve(), () => Promise.reject(new ApiError(401, 'no session'))]) {
    signOut.mockImplementationOnce(answer)
    await leave()
    await screen.findByLabelText('Name')
    expect(screen.queryByText('Sign out')).toBeNull()
    cleanup()
  }
})
