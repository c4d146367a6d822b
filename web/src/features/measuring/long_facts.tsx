import type { ReactNode } from 'react'
import { nothing } from '../../ui/format'
import styles from './long_facts.module.css'

/** Names with values that take a line or more each. */
export function LongFacts({ items }: { items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles.list}>
      {items.flatMap(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value || nothing}</dd>])}
    </dl>
  )
}
