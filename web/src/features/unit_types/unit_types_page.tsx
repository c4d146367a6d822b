import { Button, NativeSelect } from '@mantine/core'
import { Link } from '../../app/router/link'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { useUnitTypes } from '../../queries/unit_types'
import { CutMark } from '../../ui/cut_list'
import { DataTable } from '../../ui/data_table'
import { TextFilter } from '../../ui/forms/text_filter'
import { Page } from '../../ui/page'
import { EmptyState, Ready } from '../../ui/states'
import { choices, filterNames, filterUnits, parseUnitFilters } from './filters'
import { useUnitTypeColumns } from './unit_type_columns'

/** What all centers offer. */
export function UnitTypesPage() {
  const t = useText()
  const [raw, change] = useFilters(filterNames)
  const filters = parseUnitFilters(raw)
  const query = useUnitTypes()
  const columns = useUnitTypeColumns()
  const all = query.data ?? []
  const any = { value: '', label: t('ui.any') }
  const clear = () => change({ center: '', kind: '', operator: '', state: '', name: '' })
  return (
    <Page title={t('units.title')}>
      <Ready query={query}>
        <CutMark list={query} name={t('units.title')} />
        <DataTable name="unit-types" label={t('units.title')} columns={columns} rows={filterUnits(all, filters)} rowKey={(u) => u.id}
          tools={
            <>
              <NativeSelect label={t('units.center')} value={filters.center} onChange={(e) => change({ center: e.currentTarget.value })}
                data={[any, ...choices(all.map((u) => u.center))]} />
              <NativeSelect label={t('units.kind')} value={filters.kind} onChange={(e) => change({ kind: e.currentTarget.value })}
                data={[any, ...choices(all.map((u) => u.resource_type))]} />
              <NativeSelect label={t('units.operator')} value={filters.operator} onChange={(e) => change({ operator: e.currentTarget.value })}
                data={[any, ...choices(all.flatMap((u) => u.operators))]} />
              <NativeSelect label={t('units.state')} value={filters.state} onChange={(e) => change({ state: e.currentTarget.value })}
                data={[{ value: '', label: t('units.state.active') }, { value: 'gone', label: t('units.state.gone') }, { value: 'all', label: t('units.state.all') }]} />
              <TextFilter label={t('units.search')} value={filters.name} onChange={(name) => change({ name })} />
            </>
          }
          empty={all.length > 0
            ? <EmptyState title={t('units.none')} action={<Button onClick={clear}>{t('units.none.clear')}</Button>} />
            : <EmptyState title={t('units.none.yet')} action={<Link href="/centers">{t('units.none.centers')}</Link>}>{t('units.none.yet.hint')}</EmptyState>} />
      </Ready>
    </Page>
  )
}
