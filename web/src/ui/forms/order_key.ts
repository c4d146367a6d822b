import { useCallback, useRef } from 'react'
import { idempotencyKey } from '../../api/client'

/**
 * The key with which an order is sent. The very same order, sent again because its answer was lost, has the same key and is
 * carried out once; whatever was changed in the form makes it another order.
 */
export function useOrderKey(): (order: unknown) => string {
  const last = useRef({ text: '', key: '' })
  return useCallback((order: unknown) => {
    const text = JSON.stringify(order)
    if (last.current.text !== text) last.current = { text, key: idempotencyKey() }
    return last.current.key
  }, [])
}
