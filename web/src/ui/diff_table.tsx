import { useText } from '../i18n/language'
import { DataTable } from './data_table'
import type { Difference } from './json_diff'

function show(value: unknown, absent: string) {
  if (value === undefined) return <span className="dim">{absent}</span>
  return <code style={{ overflowWrap: 'anywhere' }}>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
}

/** What differs between two documents, field by field. */
export function DiffTable({ name, label, differences, before, after }: {
  name: string; label: string; differences: readonly Difference[]; before: string; after: string
}) {
  const t = useText()
  const absent = t('operators.diff.absent')
  return (
    <DataTable isPlain name={name} label={label} rows={differences} rowKey={(d) => d.path} columns={[
      { id: 'field', title: t('operators.diff.field'), cell: (d) => <code>{d.path}</code>, csv: (d) => d.path },
      { id: 'before', title: before, cell: (d) => show(d.before, absent), csv: (d) => JSON.stringify(d.before) },
      { id: 'after', title: after, cell: (d) => show(d.after, absent), csv: (d) => JSON.stringify(d.after) },
    ]} />
  )
}
