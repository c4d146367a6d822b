import type { ReactNode } from 'react'
import styles from './state_pill.module.css'

export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'idle'

// Form says the same as colour, for those who do not tell colours apart.
const shapes: Record<Tone, string> = { good: '', busy: '', idle: 'hollow', warn: 'square', bad: 'square' }

export function StatePill({ tone, children, title }: { tone: Tone; children: ReactNode; title?: string }) {
  return (
    <span className={`${styles.pill} ${styles[tone]}`} title={title}>
      <span aria-hidden="true" className={`${styles.dot} ${styles[shapes[tone]] ?? ''}`} />
      {children}
    </span>
  )
}
