import { Fragment, type ReactNode } from 'react'
import styles from './overview.module.css'

export interface Bar {
  id: string
  name: ReactNode
  value: number
  of: number
  text: ReactNode
}

/** Figures with a bar each; the bar only repeats what the figure says. */
export function Bars({ bars }: { bars: readonly Bar[] }) {
  return (
    <dl className={styles.bars}>
      {bars.map((bar) => (
        <Fragment key={bar.id}>
          <dt>{bar.name}</dt>
          <dd className={styles.track} aria-hidden="true">
            <div className={styles.fill} style={{ width: `${bar.of > 0 ? Math.min(100, (bar.value / bar.of) * 100) : 0}%` }} />
          </dd>
          <dd className="number">{bar.text}</dd>
        </Fragment>
      ))}
    </dl>
  )
}
