import type { ReactNode } from 'react'
import { Link } from '../app/router/link'
import { ListFoot, useFirstRows } from './first_rows'
import styles from './heat_map.module.css'
import { shadeCount } from './heat_scale'

export interface HeatCell {
  shade: number | null
  text: string
  sub?: string
  title?: string
  href?: string
  isMarked?: boolean
}

export interface HeatLine {
  key: string
  name: ReactNode
  sub?: string
  isStrong?: boolean
}

const shades = Array.from({ length: shadeCount }, (_, i) => styles[`s${i}`] ?? '')

/** A table whose cells are shaded by what stands in them: every figure is text, so nothing is told by colour alone. A long one is drawn in parts. */
export function HeatMap(props: {
  label: string
  corner: string
  rows: readonly HeatLine[]
  columns: readonly HeatLine[]
  cell: (row: string, column: string) => HeatCell | null
  isCompact?: boolean
}) {
  const { drawn, hasMore, drawMore } = useFirstRows(props.rows)
  return (
    <>
      {/* A region that scrolls must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={styles.scroll} role="region" aria-label={props.label} tabIndex={0}>
        <table className={`${styles.table} ${props.isCompact ? styles.compact : ''}`}>
          <thead>
            <tr>
              <th scope="col">{props.corner}</th>
              {props.columns.map((column) => (
                <th key={column.key} scope="col" className={column.isStrong ? styles.strong : undefined}>
                  {column.name}{column.sub ? <span className={styles.sub}>{column.sub}</span> : null}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {drawn.map((row) => (
              <tr key={row.key}>
                <th scope="row">{row.name}{row.sub ? <span className={styles.sub}>{row.sub}</span> : null}</th>
                {props.columns.map((column) => <Cell key={column.key} cell={props.cell(row.key, column.key)} />)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {hasMore ? <ListFoot of={props.label} shown={drawn.length} hasMore onMore={drawMore} /> : null}
    </>
  )
}

function Cell({ cell }: { cell: HeatCell | null }) {
  if (!cell) return <td className={styles.none}>–</td>
  const shade = cell.shade === null ? styles.none : shades[cell.shade]
  return (
    <td className={`${shade} ${cell.isMarked ? styles.marked : ''}`} title={cell.title}>
      {cell.href ? <Link href={cell.href}>{cell.text}</Link> : cell.text}
      {cell.sub ? <span className={styles.sub}>{cell.sub}</span> : null}
    </td>
  )
}

/** What the shades mean, from the least to the greatest. */
export function HeatLegend({ low, high, children }: { low: string; high: string; children?: ReactNode }) {
  return (
    <p className={styles.legend}>
      <span>{low}</span>
      {shades.map((shade, i) => <span key={i} aria-hidden="true" className={`${styles.swatch} ${shade}`} />)}
      <span>{high}</span>
      {children}
    </p>
  )
}
