import { useZone } from '../zone'
import { MomentInput } from './moment_input'
import { toIso, toTyped } from './moments'
import { useTypedFilter } from './typed_filter'

/**
 * A moment to filter by, RFC 3339 or '': it holds once it is whole, on Enter or when the field is left. What a browser makes of a
 * moment that is half typed, say of the year 0002, is not asked for.
 */
export function MomentFilter({ label, value, onChange }: { label: string; value: string; onChange: (iso: string) => void }) {
  const { zone } = useZone()
  const { typed, type, onBlur, onKeyDown, onSubmit } = useTypedFilter(toTyped(value, zone), (text) => onChange(toIso(text, zone) ?? ''))
  return <form onSubmit={onSubmit} onBlur={onBlur}><MomentInput label={label} value={typed} onChange={type} onKeyDown={onKeyDown} /></form>
}
