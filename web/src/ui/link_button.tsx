import type { ButtonHTMLAttributes } from 'react'
import styles from './link_button.module.css'

/** What looks like a link but opens something here: a button, within a line of text or a table. */
export function LinkButton(props: ButtonHTMLAttributes<HTMLButtonElement>) {
  return <button type="button" {...props} className={styles.button} />
}
