import { Button, NativeSelect } from '@mantine/core'
import { Link } from '../../../app/router/link'
import { navigate } from '../../../app/router/location'
import { pathTo } from '../../../app/router/match'
import { useFilters } from '../../../app/router/search'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { type ProbeTask, taskStates, useProbeTasks } from '../../../queries/probe_tasks'
import { type Column, DataTable } from '../../../ui/data_table'
import { formatDuration, nothing } from '../../../ui/format'
import { TextFilter } from '../../../ui/forms/text_filter'
import { Page } from '../../../ui/page'
import { EmptyState, Ready } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import { TaskStatePill } from '../task_state'

function summary(task: ProbeTask): string {
  return task.document.operators.map((use) => `${use.id} × ${use.count}`).join(', ')
}

function useTaskColumns(): Column<ProbeTask>[] {
  const t = useText()
  return [
    { id: 'name', title: t('measure.name'), cell: (k) => <Link href={pathTo('/probe-tasks/:id', { id: k.id })}>{k.name}</Link>, csv: (k) => k.name },
    { id: 'id', title: t('ui.id'), cell: (k) => <code>{k.id}</code>, csv: (k) => k.id, isHidden: true },
    { id: 'state', title: t('measure.state'), cell: (k) => <TaskStatePill state={k.state} />, csv: (k) => k.state },
    { id: 'job_type', title: t('tasks.job_type'), cell: (k) => k.job_type ?? nothing, csv: (k) => k.job_type },
    { id: 'operators', title: t('tasks.operators'), cell: summary, csv: summary },
    { id: 'pretest_s', title: t('tasks.pretest'), isNumber: true, cell: (k) => formatDuration(k.pretest_s), csv: (k) => k.pretest_s },
    { id: 'origin', title: t('tasks.origin'), cell: (k) => t(`tasks.origin.${k.origin}`), csv: (k) => k.origin },
    { id: 'created_at', title: t('measure.created'), cell: (k) => <Time at={k.created_at} />, csv: (k) => k.created_at },
    { id: 'created_by', title: t('measure.by'), cell: (k) => <code>{k.created_by}</code>, csv: (k) => k.created_by, isHidden: true },
  ]
}

export function TasksPage() {
  const t = useText()
  const { may } = useSession()
  const [raw, change] = useFilters(['state', 'job_type'])
  const filters = { state: taskStates.find((state) => state === raw.state) ?? ('' as const), job_type: raw.job_type.trim() }
  const query = useProbeTasks(filters)
  const columns = useTaskColumns()
  const isFiltered = filters.state !== '' || filters.job_type !== ''
  const compose = may('manage_metering') ? <Button variant="filled" onClick={() => navigate('/probe-tasks/compose')}>{t('compose.title')}</Button> : undefined
  const tools = (
    <>
      <NativeSelect label={t('measure.state')} value={filters.state} onChange={(e) => change({ state: e.currentTarget.value })}
        data={[{ value: '', label: t('ui.any') }, ...taskStates.map((state) => ({ value: state, label: t(`tasks.state.${state}`) }))]} />
      <TextFilter label={t('tasks.job_type')} value={filters.job_type} width={170} onChange={(job_type) => change({ job_type })} />
    </>
  )
  return (
    <Page title={t('tasks.title')} actions={compose}>
      <Ready query={query} tools={tools}>
        <DataTable name="probe-tasks" label={t('tasks.title')} columns={columns} rows={query.items ?? []} rowKey={(k) => k.id} pages={query} tools={tools}
          empty={isFiltered ? (
            <EmptyState title={t('tasks.none')} action={<Button onClick={() => change({ state: '', job_type: '' })}>{t('measure.clear')}</Button>} />
          ) : <EmptyState title={t('tasks.none.yet')} action={compose}>{t('tasks.none.text')}</EmptyState>} />
      </Ready>
    </Page>
  )
}
