import { TextInput } from '@mantine/core'
import { useState } from 'react'

/** A filter that is typed: it holds once it is whole, on Enter or when the field is left. */
export function TextFilter(props: { label: string; value: string; onChange: (value: string) => void; width?: number; placeholder?: string; list?: string }) {
  // Another value from outside, say from going back, begins anew.
  return <Typed key={props.value} {...props} />
}

function Typed({ label, value, onChange, width = 150, placeholder, list }: Parameters<typeof TextFilter>[0]) {
  const [typed, setTyped] = useState(value)
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
