import { TextInput } from '@mantine/core'
import { useState } from 'react'

/** A filter that is typed: it holds once it is whole, on Enter or when the field is left. The focus stays in it. */
export function TextFilter({ label, value, onChange, width = 150, placeholder, list }: {
  label: string
  value: string
  onChange: (value: string) => void
  width?: number
  placeholder?: string
  list?: string
}) {
  const [typed, setTyped] = useState(value)
  // Another value from outside, say from going back, takes the place of what is typed.
  const [last, setLast] = useState(value)
  if (value !== last) {
    setLast(value)
    setTyped(value)
  }
  const commit = () => {
    if (typed.trim() !== value) onChange(typed.trim())
  }
  return (
    <form onSubmit={(event) => {
      event.preventDefault()
      commit()
    }}>
      <TextInput label={label} value={typed} w={width} autoComplete="off" spellCheck={false} onBlur={commit}
        {...(placeholder ? { placeholder } : {})} {...(list ? { list } : {})} onChange={(event) => setTyped(event.currentTarget.value)} />
    </form>
  )
}
