import { Button } from '@mantine/core'
import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { useFilters } from '../../../app/router/search'
import { useText } from '../../../i18n/language'
import { useJob, useJobOperators, useJobs } from '../../../queries/jobs'
import { DataTable } from '../../../ui/data_table'
import { formatDuration, formatShare, nothing } from '../../../ui/format'
import { Facts, Page, Section } from '../../../ui/page'
import { EmptyState, Ready } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import { linesOf } from './compose_draft'
import { ComposeForm } from './compose_form'

/** From a finished job to a probe task (M6): its operators, the core ones, a draft to be tested and released. */
export function ComposePage() {
  const t = useText()
  const [filters, change] = useFilters(['job'])
  return (
    <Page title={t('compose.title')} actions={filters.job ? <Button onClick={() => change({ job: '' })}>{t('compose.other')}</Button> : undefined}>
      {filters.job ? <FromJob key={filters.job} id={filters.job} /> : <JobChoice onChoose={(job) => change({ job })} />}
    </Page>
  )
}

function JobChoice({ onChoose }: { onChoose: (id: string) => void }) {
  const t = useText()
  const query = useJobs({ label: 'job', state: 'succeeded', project: '' })
  return (
    <Section title={t('compose.job.choose')}>
      <Ready query={query}>
        <DataTable name="compose-jobs" label={t('compose.job')} rows={query.items ?? []} rowKey={(job) => job.id} pages={query}
          empty={<EmptyState title={t('compose.job.none')} action={<Link href="/jobs">{t('jobs.title')}</Link>} />} columns={[
            { id: 'name', title: t('compose.job'), cell: (job) => (
              <Button size="compact-xs" aria-label={t('compose.job.more', { name: job.name || job.id })} onClick={() => onChoose(job.id)}>{job.name || job.id}</Button>),
              csv: (job) => job.name },
            { id: 'type', title: t('tasks.job_type'), cell: (job) => job.type || nothing, csv: (job) => job.type },
            { id: 'project', title: t('jobs.project'), cell: (job) => job.project, csv: (job) => job.project },
            { id: 'run_s', title: t('jobs.run'), isNumber: true, cell: (job) => formatDuration(job.run_s), csv: (job) => job.run_s },
            { id: 'ended_at', title: t('jobs.ended'), cell: (job) => <Time at={job.ended_at} />, csv: (job) => job.ended_at },
          ]} />
      </Ready>
    </Section>
  )
}

function FromJob({ id }: { id: string }) {
  const t = useText()
  const job = useJob(id)
  const operators = useJobOperators(id)
  const known = operators.data
  return (
    <Ready query={job}>
      <Ready query={operators}>
        {known ? (
          <>
            <Section title={t('compose.operators')}>
              <Facts items={[
                [t('compose.job'), <Link key="j" href={pathTo('/jobs/:id', { id })}>{job.data?.name || id}</Link>],
                [t('tasks.job_type'), known.type],
                [t('compose.source'), t(`compose.source.${known.source}`)],
                [t('compose.coverage'), formatShare(known.coverage)],
                [t('jobs.run'), formatDuration(known.wall_s)],
                [t('compose.unmatched'), known.unmatched.length],
              ]} />
              {known.operators.length === 0 ? <EmptyState title={t('compose.operators.none')}>{t('compose.operators.none.text')}</EmptyState> : null}
            </Section>
            <ComposeForm job={id} start={{ name: job.data?.name ?? '', lines: linesOf(known.operators) }} hasOperators={known.operators.length > 0} />
          </>
        ) : null}
      </Ready>
    </Ready>
  )
}
