import { Checkbox } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './check_list.module.css'

export interface CheckItem {
  value: string
  label: ReactNode
  note?: string
  isOff?: boolean
}

/** Several of a list. */
export function CheckList(props: {
  label: string
  items: readonly CheckItem[]
  chosen: readonly string[]
  none: string
  onChange: (chosen: string[]) => void
}) {
  function toggle(value: string) {
    props.onChange(props.chosen.includes(value) ? props.chosen.filter((one) => one !== value) : [...props.chosen, value])
  }
  return (
    <fieldset className={styles.set}>
      <legend>{props.label}</legend>
      <div className={styles.list}>
        {props.items.length === 0 ? <span className="dim">{props.none}</span> : props.items.map((item) => (
          <Checkbox key={item.value} label={item.label} description={item.note} disabled={item.isOff ?? false}
            checked={props.chosen.includes(item.value)} onChange={() => toggle(item.value)} />
        ))}
      </div>
    </fieldset>
  )
}
