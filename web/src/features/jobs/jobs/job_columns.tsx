import { useMemo } from 'react'
import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { useText } from '../../../i18n/language'
import type { Job } from '../../../queries/jobs'
import type { Column } from '../../../ui/data_table'
import { formatDuration, nothing } from '../../../ui/format'
import { ServerText } from '../../../ui/server_text'
import { Time } from '../../../ui/zone'
import { Place } from '../../routing/place'
import { JobStatePill } from '../job_state'

export function useJobColumns(): Column<Job>[] {
  const t = useText()
  return useMemo(() => [
    { id: 'name', title: t('jobs.name'), cell: (job) => <Link href={pathTo('/jobs/:id', { id: job.id })}>{job.name || job.id}</Link>, csv: (job) => job.name, sortName: 'name' },
    { id: 'id', title: t('jobs.id'), cell: (job) => <code>{job.id}</code>, csv: (job) => job.id, isHidden: true },
    { id: 'state', title: t('jobs.state'), cell: (job) => <JobStatePill state={job.state} />, csv: (job) => job.state, sortName: 'state' },
    { id: 'project', title: t('jobs.project'), cell: (job) => job.project, csv: (job) => job.project, sortName: 'project' },
    { id: 'type', title: t('jobs.type'), cell: (job) => job.type || nothing, csv: (job) => job.type, isHidden: true, sortName: 'type' },
    { id: 'place', title: t('jobs.place'), cell: (job) => (job.attempt ? <Place at={job.attempt} /> : nothing),
      csv: (job) => job.attempt && `${job.attempt.center}/${job.attempt.unit_type} x ${job.attempt.unit_count}` },
    { id: 'submitted_at', title: t('jobs.submitted'), cell: (job) => <Time at={job.submitted_at} />, csv: (job) => job.submitted_at, sortName: 'submitted' },
    { id: 'submitted_by', title: t('jobs.submitter'), cell: (job) => <code>{job.submitted_by}</code>, csv: (job) => job.submitted_by, isHidden: true },
    { id: 'started_at', title: t('jobs.started'), cell: (job) => <Time at={job.started_at} />, csv: (job) => job.started_at, isHidden: true },
    { id: 'ended_at', title: t('jobs.ended'), cell: (job) => <Time at={job.ended_at} />, csv: (job) => job.ended_at, isHidden: true },
    { id: 'predicted_s', title: t('jobs.predicted'), isNumber: true, cell: (job) => formatDuration(job.predicted?.run_s), csv: (job) => job.predicted?.run_s },
    { id: 'run_s', title: t('jobs.run'), isNumber: true, cell: (job) => formatDuration(job.run_s), csv: (job) => job.run_s },
    { id: 'exit_code', title: t('jobs.exit'), isNumber: true, cell: (job) => job.exit_code ?? nothing, csv: (job) => job.exit_code },
    { id: 'waiting_reason', title: t('jobs.waiting'), isText: true, cell: (job) => (job.waiting_reason ? <ServerText>{job.waiting_reason}</ServerText> : nothing), csv: (job) => job.waiting_reason, isHidden: true },
  ], [t])
}
