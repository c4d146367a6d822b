import { type FormEvent, type KeyboardEvent, useState } from 'react'

/**
 * What is typed into a filter until it holds: on Enter, or when the field is left. `shown` is the filter as the field has it; `commit` is given
 * what was typed where that differs.
 */
export function useTypedFilter(shown: string, commit: (typed: string) => void) {
  const [typed, setTyped] = useState(shown)
  // Another value from outside, say from going back, takes the place of what is typed.
  const [last, setLast] = useState(shown)
  if (shown !== last) {
    setLast(shown)
    setTyped(shown)
  }
  const end = () => {
    if (typed !== shown) commit(typed)
  }
  return {
    typed,
    type: setTyped,
    onBlur: end,
    // Chromium does not submit a form by Enter in a moment's field.
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter') return
      event.preventDefault()
      end()
    },
    onSubmit: (event: FormEvent) => {
      event.preventDefault()
      end()
    },
  }
}
