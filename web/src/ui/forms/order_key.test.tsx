import { act, cleanup, renderHook } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import { useOrderKey } from './order_key'

afterEach(cleanup)

it('the very same order has the same key, also after other drawings; whatever differs has another', () => {
  const { result, rerender } = renderHook(() => useOrderKey())
  const first = result.current({ name: 'weekly', cron: '@weekly' })
  rerender()
  act(() => undefined)
  expect(result.current({ name: 'weekly', cron: '@weekly' })).toBe(first)
  const second = result.current({ name: 'weekly', cron: '@daily' })
  expect(second).not.toBe(first)
  expect(result.current({ name: 'weekly', cron: '@daily' })).toBe(second)
})
