import { Button, Checkbox, Menu } from '@mantine/core'
import { type Dispatch, memo, type ReactNode, type SetStateAction, useMemo, useState } from 'react'
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
  /** The same from one drawing to the next, so that rows which have not changed are not drawn again. */
  change: Dispatch<SetStateAction<ReadonlySet<string>>>
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
  const shown = useMemo(() => columns.filter((c) => !hidden.has(c.id)), [columns, hidden])
  return { shown, hidden, hide, toggle }
}

function styleOf(column: { isNumber?: boolean; isText?: boolean }): string | undefined {
  return column.isNumber ? styles.number : column.isText ? styles.text : undefined
}

/**
 * One row. It is drawn again only when something of it is another than before: of a table whose columns are kept (useMemo), a change
 * elsewhere on the page, or rows that are added below, leave it alone; and its choice, its cells.
 */
function TableRow<Row>({ row, columns, id, selectName, isChosen, isAble, onChoose }: {
  row: Row
  columns: readonly Column<Row>[]
  id: string
  /** What the row is called where it can be chosen. */
  selectName: string | undefined
  isChosen: boolean
  isAble: boolean
  onChoose: Selection<Row>['change'] | undefined
}) {
  return (
    <tr>
      {selectName === undefined || !onChoose ? null : <SelectRow id={id} name={selectName} isChosen={isChosen} isAble={isAble} change={onChoose} />}
      <KeptCells row={row} columns={columns} />
    </tr>
  )
}

function Cells<Row>({ row, columns }: { row: Row; columns: readonly Column<Row>[] }) {
  return <>{columns.map((c) => <td key={c.id} className={styleOf(c)}>{c.cell(row)}</td>)}</>
}

// What memo gives forgets that rows may be of any kind.
const KeptRow = memo(TableRow) as typeof TableRow
const KeptCells = memo(Cells) as typeof Cells

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
  function showMore(): unknown {
    first.drawMore()
    return first.hasMore ? undefined : props.pages?.fetchNextPage()
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
              {drawn.map((row) => {
                const id = props.rowKey(row)
                return (
                  <KeptRow key={id} row={row} columns={shown} id={id} selectName={props.selection ? (props.rowName?.(row) ?? id) : undefined}
                    isChosen={props.selection?.chosen.has(id) ?? false} isAble={props.selection?.can(row) ?? false} onChoose={props.selection?.change} />
                )
              })}
            </tbody>
          </table>
        </div>
      )}
      {first.hasMore || (props.pages && (props.rows.length > 0 || hasMorePages)) ? (
        <ListFoot of={props.label} shown={drawn.length} hasMore={first.hasMore || hasMorePages} isBusy={props.pages?.isFetchingNextPage ?? false}
          onMore={showMore} />
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

function SelectRow({ id, name, isChosen, isAble, change }: {
  id: string
  name: string
  isChosen: boolean
  isAble: boolean
  change: Dispatch<SetStateAction<ReadonlySet<string>>>
}) {
  const t = useText()
  function toggle() {
    change((chosen) => {
      const next = new Set(chosen)
      if (!next.delete(id)) next.add(id)
      return next
    })
  }
  return (
    <td className={styles.check}>
      <Checkbox aria-label={t('ui.select.row', { name })} disabled={!isAble} checked={isChosen} onChange={toggle} />
    </td>
  )
}
