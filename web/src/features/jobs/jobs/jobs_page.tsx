import { Button, NativeSelect } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from '../../../app/router/link'
import { navigate } from '../../../app/router/location'
import { useFilters } from '../../../app/router/search'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { hasEnded, type Job, type JobFilters, jobGroupings, type JobSort, jobStates, useJobs } from '../../../queries/jobs'
import { DataTable } from '../../../ui/data_table'
import { TextFilter } from '../../../ui/forms/text_filter'
import { Page } from '../../../ui/page'
import { EmptyState, Ready } from '../../../ui/states'
import { CancelMany } from './cancel_many'
import { parseJobFilters, parseJobGrouping } from './filters'
import { useJobColumns } from './job_columns'
import { JobGroupsTable } from './job_groups_table'

const names = ['label', 'state', 'project', 'sort', 'group'] as const
type Change = (values: Partial<Record<(typeof names)[number], string>>) => void

export function JobsPage() {
  const t = useText()
  const { may } = useSession()
  const [raw, change] = useFilters(names)
  const filters = parseJobFilters(raw)
  const grouping = parseJobGrouping(raw.group)
  const isFiltered = filters.state !== '' || filters.project !== '' || filters.label !== 'job'
  const tools = <Tools filters={filters} grouping={grouping ?? ''} change={change} />
  const empty = isFiltered
    ? <EmptyState title={t('jobs.none')} action={<Button onClick={() => change({ label: '', state: '', project: '' })}>{t('jobs.none.clear')}</Button>} />
    : <EmptyState title={t('jobs.none.yet')} action={may('submit_jobs') ? <Link href="/submit">{t('jobs.none.submit')}</Link> : undefined} />
  const submit = may('submit_jobs') ? <Button variant="filled" onClick={() => navigate('/submit')}>{t('jobs.none.submit')}</Button> : null
  if (grouping) {
    return (
      <Page title={t('jobs.title')} actions={submit}>
        <JobGroupsTable filters={filters} by={grouping} tools={tools} empty={empty} />
      </Page>
    )
  }
  return <JobList filters={filters} change={change} tools={tools} empty={empty} submit={submit} />
}

function JobList({ filters, change, tools, empty, submit }: {
  filters: JobFilters & { sort: JobSort }
  change: Change
  tools: ReactNode
  empty: ReactNode
  submit: ReactNode
}) {
  const t = useText()
  const { may } = useSession()
  const query = useJobs(filters)
  const columns = useJobColumns()
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set())
  const [cancelling, setCancelling] = useState<readonly Job[]>([])
  const jobs = query.items ?? []
  // The server says whose jobs one may cancel; who may not submit has none of their own.
  const mayCancel = may('cancel_any_job') || may('submit_jobs')
  const able = jobs.filter((job) => chosen.has(job.id) && !hasEnded(job.state))
  return (
    <Page title={t('jobs.title')} actions={
      <>{able.length > 0 ? <Button onClick={() => setCancelling(able)}>{t('jobs.cancel.chosen')}</Button> : null}{submit}</>
    }>
      <Ready query={query}>
        <DataTable name="jobs" label={t('jobs.title')} columns={columns} rows={jobs} rowKey={(job) => job.id}
          rowName={(job) => job.name || job.id} pages={query} tools={tools} empty={empty}
          sort={{ by: filters.sort, change: (sort) => change({ sort: sort === '-submitted' ? '' : sort }) }}
          {...(mayCancel ? { selection: { chosen, change: choose, can: (job: Job) => !hasEnded(job.state) } } : {})} />
      </Ready>
      {cancelling.length > 0 ? <CancelMany jobs={cancelling} onClose={() => {
        setCancelling([])
        choose(new Set())
      }} /> : null}
    </Page>
  )
}

function Tools({ filters, grouping, change }: { filters: JobFilters; grouping: string; change: Change }) {
  const t = useText()
  return (
    <>
      <NativeSelect label={t('jobs.state')} value={filters.state} onChange={(e) => change({ state: e.currentTarget.value })}
        data={[{ value: '', label: t('ui.any') }, ...jobStates.map((state) => ({ value: state, label: t(`jobs.state.${state}`) }))]} />
      <NativeSelect label={t('jobs.label')} value={filters.label} onChange={(e) => change({ label: e.currentTarget.value === 'job' ? '' : e.currentTarget.value })}
        data={[{ value: 'job', label: t('jobs.label.job') }, { value: 'probe', label: t('jobs.label.probe') }, { value: 'all', label: t('jobs.label.all') }]} />
      <TextFilter label={t('jobs.project')} value={filters.project} onChange={(project) => change({ project })} />
      <NativeSelect label={t('jobs.group')} value={grouping} onChange={(e) => change({ group: e.currentTarget.value })}
        data={[{ value: '', label: t('jobs.group.none') }, ...jobGroupings.map((by) => ({ value: by, label: t(`jobs.group.${by}`) }))]} />
    </>
  )
}
