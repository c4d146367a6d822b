import type { ReactNode } from 'react'
import styles from './load_bar.module.css'

/** How full something is, with its figure; the bar only repeats what the text says. */
export function LoadBar({ share, children, isOver = false }: { share: number; children: ReactNode; isOver?: boolean }) {
  return (
    <span className={styles.row}>
      <span className={styles.track} aria-hidden="true">
        <span className={`${styles.fill} ${isOver ? styles.over : ''}`} style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
      </span>
      <span className={styles.text}>{children}</span>
    </span>
  )
}
