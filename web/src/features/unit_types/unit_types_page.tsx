import { Button, NativeSelect } from '@mantine/core'
import { useMemo } from 'react'
import { Link } from '../../app/router/link'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { type UnitType, useUnitTypesInParts } from '../../queries/unit_types'
import { CutMark, PartMark } from '../../ui/cut_list'
import { DataTable } from '../../ui/data_table'
import { TextFilter } from '../../ui/forms/text_filter'
import { Page } from '../../ui/page'
import { EmptyState, LoadingState, Ready } from '../../ui/states'
import { choices, filterNames, filterUnits, parseUnitFilters } from './filters'
import { useUnitTypeColumns } from './unit_type_columns'

const noUnits: readonly UnitType[] = []

/** What all centers offer. */
export function UnitTypesPage() {
  const t = useText()
  const [raw, change] = useFilters(filterNames)
  const filters = useMemo(() => parseUnitFilters(raw), [raw])
  const query = useUnitTypesInParts()
  const columns = useUnitTypeColumns()
  const all = query.data ?? noUnits
  const found = useMemo(() => filterUnits(all, filters), [all, filters])
  const offered = useMemo(() => {
    const any = { value: '', label: t('ui.any') }
    return {
      centers: [any, ...choices(all.map((u) => u.center))],
      kinds: [any, ...choices(all.map((u) => u.resource_type))],
      operators: [any, ...choices(all.flatMap((u) => u.operators))],
    }
  }, [all, t])
  const clear = () => change({ center: '', kind: '', operator: '', state: '', name: '' })
  return (
    <Page title={t('units.title')}>
      <Ready query={query}>
        <CutMark list={query} name={t('units.title')} />
        <PartMark list={query} />
        <DataTable name="unit-types" label={t('units.title')} columns={columns} rows={found} rowKey={(u) => u.id}
          tools={
            <>
              <NativeSelect label={t('units.center')} value={filters.center} onChange={(e) => change({ center: e.currentTarget.value })}
                data={offered.centers} />
              <NativeSelect label={t('units.kind')} value={filters.kind} onChange={(e) => change({ kind: e.currentTarget.value })}
                data={offered.kinds} />
              <NativeSelect label={t('units.operator')} value={filters.operator} onChange={(e) => change({ operator: e.currentTarget.value })}
                data={offered.operators} />
              <NativeSelect label={t('units.state')} value={filters.state} onChange={(e) => change({ state: e.currentTarget.value })}
                data={[{ value: '', label: t('units.state.active') }, { value: 'gone', label: t('units.state.gone') }, { value: 'all', label: t('units.state.all') }]} />
              <TextFilter label={t('units.search')} value={filters.name} onChange={(name) => change({ name })} />
            </>
          }
          empty={query.isPart ? <LoadingState /> : all.length > 0
            ? <EmptyState title={t('units.none')} action={<Button onClick={clear}>{t('units.none.clear')}</Button>} />
            : <EmptyState title={t('units.none.yet')} action={<Link href="/centers">{t('units.none.centers')}</Link>}>{t('units.none.yet.hint')}</EmptyState>} />
      </Ready>
    </Page>
  )
}
