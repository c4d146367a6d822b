import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { en } from '../../../i18n/en'
import { LanguageProvider } from '../../../i18n/language'
import { OperatorReviews } from './operator_reviews'

const seen = vi.hoisted(() => ({ items: [] as unknown[], may: true, approve: vi.fn(), reject: vi.fn() }))

vi.mock('../../../app/session', () => ({ useSession: () => ({ may: () => seen.may }) }))
vi.mock('../../../queries/operator_reviews', () => ({
  useOperatorReviews: () => ({ items: seen.items, hasNextPage: false, isFetchingNextPage: false, fetchNextPage: () => undefined }),
  useReadReviewedPackage: () => ({ mutate: () => undefined, isPending: false, error: null }),
  useApproveOperator: () => ({ mutate: seen.approve, isPending: false, error: null }),
  useRejectOperator: () => ({ mutate: seen.reject, isPending: false, error: null }),
}))

const review = {
  id: 'orv_1', operator: 'dense_lu', version: 1, center: 'alpha', key_id: '0123456789abcdef', manifest: { sandbox: { network: true, memory_bytes: 1024 } },
  submitted_at: '2026-03-01T12:00:00Z', submitted_by: 'tok_1',
}

beforeEach(() => {
  seen.items = [review]
  seen.may = true
  seen.approve.mockReset()
  seen.reject.mockReset()
})
afterEach(cleanup)

function show() {
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><OperatorReviews /></LanguageProvider>
    </MantineProvider>)
}

it('shows nothing where nothing waits', () => {
  seen.items = []
  show()
  expect(screen.queryByText('Operators of centers that await review')).toBeNull()
})

it('says what an operator may use, and approves it after a question', () => {
  show()
  expect(screen.getByText(/^the network, /)).toBeTruthy()
  fireEvent.click(screen.getByRole('button', { name: 'Approve… dense_lu' }))
  expect(seen.approve).not.toHaveBeenCalled()
  fireEvent.click(screen.getByRole('button', { name: 'Approve' }))
  expect(seen.approve.mock.calls[0]?.[0]).toMatchObject({ id: 'orv_1' })
})

it('rejects with a reason only', () => {
  show()
  fireEvent.click(screen.getByRole('button', { name: 'Reject… dense_lu' }))
  expect(screen.getByRole('button', { name: 'Reject' })).toHaveProperty('disabled', true)
  fireEvent.change(screen.getByRole('textbox', { name: /Reason/ }), { target: { value: ' no check ' } })
  fireEvent.click(screen.getByRole('button', { name: 'Reject' }))
  expect(seen.reject.mock.calls[0]?.[0]).toMatchObject({ id: 'orv_1', reason: 'no check' })
})

it('lets only those decide who may', () => {
  seen.may = false
  show()
  expect(screen.getByText('dense_lu')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Approve… dense_lu' })).toBeNull()
})
