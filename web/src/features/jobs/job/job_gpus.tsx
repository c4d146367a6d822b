import type { ReactNode } from 'react'
import { Link } from '../../../app/router/link'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { hasEnded, type Job } from '../../../queries/jobs'
import { type JobGpu, type SharedGpu, type SharedGpuJob, useGpusOfJob, useKeptGpusOfJob } from '../../../queries/shared_gpus'
import { DataTable } from '../../../ui/data_table'
import { formatBytes, formatShare } from '../../../ui/format'
import { Facts, Section } from '../../../ui/page'
import { Time } from '../../../ui/zone'
import { useGpuProgramColumns } from '../../unit_types/gpu_program_columns'
import { type GpuNeighbours, keptNeighboursOf, neighboursOf } from './gpu_neighbours'

/** As many neighbours as are named. */
const mostPairs = 8

/** The GPUs that a job shares, with whom, and what sharing costs it; also of one that has a shared GPU to itself. When it has ended: as it was. */
export function JobGpus({ job }: { job: Job }) {
  const { may } = useSession()
  const isRunning = job.state === 'running'
  const query = useGpusOfJob(job.id, isRunning && may('read_network'))
  const isOver = hasEnded(job.state)
  const kept = useKeptGpusOfJob(job.id, isOver)
  if (isRunning) return <SharedGpusOfJob job={job.id} gpus={query.data ?? []} />
  return isOver ? <KeptGpusOfJob gpus={kept.data ?? []} /> : null
}

export function KeptGpusOfJob({ gpus }: { gpus: readonly JobGpu[] }) {
  const t = useText()
  if (gpus.length === 0) return null
  return <Section title={t('jobs.gpus')}>{gpus.map((gpu) => <KeptGpu key={`${gpu.attempt_id} ${gpu.gpu}`} gpu={gpu} />)}</Section>
}

function KeptGpu({ gpu }: { gpu: JobGpu }) {
  const t = useText()
  const pairs = gpu.pairs.slice(0, mostPairs).map((pair) => t('jobs.gpus.at_once.pair', {
    job: pair.neighbour, own: formatShare(pair.kept_pace, 0), other: formatShare(pair.neighbour_kept_pace, 0) })).join('; ')
  const columns = useGpuProgramColumns().filter((column) => column.id !== 'job' && column.id !== 'turn').map((column) => (
    column.id !== 'persistent' ? column : {
      ...column, title: t('jobs.gpus.persistent'), csv: (program: SharedGpuJob) => program.persistent.peak_bytes,
      cell: (program: SharedGpuJob) => `${formatBytes(program.persistent.peak_bytes)} / ${formatBytes(program.persistent.room_bytes)}`,
    }))
  return (
    <>
      <Facts items={[
        [t('units.gpus.gpu'), <code key="g">{gpu.gpu}</code>],
        [t('jobs.gpus.with'), <NeighbourNames key="w" neighbours={keptNeighboursOf(gpu)} others="jobs.gpus.other_jobs" />],
        [t('units.gpus.capacity'), formatBytes(gpu.capacity_bytes)],
        ...(gpu.pairs.length === 0 ? [] : [[t('jobs.gpus.at_once'), pairs] as const]),
        [t('units.changed'), <Time key="t" at={gpu.last_told_at} />],
      ]} />
      <DataTable isPlain name="job-gpu-programs" label={`${t('units.gpus.programs')}: ${gpu.gpu}`} columns={columns}
        rows={gpu.programs} rowKey={(program) => String(program.process)} />
    </>
  )
}

export function SharedGpusOfJob({ job, gpus }: { job: string; gpus: readonly SharedGpu[] }) {
  const t = useText()
  if (gpus.length === 0) return null
  return <Section title={t('jobs.gpus')}>{gpus.map((gpu) => <Gpu key={`${gpu.center_id} ${gpu.gpu}`} job={job} gpu={gpu} />)}</Section>
}

function Gpu({ job, gpu }: { job: string; gpu: SharedGpu }) {
  const t = useText()
  // All of them are of the job whose page this is.
  const columns = useGpuProgramColumns().filter((column) => column.id !== 'job')
  return (
    <>
      <Facts items={[
        [t('units.gpus.gpu'), <code key="g">{gpu.gpu}</code>],
        [t('jobs.gpus.with'), <NeighbourNames key="w" neighbours={neighboursOf(gpu, job)} others="jobs.gpus.others" />],
        [t('units.gpus.capacity'), formatBytes(gpu.capacity_bytes)],
        [t('units.gpus.free'), formatBytes(gpu.free_bytes)],
        [t('units.changed'), <Time key="t" at={gpu.reported_at} />],
      ]} />
      <DataTable isPlain name="job-gpu-programs" label={`${t('units.gpus.programs')}: ${gpu.gpu}`} columns={columns}
        rows={gpu.jobs.filter((program) => program.job === job)} rowKey={(program) => String(program.process)} />
    </>
  )
}

function NeighbourNames({ neighbours, others }: { neighbours: GpuNeighbours; others: 'jobs.gpus.others' | 'jobs.gpus.other_jobs' }) {
  const t = useText()
  const { jobs, otherCount } = neighbours
  const parts: ReactNode[] = jobs.map((name) => <Link key={name} href={`/jobs/${name}`}><code>{name}</code></Link>)
  if (otherCount > 0) parts.push(<span key="">{t(others, { n: otherCount })}</span>)
  if (parts.length === 0) return <>{t('jobs.gpus.alone')}</>
  return <>{parts.flatMap((part, i) => (i === 0 ? [part] : [', ', part]))}</>
}
