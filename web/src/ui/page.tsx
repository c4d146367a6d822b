import { type ReactNode, useEffect, useId } from 'react'
import { nothing } from './format'
import styles from './page.module.css'

/** A page: its heading, what can be done on it, its content. The browser's title follows the heading. */
export function Page({ title, mark, actions, children }: { title: string; mark?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Fathom`
  }, [title])
  return (
    <>
      <div className={styles.head}>
        <h1>{title}</h1>
        {mark}
        {actions ? <div className={styles.actions}>{actions}</div> : null}
      </div>
      {children}
    </>
  )
}

export function Section({ title, side, children }: { title: string; side?: ReactNode; children: ReactNode }) {
  const id = useId()
  return (
    <section className={styles.section} aria-labelledby={id}>
      <div className={styles.sectionHead}><h2 id={id}>{title}</h2>{side}</div>
      {children}
    </section>
  )
}

/** Names with values. What is absent is a dash. */
export function Facts({ items }: { items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {items.map(([name, value]) => (
        <div key={name}><dt>{name}</dt><dd>{value === null || value === undefined || value === '' ? nothing : value}</dd></div>
      ))}
    </dl>
  )
}
