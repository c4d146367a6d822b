import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { en } from '../../i18n/en'
import { LanguageProvider } from '../../i18n/language'
import type { AuditCheck } from '../../queries/audit_log'
import { VerifyLog } from './verify_log'

const whole: AuditCheck = { acts: 12, removed: 0, unchained: 1, last_number: 12, last_sha256: 'a'.repeat(64), fault: null, good: true }
const server = { data: undefined as AuditCheck | undefined, mutate: vi.fn() }

vi.mock('../../queries/audit_log', () => ({
  useVerifyAuditLog: () => ({ data: server.data, error: null, isPending: false, mutate: server.mutate, reset: () => undefined }),
}))

beforeEach(() => {
  server.data = undefined
  server.mutate.mockClear()
})
afterEach(cleanup)

function show() {
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><VerifyLog /></LanguageProvider>
    </MantineProvider>)
}
const known = () => screen.getByLabelText('End that an earlier check said (optional)')

it('asks for the whole log, or against the end that an earlier check said', () => {
  show()
  fireEvent.submit(known())
  expect(server.mutate).toHaveBeenLastCalledWith('')
  fireEvent.change(known(), { target: { value: ` 7:${'b'.repeat(64)} ` } })
  fireEvent.submit(known())
  expect(server.mutate).toHaveBeenLastCalledWith(`7:${'b'.repeat(64)}`)
})

it('sends no end that is none', () => {
  show()
  fireEvent.change(known(), { target: { value: '7:abc' } })
  expect(screen.getByText('NUMBER:SHA256, as a check says it')).toBeTruthy()
  fireEvent.submit(known())
  expect(server.mutate).not.toHaveBeenCalled()
})

it('says that all is there, and the end to be noted', () => {
  server.data = whole
  show()
  expect(screen.getByText('nothing is missing or changed')).toBeTruthy()
  expect(screen.getByText(`12:${'a'.repeat(64)}`)).toBeTruthy()
})

it('says what is wrong, and offers no end of a broken chain to be noted', () => {
  server.data = { ...whole, good: false, fault: 'act 3 is missing' }
  show()
  expect(screen.getByText('the log was changed')).toBeTruthy()
  expect(screen.getByText('act 3 is missing')).toBeTruthy()
  expect(screen.queryByText('Copy the end')).toBeNull()
})
