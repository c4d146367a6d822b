import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import { type BalancedUnit, useBalancedUnits } from '../../queries/balance'
import { Ago } from '../../ui/ago'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { Section } from '../../ui/page'
import { OutcomePill } from './outcome_pill'
import { signed } from './steps'

export function useBalancedUnitColumns(): Column<BalancedUnit>[] {
  const t = useText()
  return [
    { id: 'unit', title: t('balance.unit'), csv: (one) => one.unit,
      cell: (one) => <Link href={pathTo('/balance/:center/:unit', { center: one.center, unit: one.unit })}>{one.unit}</Link> },
    { id: 'center', title: t('balance.center'), csv: (one) => one.center,
      cell: (one) => <Link href={pathTo('/centers/:center', { center: one.center })}>{one.center}</Link> },
    { id: 'outcome', title: t('balance.outcome'), cell: (one) => (one.last ? <OutcomePill step={one.last} /> : nothing), csv: (one) => one.last?.outcome ?? '' },
    { id: 'error', title: t('balance.error'), isNumber: true, cell: (one) => signed(one.last?.error) ?? nothing, csv: (one) => one.last?.error ?? '' },
    { id: 'output', title: t('balance.output'), isNumber: true, cell: (one) => signed(one.last?.output) ?? nothing, csv: (one) => one.last?.output ?? '' },
    { id: 'mode', title: t('balance.mode'), cell: (one) => t(one.last?.dry_run ? 'balance.mode.dry' : 'balance.mode.acts'), csv: (one) => one.last?.dry_run ?? '' },
    { id: 'told_at', title: t('balance.told'), cell: (one) => <Ago at={one.told_at} />, csv: (one) => one.told_at },
    { id: 'dropped', title: t('balance.dropped'), isNumber: true, cell: (one) => one.dropped_count, csv: (one) => one.dropped_count, isHidden: true },
  ]
}

/** The balanced units of a center, where it has any. */
export function BalancedUnits({ center }: { center: string }) {
  const t = useText()
  const units = useBalancedUnits(center).data ?? []
  const columns = useBalancedUnitColumns().filter((column) => column.id !== 'center' && !column.isHidden)
  if (units.length === 0) return null
  return (
    <Section title={t('balance.units')}>
      <DataTable isPlain name="balanced-units" label={t('balance.units')} columns={columns} rows={units} rowKey={(one) => one.unit} />
    </Section>
  )
}
