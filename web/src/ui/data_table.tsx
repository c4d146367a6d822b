import { Button, Checkbox, Menu } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { readStored, store } from '../app/storage'
import { useText } from '../i18n/language'
import type { CsvValue } from './csv'
import { CsvButton } from './csv_button'
import styles from './data_table.module.css'
import { ListFoot, useFirstRows } from './first_rows'
import { SavedViewsMenu } from './saved_views_menu'

export interface Column<Row> {
  id: string
  title: string
  cell: (row: Row) => ReactNode
  /** The plain value, for CSV; without one the column is not in it. */
  csv?: (row: Row) => CsvValue
  isNumber?: boolean
  /** Sentences: the column keeps a width in which they can be read. */
  isText?: boolean
  /** Not shown until it is chosen. */
  isHidden?: boolean
  /** The server can sort by it: what it calls that. */
  sortName?: string
}

/** What the server has sorted the rows by, as it calls it; with - before it descending. */
interface Sort {
  by: string
  change: (by: string) => void
}

interface Selection<Row> {
  chosen: ReadonlySet<string>
  change: (chosen: ReadonlySet<string>) => void
  can: (row: Row) => boolean
}

interface Pages {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => unknown
}

/** The columns that are shown, remembered by the table's name. */
function useColumns<Row>(name: string, columns: readonly Column<Row>[]) {
  const [hidden, setHidden] = useState(() => {
    const stored = readStored(`columns.${name}`)
    return new Set(stored === null ? columns.filter((c) => c.isHidden).map((c) => c.id) : stored.split(' ').filter((id) => id !== ''))
  })
  function hide(next: ReadonlySet<string>) {
    store(`columns.${name}`, [...next].join(' '))
    setHidden(new Set(next))
  }
  function toggle(id: string) {
    const next = new Set(hidden)
    if (!next.delete(id)) next.add(id)
    hide(next)
  }
  return { shown: columns.filter((c) => !hidden.has(c.id)), hidden, hide, toggle }
}

function styleOf(column: { isNumber?: boolean; isText?: boolean }): string | undefined {
  return column.isNumber ? styles.number : column.isText ? styles.text : undefined
}

/** A table of what REST lists: saved views of its filters, column chooser, CSV of what is shown, selection, more pages. */
export function DataTable<Row>(props: {
  name: string
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  rowName?: (row: Row) => string
  selection?: Selection<Row>
  /** Columns with a sortName have a button that sorts by them. */
  sort?: Sort
  pages?: Pages
  /** Filters, to the left of the table's own buttons; with columns they can be saved as a view. */
  tools?: ReactNode
  /** A small table within a page has no tools of its own. Where its columns have plain values, a button below it saves its rows. */
  isPlain?: boolean
  /** How many rows are drawn before more are asked for, where a page has many tables. */
  rowsAtFirst?: number
  empty?: ReactNode
}) {
  const t = useText()
  const { shown, hidden, hide, toggle } = useColumns(props.name, props.columns)
  const csvColumns = shown.filter((c) => c.csv)
  const first = useFirstRows(props.rows, props.rowsAtFirst)
  const { drawn } = first
  // Of the pages that are here, a filter of the page's own may leave none: that says nothing of those that are not.
  const hasMorePages = props.pages?.hasNextPage ?? false
  // Rows that are here are drawn before others are asked for.
  function showMore() {
    if (!first.hasMore) void props.pages?.fetchNextPage()
    first.drawMore()
  }
  const csv = (
    <CsvButton name={props.name} header={csvColumns.map((c) => c.id)} rows={() => props.rows.map((row) => csvColumns.map((c) => c.csv?.(row)))} />
  )
  return (
    <div>
      {props.isPlain ? null : (
        <div className={styles.tools}>
          {props.tools}
          <div className={styles.side}>
            {props.tools ? <SavedViewsMenu table={props.name} hidden={hidden} onHide={hide} /> : null}
            <Menu closeOnItemClick={false} position="bottom-end" transitionProps={{ duration: 0 }}>
              <Menu.Target><Button>{t('ui.columns')}</Button></Menu.Target>
              <Menu.Dropdown>
                {props.columns.map((c) => (
                  <Menu.CheckboxItem key={c.id} checked={shown.includes(c)} onChange={() => toggle(c.id)}>{c.title}</Menu.CheckboxItem>
                ))}
              </Menu.Dropdown>
            </Menu>
            {csv}
          </div>
        </div>
      )}
      {props.rows.length === 0 && !hasMorePages && props.empty ? props.empty : (
        // What scrolls must be reachable by keyboard. No landmark: the section around it is one of the same name.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <div className={styles.scroll} role="group" aria-label={props.label} tabIndex={0}>
          <table className={styles.table}>
            <thead>
              <tr>
                {props.selection ? <SelectAll {...props} rows={drawn} selection={props.selection} /> : null}
                {shown.map((c) => <Heading key={c.id} column={c} sort={props.sort} />)}
              </tr>
            </thead>
            <tbody>
              {drawn.map((row) => (
                <tr key={props.rowKey(row)}>
                  {props.selection ? <SelectRow row={row} id={props.rowKey(row)} name={(props.rowName ?? props.rowKey)(row)} selection={props.selection} /> : null}
                  {shown.map((c) => <td key={c.id} className={styleOf(c)}>{c.cell(row)}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {first.hasMore || (props.pages && (props.rows.length > 0 || hasMorePages)) ? (
        <ListFoot shown={drawn.length} hasMore={first.hasMore || hasMorePages} isBusy={props.pages?.isFetchingNextPage ?? false} onMore={showMore} />
      ) : null}
      {props.isPlain && csvColumns.length > 0 && props.rows.length > 0 ? <div className={styles.below}>{csv}</div> : null}
    </div>
  )
}

function Heading<Row>({ column, sort }: { column: Column<Row>; sort: Sort | undefined }) {
  const name = column.sortName
  if (!sort || !name) return <th scope="col" className={styleOf(column)}>{column.title}</th>
  const direction = sort.by === name ? 'ascending' : sort.by === `-${name}` ? 'descending' : 'none'
  return (
    <th scope="col" className={styleOf(column)} aria-sort={direction}>
      <button type="button" className={styles.sort} onClick={() => sort.change(direction === 'ascending' ? `-${name}` : name)}>
        {column.title}<span aria-hidden="true" className={styles.arrow}>{direction === 'ascending' ? '▲' : direction === 'descending' ? '▼' : ''}</span>
      </button>
    </th>
  )
}

function SelectAll<Row>({ rows, rowKey, selection }: { rows: readonly Row[]; rowKey: (row: Row) => string; selection: Selection<Row> }) {
  const t = useText()
  const able = rows.filter(selection.can).map(rowKey)
  const count = able.filter((id) => selection.chosen.has(id)).length
  return (
    <th className={styles.check} scope="col">
      <Checkbox aria-label={t('ui.select.all')} checked={count > 0 && count === able.length} disabled={able.length === 0}
        indeterminate={count > 0 && count < able.length}
        onChange={() => selection.change(new Set(count === able.length ? [] : able))} />
    </th>
  )
}

function SelectRow<Row>({ row, id, name, selection }: { row: Row; id: string; name: string; selection: Selection<Row> }) {
  const t = useText()
  function toggle() {
    const next = new Set(selection.chosen)
    if (!next.delete(id)) next.add(id)
    selection.change(next)
  }
  return (
    <td className={styles.check}>
      <Checkbox aria-label={t('ui.select.row', { name })} disabled={!selection.can(row)} checked={selection.chosen.has(id)} onChange={toggle} />
    </td>
  )
}
