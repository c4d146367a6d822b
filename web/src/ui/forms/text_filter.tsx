import { TextInput } from '@mantine/core'
import { useTypedFilter } from './typed_filter'

/** A filter that is typed: it holds once it is whole, on Enter or when the field is left. The focus stays in it. */
export function TextFilter({ label, value, onChange, width = 150, placeholder, list }: {
  label: string
  value: string
  onChange: (value: string) => void
  width?: number
  placeholder?: string
  list?: string
}) {
  const { typed, type, onBlur, onSubmit } = useTypedFilter(value, (text) => {
    if (text.trim() !== value) onChange(text.trim())
  })
  return (
    <form onSubmit={onSubmit}>
      <TextInput label={label} value={typed} w={width} autoComplete="off" spellCheck={false} onBlur={onBlur}
        {...(placeholder ? { placeholder } : {})} {...(list ? { list } : {})} onChange={(event) => type(event.currentTarget.value)} />
    </form>
  )
}
