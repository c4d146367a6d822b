import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { useText } from '../../../i18n/language'
import { useDiversityOf } from '../../../queries/operator_library'
import { DataTable } from '../../../ui/data_table'
import { Section } from '../../../ui/page'
import { EmptyState, Ready } from '../../../ui/states'

/** How many kinds of unit serve an operator, and which (M18). */
export function OperatorServed({ id }: { id: string }) {
  const t = useText()
  const query = useDiversityOf(id)
  const served = query.data
  return (
    <Section title={t('operators.served.title')} side={served
      ? <span className="dim">{t('operators.served')}: {served.unit_type_count} · {t('operators.served.centers')}: {served.center_count} · {t('operators.served.units')}: {served.unit_count}</span>
      : undefined}>
      <Ready query={query}>
        <DataTable isPlain name="operator-served" label={t('operators.served.title')} rows={served?.unit_types ?? []} rowKey={(u) => u.id}
          empty={<EmptyState title={t('operators.served.none')} />} columns={[
            { id: 'center', title: t('measure.center'), cell: (u) => <Link href={pathTo('/centers/:center', { center: u.center })}>{u.center}</Link>, csv: (u) => u.center },
            { id: 'unit_type', title: t('measure.unit_type'), cell: (u) => u.name, csv: (u) => u.name },
            { id: 'resource', title: t('operators.resource'), cell: (u) => u.resource_type, csv: (u) => u.resource_type },
            { id: 'units', title: t('measure.units'), isNumber: true, cell: (u) => u.unit_count, csv: (u) => u.unit_count },
            { id: 'open', title: t('operators.served.open'), cell: (u) => t(u.is_open ? 'ui.yes' : 'ui.no'), csv: (u) => u.is_open },
          ]} />
      </Ready>
    </Section>
  )
}
