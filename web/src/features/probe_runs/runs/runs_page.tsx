import { Button, NativeSelect } from '@mantine/core'
import { navigate } from '../../../app/router/location'
import { useFilters } from '../../../app/router/search'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { runStates, useProbeRuns } from '../../../queries/probe_runs'
import { useUnitTypes } from '../../../queries/unit_types'
import { cutOption } from '../../../ui/cut_list'
import { DataTable } from '../../../ui/data_table'
import { Page } from '../../../ui/page'
import { EmptyState, Ready } from '../../../ui/states'
import { useRunColumns } from './run_columns'

export function RunsPage() {
  const t = useText()
  const { may } = useSession()
  const [raw, change] = useFilters(['state', 'unit_type', 'probe_task'])
  const filters = { ...raw, state: runStates.find((state) => state === raw.state) ?? ('' as const) }
  const query = useProbeRuns(filters)
  const unitTypes = useUnitTypes()
  const columns = useRunColumns()
  const names = (unitTypes.data ?? []).map((one) => `${one.center}/${one.name}`)
  const isFiltered = filters.state !== '' || filters.unit_type !== '' || filters.probe_task !== ''
  const measure = may('manage_metering') ? <Button variant="filled" onClick={() => navigate('/measure')}>{t('runs.measure')}</Button> : undefined
  const tools = (
    <>
      <NativeSelect label={t('measure.state')} value={filters.state} onChange={(e) => change({ state: e.currentTarget.value })}
        data={[{ value: '', label: t('ui.any') }, ...runStates.map((state) => ({ value: state, label: t(`runs.state.${state}`) }))]} />
      <NativeSelect label={t('measure.unit_type')} value={filters.unit_type} onChange={(e) => change({ unit_type: e.currentTarget.value })}
        data={[{ value: '', label: t('ui.any') }, ...new Set([...names, ...(filters.unit_type ? [filters.unit_type] : [])]), ...cutOption(t, unitTypes)]} />
      {filters.probe_task ? <Button onClick={() => change({ probe_task: '' })}>{t('runs.task')}: {filters.probe_task} ×</Button> : null}
    </>
  )
  return (
    <Page title={t('runs.title')} actions={measure}>
      <Ready query={query} tools={tools}>
        <DataTable name="probe-runs" label={t('runs.title')} columns={columns} rows={query.items ?? []} rowKey={(r) => r.id} pages={query} tools={tools}
          empty={isFiltered
            ? <EmptyState title={t('runs.none')} action={<Button onClick={() => change({ state: '', unit_type: '', probe_task: '' })}>{t('measure.clear')}</Button>} />
            : <EmptyState title={t('runs.none.yet')} action={measure} />} />
      </Ready>
    </Page>
  )
}
