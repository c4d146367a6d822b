import { TextInput } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import { useText } from '../../i18n/language'
import { useZone } from '../zone'
import { toTyped } from './moments'

export { toIso } from './moments'

/** A moment, typed in the chosen zone; the label says which. `value` is what the input holds, see toIso. */
export function MomentInput(props: { label: string; value: string; onChange: (typed: string) => void; hint?: string; error?: string | undefined; required?: boolean; width?: number; onKeyDown?: (event: KeyboardEvent) => void }) {
  const t = useText()
  const { zone } = useZone()
  return (
    <TextInput type="datetime-local" label={`${props.label} (${t(zone === 'utc' ? 'form.moment.utc' : 'form.moment.local')})`}
      value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)} {...(props.width ? { w: props.width } : {})}
      {...(props.hint ? { description: props.hint } : {})} {...(props.error ? { error: props.error } : {})} {...(props.onKeyDown ? { onKeyDown: props.onKeyDown } : {})} required={props.required ?? false} />
  )
}

/** What the input holds for a moment. */
export function useTyped() {
  const { zone } = useZone()
  return (iso: string | null | undefined) => toTyped(iso, zone)
}
