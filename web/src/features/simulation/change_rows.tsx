import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useText } from '../../i18n/language'
import { useUnitTypes } from '../../queries/unit_types'
import { ErrorState } from '../../ui/states'
import measuring from '../measuring/measuring.module.css'
import { centersBefore, type ChangeRow, type Complaint, firstRow, type Kind, kinds, mostChanges, originOf, type WrongRow } from './choices'
import styles from './simulation.module.css'

interface RowProps {
  at: number
  rows: readonly ChangeRow[]
  wrong: WrongRow
  /** Of the network, by name. */
  centers: readonly string[]
  onChange: (row: ChangeRow) => void
  onRemove: () => void
}

/** What a row begins with when its kind is chosen. */
const startValues: Record<Kind, string> = { scale_units: '2', set_units: '', add_center: '', remove_center: '' }

function Row({ at, rows, wrong, centers, onChange, onRemove }: RowProps) {
  const t = useText()
  const row = rows[at] ?? firstRow
  const say = (complaint: Complaint | undefined) => (complaint ? t(complaint.key, complaint.values) : '')
  const names = centersBefore(centers, rows, at)
  // What an address names is offered, even when the network has it no more.
  const offered = (all: readonly string[], chosen: string, none: string) =>
    [{ value: '', label: none }, ...all, ...(chosen === '' || all.includes(chosen) ? [] : [chosen])]
  const hasUnits = row.kind === 'scale_units' || row.kind === 'set_units'
  const origin = originOf(rows.slice(0, at), row.center)
  const unitTypes = useUnitTypes(origin, hasUnits && origin !== '')
  const types = (unitTypes.data ?? []).map((one) => one.name)
  return (
    <>
      <fieldset className={styles.row}>
        <legend>{t('simulation.change', { n: at + 1 })}</legend>
        <NativeSelect label={t('simulation.kind')} value={row.kind} data={kinds.map((kind) => ({ value: kind, label: t(`simulation.kind.${kind}`) }))}
          onChange={(e) => {
            const kind = kinds.find((one) => one === e.currentTarget.value) ?? 'scale_units'
            onChange({ ...row, kind, unitType: '', value: startValues[kind] })
          }} />
        {row.kind === 'add_center'
          ? <TextInput label={t('simulation.center.new')} value={row.center} maxLength={128} error={say(wrong.center)} onChange={(e) => onChange({ ...row, center: e.currentTarget.value })} />
          : <NativeSelect label={t('simulation.center')} value={row.center} error={say(wrong.center)} data={offered(names, row.center, t('simulation.center.choose'))}
              onChange={(e) => onChange({ ...row, center: e.currentTarget.value, unitType: '' })} />}
        {hasUnits
          ? <NativeSelect label={t('simulation.unit_type')} value={row.unitType} error={say(wrong.unitType)} onChange={(e) => onChange({ ...row, unitType: e.currentTarget.value })}
              data={offered(types, row.unitType, t(row.kind === 'scale_units' ? 'simulation.unit_type.all' : 'simulation.center.choose'))} /> : null}
        {hasUnits
          ? <TextInput label={t(row.kind === 'scale_units' ? 'simulation.factor' : 'simulation.count')} inputMode="decimal" value={row.value} error={say(wrong.value)}
              onChange={(e) => onChange({ ...row, value: e.currentTarget.value })} /> : null}
        {row.kind === 'add_center'
          ? <NativeSelect label={t('simulation.like')} value={row.value} error={say(wrong.value)} data={offered(names, row.value, t('simulation.center.choose'))}
              onChange={(e) => onChange({ ...row, value: e.currentTarget.value })} /> : null}
        <Button className={styles.remove ?? ''} aria-label={t('simulation.remove', { n: at + 1 })} onClick={onRemove}>×</Button>
      </fieldset>
      {unitTypes.isError && unitTypes.data === undefined ? <ErrorState error={unitTypes.error} retry={() => void unitTypes.refetch()} /> : null}
    </>
  )
}

/** The changes, one after another. */
export function ChangeRows({ rows, wrong, complaint, centers, onChange }: {
  rows: readonly ChangeRow[]; wrong: readonly WrongRow[]; complaint: string; centers: readonly string[]; onChange: (rows: readonly ChangeRow[]) => void
}) {
  const t = useText()
  return (
    <div className={measuring.stack}>
      {rows.map((_, at) => (
        <Row key={at} at={at} rows={rows} wrong={wrong[at] ?? {}} centers={centers} onRemove={() => onChange(rows.filter((__, i) => i !== at))}
          onChange={(row) => onChange(rows.map((one, i) => (i === at ? row : one)))} />
      ))}
      {complaint ? <p role="alert" className={measuring.bad}>{complaint}</p> : null}
      <div><Button disabled={rows.length >= mostChanges} onClick={() => onChange([...rows, firstRow])}>{t('simulation.add')}</Button></div>
    </div>
  )
}
